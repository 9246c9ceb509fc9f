"""Running the installed console script."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

SCRIPT = Path(sys.executable).with_name("zonal")
# One width for all, whatever the terminal of the tests.
ENVIRONMENT = {**os.environ, "COLUMNS": "200", "NO_COLOR": "1"}


def zonal(*arguments: Any, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run ``zonal ...`` in a folder."""
    return subprocess.run(
        [SCRIPT, *map(str, arguments)],
        cwd=cwd,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=120,
    )


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


def files(folder: Path) -> set[str]:
    """Everything in a folder, hidden files too."""
    return {item.name for item in folder.iterdir()}
