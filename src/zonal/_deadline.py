"""The time that a choice may take."""

import time
from collections.abc import Iterable, Iterator
from typing import Any

__all__ = ["Deadline"]

# The share of the limit that the choice may take: the rest is for the fit of what was chosen.
CHOICE_SHARE = 0.75


class Deadline:
    """Tells whether there is time left for something more, and notes what there was not.

    Whatever comes first always runs, so that there is a model in the end. Something that takes
    longer than what is left is begun only where its cost is not known before.

    Parameters
    ----------
    seconds : float or None
        The limit for the whole fit, from now on; None: as long as it takes.

    Attributes
    ----------
    left_out : list of str
        What was not tried for want of time.
    """

    def __init__(self, seconds: float | None = None) -> None:
        self.seconds = seconds
        self.left_out: list[str] = []
        self._end = None if seconds is None else time.perf_counter() + CHOICE_SHARE * seconds

    def passed(self, needed: float = 0.0) -> bool:
        """Tell whether less than the seconds that are needed are left."""
        return self._end is not None and time.perf_counter() + needed > self._end

    def allows(self, what: str, needed: float = 0.0) -> bool:
        """Tell whether there is time for something, and note it if not."""
        if self.passed(needed):
            self.left_out.append(what)
            return False
        return True

    def while_time(self, items: Iterable[Any], what: str) -> Iterator[Any]:
        """Yield the first item, and others as long as there is time."""
        for number, item in enumerate(items):
            if number and self.passed():
                self.left_out.append(what)
                return
            yield item
