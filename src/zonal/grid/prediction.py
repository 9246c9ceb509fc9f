"""Predictions on grids, in memory or chunk by chunk."""

import threading
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from .._validation import check_positive
from .attributes import describe, describe_axis
from .axes import find_axes
from .cells import Cells, Field, as_dataset, blocks_of
from .matching import columns_of, in_columns_of
from .optional import library
from .outcomes import Outcomes, knows_uncertainty, outcomes
from .times import is_time

__all__ = ["answers", "check_coverage", "predict_grid"]

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
) -> Any:
    """Predict on a grid of latitudes and longitudes.

    Parameters
    ----------
    model : fitted regressor
        Of `zonal.grid.fit`, or any whose columns are latitude and longitude by name, (latitude,
        longitude) or points of the sphere, then time.
    lat, lon : array-like, optional
        Degrees. With `resolution` pairs (south, north) and (west, east), by default the globe.
    time : date, number or array of them, optional
        The times, if the model has any: dates (text such as "2020-06-15" too), or the numbers
        that it was fitted to.
    resolution : float, optional
        The distance of neighbouring points in degrees, poles included: 0.25 makes 721 × 1440.
    like : xarray.DataArray or Dataset, optional
        A grid to take instead, with all its coordinates; a Dataset holds the covariates.
    coverage : float, default=0.9
        The probability of the interval from ``lower`` to ``upper``.
    chunks : int, dict or "auto", optional
        Chunks as in ``xarray.Dataset.chunk``: the result is computed with Dask when it is
        needed, chunk by chunk, as in ``result.to_netcdf(path)``. A grid `like` with chunks keeps
        them.
    crs : anything that pyproj takes, optional
        The projection of x and y of `like`, if it does not tell.

    Returns
    -------
    xarray.Dataset
        ``prediction``, ``std``, ``lower`` and ``upper`` with CF attributes. The uncertainty is that
        of a new observation, noise included. Other models than ours give predictions only.

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
    if like is None:
        data, dims = _globe(lat, lon, time, resolution)
    else:
        if any(part is not None for part in (lat, lon, time, resolution)):
            raise ValueError("like=... is a whole grid: leave lat, lon, time and resolution out.")
        data, dims = as_dataset(like), getattr(like, "dims", ())
    covariates = tuple(name for name in columns_of(model) or [] if name in data.data_vars)
    data = data.drop_vars([name for name in data.data_vars if name not in covariates])
    axes = find_axes(data, is_time, crs, constant=True)
    dims = tuple(dim for dim in dims if dim in data.sizes)
    cells = Cells(data, dims, axes, covariates)
    field = getattr(model, "field_", {"name": "prediction", "attrs": {}})
    if hasattr(model, "table_"):
        field = {"name": model.table_["target"], "attrs": model.table_.get("attrs", {})}
    return answers(cells, model, coverage, str(field["name"]), dict(field["attrs"]), chunks=chunks)


def answers(
    cells: Cells,
    model: Any,
    coverage: float,
    name: str,
    attrs: dict[str, Any],
    *,
    field: Field | None = None,
    where: Any = None,
    chunks: Any = None,
    what: str = "prediction on a grid",
) -> Any:
    """Return a Dataset of predictions in all cells, or in those of a field without a value.

    Parameters
    ----------
    cells : Cells
    model, coverage
        As `predict_grid` takes them.
    name, attrs
        The variable that is predicted, and its attributes.
    field : Field, optional
        Where a value is known it stays, with a standard deviation of 0.
    where : xarray.DataArray of bool, optional
        The cells that are wanted; others without a value stay NaN.
    chunks
        As `predict_grid` takes them.
    what : str
        What is done, for the history.
    """
    xr = library("xarray")
    names = Outcomes._fields if knows_uncertainty(model) else Outcomes._fields[:1]
    data = cells.data
    if where is not None:
        data = data.assign({WHERE: where})
    if chunks is not None:
        shape = [data.sizes[dim] for dim in cells.dims]
        everywhere = library("dask.array").zeros(shape, dtype=bool, chunks=shape)
        data = data.assign({GRID: (cells.dims, everywhere)}).chunk(chunks)
    dtype = np.float64 if field is None else np.result_type(field.values.dtype, np.float32)
    bare = replace(cells, data=None)
    known = None if field is None else replace(field, cells=bare)
    function = partial(
        _answer, cells=bare, model=model, coverage=coverage, field=known, dtype=dtype
    )
    lazy = bool(data.chunks)
    result = xr.Dataset(
        {key: (cells.dims, _empty(data, cells.dims, dtype, lazy)) for key in names},
        coords=_coordinates(cells, data),
        attrs=dict(data.attrs),
    )
    result = describe(result, name, attrs, coverage, what)
    if lazy:
        return xr.map_blocks(function, data, template=result)
    for index, block in blocks_of(data, cells.dims):
        part = function(block)
        place = tuple(index[dim] for dim in cells.dims)
        for key in names:
            result[key].values[place] = part[key].values
    return result


def _answer(
    block: Any, *, cells: Cells, model: Any, coverage: float, field: Field | None, dtype: Any
) -> Any:
    """Return the Dataset of predictions for a part of the grid that is in memory."""
    names = Outcomes._fields if knows_uncertainty(model) else Outcomes._fields[:1]
    part = cells.block(block)
    shape = tuple(block.sizes[dim] for dim in cells.dims)
    wanted = np.ones(shape, dtype=bool)
    for covariate in cells.covariates:
        wanted &= np.isfinite(part.array(covariate))
    found = {key: np.full(shape, np.nan, dtype=dtype) for key in names}
    if field is not None:
        known = np.isfinite(part.array(field.target))
        wanted &= ~known
        for key, values in found.items():
            values[known] = 0 if key == "std" else part.array(field.target)[known]
    if WHERE in block:
        wanted &= part.array(WHERE).astype(bool)
    if wanted.any():
        with ONE_AT_A_TIME:
            answer = outcomes(model, in_columns_of(model, part.rows(wanted)), coverage)
        for key in names:
            found[key][wanted] = getattr(answer, key)
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


def _globe(lat: Any, lon: Any, time: Any, resolution: float | None) -> tuple[Any, tuple[str, ...]]:
    """Return the grid of given latitudes, longitudes and times, and its dimensions."""
    if resolution is not None:
        step = check_positive("resolution", resolution, "predict_grid")
        lat = _range("lat", (-90.0, 90.0) if lat is None else lat, step)
        west, east = _pair("lon", (-180.0, 180.0) if lon is None else lon)
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
        values = time if isinstance(time, Iterable) and not isinstance(time, str) else [time]
        axes = {"time": (_dates(values), {"standard_name": "time", "axis": "T"}), **axes}
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


def _dates(values: Any) -> Any:
    """Return dates as they are, text as dates, numbers as numbers."""
    array = np.asarray(values)
    if array.dtype.kind in "US":
        return library("pandas").to_datetime(array).to_numpy()
    return array


def check_coverage(coverage: Any) -> float:
    """Return a probability, or raise an error if it is none."""
    if isinstance(coverage, Real) and 0 < float(coverage) < 1:
        return float(coverage)
    raise ValueError(f"coverage={coverage!r} must be a number between 0 and 1, such as 0.9.")
