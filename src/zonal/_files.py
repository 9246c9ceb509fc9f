"""Files that are written beside their place and moved there when they are whole."""

import os
import platform
import re
import secrets
import shutil
import stat
import zlib
from pathlib import Path

__all__ = ["beside", "ended", "move", "permissions", "remove", "shown_name"]

HIDDEN = re.compile(r"\.zonal-([0-9a-f]{8})-(\d+)-[0-9a-f]{8}-(.*)", re.DOTALL)
PREFIX = re.compile(r"\.zonal-[0-9a-f]{8}-\d+-[0-9a-f]{8}-")


def beside(path: Path) -> Path:
    """Return a hidden name in the folder of a file, with the same ending.

    A symbolic link is followed: the name is in the folder of the file that it points to.

    Whoever writes there removes the file if something goes wrong; a process that is killed
    outright cannot. So the name says whose it is, and the files for this place that such processes
    left behind are removed here.

    Parameters
    ----------
    path : Path
        Where the file will be in the end.

    Returns
    -------
    Path
    """
    path = path.resolve()
    host = zlib.crc32(platform.node().encode())
    for found in path.parent.glob(".zonal-*"):
        match = HIDDEN.fullmatch(found.name)
        if match and match[3] == path.name and int(match[1], 16) == host and ended(int(match[2])):
            remove(found)
    return path.with_name(f".zonal-{host:08x}-{os.getpid()}-{secrets.token_hex(4)}-{path.name}")


def move(hidden: Path, path: Path) -> None:
    """Move a file or folder that is whole to its place, through symbolic links.

    A file that is there gives its permissions to the one that replaces it.
    """
    target = path.resolve()
    if hidden.is_dir() or target.is_dir():  # which cannot be replaced in one step
        old = beside(path)
        if target.exists():
            os.replace(target, old)
        os.replace(hidden, target)
        remove(old)
        return
    mode = permissions(path)
    if mode is not None:
        hidden.chmod(mode)
    os.replace(hidden, target)


def remove(path: Path) -> None:
    """Remove a file or a folder, if it is there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def permissions(path: Path) -> int | None:
    """Return the permissions of a file, or None if there is none yet."""
    try:
        return stat.S_IMODE(path.stat().st_mode)
    except FileNotFoundError:
        return None


def shown_name(text: str) -> str:
    """Return a message in which files have the names that they will have in the end.

    Examples
    --------
    >>> from pathlib import Path
    >>> from zonal._files import beside, shown_name
    >>> shown_name(f"{beside(Path('map.nc')).name}: no space left")
    'map.nc: no space left'
    """
    return PREFIX.sub("", text)


def ended(process: int) -> bool:
    """Whether a process of this machine is known to have ended."""
    if os.name != "posix":  # where there is no signal that does nothing
        return False
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False
