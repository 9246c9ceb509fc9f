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


def moments_of(sums: Any) -> list[Moments]:
    """Return the moments alone; models of earlier versions hold nothing else."""
    return list(sums.moments if isinstance(sums, SampledSums) else sums or [])
