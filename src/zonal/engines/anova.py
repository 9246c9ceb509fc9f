r"""Products of kernels of single columns.

.. math:: \prod_j \frac{1 + \theta_j \kappa(r_j)}{1 + \theta_j} .

κ is the Matérn kernel of ν = 3/2, (1 + r) e⁻ʳ, of differences r = |u - v| of scaled columns. Of
these only eᵘ and e⁻ᵘ are needed: e⁻ʳ is the smaller one of eᵘ⁻ᵛ and eᵛ⁻ᵘ. So the loops over pairs
have no exponentials.
"""

import numba
import numpy as np

from .._typing import FloatArray

__all__ = ["LARGEST", "anova_matrix", "anova_slopes"]

#: The largest scaled column: products of two exponentials are far from overflow.
LARGEST = 300.0


def anova_matrix(rows: FloatArray, others: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the products at all pairs of rows [n, d] and others [m, d], both scaled: [n, m].

    Parameters
    ----------
    rows, others : ndarrays of shapes (n, d) and (m, d)
        Columns over their length scales, of absolute values up to `LARGEST`.
    weights : ndarray of shape (d,)
        θ.
    """
    _check(rows, others, weights)
    columns = np.ascontiguousarray(others.T)
    out = np.ones((len(rows), len(others)))
    _values(np.ascontiguousarray(rows), np.exp(rows), columns, np.exp(columns), weights, out)
    return out


def anova_slopes(
    rows: FloatArray, others: FloatArray, weights: FloatArray, factors: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return sums over pairs of derivatives of log k by log ℓ and log θ of each column: [d], [d].

    Parameters
    ----------
    rows, others, weights
        As of `anova_matrix`.
    factors : ndarray of shape (n, m)
        What each pair counts.
    """
    _check(rows, others, weights)
    columns = np.ascontiguousarray(others.T)
    by_length, by_weight = np.zeros(len(weights)), np.zeros(len(weights))
    _slopes(
        np.ascontiguousarray(rows),
        np.exp(rows),
        columns,
        np.exp(columns),
        weights,
        np.ascontiguousarray(factors),
        by_length,
        by_weight,
    )
    return by_length, by_weight


def _check(rows: FloatArray, others: FloatArray, weights: FloatArray) -> None:
    """Raise ValueError where compiled code would read beyond the end."""
    if not rows.shape[1] == others.shape[1] == len(weights):
        raise ValueError(
            f"Rows of shapes {rows.shape} and {others.shape} and {len(weights)} weights must have "
            "as many columns."
        )


@numba.njit(nogil=True, cache=True)
def _values(rows, up, columns, others_up, weights, out):  # type: ignore[no-untyped-def]
    n_others = columns.shape[1]
    for i in range(len(rows)):
        for k in range(len(weights)):
            x, rising, theta = rows[i, k], up[i, k], weights[k]
            falling, unit = 1 / rising, 1 / (1 + theta)
            for j in range(n_others):
                other = others_up[k, j]
                small = min(rising / other, other * falling)
                value = (1 + abs(x - columns[k, j])) * small
                out[i, j] *= (1 + theta * value) * unit


@numba.njit(nogil=True, cache=True)
def _slopes(rows, up, columns, others_up, weights, factors, by_length, by_weight):  # type: ignore[no-untyped-def]
    n_others = columns.shape[1]
    for i in range(len(rows)):
        for k in range(len(weights)):
            x, rising, theta = rows[i, k], up[i, k], weights[k]
            falling, part = 1 / rising, theta / (1 + theta)
            length = 0.0
            weight = 0.0
            for j in range(n_others):
                other = others_up[k, j]
                small = min(rising / other, other * falling)
                r = abs(x - columns[k, j])
                value = (1 + r) * small
                share = factors[i, j] * theta / (1 + theta * value)
                length += share * r * r * small
                weight += share * value - factors[i, j] * part
            by_length[k] += length
            by_weight[k] += weight
