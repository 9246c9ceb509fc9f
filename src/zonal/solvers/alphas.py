"""The α of an exact solution: those given, and those that cross-validation tries."""

from numbers import Real
from typing import Any

import numpy as np

from .._typing import FloatArray
from .._validation import check_positive
from ..kernels import Kernel
from ..rows import sample_rows

__all__ = ["given_alphas", "grid_of_alphas", "is_word"]

# Alphas that are tried, relative to the mean of k(x, x).
GRID = np.geomspace(1e-5, 10.0, 13)
# Rows that the mean is taken over.
SAMPLE = 1000


def given_alphas(alpha: Any, n_targets: int, owner: str) -> FloatArray:
    """Return the α of every target from one number, or from one for each."""
    if isinstance(alpha, Real):
        return np.full(n_targets, check_positive("alpha", alpha, owner, ' of any size, or "cv"'))
    try:
        alphas = np.asarray(alpha, np.float64)
    except (TypeError, ValueError):
        alphas = np.empty(0)
    if alphas.shape != (n_targets,) or not _positive(alphas):
        raise ValueError(
            f"alpha={alpha!r} of {owner} must be 'cv', a positive number, or one for each of the "
            f"{n_targets} targets."
        )
    return alphas


def grid_of_alphas(
    alphas: Any, kernel: Kernel, X: Any, weight: FloatArray | None = None
) -> FloatArray:
    """Return the given α to try, or 13 from 1e-5 to 10 times the mean k(x, x) and weight."""
    if alphas is None:
        rows = X[sample_rows(X.shape[0], SAMPLE)]
        unit = 1.0 if weight is None else float(weight[weight > 0].mean())
        return np.asarray(GRID * unit * float(kernel.diag(rows).mean(dtype=np.float64)))
    found = np.asarray(alphas, np.float64)
    if found.ndim != 1 or not len(found) or not _positive(found):
        raise ValueError(f"alphas={alphas!r} must be positive numbers.")
    return found


def is_word(value: Any, word: str) -> bool:
    """Whether a parameter is that word; comparing an array with it would compare its entries."""
    return isinstance(value, str) and value == word


def _positive(values: FloatArray) -> bool:
    return bool((np.isfinite(values) & (values > 0)).all())
