"""Models of grids, and grids without holes."""

import sys
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from ..features import HarmonicFeatures, SphereEncoder, TableEncoder
from ..learners import KernelRidge, NeighborKriging
from ..learners.base import Learner
from ..model.recipe import MIN_ROWS
from ..rows.copies import content_hash
from ..rows.kept import KEPT_BYTES
from ..rows.stream import StreamSource
from .attributes import with_own_name
from .cells import Field, as_dataset, blocks_of, is_known
from .extent import extent_of, last_time_of
from .masks import mask_of
from .matching import columns_of, match
from .nearness import Nearness, check_distance, places_of
from .optional import library
from .prediction import answers, check_coverage
from .several import fill_several
from .sphere import on_sphere

__all__ = ["fill", "fit", "own_covariates"]

# Of larger grids, about so many cells are looked at for holes: a fiftieth of them without a value
# is as many as a fit asks for.
SAMPLED_CELLS = 500_000


def fit(
    data: Any,
    target: str | None = None,
    *,
    covariates: Any = (),
    model: Any = None,
    crs: Any = None,
) -> Any:
    """Fit a model to the cells of a grid that have a value.

    Each such cell is a row: latitude and longitude in degrees, the time in years (2020.5), the
    numbers of other dimensions (such as a depth) and covariates. Dimensions of length one are left
    out. The axes are found by their CF attributes or by common names; longitudes may run from
    -180 or from 0, latitudes up or down.

    Parameters
    ----------
    data : xarray.DataArray or xarray.Dataset
        In memory or in chunks of Dask. NaN cells are not rows.
    target : str, optional
        The variable of a Dataset; not needed if it has but one.
    covariates : str or sequence of str
        Other variables of the Dataset that help to predict it.
    model : estimator, optional
        Not fitted, by default ``KernelRidge(random_state=0)``, which chooses everything
        itself (with fewer than 300 cells: harmonic features of the sphere, and a local part). To
        any model latitude and longitude are a place on the sphere: one that takes numbers as they
        come, such as `NeighborKriging`, gets a `SphereEncoder` before it.
    crs : anything that pyproj takes, optional
        The projection of x and y, if `data` does not tell.

    Returns
    -------
    estimator
        Fitted to a frame with the columns latitude, longitude, time and so on. ``field_`` has the
        name and the attributes of the variable, which `predict_grid` copies, and the region of its
        cells, which is that of `predict_grid` where none is given.

    Examples
    --------
    >>> import numpy as np, xarray as xr, zonal
    >>> lat, lon = np.arange(-80.0, 90, 20), np.arange(10.0, 360, 20)
    >>> values = np.sin(np.radians(lat))[:, None] * np.ones(18)
    >>> field = xr.DataArray(values, {"lat": lat, "lon": lon})
    >>> model = zonal.grid.fit(field.where(field.lon < 300))
    >>> found = zonal.predict_grid(model, lat=[45.0], lon=[330.0])["prediction"]
    >>> bool(abs(found.item() - np.sqrt(0.5)) < 0.05)
    True
    """
    return _fitted(Field.of(data, target, covariates, crs), model)


def _holes(field: Field, wanted: Any) -> Any:
    """Return the cells without a value as rows, or a sample of them; None where there are none.

    Parameters
    ----------
    field : Field
    wanted : xarray.DataArray of bool or None
        Cells that will be asked, where these are not all.
    """
    cells = field.cells
    n_cells = int(np.prod([cells.data.sizes[dim] for dim in cells.dims]))
    share = SAMPLED_CELLS / n_cells
    parts = []
    for index, data in blocks_of(cells.data, cells.dims):
        block = cells.block(data)
        hole = ~is_known(block.array(field.target)) & block.known(cells.covariates)
        if wanted is not None:
            here = {dim: part for dim, part in index.items() if dim in wanted.dims}
            hole &= block.whole(wanted.isel(here))
        if not hole.any():
            continue
        rows = block.rows(hole)
        # By what is in them: how cells are stored decides nothing.
        chosen = content_hash(rows) / 2.0**64 < share
        if chosen.any():
            parts.append(rows[chosen])
    return library("pandas").concat(parts, ignore_index=True) if parts else None


def fill(
    data: Any,
    target: str | list[str] | None = None,
    *,
    covariates: Any = (),
    where: Any = None,
    coverage: float = 0.9,
    model: Any = None,
    crs: Any = None,
    keep_name: bool = False,
    max_distance: float | None = None,
) -> Any:
    """Fill the holes of a grid: NaN cells get a prediction, and how sure it is.

    Parameters
    ----------
    data, target, covariates, crs
        As `fit` takes them. A list of targets: these variables of a Dataset are filled together by
        `CoKriging`, each informed by the others, under their own names.
    where : str, xarray.DataArray or array-like, optional
        The cells that are wanted, such as those of the sea; others without a value stay NaN. The
        name of a variable of `data`, or values that are neither 0 nor NaN where a cell is wanted,
        along some or all dimensions of the grid.
    coverage : float, default=0.9
        The probability of the interval from ``lower`` to ``upper``.
    model : estimator, optional
        As `fit` takes it; one that is fitted already is used as it is, with the covariates that
        it was fitted to.
    keep_name : bool, default=False
        Whether the filled variable keeps its name: ``sst``, ``sst_std``, ``sst_lower`` and
        ``sst_upper`` in the place of those below.
    max_distance : float, optional
        Kilometres: cells farther from all places that have a value, at whatever time, stay NaN.

    Returns
    -------
    xarray.Dataset
        ``prediction``, ``std``, ``lower`` and ``upper`` with the same coordinates. Cells with a
        value keep it, with a standard deviation of 0. In chunks if `data` is, computed when needed.
        Of a classifier, as in `predict_grid`, ``prediction`` and ``probability_<class>``, which is
        0 or 1 in cells with a value; of a `KernelGLM` means and intervals.

    Examples
    --------
    >>> import numpy as np, xarray as xr, zonal
    >>> lat, lon = np.arange(-80.0, 90, 20), np.arange(10.0, 360, 20)
    >>> values = np.sin(np.radians(lat))[:, None] * np.ones(18)
    >>> field = xr.DataArray(values, {"lat": lat, "lon": lon})
    >>> holes = field.where((field.lon < 300) | (abs(field.lat) > 40))
    >>> filled = zonal.fill(holes)
    >>> bool(abs(filled["prediction"] - field).max() < 0.05)
    True
    """
    check_coverage(coverage)
    data = as_dataset(data)
    if isinstance(target, list | tuple):
        return fill_several(
            data, list(target), covariates=covariates, where=where, coverage=coverage,
            model=model, crs=crs, max_distance=max_distance,
        )  # fmt: skip
    ready = model is not None and _is_fitted(model)
    if ready:
        covariates = covariates or own_covariates(model, data, target)
    field = Field.of(data, target, covariates, crs, constant=True)
    wanted = None if where is None else mask_of(where, data, field.cells.dims)
    near = None
    if max_distance is not None:
        near = Nearness(places_of(field), check_distance(max_distance))
    if not ready:
        known = Field.of(data, target, covariates, crs)
        model = _fitted(known, model, _holes(known, wanted))
    _, plan = match(model, field.cells.data.drop_vars(field.target), field.cells.dims, crs=crs)
    what = f"holes of {field.target} filled by {type(model).__name__}"
    attrs = dict(field.values.attrs)
    found = answers(
        field.cells,
        plan,
        model,
        coverage,
        field.target,
        attrs,
        field=field,
        where=wanted,
        near=near,
        what=what,
    )
    return with_own_name(found, field.target) if keep_name else found


def _fitted(field: Field, model: Any, queries: Any = None) -> Any:
    """Return a model of the cells that have a value; they are held if they fit and that helps.

    A model that asks which rows will be asked is told the `queries`.
    """
    streams = getattr(model, "local", "auto") is None  # nothing but a local part needs rows at once
    held = None if streams else StreamSource(field).hold(KEPT_BYTES)
    few = held is not None and len(held) < MIN_ROWS
    words = any(field.cells.data[name].dtype.kind not in "iufb" for name in field.cells.covariates)
    chosen = _default(few, words) if model is None else on_sphere(model, words)
    if held is None and not isinstance(_last(chosen), Learner):  # which takes no blocks
        held = StreamSource(field).hold(sys.maxsize)
    if held is None:
        chosen.fit(field)
    elif queries is not None and has_fit_parameter(chosen, "queries"):
        chosen.fit(held.X, held.y, queries=queries)
    else:
        chosen.fit(held.X, held.y)
    attrs = {key: value for key, value in field.values.attrs.items() if isinstance(value, str)}
    blocks = field if held is None else [(held.X,)]
    chosen.field_ = {"name": field.target, "attrs": attrs, "extent": extent_of(blocks)}
    chosen.field_["places"] = places_of(blocks)
    last = last_time_of(blocks)
    if last is not None:
        chosen.field_["last"] = last
    return chosen


def own_covariates(model: Any, data: Any, target: str | None) -> tuple[str, ...]:
    """Return the variables of a grid that a fitted model has as columns, but for the target."""
    names = columns_of(model) or []
    return tuple(name for name in names if name in data.data_vars and name != target)


def _last(model: Any) -> Any:
    return model[-1] if isinstance(model, Pipeline) else model


def _default(few: bool, words: bool) -> KernelRidge:
    """Return a model for which nothing has to be set; few rows are too few to choose by."""
    if not few:
        return KernelRidge(random_state=0)
    features = HarmonicFeatures("gaussian", 64)
    local = NeighborKriging()
    if words:
        return KernelRidge(features, local=local, encoder=TableEncoder(), random_state=0)
    return KernelRidge(make_pipeline(SphereEncoder(), features), local=local, random_state=0)


def _is_fitted(model: Any) -> bool:
    try:
        check_is_fitted(model)
    except NotFittedError:
        return False
    return True
