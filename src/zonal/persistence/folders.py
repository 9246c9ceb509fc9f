"""Models that are folders: a file as any other model, and beside it files that are read lazily.

An object of a model that has such files (`zonal.partitions.folder.Folder`) has three methods:
``store_files(path)`` puts them into a folder, ``blank()`` is what the model's file holds in its
place, and ``attach(path)`` tells it where its files are.
"""

import os
from pathlib import Path
from typing import Any

from .._files import beside, move, remove
from .archive import write
from .functions import walk

__all__ = ["MODEL", "asks_folder", "attach_files", "file_of", "files_of", "write_folder"]

#: The file of the model in a folder, and the folder of the others.
MODEL, FILES = "model.zonal", "parts"


def files_of(model: Any) -> list[Any]:
    """Return the objects of a model that have files of their own."""
    return [value for _, value in walk(model) if hasattr(type(value), "store_files")]


def asks_folder(path: str | os.PathLike[str]) -> bool:
    """Tell whether a path ends as that of a folder does."""
    return os.fspath(path).endswith(("/", os.sep))


def write_folder(path: Path, content: bytes, owners: list[Any]) -> None:
    """Write a model and its files as a folder, whole or not at all."""
    target = path.resolve()
    if target.is_dir() and any(target.iterdir()) and not (target / MODEL).is_file():
        raise ValueError(
            f"{path} is a folder that holds no model: nothing is written there. Give a new name, "
            "or the folder of a model that may be replaced."
        )
    if not target.parent.is_dir():
        raise FileNotFoundError(f"{path} cannot be written: there is no folder {target.parent}.")
    hidden = beside(path)
    hidden.mkdir()
    try:
        for owner in owners:
            owner.store_files(hidden / FILES)
        write(hidden / MODEL, content)
        move(hidden, path)
    except BaseException:
        remove(hidden)
        raise


def file_of(path: Path) -> Path:
    """Return the file of a model: the path itself, or a file in a folder."""
    if not path.is_dir():
        return path
    if not (path / MODEL).is_file():
        raise IsADirectoryError(
            f"{path} is a folder, but holds no {MODEL}: it is no model of zonal.save."
        )
    return path / MODEL


def attach_files(model: Any, path: Path) -> None:
    """Tell the objects of a model where their files are, or raise ValueError if they are not."""
    owners = files_of(model)
    if not owners:
        return
    folder = path if path.is_dir() else path.parent
    if not (folder / FILES).is_dir():
        raise ValueError(
            f"{path} is the file of a model whose rows are in the folder {FILES!r} beside it, "
            "which is not there: copy the whole folder that zonal.save has written."
        )
    for owner in owners:
        owner.attach(folder / FILES)
