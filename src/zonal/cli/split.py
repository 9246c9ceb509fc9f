"""Which rows are kept for the test: decided by row number, alike in every pass and engine."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from ..rows import row_hash
from .errors import CommandError

__all__ = ["Split"]


@dataclass(frozen=True)
class Split:
    """One test row out of every 1/f consecutive rows, chosen among them by a hash.

    The share f is kept exactly, up to one row, and no period in the rows can meet the choice. A row
    number is all it takes, so that blocks of any size agree.

    Attributes
    ----------
    fraction : float
        The share f of the test rows.
    seed : int
        Another seed chooses other rows.

    Examples
    --------
    >>> from zonal.cli.split import Split
    >>> int(Split(0.1, seed=0).is_test(0, 1000).sum())
    100
    """

    fraction: float
    seed: int

    def is_test(self, start: int, stop: int) -> npt.NDArray[np.bool_]:
        """Whether the rows `start` to `stop` are for the test: [stop - start]."""
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

    def check(self, n_train: int, n_test: int) -> None:
        """Complain if there are too few rows for both parts."""
        if self.fraction > 0 and not (n_train and n_test):
            raise CommandError(
                f"{n_train + n_test} rows are too few to keep a share of {self.fraction:g} for the "
                "test: give more, another --test-fraction, or --test-fraction 0 for none."
            )
