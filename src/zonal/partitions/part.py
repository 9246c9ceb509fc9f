"""The places of one cell, in the order of their hashes.

The order of all places is that of their hashes, whatever the parts: those that are earlier than
some place are the beginning of each part, and a fit in memory puts them into the same order.
"""

import io
import mmap
import os
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from .._typing import Array, FloatArray
from ..kriging.locations import Locations, Repeated
from ..rows.copies import content_hash
from .tree import Tree

__all__ = [
    "LEFT",
    "TARGETS",
    "Part",
    "open_part",
    "open_rows",
    "open_tree",
    "write_array",
    "write_part",
    "write_tree",
]

#: Files of values: targets, and what a fit leaves of them.
TARGETS, LEFT = "targets", "left"
NAMES = ("rows", "hashes", "weight")
REPEATED = "repeated"
TREE = ("order", "boxes")
# Bytes before the numbers in a file of NumPy's, of arrays as simple as ours.
HEADER = 128


@dataclass(frozen=True)
class Part:
    """Distinct rows, with what was observed there.

    Attributes
    ----------
    rows : ndarray of shape (n, d)
        As the local part sees them, in the order of their hashes.
    hashes : ndarray of shape (n,), uint64
    weight : ndarray of shape (n,)
    values : ndarray of shape (n, t)
        Targets about their mean; after the fit what the mean and the features leave of them.
    repeated : Repeated or None
        What several observations at a place tell; None: there is one at each.
    """

    rows: Array
    hashes: npt.NDArray[np.uint64]
    weight: FloatArray
    values: FloatArray
    repeated: Repeated | None = None

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def arrays(self) -> tuple[Array, Array, Array, Array]:
        """Rows, hashes, weights and values."""
        return self.rows, self.hashes, self.weight, self.values

    @classmethod
    def of(cls, locations: Locations, seed: int) -> "Part":
        """Return places as a part."""
        repeated = locations.repeated if locations.repeated.more.any() else None
        return cls(
            locations.rows,
            content_hash(locations.rows, seed),
            locations.weight,
            locations.targets,
            repeated,
        )

    def take(self, chosen: Any) -> "Part":
        """Return some places, by a slice (without copying them), a mask or their numbers."""
        repeated = None if self.repeated is None else self.repeated.part(chosen)
        rows, hashes, weight, values = (np.asarray(value[chosen]) for value in self.arrays)
        return Part(rows, hashes, weight, values, repeated)

    def before(self, bound: int | None) -> "Part":
        """Return the places whose hashes are smaller than a bound, without copying them."""
        if bound is None or bound > np.iinfo(np.uint64).max:
            return self
        return self.take(slice(int(np.searchsorted(self.hashes, np.uint64(bound)))))

    @staticmethod
    def joined(parts: "list[Part]") -> "Part":
        """Return the places of several parts in the order of their hashes."""
        repeated: Repeated | None = None
        if any(part.repeated is not None for part in parts):
            each = [
                part.repeated or Repeated.nothing(len(part), part.values.shape[1]) for part in parts
            ]
            repeated = Repeated(*(np.concatenate(column) for column in zip(*each, strict=True)))
        columns = zip(*(part.arrays for part in parts), strict=True)
        rows, hashes, weight, values = (np.concatenate(column) for column in columns)
        whole = Part(rows, hashes, weight, values, repeated)
        return whole.take(np.argsort(whole.hashes, kind="stable"))

    def distinct(self) -> "Part":
        """Return each place once, of places that are in the order of their hashes."""
        first = np.ones(len(self), bool)
        first[1:] = self.hashes[1:] != self.hashes[:-1]
        return self.take(first)

    def locations(self, offset: FloatArray | None = None) -> Locations:
        """Return the places as a fit takes them, with targets about an offset."""
        values = np.asarray(self.values)
        repeated = self.repeated or Repeated.nothing(len(self), values.shape[1])
        targets = values if offset is None else values - offset
        return Locations(
            np.asarray(self.rows), targets, np.asarray(self.weight), repeated, np.arange(len(self))
        )


def write_part(path: Path, part: Part) -> None:
    """Write the arrays of a part into a folder."""
    path.mkdir(parents=True, exist_ok=True)
    for name, value in zip((*NAMES, TARGETS), part.arrays, strict=True):
        write_array(path / f"{name}.npy", value)
    if part.repeated is not None:
        within, more, log_weight = part.repeated
        write_array(path / f"{REPEATED}.npy", np.column_stack([within, more, log_weight]))


def write_array(path: Path, value: Array) -> None:
    """Write an array whole or not at all: a task may run twice, or be killed in the middle."""
    hidden = path.with_name(f".{path.name}-{os.getpid()}-{os.urandom(4).hex()}")
    try:
        with hidden.open("wb") as file:
            np.lib.format.write_array(file, np.ascontiguousarray(value), allow_pickle=False)
        os.replace(hidden, path)
    except BaseException:
        hidden.unlink(missing_ok=True)
        raise


def open_part(path: Path, values: str = TARGETS) -> Part:
    """Map the arrays of a part into memory; nothing is read before it is looked at."""
    rows, hashes, weight, known = (_opened(path, name) for name in (*NAMES, values))
    found, n = Part(rows, hashes, weight, known), len(rows)
    sound = (
        [part.dtype.kind for part in found.arrays] == ["f", "u", "f", "f"]
        and [part.ndim for part in found.arrays] == [2, 1, 1, 2]
        and len(hashes) == len(weight) == len(known) == n
    )
    if sound and (path / f"{REPEATED}.npy").exists():
        both = _opened(path, REPEATED)
        sound = both.dtype.kind == "f" and both.shape == (n, known.shape[1] + 2)
        if sound:
            found = replace(found, repeated=Repeated(both[:, :-2], both[:, -2], both[:, -1]))
    if not sound:
        raise ValueError(f"{path} is damaged: its arrays do not belong to each other.")
    return found


def write_tree(path: Path, tree: Tree) -> None:
    """Write the tree of a part into its folder."""
    arrays: tuple[Array, ...] = (tree.order, tree.boxes)
    for name, value in zip(TREE, arrays, strict=True):
        write_array(path / f"{name}.npy", value)


def open_tree(path: Path) -> Tree | None:
    """Map the tree of a part into memory; None where earlier versions have written none."""
    if not (path / f"{TREE[-1]}.npy").exists():
        return None
    return Tree(*(_opened(path, name) for name in TREE))


def open_rows(path: Path) -> Array:
    """Map the rows of a part into memory, and nothing else."""
    return _opened(path, NAMES[0])


def _opened(path: Path, name: str) -> Array:
    """Map an array into memory. `np.load` does the same, and takes ten times as long."""
    file = path / f"{name}.npy"
    with file.open("rb") as opened:
        known = _header(opened.read(HEADER))
        if known is None:  # of another form: NumPy knows it, or says what is wrong
            return np.asarray(np.load(file, allow_pickle=False))
        (shape, dtype), n_bytes = known, os.fstat(opened.fileno()).st_size
        if n_bytes != HEADER + dtype.itemsize * int(np.prod(shape)):
            raise ValueError(f"{path} is damaged: {name}.npy has {n_bytes:,} bytes.")
        if n_bytes == HEADER:
            return np.empty(shape, dtype)
        memory = mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ)
    return np.frombuffer(memory, dtype, offset=HEADER).reshape(shape)


@lru_cache(4096)
def _header(start: bytes) -> tuple[tuple[int, ...], np.dtype[Any]] | None:
    """Read the first bytes of a file: the shape, and the type of numbers that stand row by row."""
    if not start.startswith(b"\x93NUMPY\x01\x00") or not start.endswith(b"\n"):
        return None
    file = io.BytesIO(start)
    np.lib.format.read_magic(file)
    shape, by_column, dtype = np.lib.format.read_array_header_1_0(file)
    return None if by_column or dtype.kind not in "fui" else (shape, dtype)
