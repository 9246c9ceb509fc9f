"""Rows that are one array, matrix or frame in memory."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from .block import Block, take
from .source import Resume
from .survey import Sample, Survey

__all__ = ["ArraySource"]

Result = TypeVar("Result")


class ArraySource:
    """All rows as one block.

    Its survey holds every row, not a sample of them: transformers of others may want them all,
    and those of ours draw the sample themselves.

    Parameters
    ----------
    block : Block
        The rows, already checked.
    """

    once = False

    def __init__(self, block: Block) -> None:
        self.block = block

    def survey(self, labels: bool = False, size: int | None = None) -> Survey:
        """Count the rows; the sample is all of them."""
        block = self.block
        n_rows = len(block)
        counting = (
            np.arange(n_rows) if block.weight is None else np.flatnonzero(np.asarray(block.weight))
        )
        classes = np.unique(np.asarray(take(block.y, counting))) if labels else None
        sample = Sample(np.arange(n_rows), *block.parts)
        return Survey(n_rows, len(counting), sample, classes, whole=True)

    def hold(self, limit: int) -> Block | None:
        """Return the block: it is in memory already."""
        return self.block

    def reduce(
        self,
        function: Callable[[Block], Result],
        merge: Callable[[Result, Result], Result],
        block_rows: int,
        resume: Resume | None = None,
        title: str = "",
    ) -> Result:
        """Apply the function to the one block there is; it uses all cores itself."""
        return function(self.block)

    def map(self, function: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
        """Return what a function makes of items, one after the other."""
        return [function(item) for item in items]
