"""A column that tells how large the error of each row is."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np

__all__ = ["NoiseKind", "WithVariances", "WithoutNoise"]


class NoiseKind(StrEnum):
    """What a column of errors holds."""

    STD = "std"
    VARIANCE = "variance"


@dataclass(frozen=True)
class WithVariances:
    """Blocks (X, y, variance) of a stream whose third part is of that kind."""

    rows: Any
    kind: NoiseKind

    def __iter__(self) -> Iterator[tuple[Any, Any, Any]]:
        for X, y, noise in self.rows:
            yield X, y, np.square(noise) if self.kind is NoiseKind.STD else noise


@dataclass(frozen=True)
class WithoutNoise:
    """Blocks (X, y) of a stream that has a third part."""

    rows: Any

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        for X, y, _ in self.rows:
            yield X, y
