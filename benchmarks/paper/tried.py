"""What was tried where cells of Tables 2 and 3 differ from the published ones.

Protein at bandwidth 1 with other landmarks of Nyström features and other degrees of PolySketch,
and the objective of k-means in the paper's Gegenbauer features over their degree q.
Writes results/tried.md. Run: python -m benchmarks.paper.tried
"""

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import zonal

from ..measure import table
from . import table2, table3
from .common import PUBLISHED_METHODS, RESULTS, mean_and_deviation, say
from .table2_setting import PUBLISHED
from .table3_setting import DATASETS, FULL, PAPER
from .table3_setting import PUBLISHED as OBJECTIVES

SEEDS = (0, 1)
WIDTH = 1024
PROTEIN: dict[str, tuple[str, Callable[..., Any]]] = {
    **{
        f"Nyström, {sampling} landmarks": (
            "Nyström",
            partial(zonal.NystroemFeatures, sampling=sampling),
        )
        for sampling in ("recursive", "uniform")
    },
    **{
        f"PolySketch (original), degree {degree}": (
            "PolySketch",
            partial(PUBLISHED_METHODS["PolySketch (original)"], degree=degree),
        )
        for degree in (2, 3, 5, 15)
    },
}
CLUSTERED = ("abalone", "pendigits", "mushroom")
DEGREES = (1, 2, 3, 4, 6, 8)


def regressions() -> list[tuple[str, ...]]:
    """Test errors on protein, beside the published ones."""
    problem = table2.load("protein", 1 << 30)
    lines = []
    for name, (published, features) in PROTEIN.items():
        errors = []
        for seed in SEEDS:
            X, X_test, y, y_test = problem.split(seed)
            model = zonal.KernelRidge(
                features(zonal.Gaussian(1.0), WIDTH), local=None, random_state=seed
            )
            table2.fit(model, X, y)
            errors.append(float(np.mean((model.predict(X_test) - y_test) ** 2)))
        mean, deviation = mean_and_deviation(errors)
        known = PUBLISHED["protein"][published][0]
        lines.append((name, f"{mean:.2f} ± {deviation:.2f}", f"{known:g}"))
        say(f"tried: {lines[-1]}")
    return lines


def objectives() -> list[tuple[str, ...]]:
    """The objective of k-means in the paper's features, over q, s = 1."""
    lines = []
    for dataset in CLUSTERED:
        X, _, k = table3.load(dataset, 1 << 30)
        found = []
        for degree in DEGREES:
            cut = {"max_degree": degree, "n_radial": 1}
            model, _ = table3.cluster(PAPER, X, k, FULL, 0, cut)
            found.append(f"{model.objective_:.3f}")
        published = OBJECTIVES["Gegenbauer"][DATASETS.index(dataset)]
        lines.append((dataset, *found, f"{published:.2f}"))
        say(f"tried: {lines[-1]}")
    return lines


def main() -> None:
    """Both tables."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", zonal.TruncationWarning)
        first = table(regressions(), ("features", "test MSE", "published"))
        second = table(objectives(), ("data", *(f"q = {q}" for q in DEGREES), "published"))
    (RESULTS / "tried.md").write_text(
        "# What was tried where cells differ\n\nMade by `python -m benchmarks.paper.tried`.\n\n"
        f"## Protein at bandwidth 1\n\nTest MSE of {WIDTH:,} features, mean ± standard deviation "
        f"of {len(SEEDS)} seeds.\n\n{first}\n\n## k-means in the paper's Gegenbauer features\n\n"
        "The objective in their own space over the degree q, s = 1, seed 0, ten starts, as in "
        f"Table 3.\n\n{second}\n"
    )


if __name__ == "__main__":
    main()
