"""Features of rows in memory, kept for all passes over them if there is room."""

from dataclasses import replace

import numpy as np

from ..rows import Block
from ..rows.array import ArraySource
from .newton_sums import Expansion
from .rotation import Rotation

__all__ = ["room_for_features", "with_features"]

# Bytes that features of all rows may take.
KEPT_FEATURES = 1 << 29


def room_for_features(rows: Block, n_columns: int) -> bool:
    """Tell whether the features of all rows are kept."""
    itemsize = 4 if getattr(rows.X, "dtype", None) == np.float32 else 8
    return len(rows) * n_columns * itemsize <= KEPT_FEATURES


def with_features(rows: Block, start: Expansion) -> tuple[ArraySource, Expansion, Rotation | None]:
    """Return features in the place of rows, if there is room, and few of them for few rows."""
    if not room_for_features(rows, len(start.shift)):
        return ArraySource(rows), start, None
    Z = start.space.map(rows.X, np.copy)
    rotation = None
    if len(Z) < Z.shape[1]:
        rotation = Rotation.of(Z)
        Z, start = rotation.apply(Z), replace(start, shift=rotation.apply(start.shift))
    return ArraySource(replace(rows, X=Z)), replace(start, features=None), rotation
