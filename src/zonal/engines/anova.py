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
    out = np.ones((len(rows), len(others)))
    _values(*_exponentials(rows, others), weights, out)
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
    by_length, by_weight = np.zeros(len(weights)), np.zeros(len(weights))
    factors = np.ascontiguousarray(factors)
    _slopes(*_exponentials(rows, others), weights, factors, by_length, by_weight)
    return by_length, by_weight


def _exponentials(
    rows: FloatArray, others: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return rows and eˣ, columns of the others and their eˣ and e⁻ˣ."""
    columns = np.ascontiguousarray(others.T)
    return np.ascontiguousarray(rows), np.exp(rows), columns, np.exp(columns), np.exp(-columns)


def _check(rows: FloatArray, others: FloatArray, weights: FloatArray) -> None:
    """Raise ValueError where compiled code would read beyond the end."""
    if not rows.shape[1] == others.shape[1] == len(weights):
        raise ValueError(
            f"Rows of shapes {rows.shape} and {others.shape} and {len(weights)} weights must have "
            "as many columns."
        )


@numba.njit(nogil=True, cache=True)
def _values(rows, up, columns, others_up, others_down, weights, out):  # type: ignore[no-untyped-def]
    n_others = columns.shape[1]
    for i in range(len(rows)):
        for k in range(len(weights)):
            x, rising = rows[i, k], up[i, k]
            falling, unit = 1 / rising, 1 / (1 + weights[k])
            share = weights[k] * unit
            for j in range(n_others):
                small = min(rising * others_down[k, j], others_up[k, j] * falling)
                out[i, j] *= unit + share * (1 + abs(x - columns[k, j])) * small


# Sums may be taken in any order, by which several pairs are taken at once.
@numba.njit(nogil=True, cache=True, fastmath={"reassoc", "contract", "nsz"})
def _slopes(rows, up, columns, others_up, others_down, weights, factors, by_length, by_weight):  # type: ignore[no-untyped-def]
    n_others = columns.shape[1]
    for i in range(len(rows)):
        total = 0.0
        for j in range(n_others):
            total += factors[i, j]
        for k in range(len(weights)):
            x, rising, theta = rows[i, k], up[i, k], weights[k]
            falling = 1 / rising
            length = 0.0
            weight = 0.0
            for j in range(n_others):
                small = min(rising * others_down[k, j], others_up[k, j] * falling)
                r = abs(x - columns[k, j])
                value = (1 + r) * small
                share = factors[i, j] / (1 + theta * value)
                length += share * r * r * small
                weight += share * value
            by_length[k] += theta * length
            by_weight[k] += theta * (weight - total / (1 + theta))
