"""Moments of rows, and a sample of the rows by which intervals are calibrated."""

from dataclasses import dataclass
from typing import Any

from ..moments import Moments
from ..rows.reservoir import Reservoir

__all__ = ["SampledSums", "moments_of"]


@dataclass(frozen=True)
class SampledSums:
    """What a learner on features keeps of the rows that it has seen.

    Attributes
    ----------
    moments : list of Moments
        Of each fold.
    rows : Reservoir
    """

    moments: list[Moments]
    rows: Reservoir

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return sum(part.n_rows for part in self.moments)

    def __sizeof__(self) -> int:
        """Bytes, by which Dask decides what is moved."""
        parts = [*self.moments, self.rows]
        return object.__sizeof__(self) + sum(part.__sizeof__() for part in parts)


def moments_of(sums: Any) -> list[Moments]:
    """Return the moments alone; models of earlier versions hold nothing else."""
    return list(sums.moments if isinstance(sums, SampledSums) else sums or [])
