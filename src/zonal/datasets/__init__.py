"""Real datasets, and from latitude and longitude points of the sphere and heights of the ground.

Elevation ships with the package; the others are read from ``benchmarks/data`` of the source
repository or from a folder that the caller names.
"""

from ..polynomials import to_sphere
from .heights import height_at
from .loaders import (
    load_abalone,
    load_climate,
    load_climate_berkeley,
    load_co2,
    load_co2_column,
    load_connect4,
    load_elevation,
    load_gaps_simulated,
    load_magic,
    load_mushroom,
    load_pendigits,
    load_protein,
    load_shuttle,
)

__all__ = [
    "height_at",
    "load_abalone",
    "load_climate",
    "load_climate_berkeley",
    "load_co2",
    "load_co2_column",
    "load_connect4",
    "load_elevation",
    "load_gaps_simulated",
    "load_magic",
    "load_mushroom",
    "load_pendigits",
    "load_protein",
    "load_shuttle",
    "to_sphere",
]
