"""Progress, on request: bars over blocks, and the name of the phase that a long fit is in."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

__all__ = ["advanced", "counting", "listening", "phase", "progress"]

_listener: ContextVar[Callable[[str], None] | None] = ContextVar("listener", default=None)
_counter: ContextVar[Callable[[float], None] | None] = ContextVar("counter", default=None)


def progress(items: Iterable[Any], verbose: bool, description: str) -> Iterable[Any]:
    """Return the items, with a bar if `verbose` and they take more than two seconds.

    Without tqdm there is no bar: a line says so and what is under way.
    """
    if not verbose:
        return items
    try:
        from tqdm import tqdm
    except ImportError:
        print(f"{description} ... (pip install 'zonal[progress]' for a bar)", flush=True)
        return items
    bar: Iterable[Any] = tqdm(items, desc=description, delay=2.0)
    return bar


def phase(name: str, verbose: bool = False) -> None:
    """Tell who listens what a long computation is at now, and print it if `verbose`."""
    listener = _listener.get()
    if listener is not None:
        listener(name)
    if verbose:
        print(f"{name} ...", flush=True)


@contextmanager
def listening(listener: Callable[[str], None]) -> Iterator[None]:
    """Pass on the names of the phases of what is computed within.

    Examples
    --------
    >>> import numpy as np
    >>> import zonal
    >>> from zonal.rows.progress import listening
    >>> X = np.linspace(0, 1, 100)[:, None]
    >>> phases = []
    >>> with listening(phases.append):
    ...     model = zonal.KernelRidge(alpha=1.0).fit(X, X[:, 0])
    >>> phases
    ['summing over the rows', 'solving']
    """
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def advanced(amount: float) -> None:
    """Tell who counts how much more of a long computation is done, such as cells of a map."""
    counter = _counter.get()
    if counter is not None:
        counter(amount)


@contextmanager
def counting(counter: Callable[[float], None]) -> Iterator[None]:
    """Pass on what `advanced` is told within.

    Examples
    --------
    >>> from zonal.rows.progress import advanced, counting
    >>> amounts = []
    >>> with counting(amounts.append):
    ...     advanced(10)
    >>> amounts
    [10]
    """
    token = _counter.set(counter)
    try:
        yield
    finally:
        _counter.reset(token)
