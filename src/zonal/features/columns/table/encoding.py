"""From the cells of a table to rows of numbers, and what of that is learnt from targets.

Means of targets tell a row's own target, and those of rows near it, to whoever judges a model by
them. So where some rows are held out, whatever has looked at targets is learnt again from the
others: the levels of words with their means, and the regressions that fill gaps. What has not (how
columns are read, centres and scales, the vertices of few levels) cannot tell any, and stays.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ...._typing import Array, FloatArray
from ..metric.targets import StandardTargets
from .building import encode_parts, pilot_rows
from .cells import Cells
from .counting import folds_of
from .crossed import CrossedPart
from .filling import GapRegressions
from .reader import Reader
from .words import MeanPart, WordLevels, WordSums

__all__ = ["Encoding", "SplitTable"]


@dataclass(frozen=True)
class Encoding:
    """What was learnt of the columns of a table.

    Attributes
    ----------
    readers : dict of str to Reader
        How each column is read.
    parts : dict of str to part
        How it is encoded; columns that are left out have none.
    fills : GapRegressions
    place : list of str
        The columns of latitude and longitude, or none.
    """

    readers: dict[str, Reader]
    parts: dict[str, Any]
    fills: GapRegressions
    place: list[str]

    def read(self, cells: dict[str, Cells]) -> dict[str, Array]:
        """Return the values of the columns that are encoded."""
        names = [*self.place, *(name for name in self.parts if name in self.readers)]
        return {name: self.readers[name].read(cells[name]) for name in dict.fromkeys(names)}

    def rows(self, values: dict[str, Array], folds: Array | None = None) -> FloatArray:
        """Encode values; rows of given folds without the targets of their own fold: [n, d]."""
        return self.fills.fill(encode_parts(self.parts, values, self.place, folds))

    @property
    def learns_targets(self) -> bool:
        """Whether another sample of targets gives other rows."""
        means = any(isinstance(part, MeanPart) for part in self.parts.values())
        return means or bool(self.fills.coefs)

    def relearnt(
        self, values: dict[str, Array], targets: FloatArray, weights: FloatArray, folds: Array
    ) -> "Encoding":
        """Learn what targets go into from other rows; which columns there are stays.

        Parameters
        ----------
        values : dict of str to ndarray of shape (n,)
        targets : ndarray of shape (n, t)
            Standard ones, of as many columns as before.
        weights, folds : ndarrays of shape (n,)
        """
        parts = dict(self.parts)
        for name, part in parts.items():
            if isinstance(part, MeanPart):
                words = WordSums.of(values[name], targets, weights, folds)
                parts[name] = MeanPart.of(WordLevels.of(name, words), words)
            elif isinstance(part, CrossedPart):
                parts[name] = part.relearnt(values, targets, weights, folds)
        if not self.fills.coefs:
            return replace(self, parts=parts)
        few = pilot_rows(weights)
        some = {name: column[few] for name, column in values.items()}
        rows = encode_parts(parts, some, self.place, folds[few])
        fills = GapRegressions.of(rows, list(self.fills.coefs), weights[few])
        return replace(self, parts=parts, fills=fills)


@dataclass(frozen=True)
class SplitTable:
    """A table in memory that is encoded anew for each split of its rows.

    Attributes
    ----------
    encoding : Encoding
        Learnt from all rows.
    values : dict of str to ndarray of shape (n,)
        The columns, read once.
    y : ndarray of shape (n,) or (n, n_targets)
    weights : ndarray of shape (n,)
    task : str
    classes : ndarray or None
        What `StandardTargets` is given.
    dtype : dtype
        Of the encoded rows.
    """

    encoding: Encoding
    values: dict[str, Array]
    y: Array
    weights: FloatArray
    task: str
    classes: Array | None
    dtype: npt.DTypeLike

    def learnt_from(self, known: npt.NDArray[np.bool_]) -> Encoding:
        """Return the encoding that some rows give, of which at least one counts."""
        chosen = np.flatnonzero(known & (self.weights > 0))
        y, weights = self.y[chosen], self.weights[chosen]
        targets = StandardTargets.of(y, weights, self.task, self.classes)(y)
        return self.encoding.relearnt(self._values(chosen), targets, weights, folds_of(chosen))

    def rows(self, known: npt.NDArray[np.bool_]) -> Array:
        """Return all rows as they are to a model that has the targets of some: [n, d].

        These are encoded without the targets of their own fold, as for a fit; all others as new
        rows are.

        Parameters
        ----------
        known : ndarray of bool, of shape (n,)
        """
        if not np.any(self.weights[known] > 0):
            return self.encoding.rows(self.values).astype(self.dtype)  # nothing can be fitted
        encoding = self.learnt_from(known)
        chosen, others = np.flatnonzero(known), np.flatnonzero(~known)
        training = encoding.rows(self._values(chosen), folds_of(chosen))
        rows = np.empty((len(known), training.shape[1]), self.dtype)
        rows[chosen] = training
        if len(others):
            rows[others] = encoding.rows(self._values(others))
        return rows

    def _values(self, chosen: npt.NDArray[np.intp]) -> dict[str, Array]:
        return {name: column[chosen] for name, column in self.values.items()}
