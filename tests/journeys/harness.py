"""Walks of a user, step by step: each step is a process of its own with the installed package.

Nothing of the tests' own process reaches a step: the wheel is built and installed once into a
folder of its own, and steps see that folder, their own files and nothing of the repository.
"""

import fcntl
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src"
# A step that takes longer hangs.
LONGEST = 300
# Lines of documents that install or build: `make extras` tries the former, and make is what runs
# these tests.
ELSEWHERE = ("pip install", "make ")


@contextmanager
def made_once(folder: Path) -> Iterator[bool]:
    """Let one of several processes make a folder; the others wait. Yields whether to make it."""
    folder.mkdir(parents=True, exist_ok=True)
    ready = folder / "ready"
    with open(folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield not ready.exists()
        ready.touch()


def install_wheel(folder: Path) -> Path:
    """Build the wheel and install it, without dependencies, which are here; return where."""
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder)]
    _quiet([*build, str(ROOT)])
    (wheel,) = folder.glob("*.whl")
    site = folder / "site"
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    _quiet([*pip, "--no-deps", "--no-index", "--no-compile", "--target", str(site), str(wheel)])
    _take_compiled(site)
    return site


def _take_compiled(site: Path) -> None:
    """Take over what Numba has compiled of the same sources, which would take minutes again.

    Its caches are beside the modules, and hold for files of the same size and time.
    """
    for module in (SOURCE / "zonal").rglob("*.py"):
        copied = site / module.relative_to(SOURCE)
        assert copied.read_bytes() == module.read_bytes(), f"{module} is not as in the wheel"
        shutil.copystat(module, copied)
    for cache in (SOURCE / "zonal").rglob("__pycache__/*.nb[ic]"):
        copied = site / cache.relative_to(SOURCE)
        copied.parent.mkdir(exist_ok=True)
        shutil.copy2(cache, copied)


def _quiet(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def environment_of(site: Path) -> dict[str, str]:
    """Return the environment of steps with the package that is installed there."""
    kept = ("HOME", "LANG", "TMPDIR", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
    environment = {name: os.environ[name] for name in kept if name in os.environ}
    places = [str(site / "bin"), str(Path(sys.executable).parent), os.environ["PATH"]]
    return environment | {
        "PATH": os.pathsep.join(places),
        "PYTHONPATH": str(site),
        "COLUMNS": "100",
        "MPLBACKEND": "agg",
    }


class Walk(NamedTuple):
    """A folder in which steps are taken.

    Attributes
    ----------
    folder : Path
        Where the steps run.
    site : Path
        Where the package is installed.
    steps : tuple of str
        The command that starts Python and `zonal` as `prefork` does; none: as a user does.
    """

    folder: Path
    site: Path
    steps: tuple[str, ...] = ()

    def fresh(self) -> "Walk":
        """Return the same walk with steps that import everything themselves."""
        return self._replace(steps=())

    def python(self, code: str, **environment: str) -> str:
        """Run Python in a process of its own; return what it prints."""
        (self.folder / "step.py").write_text(code)
        return self._step([*self._python, "step.py"], code, environment)

    def typed(self, code: str) -> str:
        """Run Python as if it was typed or pasted: there is no file that processes could import."""
        return self._step([*self._python, "-c", code], code, {})

    def shell(self, lines: str, **environment: str) -> str:
        """Run lines of a shell; return what they print. The first that fails is the last."""
        return self._step(["sh", "-e", "-c", lines], lines, environment)

    def refused(self, line: str, **environment: str) -> str:
        """Run a command that must fail in words; return them."""
        done = self._run(["sh", "-e", "-c", line], environment)
        assert done.returncode != 0, f"{line} was not refused: {done.stdout}"
        assert "Traceback" not in done.stderr, done.stderr
        return done.stderr

    @property
    def _python(self) -> list[str]:
        return [*self.steps, "python"] if self.steps else [sys.executable]

    def _step(self, command: list[str], what: str, environment: dict[str, str]) -> str:
        done = self._run(command, environment)
        said = done.stdout + done.stderr
        assert done.returncode == 0, f"{what}\n\nends with {done.returncode}:\n{said}"
        assert "Traceback" not in said, f"{what}\n\nprints a traceback:\n{said}"
        return done.stdout

    def _run(self, command: list[str], extra: dict[str, str]) -> subprocess.CompletedProcess:
        environment = environment_of(self.site) | extra
        if self.steps:
            programs = self.folder / ".programs"
            programs.mkdir(exist_ok=True)
            script = programs / "zonal"
            script.write_text(f'#!/bin/sh\nexec {shlex.join(self.steps)} zonal "$@"\n')
            script.chmod(0o755)
            environment["PATH"] = os.pathsep.join([str(programs), environment["PATH"]])
        return subprocess.run(
            command,
            cwd=self.folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=LONGEST,
        )


def script_of(page: Path) -> str:
    """Return the blocks of a page as one script, each at its line, so that errors name the line.

    Blocks of Python are as printed; blocks of a shell are started where they stand.
    """
    lines = page.read_text().splitlines()
    script = [""] * len(lines)
    start, language = 0, ""
    for number, line in enumerate(lines):
        if not language:
            found = re.fullmatch(r"```(python|sh)", line)
            if found:
                start, language = number, found[1]
            continue
        if line != "```":
            if language == "python":
                script[number] = line
            continue
        if language == "sh":
            block = lines[start + 1 : number]
            told = "\n".join(line for line in block if not line.startswith(ELSEWHERE))
            run = '__import__("subprocess").run'
            script[start] = f'{run}(["sh", "-e", "-c", {told!r}], check=True)' if told else ""
        language = ""
    return "\n".join(script).rstrip() + "\n"
