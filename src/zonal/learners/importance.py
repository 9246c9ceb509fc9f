r"""How much each column matters to a model: by permutation, or by the gradients of its predictions.

The share of a column, or of a group G of columns that encode one, is the variance of the prediction
that is due to it,

.. math:: I_G \propto \frac1{2n} \sum_i \left(f(x_i) - f(x_i^G)\right)^2,

where :math:`x^G` has the columns of G from another row, drawn by a permutation (the total effect of
Jansen, 1999). If errors of f on new rows are independent of the columns, this is half of what their
mean squared error rises by, which is what permutation importance measures.

Where all columns are numbers a gradient costs less than a prediction for each of them, and to
first order the same is

.. math:: I_G \propto \frac1n \sum_i \nabla_G f(x_i)^\top \Sigma_G \nabla_G f(x_i),

with Σ_G the covariance of the group. Levels of words have nothing between them: where a model keeps
them apart its gradient is zero, and only permutation tells. For a linear f both are β² Var(x).
"""

from collections.abc import Callable

import numpy as np

from .._typing import Array, FloatArray

__all__ = ["column_shares", "permutation_shares"]

# Rows with permuted columns, for each group: the permutation of fewer rows is drawn several times.
DRAWN_ROWS = 1024


def permutation_shares(
    predict: Callable[[Array], Array], rows: Array, groups: list[str]
) -> dict[str, float]:
    """Return shares of the groups of columns by permutation, the largest first; sum to one.

    Parameters
    ----------
    predict : callable
        Maps rows [n, d] to predictions [n, t].
    rows : ndarray of shape (n, d)
    groups : list of str, of length d
        The group of each column.
    """
    rng = np.random.default_rng(0)
    n_rows = len(rows)
    own = np.tile(np.arange(n_rows), max(DRAWN_ROWS // n_rows, 1))
    other = np.concatenate([rng.permutation(n_rows) for _ in range(len(own) // n_rows)])
    known = np.asarray(predict(rows), dtype=np.float64)[own]
    moved: dict[str, float] = {}
    for name in dict.fromkeys(groups):
        columns = [number for number, group in enumerate(groups) if group == name]
        changed = rows[own]
        changed[:, columns] = rows[other][:, columns]
        moved[name] = float(np.square(known - predict(changed)).sum())
    return _shares(moved)


def column_shares(gradients: Array, rows: Array, groups: list[str]) -> dict[str, float]:
    """Return shares of the groups of columns by gradients, the largest first; sum to one.

    Parameters
    ----------
    gradients : ndarray of shape (n, t, d)
        Of t predictions.
    rows : ndarray of shape (n, d)
    groups : list of str, of length d
        The group of each column.
    """
    moved: dict[str, float] = {}
    for name in dict.fromkeys(groups):
        columns = [number for number, group in enumerate(groups) if group == name]
        inner = np.asarray(gradients, dtype=np.float64)[:, :, columns]
        covariance: FloatArray = np.atleast_2d(np.cov(rows[:, columns].T, bias=True))
        moved[name] = float(np.einsum("ntj,jk,ntk->", inner, covariance, inner))
    return _shares(moved)


def _shares(moved: dict[str, float]) -> dict[str, float]:
    """Return values over their sum, the largest first; equal ones if all are zero."""
    total = sum(moved.values())
    even = 1 / len(moved)
    shares = {name: value / total if total > 0 else even for name, value in moved.items()}
    return dict(sorted(shares.items(), key=lambda item: -item[1]))
