"""Model files as bytes: sealed with a checksum, measured before they are unpacked, written whole.

A file is a ZIP archive whose comment, the last 64 bytes, is the SHA-256 of all bytes before it.
"""

import hashlib
import io
import os
import zipfile
from pathlib import Path
from typing import IO

import numpy as np

from .._files import beside, move, permissions

__all__ = ["MAX_BYTES", "check_parts", "check_seal", "check_sizes", "seal", "write"]

#: What a file may hold when it is unpacked, unless `load` is told otherwise.
MAX_BYTES = 1 << 33
# Parts of a file; a model has a few for each array.
MAX_PARTS = 100_000
DIGEST = 64


def seal(archive: bytes) -> bytes:
    """Return an archive without a comment with its checksum as one."""
    buffer = io.BytesIO(archive)
    with zipfile.ZipFile(buffer, "a") as file:
        file.comment = b"0" * DIGEST
    body = buffer.getvalue()[:-DIGEST]
    return body + _digest(body)


def check_seal(content: bytes) -> None:
    """Raise ValueError if a single bit is not as it was sealed."""
    if _digest(content[:-DIGEST]) != content[-DIGEST:]:
        raise ValueError("its content does not match its checksum")


def check_parts(content: bytes, max_bytes: int) -> None:
    """Raise ValueError if a part of a file without a seal is not as the archive's own sums say."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        check_sizes(archive, max_bytes)
        damaged = archive.testzip()
    if damaged is not None:
        raise ValueError(f"its part {damaged} does not match its checksum")


def _digest(body: bytes) -> bytes:
    return hashlib.sha256(body).hexdigest().encode()


def check_sizes(archive: zipfile.ZipFile, max_bytes: int) -> None:
    """Raise ValueError if an archive would be larger than allowed, before it is unpacked.

    A few kilobytes may unpack to gigabytes, and an array may say that it is larger than it is.
    """
    infos = archive.infolist()
    if len(infos) > MAX_PARTS:
        raise ValueError(f"it has {len(infos):,} parts, and a model has at most {MAX_PARTS:,}")
    size = sum(info.file_size for info in infos)
    if size > max_bytes:
        raise ValueError(
            f"it would unpack to {size:,} bytes, more than max_bytes={max_bytes:,}: give a larger "
            "number if you expect a model of that size"
        )
    for info in infos:
        if info.filename.endswith(".npy"):
            with archive.open(info) as part:
                _check_array(part, info)
        elif info.filename.endswith(".npz"):  # sparse arrays: archives of their own
            with zipfile.ZipFile(io.BytesIO(archive.read(info))) as inner:
                check_sizes(inner, max_bytes - size)


def _check_array(part: IO[bytes], info: zipfile.ZipInfo) -> None:
    """Raise ValueError if an array claims another size than its part has."""
    version = np.lib.format.read_magic(part)
    read = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }
    if version not in read:
        raise ValueError(f"its part {info.filename} has the NumPy format {version}")
    shape, _, dtype = read[version](part)
    expected = int(np.prod(shape, dtype=object)) * dtype.itemsize
    if not dtype.hasobject and expected != info.file_size - part.tell():
        raise ValueError(f"its part {info.filename} is not an array of shape {shape} and {dtype}")


def write(path: Path, content: bytes) -> None:
    """Write a file whole or not at all, where a symbolic link points to.

    A file that is replaced keeps its permissions; for a new one the umask decides, as for any.
    """
    target = path.resolve()
    if target.is_dir():
        raise IsADirectoryError(
            f"{path} cannot be written: it is a folder. Give the name of a file in it, such as "
            f"{path / 'model.zonal'}."
        )
    if not target.parent.is_dir():
        raise FileNotFoundError(f"{path} cannot be written: there is no folder {target.parent}.")
    hidden = beside(path)
    mode = permissions(path)
    # Not by tempfile, whose files only their owner may read. Nor does anyone read the new file
    # while it is written who may not read the old one.
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    try:
        with open(os.open(hidden, flags, 0o666 if mode is None else 0o600), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        move(hidden, path)
    except BaseException:
        hidden.unlink(missing_ok=True)
        raise
