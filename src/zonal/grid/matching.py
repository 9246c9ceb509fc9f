"""Rows of cells in the columns that a model was fitted to."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from .._typing import Array
from ..features.columns.sphere_encoder import find_column
from ..polynomials import to_sphere
from .projection import Projection

__all__ = ["columns_of", "in_columns_of"]


def columns_of(model: Any) -> list[str] | None:
    """Return the names of the columns of a model, or None if it was fitted to an array."""
    if hasattr(model, "table_"):  # made by the command line
        return [str(name) for name in np.asarray(model.table_["inputs"], dtype=object)]
    names = getattr(model, "feature_names_in_", None)
    if names is None and isinstance(model, Pipeline):
        names = getattr(model[0], "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def in_columns_of(model: Any, rows: Any) -> Any:
    """Return rows of cells as a model takes them.

    Columns are found by name: latitude and longitude as `SphereEncoder` finds them, a time where
    one name is left over. A model of arrays has (latitude, longitude) or points of the sphere,
    then the time and other axes of the grid, as many as it has columns.

    Parameters
    ----------
    model : fitted estimator
    rows : frame
        With the columns latitude, longitude and perhaps time, other axes and covariates.
    """
    names = columns_of(model)
    if names is None:
        return _as_array(model, rows)
    table = getattr(model, "table_", {})
    sources = _sources(names, list(rows.columns), table.get("place"))
    if table.get("crs"):
        x, y = Projection.of(str(table["crs"])).to_plane(rows["latitude"], rows["longitude"])
        rows = rows.assign(latitude=y, longitude=x)
    found = rows[sources].set_axis(names, axis=1)
    return found if _takes_names(model) else found.to_numpy()


def _takes_names(model: Any) -> bool:
    """Tell whether a model was fitted to frames; the command line fits to arrays of numbers."""
    steps = [step for _, step in model.steps] if isinstance(model, Pipeline) else [model]
    return hasattr(steps[0], "feature_names_in_")


def _sources(names: list[str], known: list[str], place: Any = None) -> list[str]:
    """Return the column of the cells' rows for each column of the model."""
    wanted = ("auto", "auto") if place is None else [str(name) for name in place]
    places = {
        find_column(angle, name, names, len(names), "the model"): angle
        for angle, name in zip(("latitude", "longitude"), wanted, strict=True)
    }
    left = [name for i, name in enumerate(names) if i not in places]
    free = [name for name in known[2:] if name not in left]
    missing = [name for name in left if name not in known]
    if len(missing) == 1 and free == ["time"]:  # such as year or month
        renamed = {missing[0]: "time"}
    elif missing:
        raise ValueError(
            f"The model was fitted to the column {missing[0]!r} too, which this grid has not: give "
            f"time=..., or a Dataset with {missing[0]!r} as like=...."
        )
    else:
        renamed = {}
    return [places.get(i) or renamed.get(name, name) for i, name in enumerate(names)]


def _as_array(model: Any, rows: Any) -> Array:
    width, others = int(model.n_features_in_), rows.iloc[:, 2:].to_numpy()
    angles: Sequence[Array] = rows.iloc[:, :2].to_numpy().T
    if width == 2 + others.shape[1]:
        return np.asarray(rows.to_numpy())
    if width == 3 + others.shape[1]:
        return np.column_stack([to_sphere(*angles), others])
    raise ValueError(
        f"The model was fitted to {width} columns without names, but the cells of this grid have "
        f"{', '.join(rows.columns)}: give or leave out time=..., or fit to a frame with names."
    )
