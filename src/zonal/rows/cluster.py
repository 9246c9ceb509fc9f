"""Clusters to fit on, and errors in words when they are out of reach."""

import asyncio
from collections.abc import Iterator
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

from .._validation import check_count, check_positive

__all__ = ["connect", "explained", "local_cluster", "require_dask"]


def require_dask() -> None:
    """Raise ImportError with advice if Dask is not installed."""
    try:
        import dask.array  # noqa: F401
        import distributed  # noqa: F401
    except ImportError as error:
        raise ImportError(
            "Dask collections and clusters need dask and distributed: pip install 'zonal[dask]'."
        ) from error


def connect(address: str, timeout: float = 5.0) -> Any:
    """Connect to a running Dask scheduler, on which everything Dask then runs.

    Parameters
    ----------
    address : str
        Such as ``"tcp://10.0.0.1:8786"``.
    timeout : float, default=5.0
        Seconds to wait for an answer.

    Returns
    -------
    distributed.Client

    Raises
    ------
    ConnectionError
        If no scheduler answers in time.
    """
    require_dask()
    check_positive("timeout", timeout, "connect")
    from distributed import Client

    try:
        with ThreadPoolExecutor(1) as pool:  # notebooks have an event loop of their own here
            pool.submit(asyncio.run, _knock(address, timeout)).result()
        return Client(address, timeout=timeout)
    except (OSError, TimeoutError, ValueError, TypeError) as error:  # no answer, or no address
        raise ConnectionError(
            f"No Dask scheduler answers at {address!r} within {timeout:g} s: is it running "
            "(`dask scheduler`), is the address right, does a firewall let it through? "
            f"({type(error).__name__}: {error})"
        ) from error


async def _knock(address: str, timeout: float) -> None:
    """Open and close a connection; a client would wait forever for a server that says nothing."""
    from distributed.core import connect as open_connection

    async def knock() -> None:
        connection = await open_connection(address, timeout=timeout)
        await connection.close()

    await asyncio.wait_for(knock(), timeout)


def local_cluster(n_workers: int = 2, threads_per_worker: int = 1) -> Any:
    """Start worker processes on this machine, and connect to them over TCP.

    Parameters
    ----------
    n_workers, threads_per_worker : int
        Best as many threads in all as there are cores: each task uses one.

    Returns
    -------
    distributed.Client
        Close it, and the workers end: ``with local_cluster(2): ...``.
    """
    require_dask()
    check_count("n_workers", n_workers, "local_cluster")
    check_count("threads_per_worker", threads_per_worker, "local_cluster")
    from distributed import Client

    return Client(
        n_workers=n_workers,
        threads_per_worker=threads_per_worker,
        processes=True,
        protocol="tcp://",
        dashboard_address=":0",  # any free port: the usual one may be taken, with a warning
    )


@contextmanager
def explained() -> Iterator[None]:
    """Say in words what happened to the cluster in the middle of some work."""
    from distributed import KilledWorker
    from distributed.comm import CommClosedError

    try:
        yield
    except KilledWorker as error:
        raise RuntimeError(
            f"Workers died again and again on the same rows ({error}). Most often they run out of "
            "memory: use smaller chunks, a smaller budget or fewer threads for each worker."
        ) from error
    except (CommClosedError, CancelledError, TimeoutError) as error:
        raise ConnectionError(
            f"The Dask scheduler was lost in the middle of the work ({type(error).__name__}: "
            f"{error}): connect again and repeat."
        ) from error
