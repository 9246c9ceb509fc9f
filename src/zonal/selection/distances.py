"""Held-out rows at several distances from the others, and what candidates say of them.

Random rows ask for interpolation, rows inside emptied balls for what is in a hole; beside a time,
all times of places and the ends of the series are holes too (`model.held_out`). Each candidate is
fitted once, to all rows, and predicts held-out rows as if they and the rest of their hole were not
known, with parameters that stay.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from .._typing import Array, FloatArray
from ..kriging.locations import Locations
from ..kriging.process import LocalProcess
from ..kriging.search import Found
from ..kriging.units import column_groups
from ..model.held_out import HeldOut, hold_out, time_like
from ..model.split_fits import SplitFits

__all__ = ["Distances"]


@dataclass(frozen=True)
class Distances:
    """Rows that are held out at several distances.

    Attributes
    ----------
    locations : Locations
        All rows, with targets about zero.
    first : Found
        The candidate in whose units distances are.
    n_neighbors : int
        Of predictions.
    asked : ndarray of shape (q, d) or None
        Rows that will be asked, where they are known: distances follow theirs.
    seed : int
        Of the holes.
    """

    locations: Locations
    first: Found
    n_neighbors: int
    asked: Array | None = None
    seed: int = 0

    @cached_property
    def wanted(self) -> FloatArray | None:
        """The distances of rows that will be asked, where these are known: [q]."""
        return None if self.asked is None else self._process(self.first).distance(self.asked)

    @cached_property
    def parts(self) -> list[HeldOut]:
        """The rows that are held out together, those that have others beside them first."""
        rows = self.locations.rows
        time = time_like(rows, column_groups(rows))
        points = self._process(self.first).points
        return hold_out(points, self.wanted, time=time, seed=self.seed)

    @property
    def distance(self) -> FloatArray:
        """From each held-out row to the nearest one that is known: [n]."""
        return np.concatenate([part.distance for part in self.parts])

    @property
    def is_alone(self) -> npt.NDArray[np.bool_]:
        """Which of them are held out without the rows around them: [n]."""
        return np.concatenate([np.full(len(part.test), part.kind == "rows") for part in self.parts])

    @property
    def holes(self) -> npt.NDArray[np.intp]:
        """Which hole each of them lies in: [n]."""
        ends = np.cumsum([0, *(int(part.hole.max()) + 1 for part in self.parts)])
        each = zip(self.parts, ends[:-1], strict=True)
        return np.concatenate([part.hole + end for part, end in each])

    @property
    def truth(self) -> FloatArray:
        """Their targets: [n, t]."""
        return np.concatenate([self.locations.targets[part.test] for part in self.parts])

    @property
    def weight(self) -> FloatArray:
        """How much each of them counts as a row: [n]."""
        return np.concatenate([self.locations.weight[part.test] for part in self.parts])

    def predicted(self, found: Found) -> FloatArray:
        """Return what a local part with known parameters says of them: [n, t]."""
        process = self._process(found)
        with process.kept_features():
            fits = SplitFits(process, self.locations.targets, process.features, found.ratio)
            each = [
                fits.predicted(np.flatnonzero(part.train), process.rows[part.test])
                for part in self.parts
            ]
        return np.concatenate(each)

    def _process(self, found: Found) -> LocalProcess:
        rows, weight = self.locations.rows, self.locations.weight
        most = min(self.n_neighbors, len(rows))
        return LocalProcess(
            rows, weight, found.kernel, found.noise, most, found.low, found.amplitude
        )
