"""Whitened sums over places of a part, each given earlier ones wherever they are, for the scale.

A place is conditioned on the nearest *earlier* ones, and the earlier a place is, the farther these
are. So places are taken in classes, in each of which hashes are at most doubled: those that all of
a class may be conditioned on are half as many as those that any of it may be, and surroundings of
the class hold few places more than the class itself. The first class, the head, is one part.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import numpy.typing as npt

from .._typing import FloatArray
from ..kriging.joint import no_features, whitened_gram
from ..kriging.marginal import Observed
from ..kriging.neighbors import Indices
from ..kriging.process import LocalProcess
from ..rows import Source, row_hash
from ..rows.copies import content_hash
from .around import Parts
from .part import Part

__all__ = ["Whitened", "Whitener"]

#: All hashes are smaller.
END = 1 << 64


@dataclass(frozen=True)
class Whitened:
    """Sums over whitened places.

    Attributes
    ----------
    gram : ndarray of shape (1 + t, 1 + t)
        Products of the constant and the targets.
    observed : Observed
    n_places : int
    """

    gram: FloatArray
    observed: Observed
    n_places: int

    def merged(self, other: "Whitened") -> "Whitened":
        """Return the sums over the places of both."""
        a, b = self.observed, other.observed
        observed = replace(
            a,
            total=a.total + b.total,
            repeats=a.repeats + b.repeats,
            log_determinant=a.log_determinant + b.log_determinant,
            within=a.within + b.within,
        )
        return Whitened(self.gram + other.gram, observed, self.n_places + other.n_places)


@dataclass(frozen=True)
class Whitener:
    """Whitens the places of parts.

    Attributes
    ----------
    parts : Parts
    process : LocalProcess
        The local part; its rows do not matter.
    n_neighbors : int
        Earlier places that each is conditioned on.
    offset : ndarray of shape (t,)
        What is subtracted from targets.
    head : Part
        The first places.
    most : int or None
        Places are summed whose second hash is smaller; None: all.
    """

    parts: Parts
    process: LocalProcess
    n_neighbors: int
    offset: FloatArray
    head: Part
    most: int | None = None

    def total(self, source: Source) -> Whitened:
        """Return the sums over all places, taken where the rows are."""
        begin = int(self.head.hashes[-1]) + 1
        found = [self._sums(self.head, np.arange(len(self.head), dtype=np.int32))]
        light = replace(self, head=self.head.take(slice(0, 1)))
        found += source.map(partial(light.sums_of, begin), self.parts.cells)
        total = _added(found)
        assert total is not None
        return total

    def sums_of(self, begin: int, cell: int) -> Whitened | None:
        """Return the sums over the places of a cell that are not in the head."""
        return _added(self._sums(near, judged) for near, judged in self._classes(begin, cell))

    def _classes(self, begin: int, cell: int) -> Iterator[tuple[Part, Indices]]:
        """Yield places of a class with their surroundings, and the numbers of the former."""
        part = self.parts.part(cell)
        low = begin
        while low < END:
            high = min(2 * low, END)
            first, last = (len(part.before(bound)) for bound in (low, high))
            if first < last:
                own = part.take(slice(first, last))
                points = self.parts.located(own.rows)
                around = self.parts.around(points, cell, self.n_neighbors, known=low, before=high)
                for chosen, near in around:
                    yield near, np.searchsorted(near.hashes, own.hashes[chosen]).astype(np.int32)
            low = high

    def _sums(self, near: Part, judged: Indices) -> Whitened | None:
        """Return the sums over some of the places of a part."""
        if self.most is not None:
            judged = judged[_second(near.rows[judged]) < np.uint64(self.most)]
        if not len(judged):
            return None
        locations = near.locations(self.offset)
        process = self.process.observed_at(locations.rows, locations.weight)
        whitening = process.whitening(judged, self.n_neighbors)
        gram = whitened_gram(whitening, locations, no_features, process.points)
        repeated = locations.repeated.part(judged)
        if process.amplitude is not None:
            repeated = repeated.over(process.amplitude.at(locations.rows[judged]))
        observed = Observed.of(whitening.variance, repeated, process.noise)
        return Whitened(gram, observed, len(judged))

    def judging(self, source: Source, n_places: int) -> "Whitener":
        """Return the same that sums over so many places only, the same that a fit in memory has."""
        n_all = len(self.parts)
        if n_all <= n_places:
            return self
        share = n_places * (1 + 6 / n_places**0.5) / n_all
        bound = min(int(share * END), END - 1)
        cells = self.parts.cells
        hashes = np.concatenate(source.map(partial(_smallest, self.parts, bound), cells))
        if len(hashes) <= n_places:  # one time in 10⁹
            hashes = np.concatenate(source.map(partial(_smallest, self.parts, END - 1), cells))
        return replace(self, most=int(np.partition(hashes, n_places)[n_places]))


def _added(found: Iterable[Whitened | None]) -> Whitened | None:
    """Return the sum of some sums, None for those of nothing."""
    total: Whitened | None = None
    for part in found:
        if part is not None:
            total = part if total is None else total.merged(part)
    return total


def _second(rows: FloatArray) -> npt.NDArray[np.uint64]:
    """Return the hash by which `zonal.model.local_solution.judged_places` takes places."""
    return row_hash(content_hash(rows))


def _smallest(parts: Parts, bound: int, cell: int) -> npt.NDArray[np.uint64]:
    hashes = _second(np.asarray(parts.part(cell).rows))
    return hashes[hashes < np.uint64(bound)]
