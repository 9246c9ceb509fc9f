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
from typing import Any

import numpy as np

from .._typing import Array, FloatArray
from ..rows import sample_rows
from .encoders import sources_of

__all__ = ["PROBES", "column_shares", "importances", "permutation_shares"]

#: Rows at which the importances of columns are found.
PROBES = 256
# A local part must keep most of its places: at most one in five is left out.
PLACES_A_PROBE = 5

# Rows with permuted columns, for each group: the permutation of fewer rows is drawn several times.
DRAWN_ROWS = 1024


def importances(
    solved: Any, encoder: Any, probes: Array, names: Any, n_columns: int
) -> dict[str, float]:
    """Return shares of the columns in what the predictions of a model depend on.

    Parameters
    ----------
    solved : FromSums or FromRows
    encoder : transformer or None
        What made rows of numbers; with one shares are by permutation, without by gradients.
    probes : ndarray of shape (n, d)
        Rows of numbers.
    names : sequence of str or None
        Names of the columns; None: x0, x1, ...
    n_columns : int
        How many columns there were before the encoder.
    """
    if encoder is None:
        known = [f"x{number}" for number in range(probes.shape[1])] if names is None else names
        gradients = solved.gradient(probes, held_out=True)
        return column_shares(gradients, probes, [str(name) for name in known])
    if solved.part is not None:
        most = len(solved.part.joint.residual) // PLACES_A_PROBE + 1
        probes = probes[sample_rows(len(probes), most)]
    groups = sources_of(encoder, n_columns)
    return permutation_shares(solved.without(probes).mean, probes, groups)


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
