"""Suggestions of names that are like an unknown one."""

import difflib
import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any

__all__ = ["Hinting", "check_keywords", "near"]


def near(name: str, names: Iterable[str]) -> str:
    """Return ' Did you mean …?' with the names most like an unknown one, or ''.

    Examples
    --------
    >>> from zonal._suggestions import near
    >>> near("lattitude", ["latitude", "longitude", "height"])
    " Did you mean 'latitude' or 'longitude'?"
    """
    # Letter case is what people get wrong most, and difflib takes it for another letter.
    lower = {candidate.lower(): candidate for candidate in names}
    found = difflib.get_close_matches(name.lower(), lower, n=3)
    return f" Did you mean {' or '.join(repr(lower[key]) for key in found)}?" if found else ""


# Keywords that mean nearly the same; which one is right depends on the class.
SYNONYMS = (
    {"budget", "n_components", "components", "n_features"},
    {"bandwidth", "length_scale", "sigma", "gamma"},
    {"alpha", "lam", "noise"},
)


class Hinting:
    """Answers an unknown keyword of a constructor with the one that was probably meant.

    Examples
    --------
    >>> import zonal
    >>> zonal.KernelRidge(n_components=512)
    Traceback (most recent call last):
    TypeError: KernelRidge has no parameter 'n_components'. Did you mean 'budget'?
    """

    def __init_subclass__(cls, **options: Any) -> None:
        """Check the keywords of the constructor before it is called."""
        super().__init_subclass__(**options)
        check_keywords(cls)


def check_keywords(kind: Any) -> None:
    """Check the keywords of a class's own constructor before it is called."""
    if "__init__" in vars(kind):
        kind.__init__ = _checked(vars(kind)["__init__"])


def _checked(init: Callable[..., None]) -> Callable[..., None]:
    names = set(inspect.signature(init).parameters)

    @functools.wraps(init)
    def checked(self: Any, *args: Any, **options: Any) -> None:
        for name in options:
            if name not in names:
                known = sorted(names - {"self"})
                meant = [
                    word for group in SYNONYMS if name in group for word in sorted(group & names)
                ]
                hint = f" Did you mean {meant[0]!r}?" if meant else near(name, known)
                hint = hint or f" Its parameters are {', '.join(known)}."
                raise TypeError(f"{type(self).__name__} has no parameter {name!r}.{hint}")
        init(self, *args, **options)

    return checked
