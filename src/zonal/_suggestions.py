"""Suggestions of names that are like an unknown one."""

import difflib
from collections.abc import Iterable

__all__ = ["near"]


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
