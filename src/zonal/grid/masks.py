"""Masks: the cells of a grid that are wanted."""

from typing import Any

import numpy as np

from .._suggestions import near
from .optional import library

__all__ = ["mask_of"]


def mask_of(where: Any, data: Any, dims: tuple[str, ...]) -> Any:
    """Return the cells that are wanted as a DataArray of bool, along some dimensions of a grid.

    Parameters
    ----------
    where : str, DataArray or array-like
        The name of a variable of `data`; or values, which are wanted if they are neither 0 nor
        missing. An array without names has the shape of the grid or, along one axis, the length
        of exactly one of its dimensions.
    data : xarray.Dataset
        The grid.
    dims : tuple of str
        Its dimensions, in order.
    """
    xr = library("xarray")
    if isinstance(where, str):
        if where not in data.variables:
            known = [str(name) for name in data.variables]
            raise ValueError(
                f"where={where!r} names no variable of the grid.{near(where, known)} Variables: "
                f"{', '.join(map(repr, known))}."
            )
        where = data[where]
    elif isinstance(where, xr.Dataset):
        raise TypeError("where is a Dataset: pass one of its variables, or its name.")
    elif not isinstance(where, xr.DataArray):
        where = _named(np.asarray(where), data, dims)
    if where.dtype.kind not in "iufb":
        raise ValueError(
            f"where holds values of type {where.dtype}, not numbers or True and False."
        )
    extra = [str(dim) for dim in where.dims if dim not in dims]
    if extra:
        raise ValueError(
            f"where has the dimension {extra[0]!r}, which the grid has not; its dimensions are "
            f"{', '.join(map(repr, dims))}."
        )
    wanted = (where.fillna(0) != 0) if where.dtype.kind == "f" else where != 0
    wanted = wanted.drop_vars([name for name in wanted.coords if name not in wanted.dims])
    try:
        xr.align(wanted, data.drop_vars(list(data.data_vars)), join="exact", copy=False)
    except ValueError as error:
        raise ValueError(
            "where has other coordinates than the grid, or another size: bring it onto the grid "
            "first, as with where.reindex_like(grid, method='nearest')."
        ) from error
    return wanted


def _named(values: Any, data: Any, dims: tuple[str, ...]) -> Any:
    """Return an array without names along the dimensions that it must mean."""
    shape = tuple(data.sizes[dim] for dim in dims)
    fitting = [dim for dim in dims if values.shape == (data.sizes[dim],)]
    if values.shape == shape:
        fitting = [*dims]
    elif len(fitting) != 1:
        sizes = ", ".join(f"{dim}: {size}" for dim, size in zip(dims, shape, strict=True))
        raise ValueError(
            f"where has the shape {values.shape}, but the grid is ({sizes}): pass an array of that "
            "shape, or a DataArray, whose dimensions have names."
        )
    return library("xarray").DataArray(values, dims=fitting)
