"""The rows that a map learns from, out of rows in blocks: by row number, whatever the blocks."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .block import Block, concatenate, take
from .hashing import LEARN_ROWS, row_hash
from .kept import PILOT_BYTES, n_bytes

__all__ = ["Sample", "Survey", "survey_block"]


class Sample(NamedTuple):
    """The rows with the smallest hashes of their numbers, as `zonal.rows.sample_rows` has them.

    Rows of weight zero do not exist: they are not counted.

    Attributes
    ----------
    numbers : ndarray of int, of shape (n,), increasing
    X, y, weight
        The rows, their targets and weights (or None).
    """

    numbers: npt.NDArray[np.int64]
    X: Any
    y: Any
    weight: Any

    def __add__(self, other: "Sample") -> "Sample":  # type: ignore[override]
        """The smallest hashes of both."""
        return self.merged(other)

    def merged(self, other: "Sample", size: int = LEARN_ROWS) -> "Sample":
        """The `size` smallest hashes of both."""
        parts = [part for part in (self, other) if len(part.numbers)] or [self]
        joined = Sample(*(concatenate(list(column)) for column in zip(*parts, strict=True)))
        return joined.cut(size)

    def cut(self, size: int = LEARN_ROWS) -> "Sample":
        """The `size` smallest hashes, in the order of the rows."""
        order = np.argsort(self.numbers)
        if len(order) > size:
            order = np.sort(np.argpartition(row_hash(self.numbers), size)[:size])
        return Sample(*(take(column, order) for column in self))


class Survey(NamedTuple):
    """What one look at all rows tells: how many there are, a sample, and the labels.

    Attributes
    ----------
    n_rows, n_counting : int
        All of them, and those of positive weight.
    sample : Sample
    classes : ndarray or None
        The distinct labels of rows of positive weight, if asked for.
    whole : bool
        Whether the sample is all rows that there will ever be, in memory.
    size : int
        The most rows of the sample.
    pilot : bool
        Whether the sample is so large that a local part can be chosen by it.
    """

    n_rows: int
    n_counting: int
    sample: Sample
    classes: Any
    whole: bool = False
    size: int = LEARN_ROWS
    pilot: bool = False

    def __add__(self, other: "Survey") -> "Survey":  # type: ignore[override]
        """The survey of the rows of both."""
        classes = None if self.classes is None else np.union1d(self.classes, other.classes)
        size = min(self.size, other.size)
        return Survey(
            self.n_rows + other.n_rows,
            self.n_counting + other.n_counting,
            self.sample.merged(other.sample, size),
            classes,
            size=size,
        )


def survey_block(
    block: Block,
    first: int,
    labels: bool = False,
    below: int | None = None,
    size: int | None = None,
) -> Survey:
    """Survey one block of rows.

    Parameters
    ----------
    block : Block
    first : int
        How many rows of positive weight come before the block.
    labels : bool
        Whether y holds labels to collect.
    below : int, optional
        Only rows with smaller hashes are of interest.
    size : int, optional
        The most rows of the sample, by default `LEARN_ROWS`. Where they would take more than
        `PILOT_BYTES` there are fewer, but at least `LEARN_ROWS`.
    """
    size = LEARN_ROWS if size is None else size
    counting = np.arange(len(block))
    if block.weight is not None:
        counting = np.flatnonzero(np.asarray(block.weight) > 0)
    numbers = np.arange(first, first + len(counting))
    classes = (
        np.unique(np.asarray(take(block.y, counting))) if labels and block.y is not None else None
    )
    n_counting = len(counting)
    if below is not None:
        near = row_hash(numbers) < np.uint64(below)
        counting, numbers = counting[near], numbers[near]
    if size > LEARN_ROWS and len(block):
        size = max(LEARN_ROWS, min(size, PILOT_BYTES * len(block) // max(n_bytes(block), 1)))
    found = Sample(numbers, *block.rows(counting).parts).cut(size)
    return Survey(len(block), n_counting, found, classes, size=size)
