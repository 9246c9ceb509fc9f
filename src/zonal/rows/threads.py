"""Walking over the rows in blocks, on all cores."""

import itertools
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import joblib
import numba
import numpy as np
from threadpoolctl import ThreadpoolController

from .._typing import Array
from .buffers import reserve_buffers

__all__ = [
    "block_slices",
    "map_rows",
    "one_thread",
    "ordered_map",
    "single_threaded_blas",
    "thread_count",
]

# Numbers in a block of intermediate results, 4 MB in float32. Smaller blocks would fit a core's
# second-level cache, but then the threads wait for each other in Python: measured 1.6 times slower.
BLOCK_SIZE = 1 << 20
SHARES = 4


class _SingleThreadedBlas:
    """Holds BLAS to one thread while any of our threads are at work.

    Also around work of many small products: threads of OpenBLAS wait for the next product by
    spinning, for about as long as a small one takes. Measured on the choice of a model, two of
    them took 1.7 times the processor time of one and saved nothing, and beside another busy
    process they took ten times as long.

    The limit is one for the whole process, so callers in several threads share it: the first
    sets it and the last lifts it.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self._limit: Any = None

    def __enter__(self) -> None:
        with self._lock:
            if self._users == 0:
                reserve_buffers()
                self._limit = _controller().limit(limits=1, user_api="blas")
                try:  # the limit may have taken what was reserved, for threads
                    reserve_buffers(limited=True)
                except MemoryError:
                    self._limit.restore_original_limits()
                    raise
            self._users += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0:
                self._limit.restore_original_limits()


single_threaded_blas = _SingleThreadedBlas()


@contextmanager
def one_thread() -> Iterator[None]:
    """Hold BLAS and Numba to one thread, where others keep all cores busy."""
    before = numba.get_num_threads()
    numba.set_num_threads(1)
    try:
        with single_threaded_blas:
            yield
    finally:
        numba.set_num_threads(before)


def thread_count() -> int:
    """Return how many threads may work: Numba's number, and no more than this process may use."""
    return min(numba.get_num_threads(), _allowed(os.getpid()))


@lru_cache(maxsize=8)
def _allowed(process: int) -> int:
    """What the affinity, the quota of a container, joblib and OMP_NUM_THREADS leave a process."""
    allowed = joblib.cpu_count()
    wanted = os.environ.get("OMP_NUM_THREADS", "").split(",")[0]
    return min(allowed, int(wanted)) if wanted.isdigit() and int(wanted) else allowed


@lru_cache(maxsize=1)
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


def block_slices(n_rows: int, width: int) -> Iterable[slice]:
    """Slices of rows whose intermediate results, `width` numbers a row, are a few megabytes."""
    largest = max(8, BLOCK_SIZE // max(width, 1))
    n_blocks = -(-n_rows // largest)
    if n_blocks > 1:
        # As many for each of two or four threads, so that none waits for the last one. The number
        # of threads does not count: sums over blocks would depend on it.
        n_blocks = SHARES * -(-n_blocks // SHARES)
    edges = np.linspace(0, n_rows, max(n_blocks, 1) + 1).astype(int)
    return (slice(a, b) for a, b in itertools.pairwise(edges) if a < b)


def map_rows(
    function: Callable[[Any, Array], None],
    X: Any,
    out: Array,
    width: int | None = None,
) -> Array:
    """Fill a matrix block by block: ``function(rows, out)`` for each block of rows of X.

    The blocks run in threads (as many as `thread_count` tells), each with a
    single-threaded BLAS, so that `function` should spend its time where the GIL is released.
    Which thread computes a block does not matter for its values.

    Parameters
    ----------
    function : callable
        Takes rows of X [b, d] and fills rows of out [b, n_columns].
    X : ndarray or CSR matrix of shape (n, d)
        All rows.
    out : ndarray of shape (n, n_columns)
        Where the result goes; it may be a part of a wider matrix.
    width : int, optional
        Intermediate numbers a row, by default n_columns.

    Returns
    -------
    ndarray of shape (n, n_columns)
        `out`.
    """
    slices = list(block_slices(X.shape[0], width or out.shape[1]))

    def run(rows: slice) -> None:
        function(X[rows], out[rows])

    for _ in ordered_map(run, slices):
        pass
    return out


def ordered_map(
    function: Callable[[Any], Any], items: Iterable[Any], n_threads: int | None = None
) -> Iterator[Any]:
    """Apply a function to items in threads, and yield the results in the order of the items.

    Each thread has a single-threaded BLAS and Numba, so that there are never more threads than
    cores. A few items are ahead of the one that is yielded, not all of them.

    Parameters
    ----------
    function : callable
        Should spend its time where the GIL is released.
    items : iterable
        What it is applied to.
    n_threads : int, optional
        By default `thread_count`. With one thread or one item, everything happens in
        the calling thread.
    """
    n_threads = n_threads or thread_count()
    reserve_buffers()
    items = iter(items)
    ahead = list(itertools.islice(items, 2))
    if n_threads == 1 or len(ahead) < 2:
        yield from map(function, itertools.chain(ahead, items))
        return
    pool = _pool(n_threads, os.getpid())
    pending: deque[Future[Any]] = deque()
    with single_threaded_blas:
        try:
            for item in itertools.chain(ahead, items):
                pending.append(_submitted(pool, function, item))
                while pending and (len(pending) > n_threads or pending[0].done()):
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()
        finally:  # after an error, or if nobody asks for more results
            for future in pending:
                future.cancel()
            wait(pending)


def _submitted(pool: ThreadPoolExecutor, function: Callable[[Any], Any], item: Any) -> Future[Any]:
    """Submit work; where a thread cannot be started, say why."""
    try:
        return pool.submit(function, item)
    except RuntimeError as error:
        if "start new thread" not in str(error):
            raise
        raise MemoryError(
            "No thread can be started: there is no memory for it, or too many run already. Raise "
            "the limit (ulimit -v, ulimit -u), or set OMP_NUM_THREADS=1."
        ) from error


@lru_cache(maxsize=8)
def _pool(n_threads: int, process: int) -> ThreadPoolExecutor:
    """Return the threads of this process, which are started once: that takes a millisecond each.

    A forked child has none of its parent's threads, and so starts its own.
    """
    return ThreadPoolExecutor(n_threads, "zonal", initializer=numba.set_num_threads, initargs=(1,))
