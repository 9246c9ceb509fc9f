"""What was found lately, for rows that are fitted again: with other seeds, widths or targets."""

import os
from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Any

from ..._typing import FloatArray

__all__ = ["recently"]

# Bytes of the last results that are kept, and of one at most.
KEPT, LARGEST = 1 << 25, 1 << 23
_results: OrderedDict[Hashable, tuple[FloatArray, ...]] = OrderedDict()
_lock = Lock()


def _unlock() -> None:
    """Make the lock anew: in a child that another thread's fit was forked into, no one opens it."""
    global _lock
    _lock = Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_unlock)


def recently(
    find: Callable[[], tuple[FloatArray, ...]], kernel: Any, *given: Hashable
) -> tuple[FloatArray, ...]:
    """Return arrays that follow from a kernel and from what else is given.

    Parameters
    ----------
    find : callable
        Finds the arrays, which nobody may change.
    kernel : Kernel
        A kernel whose parameters are numbers. Functions may have changed since under the same name:
        what follows from them is found anew.
    *given : hashable
        Everything else that the arrays depend on; arrays as bytes.
    """
    known = _identity(kernel)
    if known is None:
        return find()
    key = (known, *given)
    with _lock:
        found = _results.get(key)
        if found is not None:
            _results.move_to_end(key)
            return found
    found = find()
    if _size(found) <= LARGEST:
        with _lock:
            _results[key] = found
            while sum(map(_size, _results.values())) > KEPT:
                _results.popitem(last=False)
    return found


def _size(arrays: tuple[FloatArray, ...]) -> int:
    return sum(array.nbytes for array in arrays)


def _identity(kernel: Any) -> Hashable | None:
    """Return the class and the numbers of a kernel of this library, None for any other."""
    kind = type(kernel)
    if not kind.__module__.startswith("zonal.kernels."):
        return None
    values = tuple(sorted(vars(kernel).items()))
    if not all(isinstance(value, int | float) for _, value in values):
        return None
    # Equal numbers of two types need not give the same rounding.
    return kind, tuple((name, type(value), value) for name, value in values)
