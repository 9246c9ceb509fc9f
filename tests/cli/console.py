"""Running commands: in this process, or the installed console script where the process matters."""

import contextlib
import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

from zonal_command import main

SCRIPT = Path(sys.executable).with_name("zonal")
# One width for all, whatever the terminal of the tests.
WIDTH = {"COLUMNS": "200", "NO_COLOR": "1"}
ENVIRONMENT = {**os.environ, **WIDTH}


class Done(NamedTuple):
    """What a command leaves behind."""

    returncode: int
    stdout: str
    stderr: str


def zonal(*arguments: Any, cwd: Path) -> Done:
    """Run ``zonal ...`` in a folder, in this process."""
    out, err = io.StringIO(), io.StringIO()
    code = 0
    with (
        contextlib.chdir(cwd),
        mock.patch.dict(os.environ, WIDTH),
        mock.patch.object(sys, "argv", [str(SCRIPT), *map(str, arguments)]),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as end:  # any other exception is a traceback, and fails the test
            code = int(end.code or 0)
    return Done(code, out.getvalue(), err.getvalue())


def good(*arguments: Any, cwd: Path) -> str:
    """Run a command that must succeed; what it printed on stdout."""
    done = zonal(*arguments, cwd=cwd)
    assert done.returncode == 0, done.stderr
    return done.stdout


def as_json(*arguments: Any, cwd: Path) -> Any:
    """Run a command that must succeed with --json; its result."""
    return json.loads(good(*arguments, "--json", cwd=cwd))


def message(*arguments: Any, cwd: Path, code: int = 1) -> str:
    """Run a command that must fail, without a traceback; what it said on stderr."""
    done = zonal(*arguments, cwd=cwd)
    assert done.returncode == code, (done.returncode, done.stderr)
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    return done.stderr


def interrupted(process: subprocess.Popen[str], press: Callable[[], None]) -> str:
    """Press Ctrl-C until a process ends, as a person does; what it said after that on stderr.

    Python itself ignores an interrupt that meets a destructor or a callback of its garbage
    collector, after printing it; such lines are left out.
    """
    while True:
        with contextlib.suppress(ProcessLookupError):  # it has just ended
            press()
        try:
            said = process.communicate(timeout=5)[1]
            break
        except subprocess.TimeoutExpired:
            continue
    return re.sub(r"(?ms)^Exception ignored in.*?^\w+(Interrupt|Error)\b.*?$", "", said)


def files(folder: Path) -> set[str]:
    """Everything in a folder, hidden files too."""
    return {item.name for item in folder.iterdir()}
