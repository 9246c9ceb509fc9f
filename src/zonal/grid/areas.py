r"""Means, sums and other functions of regions, with their uncertainty.

Cells near each other are uncertain together, so that their standard deviations can neither be
summed nor averaged. The mean over a region is linear in the field, :math:`\ell^\top f`, and its
variance :math:`\ell^\top C \ell` follows from the joint posterior by algebra; functions that are
not linear are found from draws.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.stats import norm

from .._typing import Array, FloatArray
from .drawing import joint_rows
from .optional import library
from .prediction import check_coverage, field_of, grid_cells
from .regions import cell_weights, region_names, regions_of

__all__ = ["predict_area"]

#: Functions of draws that have a name.
FUNCTIONS: dict[str, Callable[[Array, Array], Array]] = {
    "max": lambda values, weights: values.max(axis=0),
    "min": lambda values, weights: values.min(axis=0),
}


def predict_area(
    model: Any,
    regions: Any,
    weights: Any = None,
    *,
    lat: npt.ArrayLike | None = None,
    lon: npt.ArrayLike | None = None,
    time: Any = None,
    resolution: float | None = None,
    like: Any = None,
    total: bool = False,
    function: str | Callable[[Array, Array], Array] | None = None,
    coverage: float = 0.9,
    covariance: bool = False,
    n_samples: int = 500,
    random_state: Any = 0,
    crs: Any = None,
    at: Mapping[str, Any] | None = None,
) -> Any:
    """Predict means over regions, with standard deviations that know what cells share.

    Parameters
    ----------
    model : fitted regressor
        As `predict_grid` takes it.
    regions : xarray.DataArray, array-like, GeoDataFrame or sequence of polygons
        Labels of the cells of a grid (0, NaN and empty text are none), or a mask of True and
        False; or polygons of shapely in degrees, which hold the cells whose centres are in them
        and may overlap.
    weights : xarray.DataArray or array-like, optional
        The weight of each cell, such as its area or the number of people in it. By default areas
        on the globe, cos(latitude), and one on other grids.
    lat, lon, time, resolution, like, crs, at
        The grid, as in `predict_grid`. Not needed where `regions` is a DataArray.
    total : bool, default=False
        Whether to sum, Σ w f, instead of the mean Σ w f / Σ w.
    function : callable, "max" or "min", optional
        Another function of the cells of a region: called with values [n_cells, n_samples] and
        weights [n_cells], it returns a number for each draw, as in ``lambda f, w: w @ (f > 30)``.
    coverage : float, default=0.9
        The probability of the interval from ``lower`` to ``upper``.
    covariance : bool, default=False
        Whether to return the covariance of the regions too.
    n_samples, random_state
        Draws for `function`, and their seed.

    Returns
    -------
    xarray.Dataset
        ``prediction``, ``std``, ``lower`` and ``upper`` along the dimension of the regions, of
        the field itself, without the noise of observations; ``weight``, the sum of the weights
        of each region's cells; and on request ``covariance``.

    Examples
    --------
    >>> import numpy as np, xarray as xr, zonal
    >>> rng = np.random.default_rng(0)
    >>> lat, lon = np.degrees(np.arcsin(rng.uniform(-1, 1, 200))), rng.uniform(0, 360, 200)
    >>> model = zonal.NeighborKriging(zonal.Matern(1.5, 0.5), noise=0.01).fit(
    ...     zonal.datasets.to_sphere(lat, lon), np.sin(np.radians(lat))
    ... )
    >>> axes = {"lat": np.arange(-85.0, 90, 10), "lon": np.arange(5.0, 360, 10)}
    >>> north = xr.DataArray(np.ones((18, 36)), axes) * (xr.DataArray(axes["lat"], dims="lat") > 0)
    >>> found = zonal.predict_area(model, north)
    >>> bool(abs(found["prediction"].item() - 0.5) < 0.02)
    True
    """
    level = check_coverage(coverage)
    xr = library("xarray")
    if like is None and resolution is None and lat is None and isinstance(regions, xr.DataArray):
        like = regions.drop_vars([k for k in regions.coords if k not in regions.dims])
    cells, plan, _ = grid_cells(model, lat, lon, time, resolution, like, at, crs)
    part = cells.block(cells.data.load())
    names, inside = regions_of(regions, part)
    wanted = part.known(cells.covariates).ravel()
    matrix = sp.csr_array(inside.multiply(cell_weights(weights, part)[:, None]))
    empty = np.flatnonzero(matrix.T @ wanted.astype(np.float64) <= 0)
    if len(empty) or not names:
        which = f"The region {names[empty[0]]!r}" if names else "The grid"
        raise ValueError(
            f"{which} has no cell with a weight and with all covariates: leave it out, or take a "
            "finer grid."
        )
    wanted &= np.asarray(matrix.sum(axis=1)).ravel() > 0
    shape = tuple(part.data.sizes[dim] for dim in part.dims)
    learner, rows = joint_rows(model, part, plan, wanted.reshape(shape))
    matrix = matrix[np.flatnonzero(wanted)]
    whole = np.asarray(matrix.sum(axis=0)).ravel()
    unit = np.asarray(np.ones(len(whole)) if total else 1 / whole, np.float64)
    if function is None and not hasattr(learner, "target_"):
        mean, joint = learner.posterior_sums(rows, sp.csr_array(matrix * unit))
        std = np.sqrt(np.diag(joint))
        half = norm.ppf(0.5 + level / 2) * std
        lower, upper = mean - half, mean + half
    else:
        draws = learner.sample_y(rows, n_samples, random_state)
        made = _applied(function, matrix, draws, unit)
        mean, std, joint = made.mean(axis=1), made.std(axis=1, ddof=1), np.cov(made, ddof=1)
        lower, upper = np.quantile(made, [(1 - level) / 2, (1 + level) / 2], axis=1)
    dim = region_names(regions)
    values = {"prediction": mean, "std": std, "lower": lower, "upper": upper, "weight": whole}
    result = xr.Dataset({key: (dim, np.asarray(v)) for key, v in values.items()}, {dim: names})
    if covariance:
        result["covariance"] = ((dim, f"{dim}_"), np.atleast_2d(joint))
    title, attrs = field_of(model)
    what = "sum" if total else "mean"
    what = f"{what} of {title} over regions" if function is None else f"function of {title}"
    units = {} if function is not None or "units" not in attrs else {"units": attrs["units"]}
    result["prediction"].attrs = {"long_name": what, **units}
    result["std"].attrs = {"long_name": f"standard deviation of the {what}", **units}
    return result


def _applied(function: Any, matrix: Any, draws: Array, unit: FloatArray) -> FloatArray:
    """Return a function of the cells of each region, for each draw: [n_regions, n_samples]."""
    if function is None:
        return np.asarray((matrix * unit).T @ draws, np.float64)
    if isinstance(function, str) and function not in FUNCTIONS:
        raise ValueError(
            f"function={function!r} must be {', '.join(map(repr, FUNCTIONS))} or a function of "
            "values [n_cells, n_samples] and weights [n_cells]."
        )
    apply = FUNCTIONS[function] if isinstance(function, str) else function
    columns, made = sp.csc_array(matrix), []
    for k in range(matrix.shape[1]):
        ends = slice(columns.indptr[k], columns.indptr[k + 1])
        found = np.asarray(apply(draws[columns.indices[ends]], columns.data[ends]), np.float64)
        if found.shape != (draws.shape[1],):
            raise ValueError(
                f"function returned the shape {found.shape}: a number for each of the "
                f"{draws.shape[1]} draws is needed."
            )
        made.append(found)
    return np.array(made)
