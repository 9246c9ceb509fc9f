"""Walking over the blocks of Dask collections, wherever they are."""

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import _num_samples

from .block import Block, join
from .cluster import explained, require_dask
from .dask_blocks import row_blocks
from .hashing import LEARN_ROWS
from .kept import n_bytes
from .shipping import Shipped
from .source import Resume
from .survey import Survey, survey_block
from .threads import one_thread, thread_count

__all__ = ["DaskSource"]


class DaskSource:
    """Rows of Dask collections, with their targets and weights.

    Work on them is one chain of tasks for every thread of the cluster: each adds a block to the
    sums so far, so that no more sums than threads exist at a time, and they stay where they are.
    At the end the chains are merged in pairs.

    Parameters
    ----------
    X : Dask array or frame
    y, weight : Dask collections or arrays, optional
    """

    #: It can be walked over as often as needed.
    once = False

    def __init__(self, X: Any, y: Any = None, weight: Any = None) -> None:
        require_dask()
        rows = row_blocks(X)
        self._parts: list[tuple[Any, ...]] = list(
            zip(
                rows.blocks,
                *(
                    itertools.repeat(None, len(rows.blocks))
                    if part is None
                    else row_blocks(part, rows, name).blocks
                    for part, name in ((y, "y"), (weight, "sample_weight"))
                ),
                strict=True,
            )
        )
        self._lengths = rows.lengths
        self._weighted = weight is not None
        self._counting: tuple[int, ...] | None = rows.lengths if weight is None else None

    def survey(self, labels: bool = False, size: int | None = None) -> Survey:
        """The number of rows, a sample of them, the labels."""
        size = LEARN_ROWS if size is None else size
        self._count()
        assert self._lengths is not None  # for the type checker: counted now
        assert self._counting is not None
        n_counting = sum(self._counting)
        if sum(self._lengths) == 0:
            raise ValueError("X has 0 rows; at least one is needed: all its chunks are empty.")
        firsts = _starts(self._counting)
        below = _below(n_counting, size)
        found = self._reduce(
            lambda number: (survey_block, firsts[number], labels, below, size), lambda a, b: a + b
        )
        if len(found.sample.numbers) < min(n_counting, found.size):
            found = self._reduce(
                lambda number: (survey_block, firsts[number], labels, None, size),
                lambda a, b: a + b,
            )
        result: Survey = found
        return result

    def hold(self, limit: int) -> Block | None:
        """Gather all rows here, if they take no more bytes than `limit`."""
        import dask

        self._count()
        assert self._lengths is not None
        full = [number for number, length in enumerate(self._lengths) if length]
        if not full:
            return None
        with explained():
            first = dask.compute(self._parts[full[0]])[0]
            a_row = n_bytes(Block(*first)) / self._lengths[full[0]]
            if a_row * sum(self._lengths) > limit:
                return None
            parts = dask.compute([self._parts[number] for number in full])[0]
        return join([Block(*part) for part in parts])

    def reduce(
        self,
        function: Callable[[Block], Any],
        merge: Callable[[Any, Any], Any],
        block_rows: int,
        resume: Resume | None = None,
        title: str = "",
    ) -> Any:
        """Merge what a function makes of the blocks; they are as large as the chunks."""
        self._count()
        return self._reduce(lambda number: (function,), merge)

    @explained()
    def map(self, function: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
        """Return what a function makes of items, each a task of one thread on any worker."""
        import dask

        shared = dask.delayed(Shipped(function), traverse=False, pure=False)
        call = dask.delayed(_call, pure=False)
        return list(dask.compute(*(call(shared, item) for item in items)))

    @explained()  # of all of it: to ask which workers there are needs the scheduler too
    def _reduce(
        self,
        call: Callable[[int], tuple[Any, ...]],
        merge: Callable[[Any, Any], Any],
    ) -> Any:
        """Merge call(number)[0](block, *rest) over all blocks."""
        import dask

        assert self._lengths is not None
        starts = _starts(self._lengths)
        shared: dict[int, Any] = {}
        step = dask.delayed(_step, pure=False)
        join = dask.delayed(_merge, pure=False)
        client = active_client()
        totals: list[Any] = []
        for numbers, worker in self._chains(client):
            total: Any = None
            for number in numbers:
                function, *rest = call(number)
                # One key for the function, which is then sent to every worker once.
                if id(function) not in shared:
                    shared[id(function)] = dask.delayed(
                        Shipped(function), traverse=False, pure=False
                    )
                total = step(
                    shared[id(function)], merge, total, *self._parts[number], starts[number], *rest
                )
            if worker is not None:
                # Blocks are made where they are summed, and nothing but sums ever moves. Without
                # that worker, any other will do.
                total = client.compute(total, workers=[worker], allow_other_workers=True)
            totals.append(total)
        while len(totals) > 1:
            totals = [
                join(merge, *pair) if len(pair) == 2 else pair[0]
                for pair in (totals[i : i + 2] for i in range(0, len(totals), 2))
            ]
        if not dask.is_dask_collection(totals[0]):
            return totals[0].result()  # of the only chain
        return dask.compute(totals[0])[0]

    def _chains(self, client: Any) -> list[tuple[list[int], str | None]]:
        """Numbers of consecutive blocks for each thread, and the worker that it belongs to."""
        workers: list[str | None] = [None] * thread_count()
        if client is not None:
            threads = client.nthreads()
            workers = [name for name in sorted(threads) for _ in range(threads[name])] or [None]
            holders = self._holders(client)
            if holders is not None:
                return [
                    (numbers, name)
                    for name in sorted(set(holders))
                    for numbers in _shares(np.flatnonzero(holders == name), threads.get(name, 1))
                ]
        return list(zip(_shares(np.arange(len(self._parts)), len(workers)), workers, strict=False))

    def _holders(self, client: Any) -> Any:
        """The worker that holds each block of persisted rows, or None if some are not held."""
        known = client.who_has()
        holders = [next(iter(known.get(X.key, ())), None) for X, _, _ in self._parts]
        return None if None in holders else np.array(holders)

    def _count(self) -> None:
        """Count the rows of chunks of unknown size, and those of positive weight."""
        if self._lengths is not None and self._counting is not None:
            return
        import dask

        tasks = [dask.delayed(_count)(X, weight) for X, _, weight in self._parts]
        with explained():
            counts = dask.compute(*tasks)
        self._lengths = tuple(rows for rows, _ in counts)
        self._counting = tuple(counting for _, counting in counts)


def active_client() -> Any:
    """The `distributed.Client` that Dask would use now, or None for threads of this process."""
    from dask.base import get_scheduler
    from distributed import Client

    owner = getattr(get_scheduler(), "__self__", None)
    return owner if isinstance(owner, Client) else None


def _step(
    function: Shipped, merge: Any, total: Any, X: Any, y: Any, weight: Any, start: int, *rest: Any
) -> Any:
    """Add a block to the sums so far."""
    with one_thread():
        part = function.value(Block(X, y, weight, start), *rest)
        return part if total is None else merge(total, part)


def _call(function: Shipped, item: Any) -> Any:
    with one_thread():
        return function.value(item)


def _merge(merge: Any, left: Any, right: Any) -> Any:
    return merge(left, right)


def _count(X: Any, weight: Any) -> tuple[int, int]:
    rows = int(_num_samples(X))
    return rows, rows if weight is None else int(np.count_nonzero(np.asarray(weight) > 0))


def _shares(numbers: Any, n_shares: int) -> list[list[int]]:
    parts = np.array_split(numbers, n_shares)
    return [part.tolist() for part in parts if len(part)]


def _starts(lengths: tuple[int, ...]) -> list[int]:
    return [0, *itertools.accumulate(lengths)][: len(lengths)]


def _below(n_rows: int, size: int) -> int | None:
    """A bound that all sampled rows' hashes are below, but for one time in 10⁹.

    Hashes are uniform: of n rows about s (1 + 6/√s), where s rows are sampled, have a hash below
    that share of 2⁶⁴, so that hardly more rows than needed leave their workers.
    """
    share = size * (1 + 6 / size**0.5) / n_rows
    return None if share >= 1 else int(share * 2**64)
