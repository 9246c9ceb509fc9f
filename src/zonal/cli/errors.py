"""Errors that a person at the command line can do something about."""

import difflib
from collections.abc import Iterable

__all__ = ["CommandError", "near"]


class CommandError(Exception):
    """Something is wrong with what the command was given; its text is all that is shown."""


def near(name: str, names: Iterable[str]) -> str:
    """' Did you mean …?' with the names most like one that is unknown, or ''.

    Examples
    --------
    >>> from zonal.cli.errors import near
    >>> near("lattitude", ["latitude", "longitude", "height"])
    " Did you mean 'latitude' or 'longitude'?"
    """
    # Letter case is what people get wrong most, and difflib takes it for another letter.
    lower = {candidate.lower(): candidate for candidate in names}
    found = difflib.get_close_matches(name.lower(), lower, n=3)
    return f" Did you mean {' or '.join(repr(lower[key]) for key in found)}?" if found else ""
