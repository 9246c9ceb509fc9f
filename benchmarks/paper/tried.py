"""What was tried where cells of Tables 2 and 3 differ from the published ones.

Protein at bandwidth 1 with other landmarks of Nyström features and other degrees of PolySketch,
and the objective of k-means in the paper's Gegenbauer features over their degree q.
Writes results/tried.md. Run: python -m benchmarks.paper.tried
"""

import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

import zonal

from ..measure import table
from . import table2, table3
from .common import PUBLISHED_METHODS, RESULTS, say
from .table2_setting import PUBLISHED
from .table3_setting import DATASETS, FULL, PAPER
from .table3_setting import PUBLISHED as OBJECTIVES

SEED = 0
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
        for degree in (3, 5, 15)
    },
}
CLUSTERED = ("mushroom", "abalone", "pendigits")
DEGREES = (2, 3, 4, 6)


Lines = list[tuple[str, ...]]


def regressions() -> Iterator[tuple[str, ...]]:
    """Test errors on protein, beside the published ones."""
    problem = table2.load("protein", 1 << 30)
    X, X_test, y, y_test = problem.split(SEED)
    for name, (published, features) in PROTEIN.items():
        model = zonal.KernelRidge(
            features(zonal.Gaussian(1.0), WIDTH), local=None, random_state=SEED
        )
        table2.fit(model, X, y)
        error = float(np.mean((model.predict(X_test) - y_test) ** 2))
        yield name, f"{error:.2f}", f"{PUBLISHED['protein'][published][0]:g}"


def objectives() -> Iterator[tuple[str, ...]]:
    """The objective of k-means in the paper's features, over q, s = 1."""
    for dataset in CLUSTERED:
        X, _, k = table3.load(dataset, 1 << 30)
        found = []
        for degree in DEGREES:
            cut = {"max_degree": degree, "n_radial": 1}
            model, _ = table3.cluster(PAPER, X, k, FULL, SEED, cut)
            found.append(f"{model.objective_:.3f}")
        published = OBJECTIVES["Gegenbauer"][DATASETS.index(dataset)]
        yield dataset, *found, f"{published:.2f}"


def write(first: Lines, second: Lines) -> None:
    """The page, as far as it is known."""
    (RESULTS / "tried.md").write_text(
        "# What was tried where cells differ\n\nMade by `python -m benchmarks.paper.tried`; seed "
        f"{SEED}.\n\n## Protein at bandwidth 1\n\nTest MSE of {WIDTH:,} features.\n\n"
        + table(first, ("features", "test MSE", "published"))
        + "\n\n## k-means in the paper's Gegenbauer features\n\nThe objective in their own space "
        "over the degree q, s = 1, ten starts, as in Table 3.\n\n"
        + table(second, ("data", *(f"q = {q}" for q in DEGREES), "published"))
        + "\n"
    )


def main() -> None:
    """Both tables, line by line."""
    found: tuple[Lines, Lines] = ([], [])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", zonal.TruncationWarning)
        for lines, more in zip(found, (regressions(), objectives()), strict=True):
            for line in more:
                lines.append(line)
                say(f"tried: {line}")
                write(*found)


if __name__ == "__main__":
    main()
