"""Checks of what comes from a file, before compiled code takes it for granted.

A class whose arrays are indices, sizes or tables for compiled code has a method ``_check_loaded``,
which `zonal.load` calls for every such object of a file. It uses the functions here, which raise
an error in words.
"""

from typing import Any

import numpy as np

from ._typing import Array

__all__ = ["MOST", "check_array", "check_kind", "check_number"]

#: Degrees, radial indices, layers: far more than any search goes up to (4,096), so that loops end.
MOST = 1 << 16
KINDS = {"f": "real numbers", "i": "whole numbers", "u": "whole numbers"}


def check_array(
    owner: Any,
    name: str,
    kind: str,
    shape: tuple[int | None, ...],
    low: int | None = None,
    high: int | None = None,
    *,
    value: Any = None,
) -> Array:
    """Return an attribute that is an array as its class has made it, or raise ValueError.

    Parameters
    ----------
    owner : object
        Whose attribute it is.
    name : str
        The name of the attribute.
    kind : {"f", "i", "u"}
        NumPy's letter for the kind of numbers.
    shape : tuple of int or None
        The shape; None for any length.
    low, high : int, optional
        The smallest and the largest number that are allowed.
    value : object, optional
        A part of the attribute, where that is a list of arrays.
    """
    value = getattr(owner, name, None) if value is None else value
    wanted = f"{KINDS[kind]} of shape {tuple('any' if n is None else n for n in shape)}"
    wanted = wanted.replace("'", "")
    if (
        not isinstance(value, np.ndarray)
        or value.dtype.kind != kind
        or value.ndim != len(shape)
        or any(n is not None and n != found for n, found in zip(shape, value.shape, strict=True))
    ):
        found = type(value).__name__
        if isinstance(value, np.ndarray):
            found = f"an array of {value.dtype} and shape {value.shape}"
        raise ValueError(f"{_damaged(owner, name)} is {found}, not {wanted}")
    if value.size and (
        (low is not None and not value.min() >= low)
        or (high is not None and not value.max() <= high)
    ):
        limits = f"from {low} on" if high is None else f"from {low} to {high}"
        raise ValueError(
            f"{_damaged(owner, name)} has numbers from {value.min()} to {value.max()}, but only "
            f"those {limits} are possible"
        )
    return value


def check_number(owner: Any, name: str, low: int, high: int) -> int:
    """Return an attribute that is a whole number within limits, or raise ValueError."""
    value = getattr(owner, name, None)
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or not low <= int(value) <= high:  # type: ignore[arg-type]
        raise ValueError(
            f"{_damaged(owner, name)} is {value!r}, not a whole number from {low} to {high}"
        )
    return int(value)  # type: ignore[arg-type]


def check_kind(owner: Any, name: str, kinds: type | tuple[type, ...]) -> Any:
    """Return an attribute that is an object of a class, or raise ValueError.

    Any object of a file may have any attributes: only one of its own class is checked as such.
    """
    value = getattr(owner, name, None)
    if not isinstance(value, kinds):
        names = [kind.__name__ for kind in (kinds if isinstance(kinds, tuple) else (kinds,))]
        raise ValueError(
            f"{_damaged(owner, name)} is {type(value).__name__}, not {' or '.join(names)}"
        )
    return value


def _damaged(owner: Any, name: str) -> str:
    return f"it is damaged: {name} of its {type(owner).__name__}"
