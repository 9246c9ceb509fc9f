"""The Dask cluster of a command: started or found, and always ended cleanly."""

import logging
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker

from ..rows.cluster import connect, local_cluster, require_dask
from .console import Screen
from .errors import CommandError

__all__ = ["dask_cluster", "uninterrupted"]


@contextmanager
def dask_cluster(scheduler: str | None, workers: int | None, screen: Screen) -> Iterator[None]:
    """Let Dask use a running cluster by its address, or worker processes of our own."""
    require_dask()
    from distributed import KilledWorker
    from distributed.gc import disable_gc_diagnosis

    # Work that is stopped half-way is logged at length, here and by the workers.
    for name in ("distributed", "asyncio"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    os.environ.setdefault("DASK_LOGGING__DISTRIBUTED", "critical")
    if scheduler is not None:
        with screen.stage("Connecting"):
            client = connect(scheduler)
    else:
        with screen.stage("Starting workers"), uninterrupted():
            client = local_cluster(workers or os.cpu_count() or 1)
    # Ctrl-C in a callback of the garbage collector is printed and lost, and after a long call of
    # compiled code that callback is often the first to run.
    disable_gc_diagnosis(force=True)
    try:
        yield
    except RuntimeError as error:
        if isinstance(error.__cause__, KilledWorker):
            raise CommandError(str(error)) from error
        raise
    finally:
        with uninterrupted():
            client.close()


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Let Ctrl-C take effect only afterwards, and never in processes that are started meanwhile.

    A cluster that is stopped half-way leaves processes behind; and the terminal sends Ctrl-C to
    all of them, where nobody but the command itself should act on it.
    """
    # Its start would let Ctrl-C through again in the thread that starts it.
    resource_tracker.ensure_running()
    seen: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: seen.append(number))
    # Unlike a handler, a mask is inherited by threads, and by the processes that they start.
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        signal.signal(signal.SIGINT, before)
    if seen:
        raise KeyboardInterrupt
