"""Rows that stay where they are, and a sample of them that is large enough to choose by."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from .block import Block
from .kept import PILOT_ROWS
from .source import Resume, Source
from .survey import Survey

__all__ = ["LargeSource"]


@dataclass(frozen=True)
class LargeSource:
    """A source whose survey is a pilot: by which a local part can be chosen.

    Attributes
    ----------
    source : Source
    """

    source: Source

    @property
    def once(self) -> bool:
        """Whether the rows can be walked over only once."""
        return self.source.once

    def survey(self, labels: bool = False, size: int | None = None) -> Survey:
        """Count the rows, and draw a large sample."""
        return self.source.survey(labels, size or PILOT_ROWS)._replace(pilot=True)

    def hold(self, limit: int) -> Block | None:
        """Return all rows in memory, or None if they take more bytes than that."""
        return self.source.hold(limit)

    def reduce(
        self,
        function: Callable[[Block], Any],
        merge: Callable[[Any, Any], Any],
        block_rows: int,
        resume: Resume | None = None,
        title: str = "",
    ) -> Any:
        """Merge what a function makes of the blocks."""
        return self.source.reduce(function, merge, block_rows, resume, title)

    def map(self, function: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
        """Return what a function makes of items, on the workers that hold the rows."""
        return self.source.map(function, items)
