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

A long prefix singles out a row, and the probabilities of the next column hardly change any more:
then several columns are drawn with the same ones. Whatever was used is what is told, so that
estimates over it are unbiased.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ..._typing import Array, FloatArray
from ..._validation import is_sparse
from .sketch_tree import plan_tree

__all__ = ["TupleSampler"]

# Share of plain squared norms in every step, which bounds what an unlikely tuple weighs.
MIX = 0.2
# Probabilities that moved by less, in total variation, serve for twice as many columns.
STEADY = 0.05
# Rows that weigh less than this share of the heaviest have no say but in plain squared norms.
LIGHT = 1e-6
# From this share of entries that are not zero, sparse rows are quicker as dense ones.
DENSE = 0.1

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
        if is_sparse(rows) and rows.nnz >= DENSE * rows.shape[0] * rows.shape[1]:
            rows = rows.toarray()
        self._rows = rows
        self._columns: Any = rows.tocsc() if is_sparse(rows) else np.asfortranarray(rows)
        tree = plan_tree(
            rows.shape[1], list(range(max_degree + 1)), [width] * (max_degree + 1), "osnap", rng
        )
        sketches = np.empty((rows.shape[0], width * (max_degree + 1)))
        tree.fill(rows, sketches)
        # The power of degree zero is a one, whatever the width of its sketch.
        self._powers = [sketches[:, :1], *np.split(sketches, max_degree + 1, axis=1)[1:]]
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
        step: int = 0,
        before: tuple[npt.NDArray[np.intp], FloatArray] | None = None,
    ) -> None:
        """Draw the next columns of some tuples that agree so far, and go on with each.

        H holds the prefix, at the rows where it is not zero; `before` are the probabilities that
        its last columns, `step` in number, were drawn with.
        """
        degree = tuples.shape[1]
        if level == degree:
            return
        columns, p = self._next(H, rows, degree - level - 1)
        step = min(2 * step if _steady(before, (columns, p)) else 1, degree - level)
        places = self._rng.choice(len(p), (len(which), step), p=p)
        drawn = tuples[which, level : level + step] = columns[places]
        log_p[which] += np.log(p[places]).sum(axis=1)
        for block in np.unique(drawn, axis=0):
            inside, product = self._prefix(H, rows, block)
            self._descend(
                product,
                inside,
                tuples,
                log_p,
                which[(drawn == block).all(axis=1)],
                level + step,
                step,
                (columns, p),
            )

    def _prefix(
        self, H: FloatArray, rows: npt.NDArray[np.intp], block: npt.NDArray[np.intp]
    ) -> tuple[npt.NDArray[np.intp], FloatArray]:
        """Return the rows where some more columns are not zero, and H times these there.

        It is scaled, for only ratios count, and powers of high degrees would underflow.
        """
        for column in block.tolist():
            inside, values = self._column(rows, column)
            rows, H = rows[inside], H[inside] * values[:, None]
        largest = np.abs(H).max(initial=0.0)
        return rows, H / largest if largest > 0 else H

    def _next(
        self, H: FloatArray, rows: npt.NDArray[np.intp], left: int
    ) -> tuple[npt.NDArray[np.intp], FloatArray]:
        """Return columns, and the probability of each to be the next, with so many to follow."""
        columns, inside = self._inside(rows)
        weights = np.square(H).sum(axis=1)
        plain = np.asarray((inside * inside).T @ weights).ravel()
        heavy = np.flatnonzero(weights > LIGHT * weights.max(initial=0.0))
        power = self._powers[left][rows[heavy]]
        shape = len(heavy), H.shape[1] * power.shape[1]
        products = (H[heavy, :, None] * power[:, None, :]).reshape(shape)
        sums = np.square(np.asarray(inside[heavy].T @ products)).sum(axis=1)
        if not (sums.sum() > 0 and plain.sum() > 0):  # the prefix is zero everywhere
            n_columns = self._rows.shape[1]
            return np.arange(n_columns), np.full(n_columns, 1 / n_columns)
        p = (1 - MIX) * sums / sums.sum() + MIX * plain / plain.sum()
        return columns, np.asarray(p / p.sum())

    def _inside(self, rows: npt.NDArray[np.intp]) -> tuple[npt.NDArray[np.intp], Any]:
        """Return the columns that are not zero in some rows, and these rows without the others."""
        inside = self._rows[rows]
        if not is_sparse(inside):
            return np.arange(inside.shape[1]), inside
        columns, numbers = np.unique(inside.indices, return_inverse=True)
        shape = (len(rows), len(columns))
        return columns, sp.csr_array((inside.data, numbers, inside.indptr), shape=shape)

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


def _steady(
    before: tuple[npt.NDArray[np.intp], FloatArray] | None,
    now: tuple[npt.NDArray[np.intp], FloatArray],
) -> bool:
    """Tell whether the probabilities of columns are nearly what they were."""
    if before is None or not np.array_equal(before[0], now[0]):
        return False
    return bool(np.abs(before[1] - now[1]).sum() < 2 * STEADY)
