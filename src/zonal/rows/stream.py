"""Walking over blocks of rows one after the other, in one process."""

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import Any

from .block import Block, as_blocks, join, recut
from .hashing import LEARN_ROWS, row_hash
from .kept import n_bytes
from .progress import progress
from .source import Resume
from .survey import Survey, survey_block

__all__ = ["StreamSource"]


class StreamSource:
    """Rows that are read block by block, as often as they are asked for.

    An iterator can be walked over only once. What is to be learnt from its rows is then learnt
    from the first 10,000, which again depends on row numbers only.

    Parameters
    ----------
    X, y, weight
        As `as_blocks` takes them.
    """

    def __init__(self, X: Any, y: Any = None, weight: Any = None) -> None:
        self._data = X, y, weight
        self.once = isinstance(X, Iterator)
        self._head: list[Block] = []
        self._rest: Iterator[Block] | None = None

    def survey(self, labels: bool = False, size: int | None = None) -> Survey:
        """The number of rows (of an iterator: of the first ones), a sample, the labels."""
        found: Survey | None = None
        counted, below = 0, None
        for block in self._beginning(size or LEARN_ROWS) if self.once else as_blocks(*self._data):
            part = survey_block(block, counted, labels, below, size)
            counted += part.n_counting
            found = part if found is None else found + part
            if len(found.sample.numbers) == found.size:
                below = int(row_hash(found.sample.numbers).max())
        if found is None:
            raise ValueError("X has 0 rows; at least one is needed: the stream yielded no blocks.")
        return found

    def hold(self, limit: int) -> Block | None:
        """Read all rows into memory, as long as they take no more bytes than `limit`."""
        kept: list[Block] = []
        total = 0
        blocks = self._blocks()
        for block in blocks:
            kept.append(block)
            total += n_bytes(block)
            if total > limit:
                if self.once:  # what was read is walked over again before the rest
                    self._head = kept + self._head
                return None
        return join(kept) if kept else None

    def reduce(
        self,
        function: Callable[[Block], Any],
        merge: Callable[[Any, Any], Any],
        block_rows: int,
        resume: Resume | None = None,
        title: str = "",
    ) -> Any:
        """Merge what a function makes of blocks of `block_rows` rows, in order.

        Parameters
        ----------
        function, merge : callables
            Of a block, and of two results.
        block_rows : int
        resume : Resume, optional
            Where to begin, and where results so far go.
        title : str
            Shown beside a progress bar, if not empty.
        """
        blocks = recut(self._blocks(), block_rows)
        total: Any = None
        if resume is not None:
            total = resume.skip(blocks)
        for block in progress(blocks, bool(title), title):
            part = function(block)
            total = part if total is None else merge(total, part)
            if resume is not None:
                resume.advance(block, total)
        return total

    def _blocks(self) -> Iterator[Block]:
        if not self.once:
            return as_blocks(*self._data)
        if self._rest is None:
            self._rest = as_blocks(*self._data)
        return chain(self._drained(), self._rest)

    def _drained(self) -> Iterator[Block]:
        """Yield what was read ahead, each block once; what is not asked for stays."""
        while self._head:
            yield self._head.pop(0)

    def map(self, function: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
        """Return what a function makes of items, one after the other."""
        return [function(item) for item in items]

    def _beginning(self, size: int) -> Iterator[Block]:
        """Yield the first rows of an iterator, which are kept for later."""
        read: list[Block] = []
        rows = 0
        for block in self._blocks():
            read.append(block)
            yield block.rows(slice(0, min(len(block), size - rows)))
            rows += len(block)
            if rows >= size:
                break
        self._head = read + self._head
