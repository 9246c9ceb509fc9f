"""Whole fields drawn from the posterior of a model, on grids."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.pipeline import Pipeline

from .._typing import Array
from .attributes import OF_THE_FILE
from .cells import Cells
from .matching import Matching
from .optional import library
from .prediction import field_of, grid_cells

__all__ = ["joint_rows", "sample_grid"]


def sample_grid(
    model: Any,
    lat: npt.ArrayLike | None = None,
    lon: npt.ArrayLike | None = None,
    time: Any = None,
    resolution: float | None = None,
    *,
    n_samples: int = 10,
    random_state: Any = None,
    noise: bool = False,
    like: Any = None,
    crs: Any = None,
    at: Mapping[str, Any] | None = None,
) -> Any:
    """Draw fields from the posterior of a model, jointly over all cells of a grid.

    What cells have in common is in the draws: the maximum of each draw over a region, its mean, or
    the share of cells above a threshold is a draw of that quantity. (Means and sums alone, with
    their uncertainty, are `predict_area`.)

    Parameters
    ----------
    model, lat, lon, time, resolution, like, crs, at
        As in `predict_grid`. The grid is held in memory, once for each draw.
    n_samples : int, default=10
        The number of draws.
    random_state : int, RandomState instance or None, default=None
        The seed: the same one gives the same fields. None: others each time.
    noise : bool, default=False
        Whether to add the noise of observations, independent in each cell.

    Returns
    -------
    xarray.DataArray
        With the dimension ``draw`` before those of the grid, under the name of the variable that
        is predicted. Cells without their covariates are NaN.

    Examples
    --------
    >>> import numpy as np, zonal
    >>> rng = np.random.default_rng(0)
    >>> lat, lon = np.degrees(np.arcsin(rng.uniform(-1, 1, 200))), rng.uniform(0, 360, 200)
    >>> model = zonal.NeighborKriging(zonal.Matern(1.5, 0.5), noise=0.01).fit(
    ...     zonal.datasets.to_sphere(lat, lon), np.sin(np.radians(lat))
    ... )
    >>> draws = zonal.sample_grid(model, resolution=30, n_samples=5, random_state=0)
    >>> draws.dims, draws.shape
    (('draw', 'lat', 'lon'), (5, 7, 12))
    """
    cells, plan, _ = grid_cells(model, lat, lon, time, resolution, like, at, crs)
    part = cells.block(cells.data.load())
    wanted = part.known(cells.covariates)
    if not wanted.any():
        raise ValueError("No cell of the grid has all its covariates: there is nothing to draw.")
    learner, rows = joint_rows(model, part, plan, wanted)
    found = learner.sample_y(rows, n_samples, random_state, noise=noise)
    values = np.full((n_samples, *wanted.shape), np.nan, dtype=found.dtype)
    values[:, wanted] = found.T
    name, attrs = field_of(model)
    coords = {key: c for key, c in part.data.coords.items() if set(c.dims) <= set(cells.dims)}
    own = {key: value for key, value in attrs.items() if key not in OF_THE_FILE}
    return library("xarray").DataArray(
        values,
        coords={"draw": np.arange(n_samples), **coords},
        dims=("draw", *cells.dims),
        name=name,
        attrs={**own, "long_name": f"draws of {own.get('long_name', name)}"},
    )


def joint_rows(model: Any, cells: Cells, plan: Matching, wanted: Array) -> tuple[Any, Any]:
    """Return the learner at the end of a model, and chosen cells as rows that it takes."""
    rows, learner = plan.rows(model, cells, wanted), model
    if isinstance(model, Pipeline):
        learner = model[-1]
        rows = model[:-1].transform(rows) if len(model) > 1 else rows
    if not hasattr(learner, "sample_y"):
        raise TypeError(
            f"{type(learner).__name__} has no joint posterior over cells: use KernelRidge, "
            "GaussianProcess or NeighborKriging of zonal."
        )
    return learner, rows
