"""The columns that a model was fitted to, met with the coordinates and variables of a grid."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from .._suggestions import near
from .._typing import Array
from ..features.columns.sphere_encoder import find_column, named_like
from ..polynomials import to_sphere
from .axes import PLANE, Axes, find_axes, find_plane
from .cells import Cells
from .optional import library
from .projection import Projection
from .times import is_time

__all__ = ["Matching", "MissingColumns", "columns_of", "match"]

# CF attributes by which a variable is known too.
LABELS = ("standard_name", "long_name")
# Names that say what a time is, or a part of one that grows with it.
TIMES = {"time", "t", "date", "datetime", "year", "years", "day", "when"}


class MissingColumns(ValueError):  # noqa: N818  # named after what it holds
    """A grid lacks columns of a model.

    Attributes
    ----------
    names : list of str
    """

    def __init__(self, names: list[str], advice: str) -> None:
        self.names = names
        words = " and ".join([", ".join(map(repr, names[:-1])), repr(names[-1])][len(names) < 2 :])
        columns = "column" if len(names) == 1 else "columns"
        super().__init__(
            f"The model was fitted to the {columns} {words} too, which this grid has not: {advice}"
        )


@dataclass(frozen=True)
class Matching:
    """Where each column of a model comes from.

    Attributes
    ----------
    names : tuple of str, or None
        The model's columns; None: it was fitted to an array.
    sources : tuple of str
        The column of the cells' rows for each of them; "" for a constant.
    constants : dict of str to value
    dates : bool
        Whether the time is wanted as a date.
    crs : str or None
        The projection of the model's own coordinates.
    framed : bool
        Whether the model takes frames.
    """

    names: tuple[str, ...] | None
    sources: tuple[str, ...] = ()
    constants: Mapping[str, Any] = field(default_factory=dict)
    dates: bool = False
    crs: str | None = None
    framed: bool = True

    def rows(self, model: Any, cells: Cells, chosen: Array) -> Any:
        """Return chosen cells as rows that the model takes."""
        rows = cells.rows(chosen, self.dates)
        if self.names is None:
            return _as_array(model, rows)
        if self.crs is not None:
            x, y = Projection.of(self.crs).to_plane(rows["latitude"], rows["longitude"])
            rows = rows.assign(latitude=y, longitude=x)
        columns = {
            name: rows[source].to_numpy() if source else self.constants[name]
            for name, source in zip(self.names, self.sources, strict=True)
        }
        found = library("pandas").DataFrame(columns, index=rows.index)
        return found if self.framed else found.to_numpy(dtype=np.float64)


def columns_of(model: Any) -> list[str] | None:
    """Return the names of the columns of a model, or None if it was fitted to an array."""
    if hasattr(model, "table_"):  # made by the command line
        return [str(name) for name in np.asarray(model.table_["inputs"], dtype=object)]
    names = getattr(model, "feature_names_in_", None)
    if names is None and isinstance(model, Pipeline):
        names = getattr(model[0], "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def match(
    model: Any,
    data: Any,
    dims: tuple[str, ...],
    *,
    at: Mapping[str, Any] | None = None,
    crs: Any = None,
    timed: bool = False,
) -> tuple[Cells, Matching]:
    """Find each column of a model in a grid; all that is missing comes in one error.

    Latitude and longitude are found as `SphereEncoder` finds them, other columns by name (in upper
    or lower case), by `standard_name` or `long_name`, northings and eastings by their CF
    attributes too. A column of dates, or one whose name says time or year, takes the grid's time.

    Parameters
    ----------
    model : fitted estimator
    data : xarray.Dataset
    dims : tuple of str
        The dimensions of the grid, in order; those that no column depends on are left out.
    at : mapping of str to value, optional
        Columns that have one value everywhere.
    crs
        The projection of x and y of the grid, if it does not tell.
    timed : bool
        Whether a time was asked for, so that a model without one is an error.
    """
    given = dict(at or {})
    names = columns_of(model)
    if names is None:
        if given:
            raise ValueError(
                f"at={given!r} names columns, but the model was fitted to an array without names: "
                "fit it to a frame."
            )
        data = data.drop_vars(list(data.data_vars))
        axes = find_axes(data, is_time, crs, constant=True)
        return Cells(data, tuple(dim for dim in dims if dim in data.dims), axes), Matching(None)
    table = getattr(model, "table_", {})
    kinds = _kinds(model)
    places = _places(names, table.get("place"))
    for name in given:
        if name in places:
            raise ValueError(
                f"A value was given for {name!r}, which is an axis of the grid: leave it out."
            )
        if name not in names:
            raise ValueError(
                f"A value was given for {name!r}, but the model's columns are "
                f"{', '.join(map(repr, names))}.{near(name, names)}"
            )
    axes = find_axes(data, is_time, crs, constant=True, places=bool(places))
    sources = dict(places)
    left = [name for name in names if name not in sources and name not in given]
    for name in left:
        found = _named(name, data, axes)
        if found is not None:
            sources[name] = found
    missing = [name for name in left if name not in sources]
    clock = _clock(missing, kinds, data, axes)
    if clock is not None:
        sources[clock] = "time"
        missing.remove(clock)
    if missing:
        raise MissingColumns(missing, _advice(missing))
    if timed and "time" not in sources.values():
        raise ValueError(
            "A time was asked for, but no column of the model takes one: they are "
            f"{', '.join(map(repr, names))}. Leave the time out."
        )
    constants = {name: _constant(name, value, kinds.get(name)) for name, value in given.items()}
    clocked = [name for name, source in sources.items() if source == "time"]
    plan = Matching(
        tuple(names),
        tuple(sources.get(name, "") for name in names),
        constants,
        any(kinds.get(name) == "date" for name in clocked),
        str(table["crs"]) if table.get("crs") else None,
        _takes_names(model),
    )
    return _cells(data, dims, axes, set(sources.values())), plan


def _cells(data: Any, dims: tuple[str, ...], axes: Axes, used: set[str]) -> Cells:
    """Return the cells of what a model uses."""
    others = tuple(name for name in axes.others if name in used)
    own = {"latitude", "longitude", "time", *others}
    covariates = tuple(str(name) for name in data.variables if name in used and name not in own)
    time = axes.time if "time" in used else None
    axes = Axes(axes.latitude, axes.longitude, axes.projection, time, others)
    parts = [axes.latitude, axes.longitude, time, *others, *covariates]
    kept = {dim for name in parts if name is not None for dim in data[name].dims}
    gone = [dim for dim in dims if dim not in kept]
    data = data.drop_vars([name for name in data.data_vars if name not in covariates])
    if gone:
        data = data.drop_dims(gone)
    return Cells(data, tuple(dim for dim in dims if dim in kept), axes, covariates)


def _kinds(model: Any) -> dict[str, str]:
    """Return what columns of a model hold ("number", "date", "word"), where it is not numbers."""
    learner = model[-1] if isinstance(model, Pipeline) else model
    encoder = getattr(learner, "encoder_", None)
    return dict(getattr(encoder, "kinds_", {}))


def _takes_names(model: Any) -> bool:
    """Tell whether a model was fitted to frames; the command line fits to arrays of numbers."""
    steps = [step for _, step in model.steps] if isinstance(model, Pipeline) else [model]
    return hasattr(steps[0], "feature_names_in_")


def _places(names: list[str], place: Any) -> dict[str, str]:
    """Return the columns of latitude and longitude; none for a model of other numbers."""
    if place is None and not any(named_like(angle, names) for angle in PLANE):
        return {}
    wanted = ("auto", "auto") if place is None else [str(name) for name in place]
    return {
        names[find_column(angle, name, names, len(names), "the model")]: angle
        for angle, name in zip(("latitude", "longitude"), wanted, strict=True)
    }


def _named(name: str, data: Any, axes: Axes) -> str | None:
    """Return the axis or variable of a grid that a column is named after."""
    known = [str(key) for key in data.variables if key not in (axes.latitude, axes.longitude)]
    if axes.time is not None:
        known.remove(axes.time)
        if name == axes.time:
            return "time"
    if name in known:
        return name
    labels = [{key: key for key in known}]
    labels += [{key: data[key].attrs.get(label, "") for key in known} for label in LABELS]
    for label in labels:
        found = [key for key, text in label.items() if _plain(text) == _plain(name)]
        if len(found) == 1:
            return found[0]
    for angle, words in PLANE.items():
        if axes.latitude is None and name.lower() in words:
            return find_plane(data, angle)
    return None


def _plain(text: Any) -> str:
    return str(text).lower().replace("_", " ")


def _clock(missing: list[str], kinds: dict[str, str], data: Any, axes: Axes) -> str | None:
    """Return the column that takes the grid's time, if there is one."""
    if axes.time is None:
        return None
    dates = [name for name in missing if kinds.get(name) == "date"]
    named = [name for name in missing if TIMES & set(_plain(name).split())]
    # A number is what the user says it is, such as a month; a date is not.
    only = missing if data[axes.time].dtype.kind in "iuf" else []
    for found in (dates, named, only):
        if len(found) == 1:
            return found[0]
    return None


def _constant(name: str, value: Any, kind: str | None) -> Any:
    """Return a value as the model's column holds it."""
    if np.ndim(value) != 0:
        raise ValueError(
            f"at[{name!r}]={value!r} must be one value, which holds for the whole map; put what "
            "varies into a Dataset and pass it as like=...."
        )
    if kind == "word":
        return str(value)
    try:
        if kind == "date":
            return library("pandas").Timestamp(value).to_datetime64()
        return float(value)
    except (TypeError, ValueError) as error:
        wanted = "a date such as 2020-07-15" if kind == "date" else "a number"
        raise ValueError(
            f"Column {name!r} of the model holds {kind or 'number'}s, but {value!r} was given for "
            f"it: give {wanted}."
        ) from error


def _advice(missing: list[str]) -> str:
    values = ", ".join(f"{name!r}: ..." for name in missing)
    return (
        f"give at={{{values}}} for what is the same everywhere, time=... for a time, or a Dataset "
        f"that holds {missing[0]!r} as like=...."
    )


def _as_array(model: Any, rows: Any) -> Array:
    width, others = int(model.n_features_in_), rows.iloc[:, 2:].to_numpy()
    angles = rows.iloc[:, :2].to_numpy().T
    if width == 2 + others.shape[1]:
        return np.asarray(rows.to_numpy())
    if width == 3 + others.shape[1]:
        return np.column_stack([to_sphere(*angles), others])
    raise ValueError(
        f"The model was fitted to {width} columns without names, but the cells of this grid have "
        f"{', '.join(rows.columns)}: give or leave out time=..., or fit to a frame with names."
    )
