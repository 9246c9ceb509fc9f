"""Files that are written whole or not at all."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .._files import beside, move, remove
from ..persistence.folders import MODEL
from .errors import CommandError
from .standard import copy_to_stdout, is_standard

__all__ = ["check_outputs", "outputs"]


@contextmanager
def outputs(*paths: Path | None, force: bool = False) -> Iterator[list[Path]]:
    """Give places to write to, which become `paths` together when the block ends well.

    If it does not (an error, Ctrl-C), what was written is removed and older files stay as they
    were. Everything that can be known beforehand is checked before the work begins.

    Parameters
    ----------
    *paths : path or None
        The files that the command makes; None for one that was not asked for, ``-`` for a table
        that goes to standard output, as CSV.
    force : bool
        Whether files that exist are replaced.

    Yields
    ------
    list of path
        Hidden files beside those of `paths` (symbolic links are followed), with the same endings.
        One that is never written to makes no output, such as the one for None.
    """
    check_outputs(*paths, force=force)
    folder = Path(tempfile.gettempdir())
    places = [
        Path() if path is None
        else beside(folder / "stdout.csv" if is_standard(path) else path)
        for path in paths
    ]  # fmt: skip
    try:
        yield places
        for final, hidden in zip(paths, places, strict=True):
            if final is None or not hidden.exists():
                continue
            if is_standard(final):
                copy_to_stdout(hidden)
            else:
                move(hidden, final)
    finally:
        for final, hidden in zip(paths, places, strict=True):
            if final is not None:
                remove(hidden)


def check_outputs(*paths: Path | None, force: bool = False) -> None:
    """Raise an error for outputs that cannot be written; see `outputs`."""
    wanted = [path for path in paths if path is not None and not is_standard(path)]
    for path in wanted:
        _check(path, force)
    resolved = [path.resolve() for path in wanted]
    if len(set(resolved)) < len(resolved):
        raise CommandError(f"Two outputs have the same name: {', '.join(map(str, wanted))}.")


def _check(path: Path, force: bool) -> None:
    folder = path.resolve().parent
    if not folder.is_dir():
        raise CommandError(f"{path} cannot be written: there is no folder {folder}.")
    if path.is_dir() and not (path / MODEL).is_file():
        raise CommandError(f"{path} cannot be written: it is a folder.")
    if path.exists() and not force:
        raise CommandError(f"{path} exists: give another name, or --force to replace it.")
    if not os.access(folder, os.W_OK):
        raise CommandError(f"{path} cannot be written: you may not write to {folder}.")
