"""Several variables of a grid filled at once, each informed by the others."""

from typing import Any

import numpy as np
from scipy.stats import norm
from sklearn.base import clone
from sklearn.pipeline import Pipeline, make_pipeline

from .._typing import Array
from ..features import SphereEncoder
from ..learners import CoKriging
from .attributes import describe, with_own_name
from .cells import Cells, Field, is_known
from .masks import mask_of
from .nearness import Nearness, check_distance, places_of
from .optional import library

__all__ = ["fill_several"]

WHERE = "_where_wanted"


def fill_several(
    data: Any,
    targets: list[str],
    *,
    covariates: Any = (),
    where: Any = None,
    coverage: float = 0.9,
    model: Any = None,
    crs: Any = None,
    max_distance: float | None = None,
) -> Any:
    """Fill the holes of several variables of a Dataset, in memory.

    Parameters
    ----------
    data : xarray.Dataset
    targets : list of str
        Variables on the same dimensions.
    covariates, where, coverage, crs, max_distance
        As `fill` takes them.
    model : estimator, optional
        Of several targets with gaps; by default `CoKriging`, after a `SphereEncoder`.

    Returns
    -------
    xarray.Dataset
        Each variable under its own name, with ``_std``, ``_lower`` and ``_upper``.
    """
    fields = [Field.of(data, name, covariates, crs, constant=True) for name in targets]
    cells = _together(fields, data)
    values = np.stack([cells.array(name) for name in targets], axis=-1).astype(np.float64)
    known = is_known(values)
    usable = cells.known(cells.covariates)
    observed = usable & known.any(axis=-1)
    wanted = usable & ~known.all(axis=-1)
    if where is not None:
        mask = cells.data.assign({WHERE: mask_of(where, data, cells.dims)})
        wanted &= cells.block(mask).array(WHERE).astype(bool)
    if max_distance is not None:
        near = Nearness(places_of([(cells.rows(observed),)]), check_distance(max_distance))
        wanted[wanted] = near.near(cells.rows(wanted))
    chosen = make_pipeline(SphereEncoder(), CoKriging()) if model is None else clone(model)
    chosen.fit(cells.rows(observed), np.where(known, values, np.nan)[observed])
    ends = np.zeros((2, 0, len(targets)))
    if wanted.any():
        ends = np.stack(_interval(chosen, cells.rows(wanted), coverage))
    what = f"holes of {', '.join(targets)} filled together by {type(chosen).__name__}"
    results = []
    for k, field in enumerate(fields):
        made = _filled(cells, values[..., k], wanted, ends[..., k], coverage)
        made = describe(made, field.target, dict(field.values.attrs), coverage, what)
        results.append(with_own_name(made, field.target))
    return library("xarray").merge(results, combine_attrs="override")


def _together(fields: list[Field], data: Any) -> Cells:
    """Return the cells of all variables, in memory."""
    first = fields[0]
    for field in fields[1:]:
        if field.cells.dims != first.cells.dims:
            raise ValueError(
                f"{field.target!r} has the dimensions {field.cells.dims}, and {first.target!r} "
                f"{first.cells.dims}: fill variables on the same grid together."
            )
    names = [field.target for field in fields]
    return first.cells.block(data[[*names, *first.cells.covariates]].load())


def _filled(cells: Cells, values: Array, wanted: Array, ends: Array, coverage: float) -> Any:
    """Return the Dataset of one variable: known values, and intervals [2, n] where it is wanted."""
    known = is_known(values)
    holes = wanted & ~known
    lower, upper = ends[:, holes[wanted]]
    found = {
        "prediction": (lower + upper) / 2,
        "std": (upper - lower) / (2 * norm.ppf(0.5 + coverage / 2)),
        "lower": lower,
        "upper": upper,
    }
    whole = {}
    for key, part in found.items():
        whole[key] = np.where(known, 0.0 if key == "std" else values, np.nan)
        whole[key][holes] = part
    coords = {key: c for key, c in cells.data.coords.items() if set(c.dims) <= set(cells.dims)}
    return library("xarray").Dataset({key: (cells.dims, v) for key, v in whole.items()}, coords)


def _interval(model: Any, rows: Any, coverage: float) -> tuple[Array, Array]:
    """Return the ends of intervals, of a pipeline too: [n, t]."""
    if isinstance(model, Pipeline):
        rows, model = model[:-1].transform(rows), model[-1]
    lower, upper = model.predict_interval(rows, coverage)
    return lower, upper
