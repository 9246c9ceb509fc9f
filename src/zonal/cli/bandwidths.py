"""A bandwidth at which feature maps differ."""

from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split

from .._typing import Array
from ..features import NystroemFeatures
from ..kernels import Kernel
from ..learners import KernelRidge
from ..rows import sample_rows

__all__ = ["telling_bandwidth"]

# Shares of the median distance, at which most kernels are so smooth that all maps are exact.
SHARES = (1.0, 1 / 2, 1 / 4, 1 / 8, 1 / 16)
# Rows that bandwidths are tried on.
TRIAL_ROWS, MATRIX_ROWS = 4000, 500
# An error of the kernel matrix that can be seen.
VISIBLE = 0.01


def telling_bandwidth(kernel: Kernel, X: Array, y: Array | None, widths: list[int]) -> Kernel:
    """Return a kernel with the bandwidth that predicts best, or at which budgets tell.

    Parameters
    ----------
    kernel : Kernel
        Its scale is "median" where it has one.
    X : ndarray of shape (n, d)
    y : ndarray of shape (n,) or None
        With targets, the bandwidth of the least held-out error of landmarks of the largest budget.
        Without, the longest at which the smallest budget does not suffice for the kernel matrix.
    widths : list of int
        The budgets.
    """
    names = [name for name, value in kernel.get_params().items() if value == "median"]
    resolved = kernel.resolve(X)
    if not names:
        return resolved
    scale = resolved.get_params()[names[0]]
    kernels = [kernel.resolve(X).set_params(**{names[0]: share * scale}) for share in SHARES]
    if y is None:
        rows = X[sample_rows(len(X), MATRIX_ROWS)]
        return next(
            (each for each in kernels if _rest(each(rows), widths[0]) > VISIBLE), kernels[-1]
        )
    chosen = sample_rows(len(X), TRIAL_ROWS)
    parts = train_test_split(X[chosen], y[chosen], test_size=0.2, random_state=0)
    return min(kernels, key=lambda each: _held_out(each, max(widths), *parts))


def _rest(K: Array, rank: int) -> float:
    """Return the relative error of the best matrix of some rank."""
    values = np.sort(np.abs(np.linalg.eigvalsh(K)))[::-1]
    return float(np.linalg.norm(values[rank:]) / np.linalg.norm(values))


def _held_out(kernel: Kernel, width: int, X: Array, X_test: Array, y: Any, y_test: Any) -> float:
    features = NystroemFeatures(kernel, min(width, len(X) // 2), sampling="uniform", random_state=0)
    model = KernelRidge(features, random_state=0).fit(X, y)
    return float(np.mean((model.predict(X_test) - y_test) ** 2))
