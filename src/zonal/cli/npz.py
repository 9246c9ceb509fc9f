"""The arrays of an NPZ file, without those that only unpickling could restore."""

import zipfile
import zlib
from pathlib import Path
from tokenize import TokenError
from typing import IO

import numpy as np
from numpy.lib import format as npy

from .._typing import Array
from .errors import CommandError

__all__ = ["npz_arrays"]

# What damage shows as; RuntimeError where it looks like a password or an unknown way of packing.
DAMAGE = (
    ValueError, OSError, EOFError, RuntimeError, TokenError, zipfile.BadZipFile, zlib.error
)  # fmt: skip


def npz_arrays(path: Path) -> dict[str, Array]:
    """All arrays of an archive by their names; those of Python objects hold None throughout.

    Parameters
    ----------
    path : path

    Returns
    -------
    dict of str to ndarray
        Objects are not loaded, since a pickle may run any code; but their shape and type are told,
        so that they are no obstacle where they are not used.
    """
    arrays = {}
    # Not numpy.load, which has no way to tell the shape of an array that it refuses.
    try:
        with zipfile.ZipFile(path) as archive:
            for member in archive.namelist():
                if not member.endswith(".npy"):
                    continue
                with archive.open(member) as file:
                    shape, dtype = _header(file)
                if dtype.hasobject:
                    array = np.empty(shape, object)
                else:
                    with archive.open(member) as file:
                        array = npy.read_array(file, allow_pickle=False)
                arrays[member.removesuffix(".npy")] = array
    except DAMAGE as error:
        raise CommandError(
            f"{path} is not a NumPy archive, or it is damaged: {error}. Write it anew with "
            "numpy.savez."
        ) from error
    return arrays


def _header(file: IO[bytes]) -> tuple[tuple[int, ...], np.dtype[np.generic]]:
    # Versions 2 and 3 differ in the letters of field names only.
    first = npy.read_magic(file) == (1, 0)
    read = npy.read_array_header_1_0 if first else npy.read_array_header_2_0
    shape, _, dtype = read(file)
    return shape, dtype
