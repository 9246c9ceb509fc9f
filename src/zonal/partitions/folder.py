"""The folder of parts: temporary while a fit owns it, or part of a saved model."""

import json
import os
import platform
import re
import secrets
import shutil
import tempfile
import weakref
import zlib
from pathlib import Path
from typing import Any

from .._files import ended

__all__ = ["PLACE", "Folder"]

#: The environment variable that says where temporary folders are made: all workers of a cluster
#: must see them under the same path.
PLACE = "ZONAL_PARTS"
#: The file of a saved model that has the checksums of all others.
INDEX = "checksums.json"
NAME = re.compile(r"zonal-parts-([0-9a-f]{8})-(\d+)-[0-9a-f]{8}")

# Parts whose files this process has found to be whole.
CHECKED: set[str] = set()


class Folder:
    """A folder with files of parts.

    A temporary one is removed when the last model that needs it is gone and when Python ends. A
    process that is killed outright cannot do so: its name says whose it is, and the next
    temporary folder in the same place removes it.

    Parameters
    ----------
    path : path-like
        The folder; a copy that is sent to another process does not own it.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = str(path)

    @classmethod
    def temporary(cls) -> "Folder":
        """Make a folder below ``$ZONAL_PARTS``, or where the system has temporary files."""
        place = Path(os.environ.get(PLACE) or tempfile.gettempdir())
        host = zlib.crc32(platform.node().encode())
        place.mkdir(parents=True, exist_ok=True)
        for left in place.glob("zonal-parts-*"):
            match = NAME.fullmatch(left.name)
            if match and int(match[1], 16) == host and ended(int(match[2])):
                shutil.rmtree(left, ignore_errors=True)
        path = place / f"zonal-parts-{host:08x}-{os.getpid()}-{secrets.token_hex(4)}"
        path.mkdir()
        folder = cls(path)
        weakref.finalize(folder, _remove, folder.path, os.getpid())
        return folder

    def __truediv__(self, name: str) -> Path:
        return Path(self.path) / name

    def store_files(self, path: Path) -> None:
        """Put the files into a folder, for a model that is saved; they are never changed."""
        shutil.copytree(self.path, path, copy_function=_link)
        (path / INDEX).unlink(missing_ok=True)  # another name of one that is saved already
        files = sorted(file for file in path.rglob("*") if file.is_file())
        sums = {file.relative_to(path).as_posix(): _checksum(file) for file in files}
        (path / INDEX).write_text(json.dumps(sums, indent=0))

    def check(self, name: str) -> None:
        """Raise ValueError unless the files of a part are as they were saved.

        They are read for this when a process opens them for the first time. A temporary folder
        has no checksums, nor has one that an earlier version saved.
        """
        place = os.path.join(self.path, name)
        if place in CHECKED or not os.path.exists(os.path.join(self.path, INDEX)):
            return
        known = json.loads((self / INDEX).read_text())
        for file, wanted in known.items():
            if file.startswith(f"{name}/") and _checksum(self / file) != wanted:
                raise ValueError(f"{self / file} is damaged: it is not as it was saved.")
        CHECKED.add(place)

    def blank(self) -> "Folder":
        """Return what the file of a model has in its place."""
        return Folder("")

    def attach(self, path: Path) -> None:
        """Say where the files are."""
        self.path = str(path.resolve())
        CHECKED.difference_update([place for place in CHECKED if place.startswith(self.path)])

    def __deepcopy__(self, memo: dict[int, Any]) -> "Folder":
        """Return the folder itself, so that a copy of a model keeps it too."""
        return self

    def __getstate__(self) -> dict[str, Any]:
        return {"path": self.path}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.path = str(state["path"])


def _checksum(path: Path) -> int:
    """Return the CRC-32 of a file."""
    found = 0
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            found = zlib.crc32(block, found)
    return found


def _link(source: str, target: str) -> None:
    """Give a file a second name, or copy it where that cannot be."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def _remove(path: str, process: int) -> None:
    """Remove a folder, unless this is a fork of the process that made it."""
    if os.getpid() == process:
        shutil.rmtree(path, ignore_errors=True)
