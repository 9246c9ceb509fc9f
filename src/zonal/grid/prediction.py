"""Predictions on grids, in memory or chunk by chunk."""

import threading
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from .._validation import check_positive
from ..rows.progress import advanced
from .attributes import describe, describe_axis
from .cells import CHUNK_CELLS, Cells, Field, as_dataset, blocks_of, is_known
from .extent import region_of
from .forecasts import say_forecast
from .matching import Matching, match
from .nearness import Nearness, nearness_of
from .optional import library
from .outcomes import class_flags, known_outcomes, names_of, outcomes
from .times import is_time

__all__ = ["answers", "check_coverage", "field_of", "grid_cells", "grid_of", "predict_grid"]

# A variable of our own in the Datasets that Dask cuts into chunks.
GRID = "_cells_of_the_grid"
WHERE = "_where_wanted"
# A prediction uses all cores itself, and compiled loops must not meet in two threads.
ONE_AT_A_TIME = threading.Lock()


def predict_grid(
    model: Any,
    lat: npt.ArrayLike | None = None,
    lon: npt.ArrayLike | None = None,
    time: Any = None,
    resolution: float | None = None,
    *,
    like: Any = None,
    coverage: float = 0.9,
    chunks: Any = None,
    crs: Any = None,
    at: Mapping[str, Any] | None = None,
    max_distance: float | None = None,
) -> Any:
    """Predict on a grid of latitudes and longitudes, or on any grid that is given.

    Each column of the model is looked for: latitude and longitude; a time, in a column of dates or
    one whose name says so; variables of `like` by their name; and what is the same everywhere in
    `at`. All that is missing comes in one error.

    Parameters
    ----------
    model : fitted regressor or classifier
        Of `zonal.grid.fit`, or any whose columns are latitude and longitude by name, (latitude,
        longitude) or points of the sphere, then time; or any columns that `like` has by name.
    lat, lon : array-like, optional
        Degrees. With `resolution` pairs (south, north) and (west, east), by default the region of
        the data that the model was fitted to, up to whole steps, where the model knows it (of
        `zonal.grid.fit` and ``zonal fit``), else the globe.
    time : date, number or array of them, optional
        The times, if the model has any: dates (text such as "2020-06-15" too), or the numbers
        that it was fitted to.
    resolution : float, optional
        The distance of neighbouring points in degrees, poles included: 0.25 makes 721 × 1440.
    like : xarray.DataArray or Dataset, optional
        A grid to take instead, with all its coordinates; a Dataset holds the covariates, such as
        the heights of a terrain model. `time` may be given beside a grid that has none.
    coverage : float, default=0.9
        The probability of the interval from ``lower`` to ``upper``.
    chunks : int, dict or "auto", optional
        Chunks as in ``xarray.Dataset.chunk`` ("auto": of about 65,000 cells): the result is
        computed with Dask when it is needed, chunk by chunk, as in ``result.to_netcdf(path)``. A
        grid `like` with chunks keeps them.
    crs : anything that pyproj takes, optional
        The projection of x and y of `like`, if it does not tell.
    at : mapping of str to value, optional
        Columns of the model that have one value all over the map: numbers, words or dates, as in
        ``at={"date": "2020-07-15", "kind": "urban"}``.
    max_distance : float, optional
        Kilometres: cells farther from all places of the model's data, at whatever time, stay NaN.
        For models that know these places (of `zonal.grid.fit` and ``zonal fit``).

    Returns
    -------
    xarray.Dataset
        ``prediction``, ``std``, ``lower`` and ``upper`` with CF attributes. The uncertainty is that
        of a new observation, noise included. Other models than ours give predictions only. Of a
        classifier ``prediction`` and ``probability_<class>``; words are numbered, and
        ``flag_meanings`` tells which is which. Times after the last that a model of
        `zonal.grid.fit`, or of places and dates, has seen make it a forecast: a warning and the
        attribute ``forecast`` say so.

    Examples
    --------
    >>> import numpy as np, pandas as pd, zonal
    >>> rng = np.random.default_rng(0)
    >>> places = pd.DataFrame({"lat": rng.uniform(-90, 90, 200), "lon": rng.uniform(0, 360, 200)})
    >>> y = np.sin(np.radians(places["lat"]))
    >>> model = zonal.KernelRidge(None, local=zonal.NeighborKriging()).fit(
    ...     zonal.datasets.to_sphere(places["lat"], places["lon"]), y
    ... )
    >>> found = zonal.predict_grid(model, resolution=10)
    >>> found["prediction"].dims, found["prediction"].shape
    (('lat', 'lon'), (19, 36))
    >>> bool(abs(found["prediction"].sel(lat=90, lon=0) - 1) < 0.05)
    True
    """
    check_coverage(coverage)
    cells, plan, dims = grid_cells(model, lat, lon, time, resolution, like, at, crs)
    for dim in dims:
        if dim not in cells.dims:
            warnings.warn(
                f"No column of the model depends on the grid's dimension {dim!r}: the map is "
                "without it.",
                UserWarning,
                stacklevel=2,
            )
    near = nearness_of(model, max_distance)
    found = answers(cells, plan, model, coverage, *field_of(model), chunks=chunks, near=near)
    return say_forecast(found, cells, model)


def grid_cells(
    model: Any,
    lat: Any,
    lon: Any,
    time: Any,
    resolution: float | None,
    like: Any,
    at: Mapping[str, Any] | None,
    crs: Any,
) -> tuple[Cells, Matching, tuple[str, ...]]:
    """Return the cells that `predict_grid` is asked for, how they become rows, and dimensions.

    The dimensions are those of the grid that are longer than one cell.
    """
    if like is None:
        data, dims = grid_of(lat, lon, time, resolution, model)
    else:
        if any(part is not None for part in (lat, lon, resolution)):
            raise ValueError("like=... is a whole grid: leave lat, lon and resolution out.")
        data, dims = as_dataset(like), tuple(str(dim) for dim in getattr(like, "dims", ()))
        if time is not None:
            data, dims = _dated(data, time), ("time", *dims)
    cells, plan = match(model, data, dims, at=at, crs=crs, timed=time is not None)
    return cells, plan, tuple(dim for dim in dims if data.sizes[dim] > 1)


def field_of(model: Any) -> tuple[str, dict[str, Any]]:
    """Return the name and the attributes of what a model predicts."""
    field = getattr(model, "field_", {"name": "prediction", "attrs": {}})
    if hasattr(model, "table_"):
        field = {"name": model.table_["target"], "attrs": model.table_.get("attrs", {})}
    return str(field["name"]), dict(field["attrs"])


def _dated(data: Any, time: Any) -> Any:
    """Return a grid with times of its own."""
    own = [str(name) for name, c in data.coords.items() if is_time(c) and c.ndim]
    if own:
        raise ValueError(
            f"The grid has times of its own ({own[0]!r}): leave the time out, or take one entry of "
            "the grid and drop its time first."
        )
    single = [name for name, c in data.coords.items() if is_time(c)]
    values, attrs = _times(time)
    return data.drop_vars(single).assign_coords(time=("time", values, attrs))


def answers(
    cells: Cells,
    plan: Matching,
    model: Any,
    coverage: float,
    name: str,
    attrs: dict[str, Any],
    *,
    field: Field | None = None,
    where: Any = None,
    near: Nearness | None = None,
    chunks: Any = None,
    what: str = "prediction on a grid",
) -> Any:
    """Return a Dataset of predictions in all cells, or in those of a field without a value.

    Parameters
    ----------
    cells : Cells
    plan : Matching
        How they become rows of the model.
    model, coverage
        As `predict_grid` takes them.
    name, attrs
        The variable that is predicted, and its attributes.
    field : Field, optional
        Where a value is known it stays, with a standard deviation of 0.
    where : xarray.DataArray of bool, optional
        The cells that are wanted, as `mask_of` returns them; others without a value stay NaN.
    near : Nearness, optional
        Cells that are farther from data stay NaN.
    chunks
        As `predict_grid` takes them.
    what : str
        What is done, for the history.
    """
    xr = library("xarray")
    names = names_of(model)
    data = cells.data
    if where is not None:
        data = data.assign({WHERE: where})
    data = data.unify_chunks()
    if chunks is not None:
        cut = _cut(data, cells.dims, chunks)
        marker = library("dask.array").zeros(
            tuple(data.sizes[dim] for dim in cells.dims), dtype=bool, chunks=tuple(cut.values())
        )
        data = data.assign({GRID: (cells.dims, marker)}).chunk(cut)
    dtype = np.float64 if field is None else np.result_type(field.values.dtype, np.float32)
    bare = replace(cells, data=None)
    known = None if field is None else replace(field, cells=bare)
    function = partial(
        _answer, cells=bare, plan=plan, model=model, coverage=coverage, field=known, near=near,
        dtype=dtype,
    )  # fmt: skip
    lazy = bool(data.chunks)
    result = xr.Dataset(
        {key: (cells.dims, _empty(data, cells.dims, dtype, lazy)) for key in names},
        coords=_coordinates(cells, data),
        attrs=dict(data.attrs),
    )
    result = describe(result, name, attrs, coverage, what)
    result["prediction"].attrs |= class_flags(model)
    if lazy:
        return xr.map_blocks(function, data, template=result)
    for index, block in blocks_of(data, cells.dims):
        part = function(block)
        place = tuple(index[dim] for dim in cells.dims)
        for key in names:
            result[key].values[place] = part[key].values
    return result


def _cut(data: Any, dims: tuple[str, ...], chunks: Any) -> dict[str, tuple[int, ...]]:
    """Return the sizes of chunks along each dimension; "auto" makes them of `CHUNK_CELLS`."""
    shape = tuple(data.sizes[dim] for dim in dims)
    wanted = tuple(chunks.get(dim, -1) for dim in dims) if isinstance(chunks, Mapping) else chunks
    limit = CHUNK_CELLS * np.dtype(np.float64).itemsize
    normalize = library("dask.array").core.normalize_chunks
    return dict(zip(dims, normalize(wanted, shape, limit=limit, dtype=np.float64), strict=True))


def _answer(
    block: Any, *, cells: Cells, plan: Matching, model: Any, coverage: float,
    field: Field | None, near: Nearness | None, dtype: Any,
) -> Any:  # fmt: skip
    """Return the Dataset of predictions for a part of the grid that is in memory."""
    names = names_of(model)
    part = cells.block(block)
    wanted = part.known(cells.covariates)
    shape = wanted.shape
    found = {key: np.full(shape, np.nan, dtype=dtype) for key in names}
    if field is not None:
        known = is_known(part.array(field.target))
        wanted &= ~known
        for key, values in known_outcomes(model, part.array(field.target)[known]).items():
            found[key][known] = values
    if WHERE in block:
        wanted &= part.array(WHERE).astype(bool)
    if near is not None and wanted.any():
        wanted[wanted] = near.near(part.rows(wanted))
    if wanted.any():
        with ONE_AT_A_TIME:
            answer = outcomes(model, plan.rows(model, part, wanted), coverage)
        for key in names:
            found[key][wanted] = answer[key]
    advanced(wanted.size)
    coords = _coordinates(cells, block)
    return library("xarray").Dataset({k: (cells.dims, v) for k, v in found.items()}, coords=coords)


def _coordinates(cells: Cells, data: Any) -> dict[str, Any]:
    """Return the coordinates that belong to the dimensions of the cells."""
    return {name: c for name, c in data.coords.items() if set(c.dims) <= set(cells.dims)}


def _empty(data: Any, dims: tuple[str, ...], dtype: Any, lazy: bool) -> Any:
    shape = tuple(data.sizes[dim] for dim in dims)
    if not lazy:
        return np.full(shape, np.nan, dtype=dtype)
    chunks = tuple(data.chunksizes.get(dim) or (data.sizes[dim],) for dim in dims)
    return library("dask.array").empty(shape, dtype=dtype, chunks=chunks)


def grid_of(
    lat: Any, lon: Any, time: Any, resolution: float | None, model: Any = None
) -> tuple[Any, tuple[str, ...]]:
    """Return the grid of given latitudes, longitudes and times, and its dimensions."""
    if resolution is not None:
        step = check_positive("resolution", resolution, "predict_grid")
        region = region_of(model, step)
        lat = _range("lat", region[1::2] if lat is None else lat, step)
        west, east = _pair("lon", region[::2] if lon is None else lon)
        lon = _range("lon", (west, east), step)
        if abs(lon[-1] - lon[0] - 360) < 1e-9:  # the last meridian is the first
            lon = lon[:-1]
    if lat is None or lon is None:
        raise ValueError("Give lat and lon, or resolution=..., or a grid as like=....")
    axes: dict[str, tuple[Any, dict[str, str]]] = {
        "lat": (np.atleast_1d(np.asarray(lat, dtype=np.float64)), describe_axis("latitude")),
        "lon": (np.atleast_1d(np.asarray(lon, dtype=np.float64)), describe_axis("longitude")),
    }
    if time is not None:
        axes = {"time": _times(time), **axes}
    coords = {name: (name, values, attrs) for name, (values, attrs) in axes.items()}
    return library("xarray").Dataset(coords=coords), tuple(coords)


def _range(name: str, ends: Any, step: float) -> Any:
    """Return numbers from the first end to the last, by steps of that size."""
    low, high = _pair(name, ends)
    count = np.floor((high - low) / step + 1e-9) + 1
    return low + step * np.arange(int(count))


def _pair(name: str, ends: Any) -> tuple[float, float]:
    found = np.asarray(ends, dtype=np.float64)
    if found.shape != (2,) or not found[0] < found[1]:
        raise ValueError(
            f"{name}={ends!r} beside a resolution must be two numbers, the smaller one first; for "
            "a range across the date line let the second exceed 180."
        )
    return float(found[0]), float(found[1])


def _times(time: Any) -> tuple[Any, dict[str, str]]:
    """Return times and their attributes: dates as they are, text as dates, numbers as numbers."""
    values = time if isinstance(time, Iterable) and not isinstance(time, str) else [time]
    array = np.asarray(values)
    if array.dtype.kind in "US":
        try:
            array = library("pandas").to_datetime(array).to_numpy()
        except ValueError as error:
            raise ValueError(
                f"The time {time!r} is neither a date such as 2020-07-15 nor a number."
            ) from error
    return array, {"standard_name": "time", "axis": "T"}


def check_coverage(coverage: Any) -> float:
    """Return a probability, or raise an error if it is none."""
    if isinstance(coverage, Real) and 0 < float(coverage) < 1:
        return float(coverage)
    raise ValueError(f"coverage={coverage!r} must be a number between 0 and 1, such as 0.9.")
