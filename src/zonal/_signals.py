"""Signals that wait."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["postponed"]

WAIT = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def postponed() -> Iterator[None]:
    """Let Ctrl-C and SIGTERM take effect afterwards, but the second of them at once.

    An archive has a destructor, where Python cannot raise: what a signal's handler raises there is
    printed and lost, and the program goes on. Only the main thread has to do with signals.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    # None is a handler that is not Python's, which no one could put back.
    before = {
        number: handler
        for number in WAIT
        if (handler := signal.getsignal(number)) not in (None, signal.SIG_IGN)
    }
    seen: list[int] = []

    def wait(number: int, frame: Any) -> None:
        seen.append(number)
        if len(seen) > 1:
            signal.signal(number, before[signal.Signals(number)])
            signal.raise_signal(number)

    try:
        for number in before:
            signal.signal(number, wait)
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if seen:
            signal.raise_signal(seen[0])
