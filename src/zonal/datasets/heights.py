"""The height of the ground at any place of the Earth, from the map that ships with the package."""

from functools import cache
from typing import Any

import numpy as np

from .._typing import FloatArray
from .loaders import load_elevation

__all__ = ["height_at"]


def height_at(latitude: Any, longitude: Any) -> FloatArray:
    r"""Height of the ground above the sea at places of the Earth, in metres.

    Between the centres of the one-degree cells of `load_elevation` it is bilinear in latitude and
    longitude. The sea has the depth of its floor, below zero. Temperature, rain, pressure and
    vegetation follow the ground: where they are asked for far from all rows, this column says what
    places do not (`SphereEncoder` has it as ``height=True``).

    Parameters
    ----------
    latitude, longitude : array-likes of shape (n,)
        Degrees: -90 to 90, and any longitude.

    Returns
    -------
    ndarray of shape (n,)

    Examples
    --------
    >>> from zonal.datasets import height_at
    >>> height_at([30.5, 0.5], [90.5, -140.5]).round()  # Tibet and the middle of the Pacific
    array([ 5029., -4436.])
    """
    latitude, longitude = np.broadcast_arrays(
        np.asarray(latitude, np.float64), np.asarray(longitude, np.float64)
    )
    if not (np.abs(latitude) <= 90).all():
        wrong = latitude[~(np.abs(latitude) <= 90)].flat[0]
        raise ValueError(f"{wrong} is not a latitude: those are degrees from -90 to 90.")
    if not np.isfinite(longitude).all():
        wrong = longitude[~np.isfinite(longitude)].flat[0]
        raise ValueError(f"{wrong} is not a longitude: those are finite degrees.")
    cells = _cells()
    # In steps from the centre of the first cell; one row more beyond each pole.
    north, east = latitude + 90.5, np.mod(longitude - 0.5, 360.0)
    row = np.minimum(north.astype(int), len(cells) - 2)
    column = np.minimum(east.astype(int), 359)
    up, right = north - row, east - column
    after = (column + 1) % 360
    below = (1 - right) * cells[row, column] + right * cells[row, after]
    above = (1 - right) * cells[row + 1, column] + right * cells[row + 1, after]
    return np.asarray((1 - up) * below + up * above)


@cache
def _cells() -> FloatArray:
    """Heights of the cells from south to north and from 0° to the east: [182, 360].

    Beyond a pole follow the cells on its far side.
    """
    place, height = load_elevation(return_X_y=True)
    cells = np.empty((180, 360))
    rows, columns = np.floor([place[:, 0] + 90, place[:, 1] % 360]).astype(int)
    cells[rows, columns] = height
    far = np.roll(cells[[0, -1]], 180, axis=1)
    return np.vstack([far[:1], cells, far[1:]])
