"""The cells of a grid as rows: latitude, longitude, time, other axes, covariates."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Any

import numpy as np

from .._suggestions import near
from .._typing import Array
from .axes import Axes, degrees, find_axes, with_places
from .optional import library
from .times import as_dates, as_years, is_time

__all__ = ["Cells", "Field", "as_dataset", "blocks_of", "choose_target", "is_known"]

# Cells of a grid in memory that are looked at together.
BLOCK_CELLS = 1 << 18
# Cells of a chunk where nothing else is asked for: some seconds of prediction, so that one can see
# how far it is.
CHUNK_CELLS = 1 << 16


@dataclass(frozen=True)
class Cells:
    """The cells of a grid, and how they become rows.

    Attributes
    ----------
    data : xarray.Dataset
        Coordinates and covariates.
    dims : tuple of str
        The dimensions of the grid, in order.
    axes : Axes
    covariates : tuple of str
        Variables of `data` that are columns too.
    """

    data: Any
    dims: tuple[str, ...]
    axes: Axes
    covariates: tuple[str, ...] = ()

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        places = [] if self.axes.latitude is None else ["latitude", "longitude"]
        times = [] if self.axes.time is None else ["time"]
        return [*places, *times, *self.axes.others, *self.covariates]

    def block(self, data: Any) -> "Cells":
        """Return the cells of a part of the grid."""
        return Cells(data, self.dims, self.axes, self.covariates)

    def rows(self, chosen: Array | None = None, dates: bool = False) -> Any:
        """Return a frame with a row for each cell, in C order, or for those chosen.

        Numbers become float64; dates and words of covariates stay what they are.

        Parameters
        ----------
        chosen : ndarray of bool, of the grid's shape, optional
        dates : bool
            Whether the time is a date; else a number of years.
        """
        parts = {**self._places(), **self._other_axes(dates)}
        parts.update({name: self.data[name] for name in self.covariates})
        columns = {}
        for name, part in parts.items():
            whole = self.whole(part)
            cells = whole.ravel() if chosen is None else whole[chosen]
            columns[name] = cells.astype(np.float64) if cells.dtype.kind in "iufb" else cells
        return library("pandas").DataFrame(columns, columns=self.columns)

    def known(self, names: Any) -> Array:
        """Tell in which cells all of some variables have a value: [*shape]."""
        shape = tuple(self.data.sizes[dim] for dim in self.dims)
        found = np.ones(shape, dtype=bool)
        for name in names:
            found &= is_known(self.array(name))
        return found

    def array(self, name: str) -> Array:
        """Return the values of a variable in all cells: [*shape]."""
        return self.whole(self.data[name])

    def whole(self, part: Any) -> Array:
        """Return values in the grid's order of dimensions, repeated along those they lack."""
        inner = part.transpose(*(dim for dim in self.dims if dim in part.dims))
        sizes = [self.data.sizes[dim] if dim in part.dims else 1 for dim in self.dims]
        shape = [self.data.sizes[dim] for dim in self.dims]
        return np.broadcast_to(np.asarray(inner.values).reshape(sizes), shape)

    def _places(self) -> dict[str, Any]:
        axes = self.axes
        if axes.latitude is None:
            return {}
        y, x = self.data[axes.latitude], self.data[axes.longitude]
        if axes.projection is None:
            return {"latitude": degrees(y, "latitude"), "longitude": degrees(x, "longitude")}
        y, x = library("xarray").broadcast(y, x)
        lat, lon = axes.projection.to_degrees(x.values, y.values)
        return {"latitude": y.copy(data=lat), "longitude": y.copy(data=lon)}

    def _other_axes(self, dates: bool) -> dict[str, Any]:
        others = {name: self.data[name] for name in self.axes.others}
        if self.axes.time is None:
            return others
        time = self.data[self.axes.time]
        return {"time": time.copy(data=as_dates(time) if dates else as_years(time)), **others}


@dataclass(frozen=True)
class Field:
    """A variable on a grid, known in some cells: an iterable of blocks (X, y) of these.

    Attributes
    ----------
    cells : Cells
        Their data hold the variable too.
    target : str
        Its name.
    """

    cells: Cells
    target: str

    @classmethod
    def of(
        cls,
        data: Any,
        target: str | None = None,
        covariates: Any = (),
        crs: Any = None,
        constant: bool = False,
    ) -> "Field":
        """Look at a DataArray, or at a variable of a Dataset.

        Parameters
        ----------
        data : xarray.DataArray or xarray.Dataset
        target : str, optional
            The variable; not needed where there is one only.
        covariates : str or sequence of str
            Other variables of the Dataset, or coordinates, that are columns of X.
        crs
            The projection of x and y, if `data` does not tell.
        constant : bool
            As `find_axes` takes it.
        """
        whole = as_dataset(data)
        name = choose_target(whole, target)
        names = (covariates,) if isinstance(covariates, str) else tuple(covariates)
        for covariate in names:
            if covariate not in whole.variables:
                raise ValueError(
                    f"There is no covariate {covariate!r}.{near(covariate, map(str, whole))} "
                    f"Variables: {', '.join(map(repr, whole.variables))}."
                )
        values = whole[name]
        if values.dtype.kind not in "iufb":
            raise ValueError(
                f"The variable {name!r} holds values of type {values.dtype}, not numbers."
            )
        axes = find_axes(values if crs is None else whole, is_time, crs, constant)
        extra = {dim for part in names for dim in whole[part].dims} - set(values.dims)
        if extra:
            raise ValueError(
                f"Covariates have the dimension {min(extra)!r}, which {name!r} has not: select an "
                "entry of it."
            )
        kept = whole[[name, *names]].unify_chunks()
        return cls(Cells(kept, tuple(values.dims), axes, names), name)

    @property
    def values(self) -> Any:
        """The variable, as a DataArray."""
        return self.cells.data[self.target]

    def __iter__(self) -> Iterator[tuple[Any, Array]]:
        """Yield rows and values of the cells that have both, block by block."""
        empty = True
        for _, block in blocks_of(self.cells.data, self.cells.dims):
            cells = self.cells.block(block)
            values = cells.array(self.target)
            known = cells.known([self.target, *cells.covariates])
            if known.any():
                empty = False
                y = values[known]
                yield cells.rows(known), y.astype(np.result_type(y, np.float32))
        if empty:
            raise ValueError(
                f"No cell of {self.target!r} has a value (all are NaN, masked, or without their "
                "covariates): there is nothing to learn from."
            )


def is_known(values: Array) -> Array:
    """Tell which values are none of NaN, infinity, NaT, None and empty text."""
    if values.dtype.kind in "iub":
        return np.ones(values.shape, dtype=bool)
    if values.dtype.kind in "fc":
        return np.isfinite(values)
    if values.dtype.kind in "Mm":
        return ~np.isnat(values)
    # What is not equal to itself is NaN in a column of words.
    return np.asarray((values == values) & (values != "") & (values != None))  # noqa: E711


def as_dataset(data: Any) -> Any:
    """Return a DataArray or Dataset as a Dataset with decoded values."""
    xr = library("xarray")
    if isinstance(data, xr.DataArray):
        data = data.to_dataset(name=data.name or "values", promote_attrs=False)
    if not isinstance(data, xr.Dataset):
        raise TypeError(
            f"{type(data).__name__} is not a grid: pass an xarray.DataArray or xarray.Dataset, or "
            "the name of a file to the command line."
        )
    packed = {"_FillValue", "missing_value", "scale_factor", "add_offset"}
    if any(packed & set(variable.attrs) for variable in data.variables.values()):
        data = xr.decode_cf(data, decode_times=False)  # opened with mask_and_scale=False
    return with_places(data, is_time)


def choose_target(data: Any, target: str | None) -> str:
    """Return the name of the variable that is meant."""
    names = [str(name) for name, values in data.data_vars.items() if values.ndim >= 1]
    if target is None:
        bounds = {str(v.attrs.get("bounds")) for v in data.variables.values()}
        gridded = [name for name in names if data[name].ndim >= 2 and name not in bounds]
        if len(gridded) == 1:
            return gridded[0]
        raise ValueError(
            f"The dataset has {len(gridded)} variables on a grid: name one as target "
            f"({', '.join(map(repr, gridded)) or 'none'})."
        )
    if not isinstance(target, str):
        raise TypeError(
            f"target={target!r} must be the name of a variable ({', '.join(map(repr, names))}); a "
            "model goes by its name: model=..."
        )
    if target not in names:
        raise ValueError(
            f"There is no variable {target!r}.{near(target, names)} Variables: "
            f"{', '.join(map(repr, names))}."
        )
    return target


def blocks_of(data: Any, dims: tuple[str, ...]) -> Iterator[tuple[dict[str, slice], Any]]:
    """Yield parts of a grid in memory, with their places: chunks of Dask, or strips.

    Parameters
    ----------
    data : xarray.Dataset
    dims : tuple of str
        The dimensions of the grid. The last ones are kept whole, as far as they fit.
    """
    pieces = []
    budget = BLOCK_CELLS
    for dim in reversed(dims):
        size = data.sizes[dim]
        step = max(1, min(size, budget))
        budget = max(1, budget // size)
        edges = np.cumsum([0, *(data.chunksizes.get(dim) or (size,))])
        parts = [
            slice(first, min(first + step, end))
            for start, end in pairwise(edges.tolist())
            for first in range(start, end, step)
        ]
        pieces.append([(dim, part) for part in parts])
    for index in map(dict, product(*pieces[::-1])):
        yield index, data.isel(index).load()
