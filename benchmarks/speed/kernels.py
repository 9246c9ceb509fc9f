"""Blocks of the exact kernel, as in Nyström features, beside scikit-learn's Gaussian kernel."""

from collections.abc import Iterator

from sklearn.metrics.pairwise import rbf_kernel

import zonal

from ..measure import seconds
from .data import WIDTH, N, points
from .limits import Limits
from .line import Line

__all__ = ["kernel_blocks"]

# Multiply-adds of an exponential function in single precision: a polynomial of degree 6 and the
# reduction to the interval where it holds.
EXPONENTIAL = 9


def kernel_blocks(limits: Limits) -> Iterator[Line]:
    """Kernel matrices of 64,800 rows and 1,024 landmarks, d = 3 and 9."""
    yield from _lines(limits, 3)
    yield from _lines(limits, 9)


def _lines(limits: Limits, dim: int) -> Iterator[Line]:
    X = points(dim)
    landmarks = X[:WIDTH]
    gaussian, matern = zonal.Gaussian(1.0), zonal.Matern(1.5)
    *ours, theirs = seconds(
        lambda: gaussian(X, landmarks),
        lambda: matern(X, landmarks),
        lambda: rbf_kernel(X, landmarks, gamma=0.5),
        repeats=7,
    )
    ideal, bound = limits.ideal((dim + EXPONENTIAL) * N * WIDTH, 4 * N * WIDTH)
    for name, mine in zip(("Gaussian", "Matérn 3/2"), ours, strict=True):
        yield Line(
            f"kernel(X, L), {name}, d = {dim}",
            "rbf_kernel",
            mine,
            theirs,
            None,
            ideal,
            bound,
            "fresh pages of the matrix, and its passes through memory",
        )
