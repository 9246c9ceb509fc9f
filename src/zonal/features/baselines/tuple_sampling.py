r"""Drawing coordinates of tensor powers by leverage scores, without forming a power.

A coordinate of degree q is a tuple I = (i₁, …, i_q) of columns; its values at the rows are
:math:`\phi_I = u \circ x_{i_1} \circ \dots \circ x_{i_q}`, with weights u of the rows. It is drawn
with a probability proportional to about :math:`\|H^\top \phi_I\|^2`, column after column: given a
prefix, the sum over all ways to go on is

.. math::

    \sum_{i_2, \dots, i_q} \| H^\top (x_{i_1} \circ \dots \circ x_{i_q}) \|^2
    = \sum_c \big\| (X^{\otimes (q-1)})^\top (h_c \circ x_{i_1}) \big\|^2,

for which a sketch of the power of degree q - 1 takes the place of the power. One product of Xᵀ
with a few vectors so gives the sums of all columns. Where rows are sparse, only those count in
which the prefix is not zero.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from ..._typing import Array, FloatArray
from ..._validation import is_sparse
from .sketch_tree import plan_tree

__all__ = ["TupleSampler"]

# Share of plain squared norms in every step, which bounds what an unlikely tuple weighs.
MIX = 0.2

Tuples = npt.NDArray[np.intp]


class TupleSampler:
    """Draws tuples of columns.

    Parameters
    ----------
    rows : ndarray or CSR matrix of shape (n, d)
        Of norm one, or zero.
    max_degree : int
        The largest degree q.
    width : int
        Columns of the sketch of each power.
    rng : numpy.random.Generator
    """

    def __init__(self, rows: Any, max_degree: int, width: int, rng: np.random.Generator) -> None:
        self._rows = rows
        self._columns: Any = rows.tocsc() if is_sparse(rows) else np.asfortranarray(rows)
        tree = plan_tree(
            rows.shape[1], list(range(max_degree + 1)), [width] * (max_degree + 1), "osnap", rng
        )
        sketches = np.empty((rows.shape[0], width * (max_degree + 1)))
        tree.fill(rows, sketches)
        self._powers = np.split(sketches, max_degree + 1, axis=1)
        self._squares = rows.multiply(rows).tocsr() if is_sparse(rows) else np.square(rows)
        self._rng = rng

    def mass(self, H: FloatArray, degree: int) -> float:
        """Return about Σ_I ‖Hᵀ φ_I‖² over all tuples of a degree, for H with the weights in it."""
        return float(np.square(H.T @ self._powers[degree]).sum())

    def draw(self, H: FloatArray, degree: int, count: int) -> tuple[Tuples, FloatArray]:
        """Draw tuples of a degree.

        Returns
        -------
        tuples : ndarray of int of shape (count, degree)
        log_probabilities : ndarray of shape (count,)
        """
        tuples = np.empty((count, degree), np.intp)
        log_p = np.zeros(count)
        self._descend(H, np.arange(self._rows.shape[0]), tuples, log_p, np.arange(count), 0)
        return tuples, log_p

    def _descend(
        self,
        H: FloatArray,
        rows: npt.NDArray[np.intp],
        tuples: Tuples,
        log_p: FloatArray,
        which: npt.NDArray[np.intp],
        level: int,
    ) -> None:
        """Draw the next column of some tuples that agree so far, and go on with each.

        H holds the prefix, at the rows where it is not zero.
        """
        degree = tuples.shape[1]
        if level == degree:
            return
        p = self._next(H, rows, degree - level - 1)
        drawn = self._rng.choice(len(p), len(which), p=p)
        tuples[which, level] = drawn
        log_p[which] += np.log(p[drawn])
        for column in np.unique(drawn):
            inside, values = self._column(rows, int(column))
            self._descend(
                H[inside] * values[:, None],
                rows[inside],
                tuples,
                log_p,
                which[drawn == column],
                level + 1,
            )

    def _next(self, H: FloatArray, rows: npt.NDArray[np.intp], left: int) -> FloatArray:
        """Return the probability of every column to be the next, with so many to follow."""
        n_columns = self._rows.shape[1]
        power = self._powers[left][rows]
        products = (H[:, :, None] * power[:, None, :]).reshape(len(H), H.shape[1] * power.shape[1])
        sums = np.square(np.asarray(self._rows[rows].T @ products)).sum(axis=1)
        plain = np.asarray(self._squares[rows].T @ np.square(H).sum(axis=1)).ravel()
        if not (sums.sum() > 0 and plain.sum() > 0):  # the prefix is zero everywhere
            return np.full(n_columns, 1 / n_columns)
        p = (1 - MIX) * sums / sums.sum() + MIX * plain / plain.sum()
        return np.asarray(p / p.sum())

    def _column(self, rows: npt.NDArray[np.intp], column: int) -> tuple[Array, FloatArray]:
        """Return places among the rows where a column is not zero, and its values there."""
        if not is_sparse(self._rows):
            return np.arange(len(rows)), self._columns[rows, column]
        first, last = self._columns.indptr[column : column + 2]
        numbers = self._columns.indices[first:last]
        places = np.searchsorted(rows, numbers)
        places[places == len(rows)] = 0
        found = rows[places] == numbers if len(rows) else np.zeros(len(numbers), bool)
        return places[found], self._columns.data[first:last][found]
