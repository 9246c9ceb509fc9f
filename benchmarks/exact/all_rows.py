"""All rows of real data, in the learned metric, beside features of the same kernel."""

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split

import zonal

__all__ = ["KERNELS", "lines"]

KERNELS = {"Laplacian": zonal.Laplacian("median"), "Matérn 3/2": zonal.Matern(1.5, "median")}
# Rows on which alpha is found; it is used unchanged on all rows.
PILOT = 8000
ALPHAS = np.geomspace(1e-3, 1.0, 7)


def lines(X: Any, y: Any, features: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    """Yield kernel, method, test error, seconds and a note, for every kernel and method."""
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.1, random_state=0)
    start = time.perf_counter()
    metric = zonal.LearnedMetric(random_state=0).fit(X, y)
    A, A_test = metric.transform(X), metric.transform(X_test)
    spent = time.perf_counter() - start
    for name, kernel in KERNELS.items():
        start = time.perf_counter()
        pilot = zonal.ExactKernelRidge(
            kernel, "cv", alphas=ALPHAS, fit_intercept=True, random_state=0
        ).fit(A[:PILOT], y[:PILOT])
        chosen = time.perf_counter() - start
        start = time.perf_counter()
        model = zonal.ExactKernelRidge(
            pilot.kernel_, pilot.alpha_, fit_intercept=True, random_state=0
        ).fit(A, y)
        seconds = time.perf_counter() - start
        error = np.mean((model.predict(A_test) - y_test) ** 2)
        report = model.report_
        note = (
            f"{report.n_iterations} iterations ({report.predicted_iterations} predicted), rank "
            f"{report.rank}, residual {report.residual:.1e}, alpha {pilot.alpha_:.2g} from "
            f"{PILOT:,} rows in {chosen:.0f} s; metric {spent:.0f} s"
        )
        yield name, "exact", f"{error:.5g}", f"{seconds:.1f}", note
        for label, make in features.items():
            start = time.perf_counter()
            ridge = zonal.KernelRidge(make(pilot.kernel_), local=None).fit(A, y)
            seconds = time.perf_counter() - start
            error = np.mean((ridge.predict(A_test) - y_test) ** 2)
            yield name, label, f"{error:.5g}", f"{seconds:.1f}", f"alpha {ridge.alpha_:.2g} by cv"
