"""The protocol of rows: what a fit asks of them, whoever holds them."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, TypeVar

from .block import Block
from .survey import Survey

__all__ = ["Resume", "Source"]

Result = TypeVar("Result")


class Resume(Protocol):
    """Where a reduction begins, and where its results so far go; a checkpoint is one."""

    def skip(self, blocks: Iterator[Block]) -> Any:
        """Read past the rows that are done already, and return their result."""

    def advance(self, block: Block, result: Any) -> None:
        """Note that a block is done, with the result of all blocks so far."""


class Source(Protocol):
    """Rows with targets and weights: an array, a stream of blocks, a Dask collection.

    Attributes
    ----------
    once : bool
        Whether the rows can be walked over only once.
    """

    @property
    def once(self) -> bool:
        """Whether the rows can be walked over only once."""

    def survey(self, labels: bool = False, size: int | None = None) -> Survey:
        """Count the rows and draw the sample that is learnt from; collect the labels if asked.

        The sample has at most `size` rows, by default 10,000.
        """

    def hold(self, limit: int) -> Block | None:
        """Return all rows in memory as one block, or None if they take more bytes than that."""

    def reduce(
        self,
        function: Callable[[Block], Result],
        merge: Callable[[Result, Result], Result],
        block_rows: int,
        resume: Resume | None = None,
        title: str = "",
    ) -> Result:
        """Merge what a function makes of the blocks, of about `block_rows` rows where it matters.

        The result does not depend on who holds the rows, but for rounding. A title is shown
        beside a progress bar where rows are read one block after the other.
        """

    def map(self, function: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
        """Return what a function makes of items, on the workers that hold the rows."""
