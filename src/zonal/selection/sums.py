"""Sums of functions of single columns, and of one of all columns."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._validation import is_sparse
from ..features import HarmonicFeatures, NystroemFeatures, SumFeatures
from ..kernels import Kernel, Matern, Polynomial
from ..kriging.units import column_groups

__all__ = ["SUMS", "Columns"]

#: Functions of each column, and their variance relative to that of a function of all columns.
SUMS = {"additive": np.inf, "sum": 1.0, "light sum": 0.01}
# Features of a function of one column, whose length scale is a standard deviation. Not tuned.
SINGLE_COLUMNS = 16


@dataclass(frozen=True)
class Columns:
    """Columns of a table, of which a sum of functions is made.

    Attributes
    ----------
    curved : tuple of tuples of int
        Columns of which a function may be any: each alone, those of an angle or a place together.
    straight : tuple of int
        Those with two values, of which every function is linear.
    """

    curved: tuple[tuple[int, ...], ...]
    straight: tuple[int, ...]

    @classmethod
    def of(cls, rows: Any) -> "Columns":
        """Look at rows of a pilot; sparse ones have no columns to speak of."""
        if is_sparse(rows):
            return cls((), ())
        curved, straight, groups = [], [], column_groups(rows)
        for group in range(groups[-1] + 1):
            members = np.flatnonzero(groups == group)
            low, high = rows[:, members[0]].min(), rows[:, members[0]].max()
            if len(members) > 1 or ((rows[:, members] > low) & (rows[:, members] < high)).any():
                curved.append(tuple(members.tolist()))
            elif low < high:
                straight.append(int(members[0]))
        return cls(tuple(curved), tuple(straight))

    def __len__(self) -> int:
        return len(self.curved) + len(self.straight)

    def features(self, share: float, kernel: Kernel, n_components: int, seed: int) -> SumFeatures:
        """Return features of functions of single columns, and of one of all columns.

        Parameters
        ----------
        share : float
            The variance of each function of a column, relative to that of the function of all;
            infinite: there is none of all.
        kernel : Kernel
            That of the function of all columns.
        n_components : int
        seed : int
        """
        scale = min(share, 1.0)
        few: dict[str, Any] = {"sampling": "uniform", "random_state": seed}
        groups: list[tuple[Any, Any]] = [
            (
                list(members),
                NystroemFeatures(scale * Matern(1.5, 1.0), SINGLE_COLUMNS * len(members), **few),
            )
            for members in self.curved
        ]
        if self.straight:
            linear = scale * Polynomial(1, 1.0, 0.0)
            groups.append((list(self.straight), HarmonicFeatures(linear, 1 + len(self.straight))))
        if share < np.inf:
            groups.append((slice(None), NystroemFeatures(kernel, n_components, **few)))
        return SumFeatures(groups, n_components)
