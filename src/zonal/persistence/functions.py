"""A user's own Python functions in a model: found, taken out before saving, and put back."""

import copy
import types
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import scipy.special
from sklearn.base import BaseEstimator

from ..kernels import GeneralizedZonalKernel

__all__ = ["MissingFunction", "replace", "user_functions", "walk"]


class MissingFunction:
    """Stands in a file for a user's own Python function, which is not saved."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, *args: Any) -> Any:
        """Raise, for the function is not here."""
        raise TypeError(f"The function {self.name!r} was not saved with the model.")


def walk(value: Any, name: str = "", seen: set[int] | None = None) -> Iterator[tuple[str, Any]]:
    """Yield everything that a model holds, each with the name of its attribute."""
    seen = set() if seen is None else seen
    if id(value) in seen or isinstance(value, str | bytes | type):
        return
    seen.add(id(value))
    if isinstance(value, np.ndarray):
        for item in value.flat if value.dtype.hasobject else ():
            yield from walk(item, name, seen)
        return
    yield name, value
    if _is_users(value):
        return  # it is left out as a whole
    if isinstance(value, types.MethodType):
        yield from walk(value.__self__, name, seen)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from walk(item, str(key), seen)
    elif isinstance(value, list | tuple | set):
        for item in value:
            yield from walk(item, name, seen)
    elif hasattr(value, "__dict__"):
        for key, item in vars(value).items():
            yield from walk(item, key, seen)


def replace(value: Any, memo: dict[int, Any]) -> Any:
    """Return a copy of a model with other objects in place of those in `memo`, by their ids.

    `copy.deepcopy` does not ask its memo about functions from Python 3.14 on. Arrays are shared.
    """
    if id(value) in memo:
        return memo[id(value)]
    if isinstance(value, np.ndarray | str | bytes | type | types.FunctionType):
        return value
    new: Any = value
    if isinstance(value, types.MethodType):
        new = types.MethodType(value.__func__, replace(value.__self__, memo))
    elif isinstance(value, list | tuple | set):
        items = [replace(item, memo) for item in value]
        new = type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    elif isinstance(value, dict):
        new = copy.copy(value)
        new.update({key: replace(item, memo) for key, item in value.items()})
    elif hasattr(value, "__dict__"):
        new = memo[id(value)] = copy.copy(value)
        # Not by setattr, which frozen dataclasses refuse.
        vars(new).update({key: replace(item, memo) for key, item in vars(value).items()})
    memo[id(value)] = new
    return new


def _is_users(value: Any) -> bool:
    """Whether a value is a function that no library brings back by its name."""
    if not callable(value) or isinstance(value, type | BaseEstimator):
        return False
    if isinstance(value, np.ufunc):  # np.frompyfunc makes them of Python functions
        name = value.__name__
        return not any(getattr(module, name, None) is value for module in (np, scipy.special))
    if isinstance(value, types.MethodType):
        return value.__func__ is not GeneralizedZonalKernel.coefficients
    module = (getattr(value, "__module__", None) or "").split(".")[0]
    return isinstance(value, types.FunctionType) or module not in ("zonal", "sklearn", "scipy")


def user_functions(model: Any) -> dict[str, list[Callable[..., Any]]]:
    """Functions that are not part of a library, with their copies, by unique names."""
    found: dict[str, list[Callable[..., Any]]] = {}
    names: dict[Any, str] = {}
    for attribute, value in walk(model):
        if not _is_users(value):
            continue
        identity = _identity(value)
        if identity not in names:
            own = getattr(value, "__name__", "")
            base = own if own.isidentifier() else attribute.rstrip("_") or "function"
            name, number = base, 2
            while name in found:
                name, number = f"{base}{number}", number + 1
            names[identity] = name
        found.setdefault(names[identity], []).append(value)
    return found


def _identity(value: Any, depth: int = 4) -> Any:
    """Equal for a function and its copies, which `clone` makes of all but plain functions.

    It looks a few levels deep only, for such an object may hold half a compiler. Copies that are
    not recognised are asked for by names of their own.
    """
    if value is None or isinstance(value, str | bytes | int | float | complex):
        return type(value), value
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, types.FunctionType | type) or depth == 0:
        return id(value)
    parts: Any
    if isinstance(value, partial):
        parts = value.func, value.args, value.keywords
    elif isinstance(value, types.MethodType):
        parts = value.__func__, value.__self__
    elif isinstance(value, dict):
        parts = value.items()
    elif isinstance(value, list | tuple):
        parts = value
    elif hasattr(value, "__dict__"):
        parts = vars(value).items()
    else:
        return id(value)
    return type(value), *(_identity(part, depth - 1) for part in parts)
