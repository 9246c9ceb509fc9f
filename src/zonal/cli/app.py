"""The commands, and what happens to their errors."""

import _thread
import os
import signal
import sys
import threading
from typing import Any

from .commands.cluster import cluster
from .commands.compare import compare
from .commands.demo import demo
from .commands.draw import draw
from .commands.fill import fill
from .commands.fit import fit
from .commands.predict import predict
from .commands.reproduce import reproduce
from .commands.size import size
from .console import Screen
from .errors import CommandError
from .overview import make_app

__all__ = ["app", "run"]

# Errors whose text is meant for the person who asked: the library's own about what it was given,
# and those of the system about files and memory. Anything else is a bug and shows where it is.
EXPECTED = (CommandError, ValueError, OSError, MemoryError, ImportError)


class Terminated(BaseException):
    """SIGTERM came. Not a SystemExit, for Python obeys that at once where it can raise nothing."""


# What handlers of signals raise.
SIGNALS = {KeyboardInterrupt: signal.SIGINT, Terminated: signal.SIGTERM}

COMMANDS = (fit, predict, cluster, fill, draw, compare, size, demo, reproduce)
app = make_app({command.__name__: command for command in COMMANDS})


def _keep_interrupts() -> None:
    """Deliver a signal again that meets code which cannot raise, instead of printing and losing it.

    Python and Cython do so in destructors, callbacks and compiled functions without exceptions.
    """
    excepthook, unraisablehook = sys.excepthook, sys.unraisablehook

    def printed(kind: Any, error: Any, trace: Any) -> None:
        if kind not in SIGNALS:
            excepthook(kind, error, trace)

    def ignored(what: Any) -> None:
        number = SIGNALS.get(what.exc_type)
        if number is not None:
            threading.Timer(0.1, _strike, [number]).start()
        else:
            unraisablehook(what)

    sys.excepthook, sys.unraisablehook = printed, ignored


def _strike(number: signal.Signals) -> None:
    """Send a signal to the main thread: where the system can, so that also a system call ends."""
    main = threading.main_thread().ident
    if main is not None and hasattr(signal, "pthread_kill"):
        signal.pthread_kill(main, number)
    else:
        _thread.interrupt_main(number)


def _terminate(number: int, frame: Any) -> None:
    """End in good order, so that what is half written is removed and workers are stopped."""
    raise Terminated


def run() -> None:
    """Run the command line; errors become messages and exit codes."""
    _keep_interrupts()
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, _terminate)
    try:
        app()
    except EXPECTED as error:
        if os.environ.get("ZONAL_TRACEBACK"):
            raise
        text = str(error) or type(error).__name__
        if isinstance(error, MemoryError) and not str(error):
            text = "There is not enough memory."
        Screen().note(f"Error: {text}")
        sys.exit(1)
    except Terminated:
        sys.exit(128 + signal.SIGTERM)
