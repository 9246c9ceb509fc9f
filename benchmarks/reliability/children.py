"""Child processes that are struck by signals and limits, and what is seen of them afterwards."""

import contextlib
import os
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

HANGS = 60
SIGNALS = (signal.SIGKILL, signal.SIGINT, signal.SIGTERM)
# How a command ends that was struck: by the signal itself, or in good order by its handler.
CODES = {
    signal.SIGKILL: {-signal.SIGKILL},
    signal.SIGINT: {130},
    signal.SIGTERM: {143, -signal.SIGTERM},
}


@dataclass
class Ended:
    """How a child ended.

    Attributes
    ----------
    code : int
        Its exit code, or minus the signal.
    said : str
        What it printed.
    seconds : float
        From the blow to the end; of a child that was not struck, all of its time.
    hung : bool
        Whether it had to be killed after a minute.
    left : list of int
        Its own children that went on, and were killed.
    """

    code: int
    said: str
    seconds: float
    hung: bool
    left: list[int]

    def problems(self, codes: set[int]) -> list[str]:
        """Return what is wrong with such an end, where these codes are right."""
        found = []
        if self.hung:
            found.append(f"hung for {HANGS} s")
        elif self.code not in codes:
            found.append(f"exit code {self.code}: {self.said[-300:]!r}")
        if "Traceback" in self.said:
            found.append(f"traceback: {self.said[-600:]!r}")
        if self.left:
            found.append(f"{len(self.left)} processes left running")
        return found


def fork(function: Callable[[], Any], folder: Path) -> int:
    """Run a function in a forked child of a session of its own; what it prints goes to a file.

    A fork has the modules of this process, so that blows land on the work and not on imports.
    """
    sys.stdout.flush()
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        os.setsid()
        os.chdir(folder)
        out = os.open(folder / ".said", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        for stream in (1, 2):
            os.dup2(out, stream)
        sys.stdout, sys.stderr = os.fdopen(1, "w", 1), os.fdopen(2, "w", 1)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        code = _run(function)
    finally:
        with contextlib.suppress(BaseException):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)
    return 0


def _run(function: Callable[[], Any]) -> int:
    """Return the code that an interpreter would end with."""
    try:
        function()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except KeyboardInterrupt:
        return 130
    except BaseException:
        sys.excepthook(*sys.exc_info())  # type: ignore[arg-type]
        return 1
    return 0


def strike(child: int, folder: Path, after: float | None, number: int = 0) -> Ended:
    """Send a signal after some seconds (None: never), and wait for the end, at most a minute."""
    start = time.monotonic()
    process = psutil.Process(child)
    code = _wait(child, HANGS if after is None else after)
    family: list[psutil.Process] = []
    if code is None:
        with contextlib.suppress(psutil.Error):
            family = process.children(recursive=True)
        start = time.monotonic() if after is not None else start
        if after is not None:
            os.kill(child, number)
            code = _wait(child, HANGS)
    hung = code is None
    if hung:
        os.kill(child, signal.SIGKILL)
        code = _wait(child, HANGS)
    seconds = time.monotonic() - start
    _, alive = psutil.wait_procs(family, timeout=10)
    for one in alive:
        with contextlib.suppress(psutil.Error):
            one.kill()
    said = folder / ".said"
    text = said.read_text(errors="replace") if said.exists() else ""
    said.unlink(missing_ok=True)
    return Ended(code or 0, text, seconds, hung, [one.pid for one in alive])


def _wait(child: int, seconds: float) -> int | None:
    """Return the code of a child that ends in time, else None.

    Time in which this process itself was stopped does not count.
    """
    waited, now = 0.0, time.monotonic()
    while True:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            return os.waitstatus_to_exitcode(status)
        if waited > seconds:
            return None
        time.sleep(0.002)
        before, now = now, time.monotonic()
        waited += min(now - before, 0.1)
