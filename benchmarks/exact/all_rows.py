"""All rows of real data, in the learned metric, beside features of the same kernel."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split

import zonal

__all__ = ["FEATURES", "KERNELS", "METHODS", "Line", "Task", "lines"]

KERNELS = {"Laplacian": zonal.Laplacian("median"), "Matérn 3/2": zonal.Matern(1.5, "median")}
FEATURES = {
    "Nyström, 1,024": partial(zonal.NystroemFeatures, n_components=1024, random_state=0),
    "Nyström, 4,096": partial(
        zonal.NystroemFeatures, n_components=4096, sampling="uniform", random_state=0
    ),
    "Gegenbauer, 1,024": partial(zonal.GegenbauerFeatures, n_components=1024, random_state=0),
}
METHODS = ("exact", *FEATURES)
# Rows on which alpha is found; it is used unchanged on all rows.
PILOT = 8000
ALPHAS = np.geomspace(1e-3, 1.0, 7)

#: Kernel, method, test error, percentage of wrong classes, seconds, those of all cores, and a note.
Line = tuple[str, str, str, str, str, str, str]


class Clock:
    """Seconds that have gone by, and seconds of work of all cores."""

    def __init__(self) -> None:
        self._start = time.perf_counter(), time.process_time()

    def read(self) -> tuple[float, float]:
        """Both since the beginning."""
        return time.perf_counter() - self._start[0], time.process_time() - self._start[1]


@dataclass
class Task:
    """Rows and targets; a tenth is the test. Targets 0 and 1 are classes."""

    X: np.ndarray
    y: np.ndarray

    @cached_property
    def parts(self) -> list[np.ndarray]:
        """Training and test rows, training and test targets, in the learned metric."""
        X, X_test, y, y_test = train_test_split(self.X, self.y, test_size=0.1, random_state=0)
        clock = Clock()
        metric = zonal.LearnedMetric(random_state=0).fit(X, y)
        self.metric_seconds = clock.read()[1]
        return [metric.transform(X), metric.transform(X_test), y, y_test]

    def errors(self, model: Any) -> tuple[str, str]:
        """The mean squared error at the test rows, and how many of a hundred classes are wrong."""
        _, X_test, _, y_test = self.parts
        found = model.predict(X_test)
        wrong = f"{100 * np.mean((found > 0.5) != y_test):.2f}" if set(y_test) == {0, 1} else "–"
        return f"{np.mean((found - y_test) ** 2):.5g}", wrong


def lines(task: Task, kernels: list[str], methods: list[str]) -> Iterator[Line]:
    """Yield the line of every kernel and method."""
    for name in kernels:
        kernel = KERNELS[name]
        for method in methods:
            make = _exact if method == "exact" else _features
            model, note, (seconds, work) = make(task, kernel, method)
            yield name, method, *task.errors(model), f"{seconds:.1f}", f"{work:.1f}", note


def _exact(task: Task, kernel: Any, method: str) -> tuple[Any, str, tuple[float, float]]:
    X, _, y, _ = task.parts
    clock = Clock()
    pilot = zonal.ExactKernelRidge(
        kernel, "cv", alphas=ALPHAS, fit_intercept=True, random_state=0
    ).fit(X[:PILOT], y[:PILOT])
    chosen = clock.read()[1]
    clock = Clock()
    model = zonal.ExactKernelRidge(
        kernel.resolve(X), pilot.alpha_, fit_intercept=True, random_state=0
    ).fit(X, y)
    seconds = clock.read()
    report = model.report_
    note = (
        f"{report.n_iterations} iterations ({report.predicted_iterations} predicted), rank "
        f"{report.rank}, residual {report.residual:.1e}, alpha {pilot.alpha_:.2g} from "
        f"{PILOT:,} rows in {chosen:.0f} s of work; metric {task.metric_seconds:.0f} s"
    )
    return model, note, seconds


def _features(task: Task, kernel: Any, method: str) -> tuple[Any, str, tuple[float, float]]:
    X, _, y, _ = task.parts
    clock = Clock()
    model = zonal.KernelRidge(FEATURES[method](kernel.resolve(X)), local=None).fit(X, y)
    return model, f"alpha {model.alpha_:.2g} by cv", clock.read()
