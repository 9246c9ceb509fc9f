r"""How much each column matters to a model, by the gradients of its predictions.

The share of a column, or of a group G of columns that encode one, is

.. math:: I_G \propto \frac1n \sum_i \nabla_G f(x_i)^\top \Sigma_G \nabla_G f(x_i),

with Σ_G the covariance of the group: the variance of f if only G moved, to first order. For a
linear f this is β² Var(x), half of what permutation importance measures.
"""

import numpy as np

from .._typing import Array, FloatArray

__all__ = ["column_shares"]


def column_shares(gradients: Array, rows: Array, groups: list[str]) -> dict[str, float]:
    """Return shares of the groups of columns that add up to one, the largest first.

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
    total = sum(moved.values())
    even = 1 / len(moved)
    shares = {name: value / total if total > 0 else even for name, value in moved.items()}
    return dict(sorted(shares.items(), key=lambda item: -item[1]))
