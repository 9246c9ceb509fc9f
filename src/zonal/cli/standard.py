"""Standard input and output in the place of a table: the file name ``-``."""

import atexit
import os
import shutil
import sys
import tempfile
from functools import cache
from pathlib import Path

from .errors import CommandError

__all__ = ["STANDARD", "copy_to_stdout", "is_standard", "shown_input", "spooled"]

STANDARD = Path("-")
# How files begin that are no text.
MAGIC = {b"PAR1": ".parquet", b"\x1f\x8b": ".csv.gz"}


def is_standard(path: Path | None) -> bool:
    """Tell whether a name means standard input or output."""
    return path == STANDARD


@cache
def _folder() -> Path:
    """Return a folder that lasts as long as this process."""
    folder = Path(tempfile.mkdtemp(prefix="zonal-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def spooled(path: Path) -> Path:
    """Return a file with what standard input holds, if that is meant; else the path itself.

    A table is read several times, and standard input can be only once. What it holds is CSV,
    Parquet or compressed CSV, as its first bytes tell.
    """
    if not is_standard(path):
        return path
    content = sys.stdin.buffer if hasattr(sys.stdin, "buffer") else None
    if content is None or sys.stdin.isatty():
        raise CommandError("- is standard input, but nothing is piped into it.")
    first = content.read(4)
    ending = next((end for start, end in MAGIC.items() if first.startswith(start)), ".csv")
    place = _folder() / f"stdin{ending}"
    with place.open("wb") as file:
        file.write(first)
        shutil.copyfileobj(content, file)
    return place


def shown_input(text: str) -> str:
    """Return a message in which standard input is called so."""
    for ending in (".csv", *MAGIC.values()):
        if _folder.cache_info().currsize:
            text = text.replace(str(_folder() / f"stdin{ending}"), "standard input")
    return text


def copy_to_stdout(path: Path) -> None:
    """Write a file of text to standard output; a reader that has seen enough is no error."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            shutil.copyfileobj(file, sys.stdout)
        sys.stdout.flush()
    except BrokenPipeError:
        # Python would complain when it flushes once more at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
