"""What a fitted model finds only if somebody asks for it."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

__all__ = ["found_once"]

Result = TypeVar("Result")


def found_once(method: Callable[[Any], Result]) -> Callable[[Any], Result]:
    """Let a method of a value find its result once, and keep it in the value's dict ``kept``.

    A fitted model does not change, but the intervals of its predictions may take as long as the
    fit, and most predictions do without. What is kept is saved with the model; a copy that differs
    in what the result depends on must begin with an empty ``kept``.
    """

    @wraps(method)
    def find(self: Any) -> Result:
        name = method.__name__
        if name not in self.kept:
            self.kept[name] = method(self)
        found: Result = self.kept[name]
        return found

    return find
