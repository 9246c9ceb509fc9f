"""Which rows are kept for the test: decided by row number, the same in every pass."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from ..rows import row_hash
from ..rows.block import Block, as_blocks, take
from ..rows.kinds import is_dask, is_stream

__all__ = ["Split"]

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Split:
    """One test row out of every 1/f consecutive rows, chosen among them by a hash.

    The share f is kept exactly, up to one row, and no period in the rows can meet the choice. Only
    the row number decides, so that blocks of any size agree.

    Parameters
    ----------
    fraction : float, default=0.1
        The share f of the test rows, at least 0 and below 1.
    seed : int, default=0
        Another seed chooses other rows.

    Examples
    --------
    >>> import numpy as np
    >>> from zonal.evaluation import Split
    >>> split = Split(0.1)
    >>> int(split.is_test(0, 1000).sum())
    100
    >>> X, y = np.zeros((50, 2)), np.zeros(50)
    >>> X_train, y_train = split.train(X, y)
    >>> X_train.shape, y_train.shape
    ((45, 2), (45,))
    """

    fraction: float = 0.1
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.fraction < 1:
            raise ValueError(
                f"fraction={self.fraction!r} of Split must be at least 0 and below 1: the share "
                "of rows for the test."
            )

    def is_test(self, start: int, stop: int) -> Mask:
        """Tell which of the rows from `start` to `stop` are for the test: [stop - start]."""
        numbers = np.arange(start, stop)
        # Whole numbers, since a rounded i f would put some rows into the wrong group.
        share = Fraction(self.fraction).limit_denominator(1_000_000)
        p, q = share.numerator, share.denominator
        if p == 0:
            return np.zeros(len(numbers), dtype=bool)
        group = numbers * p // q  # group g holds the rows from ⌈g q/p⌉ to ⌈(g+1) q/p⌉ - 1
        first, end = -(-group * q // p), -(-(group + 1) * q // p)
        mixed = row_hash(row_hash(group) ^ row_hash([self.seed + 1]))
        place = mixed % (end - first).astype(np.uint64)
        return np.asarray(numbers == first + place.astype(np.int64))

    def is_train(self, start: int, stop: int) -> Mask:
        """Tell which of the rows from `start` to `stop` are for training: [stop - start]."""
        return ~self.is_test(start, stop)

    def train(self, X: Any, *others: Any) -> tuple[Any, ...]:
        """Return the training rows, as `fit` takes them: ``model.fit(*split.train(X, y))``.

        Parameters
        ----------
        X : array, CSR matrix, frame, Dask array or stream of blocks
            All rows. A stream yields their targets too.
        *others : arrays
            Targets and weights of the rows.

        Returns
        -------
        tuple
            As many as were given. The part of a stream is a stream.
        """
        return self._part(self.is_train, X, *others)

    def test(self, X: Any, *others: Any) -> tuple[Any, ...]:
        """Return the test rows; everything else is as in `train`."""
        return self._part(self.is_test, X, *others)

    def _part(self, chosen: Callable[[int, int], Mask], X: Any, *others: Any) -> tuple[Any, ...]:
        if is_stream(X) and not hasattr(X, "shape"):
            if others:
                raise ValueError(
                    "Targets are given beside a stream of blocks: let the stream yield (X, y)."
                )
            return (_Part(X, self, chosen),)
        n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
        if is_dask(X) and not isinstance(n_rows, int):
            raise ValueError(
                "The number of rows of this Dask collection is unknown, so that its test rows "
                "cannot be told: use an array, after compute_chunk_sizes()."
            )
        places = np.flatnonzero(chosen(0, n_rows))
        n_train = int(self.is_train(0, n_rows).sum())
        self.check(n_train, n_rows - n_train)
        parts = (X, *others)
        return tuple(take(_indexable(part), places) for part in parts)

    def check(self, n_train: int, n_test: int) -> None:
        """Raise an error if there are too few rows for both parts."""
        if self.fraction > 0 and not (n_train and n_test):
            raise ValueError(
                f"{n_train + n_test} rows are too few to keep a share of {self.fraction:g} for the "
                "test: give more rows, another test fraction, or a test fraction of 0 for none."
            )


@dataclass(frozen=True)
class _Part:
    """The training or test rows of a stream, which can be walked over as often as that."""

    rows: Any
    split: Split
    chosen: Callable[[int, int], Mask]

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        n_rows = n_train = 0
        for block in as_blocks(self.rows):
            n_rows = block.start + len(block)
            n_train += int(self.split.is_train(block.start, n_rows).sum())
            part = block.rows(np.flatnonzero(self.chosen(block.start, n_rows)))
            if len(part):
                yield _given(part)
        self.split.check(n_train, n_rows - n_train)


def _given(block: Block) -> tuple[Any, ...]:
    """Return the parts of a block as a stream yields them."""
    return block.parts[:2] if block.weight is None else block.parts


def _indexable(part: Any) -> Any:
    return part if part is None or hasattr(part, "shape") else np.asarray(part)
