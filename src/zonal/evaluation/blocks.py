"""Cross-validation by blocks in space and time: the error where there are no data nearby."""

from collections.abc import Iterator, Sequence
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.model_selection import BaseCrossValidator, GroupKFold

from .._suggestions import near
from .._typing import Array, FloatArray
from .._validation import as_frame, check_choice, check_count, check_positive
from ..features.columns.sphere_encoder import SphereEncoder, find_column
from ..polynomials.cells import EqualAreaCells
from ..rows import row_hash

__all__ = ["KM_A_DEGREE", "BlockKFold"]

#: Kilometres of a degree of a great circle, on a sphere of the Earth's mean radius.
KM_A_DEGREE = 6371.0088 * np.pi / 180


class BlockKFold(BaseCrossValidator):
    """K folds of whole blocks: cells of equal area on the globe, of a plane, spans of time.

    Neighbours on a map resemble each other. Test rows that are drawn at random lie between
    training rows, and their error tells how well the model interpolates between these; it says
    nothing about places without data. Here all rows of a block are in the same fold, so that
    most test rows are far from the training rows. Blocks go to folds at random, large ones
    first, such that folds have about the same number of rows.

    Parameters
    ----------
    n_splits : int, default=5
        The number of folds K.
    size : float, sequence of float or None, default=10.0
        The side of a cell, in `unit`, or in the units of `coordinates` (then also one for each of
        them). None: blocks in time only.
    unit : {"degree", "km"}, default="degree"
        Degrees of a great circle, or kilometres on the ground; of no meaning for `coordinates`.
    latitude, longitude : str or int, default="auto"
        The columns of X in degrees, by name or by number. ``"auto"``: those of a frame whose names
        say so, as in `SphereEncoder`; of an array the columns that are unit vectors, or
        else the first two.
    time : str or int, optional
        A column of times; blocks are then cells × spans of time.
    time_size : float, optional
        The length of a span, in the units of that column.
    random_state : int, default=0
        Another seed assigns blocks to other folds.
    coordinates : sequence of str or int, optional
        The columns of X that say where a row is, by name or by number, in the place of latitude
        and longitude: eastings and northings, depths, anything in which near rows resemble each
        other. A block is a box of `size` along each of them.

    See Also
    --------
    sklearn.model_selection.GroupKFold : Folds of groups that are given.

    Examples
    --------
    >>> import numpy as np
    >>> import zonal
    >>> rng = np.random.default_rng(0)
    >>> lat, lon = np.degrees(np.arcsin(rng.uniform(-1, 1, 2000))), rng.uniform(-180, 180, 2000)
    >>> X = np.column_stack([lat, lon])
    >>> y = np.cos(np.radians(lat)) + 0.1 * np.sin(np.radians(6 * lon))
    >>> cv = zonal.BlockKFold(n_splits=4, size=20)
    >>> [len(test) for _, test in cv.split(X)]
    [501, 500, 498, 501]
    >>> features = zonal.HarmonicFeatures(n_components=64)
    >>> sphere = zonal.datasets.to_sphere(lat, lon)
    >>> model = zonal.KernelRidge(features, cv=cv).fit(sphere, y)

    In metres of a map projection:

    >>> metres = rng.uniform(0, 100_000, (500, 2))
    >>> plane = zonal.BlockKFold(n_splits=4, size=20_000, coordinates=(0, 1))
    >>> len(np.unique(plane.blocks(metres)))
    25
    """

    #: Models that were saved by earlier versions do not have it.
    coordinates: Sequence[str | int] | None = None

    def __init__(
        self,
        n_splits: int = 5,
        size: float | Sequence[float] | None = 10.0,
        *,
        unit: str = "degree",
        latitude: str | int = "auto",
        longitude: str | int = "auto",
        time: str | int | None = None,
        time_size: float | None = None,
        random_state: int = 0,
        coordinates: Sequence[str | int] | None = None,
    ) -> None:
        self.n_splits = n_splits
        self.size = size
        self.unit = unit
        self.latitude = latitude
        self.longitude = longitude
        self.time = time
        self.time_size = time_size
        self.random_state = random_state
        self.coordinates = coordinates

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of folds."""
        return check_count("n_splits", self.n_splits, "BlockKFold", minimum=2)

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Array, Array]]:
        """Yield the row numbers of the training and the test part of each split.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Rows with latitudes and longitudes, with points of the sphere, or with `coordinates`.
        y, groups : ignored
        """
        n_splits, blocks = self.get_n_splits(), self.blocks(X)
        n_blocks = len(np.unique(blocks))
        if n_blocks < n_splits:
            raise ValueError(
                f"The rows lie in {n_blocks} blocks of size={self.size!r} ({self._unit()}, "
                f"time_size={self.time_size!r}), fewer than n_splits={n_splits}: make blocks "
                "smaller or take fewer splits."
            )
        yield from GroupKFold(n_splits).split(blocks, groups=blocks)

    def blocks(self, X: Any) -> Array:
        """Return a number for the block of each row: [n_samples].

        The numbers are hashes, whose order is random; they do not depend on other rows.
        """
        if self.size is None and self.time is None and self.coordinates is None:
            raise ValueError(
                "BlockKFold(size=None) leaves blocks in time only, but time=None: give a size, or "
                "the column of times."
            )
        seed = check_count("random_state", self.random_state, "BlockKFold", minimum=0)
        mixed = row_hash([seed])
        if self.coordinates is not None:
            for column, size in zip(self.coordinates, self.sizes, strict=True):
                mixed = row_hash(mixed ^ row_hash(_spans(X, column, size, "a number")))
        elif self.size is not None:
            lat, lon = self.places(X)
            mixed = row_hash(mixed ^ row_hash(EqualAreaCells(self.degrees).number(lat, lon)))
        if self.time is not None:
            mixed = row_hash(mixed ^ row_hash(_spans(X, self.time, self._span(), "a time")))
        return np.asarray(mixed >> np.uint64(1)).astype(np.int64)

    @property
    def degrees(self) -> float:
        """The side of a cell in degrees of a great circle."""
        check_choice("unit", self.unit, ("degree", "km"), "BlockKFold")
        size = check_positive("size", self.size, "BlockKFold")
        degrees = size if self.unit == "degree" else size / KM_A_DEGREE
        if degrees > 180:
            raise ValueError(
                f"size={self.size!r} {self.unit} of BlockKFold is more than half of the globe: "
                f"take at most 180 degrees, {180 * KM_A_DEGREE:,.0f} km."
            )
        return degrees

    def places(self, X: Any) -> tuple[FloatArray, FloatArray]:
        """Return latitudes and longitudes of rows, in degrees."""
        if self.coordinates is not None:
            raise ValueError(
                f"BlockKFold(coordinates={self.coordinates!r}) has no latitudes and longitudes."
            )
        points = _points(X, self.latitude, self.longitude)
        x, y, z = points.T.astype(np.float64)
        return np.degrees(np.arctan2(z, np.hypot(x, y))), np.degrees(np.arctan2(y, x))

    @property
    def sizes(self) -> list[float]:
        """The sides of a block along the `coordinates`."""
        if isinstance(self.coordinates, str) or not self.coordinates:
            raise ValueError(
                f"coordinates={self.coordinates!r} of BlockKFold must be a sequence of columns, "
                'such as ("x", "y").'
            )
        n_columns = len(self.coordinates)
        given = list(self.size) if isinstance(self.size, Sequence) else [self.size] * n_columns
        if len(given) != n_columns:
            raise ValueError(
                f"size={self.size!r} of BlockKFold has {len(given)} numbers for "
                f"{n_columns} coordinates: give one, or one for each."
            )
        return [check_positive("size", size, "BlockKFold") for size in given]

    def _unit(self) -> str:
        return f"unit={self.unit!r}" if self.coordinates is None else "in their own units"

    def _span(self) -> float:
        if self.time_size is None:
            raise ValueError(
                f"time={self.time!r} of BlockKFold needs a time_size: the length of a block, in "
                "the units of that column."
            )
        return check_positive("time_size", self.time_size, "BlockKFold")


def _spans(X: Any, column: str | int, length: float, what: str) -> Array:
    """Return the numbers of the spans of a column that rows are in."""
    X = as_frame(X)
    values: Any = X
    if hasattr(X, "columns"):
        names = list(X.columns)
        if isinstance(column, Integral):
            column = names[int(column)]
        if column not in names:
            raise ValueError(
                f"BlockKFold names the column {column!r}, which X has not."
                f"{near(str(column), names)} The columns are {', '.join(map(repr, names))}."
            )
        values = X[column]
    elif isinstance(column, str):
        raise ValueError(
            f"BlockKFold names the column {column!r}, but X is an array without names: pass the "
            "column's number, or a frame."
        )
    else:
        values = np.asarray(X)[:, column]
    numbers = np.asarray(values, dtype=np.float64)
    if not np.isfinite(numbers).all():
        raise ValueError(f"Column {column!r} must hold {what} in every row, for BlockKFold.")
    return np.floor(numbers / length).astype(np.int64)


def _points(X: Any, latitude: str | int, longitude: str | int) -> Array:
    """Return rows as points of the sphere: [n, 3]."""
    X = as_frame(X)
    if hasattr(X, "columns"):  # take two of them, for the others may hold text
        names = [str(name) for name in X.columns]
        places = [
            find_column(angle, wanted, names, len(names), "BlockKFold")
            for angle, wanted in (("latitude", latitude), ("longitude", longitude))
        ]
        angles = X[[X.columns[place] for place in places]]
        return np.asarray(SphereEncoder(0, 1).fit_transform(angles))
    rows = np.asarray(X)
    if latitude == "auto" and longitude == "auto":
        for first in range(rows.shape[1] - 2 if rows.ndim == 2 else 0):
            points = rows[:, first : first + 3]
            if (np.abs(np.einsum("ij,ij->i", points, points) - 1) < 1e-5).all():
                return points
        latitude, longitude = 0, 1
    return np.asarray(SphereEncoder(latitude, longitude, rest="drop").fit_transform(rows))
