"""Coastlines of the world, for small pictures.

The data are the outlines of Natural Earth's countries at 1:110 million
(`ne_110m_admin_0_countries`, https://www.naturalearthdata.com, as in geopandas 0.14.4), which are
in the public domain. An outline that two countries share is a border and left out, as are the cuts
along 180° and at the South Pole; what is left is simplified to 0.05°.
"""

from functools import cache
from importlib.resources import files

import numpy as np

from .._typing import FloatArray

__all__ = ["coastlines"]


@cache
def coastlines() -> tuple[tuple[FloatArray, FloatArray], ...]:
    """Return lines as latitudes and longitudes in degrees.

    Examples
    --------
    >>> from zonal.grid.coastlines import coastlines
    >>> lat, lon = max(coastlines(), key=lambda line: len(line[0]))
    >>> bool(abs(lat).max() <= 90 and abs(lon).max() <= 180)
    True
    """
    with (files(__package__) / "coastlines.npz").open("rb") as file, np.load(file) as stored:
        # Steps in hundredths of a degree; the first of a line starts at zero.
        steps, sizes = stored["steps"].astype(np.int64), stored["sizes"]
    parts = np.split(steps, np.cumsum(sizes)[:-1], axis=1)
    lines = (np.cumsum(part, axis=1) / 100 for part in parts)
    return tuple((lat, lon) for lon, lat in lines)
