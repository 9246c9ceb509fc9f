r"""Mergeable moments: the one thing that learners keep of the rows they have seen.

For a row with features z, targets y and weight w, let :math:`v = (z - a,\; y - b,\; 1)` with a
fixed shift (a, b). The moments are

.. math:: M = \sum w\, v v^\top,

which holds n, Σz, Σy, ZᵀZ, Zᵀy and Σy² in one symmetric matrix. Moments of different rows add up,
so that blocks, chunks, halves and machines can be merged in any order.

The shift changes nothing but rounding. A shift close to the mean takes the large constant part out
of the sums, which float32 would otherwise subtract later at a loss of two digits.
"""

from functools import reduce
from operator import add
from typing import Any

import numpy as np

from .._typing import Array, FloatArray

__all__ = ["Moments"]


class Moments:
    """Weighted sums of products of features and targets.

    Parameters
    ----------
    shift : ndarray of shape (n_features + n_targets,)
        What is subtracted from features and targets.
    n_targets : int
        How many of the last columns are targets.

    Attributes
    ----------
    gram : ndarray of shape (n_features + n_targets + 1,) * 2
        M above.
    n_rows, n_counting : int
        The number of rows seen, and of those of positive weight.
    precision : float
        The machine precision of the coarsest sums so far.
    """

    def __init__(self, shift: FloatArray, n_targets: int) -> None:
        self.shift = np.asarray(shift, dtype=np.float64)
        self.n_targets = n_targets
        size = len(self.shift) + 1
        self.gram: FloatArray = np.zeros((size, size))
        self.n_rows = self.n_counting = 0
        self.precision = float(np.finfo(np.float64).eps)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take over what was saved; versions before 0.3 did not tell which rows count."""
        self.__dict__.update({"n_counting": state["n_rows"]} | state)

    def __sizeof__(self) -> int:
        """Bytes, by which Dask decides whether moments or rows are moved."""
        return object.__sizeof__(self) + self.gram.nbytes + self.shift.nbytes

    @property
    def n_features(self) -> int:
        """The number of features D."""
        return len(self.shift) - self.n_targets

    def update(self, block: Array) -> None:
        """Add rows.

        Parameters
        ----------
        block : ndarray of shape (n, n_features + n_targets + 1), in C order
            Rows v times the square roots of their weights, float32 or float64.
        """
        self.add(block.T @ block, block[:, -1])

    def add(self, gram: Array, roots: Array) -> None:
        """Add products of rows, given with the roots of their weights in the same precision.

        NumPy finds ``block.T @ block`` by BLAS syrk, and without the GIL.
        """
        self.gram += gram  # float64 from here on
        self.n_rows += len(roots)
        self.n_counting += int(np.count_nonzero(roots))
        self.precision = max(self.precision, float(np.finfo(roots.dtype).eps))

    def shifted(self, shift: FloatArray) -> "Moments":
        """The same moments about another point."""
        moved = Moments(shift, self.n_targets)
        delta = self.shift - moved.shift
        total, weight = self.total(), self.weight
        # δ tᵀ + t δᵀ + w δ δᵀ as one product of two columns and two rows.
        half = total + weight / 2 * delta
        change = np.column_stack([delta, half]) @ np.stack([half, delta])
        np.add(self.gram[:-1, :-1], change, out=moved.gram[:-1, :-1])
        moved.gram[:-1, -1] = moved.gram[-1, :-1] = total + weight * delta
        moved.gram[-1, -1] = weight
        return moved._counting_as(self)

    def mixed(self, mixing: FloatArray) -> "Moments":
        """The moments of features z G, for G of shape (n_features, n_mixed).

        The products of z G are Gᵀ times those of z times G, and the shift becomes a G.
        """
        width = self.n_features
        mixed = Moments(
            np.concatenate([self.shift[:width] @ mixing, self.shift[width:]]), self.n_targets
        )
        n_mixed = mixing.shape[1]
        mixed.gram[:n_mixed, :n_mixed] = mixing.T @ self.gram[:width, :width] @ mixing
        mixed.gram[:n_mixed, n_mixed:] = mixing.T @ self.gram[:width, width:]
        mixed.gram[n_mixed:, :n_mixed] = mixed.gram[:n_mixed, n_mixed:].T
        mixed.gram[n_mixed:, n_mixed:] = self.gram[width:, width:]
        return mixed._counting_as(self)

    @property
    def unit(self) -> float:
        """The mean weight of the rows that count."""
        return self.weight / max(self.n_counting, 1)

    def of_mean_weight_one(self) -> "Moments":
        """The moments with weights of mean one, for whatever depends on the number of rows."""
        scaled = Moments(self.shift, self.n_targets)
        scaled.gram = self.gram / (self.unit or 1.0)
        return scaled._counting_as(self)

    def _counting_as(self, other: "Moments") -> "Moments":
        """Take over how many rows there are, and how precise their sums."""
        self.n_rows, self.n_counting = other.n_rows, other.n_counting
        self.precision = other.precision
        return self

    def __add__(self, other: "Moments") -> "Moments":
        """Merge the moments of different rows."""
        if len(other.shift) != len(self.shift) or other.n_targets != self.n_targets:
            raise ValueError(
                f"Moments of {self.n_features} features and {self.n_targets} targets cannot be "
                f"merged with moments of {other.n_features} and {other.n_targets}."
            )
        same = np.array_equal(self.shift, other.shift)
        right = other if same else other.shifted(self.shift)
        merged = Moments(self.shift, self.n_targets)
        merged.gram = self.gram + right.gram
        merged.n_rows = self.n_rows + right.n_rows
        merged.n_counting = self.n_counting + right.n_counting
        merged.precision = max(self.precision, right.precision)
        return merged

    @classmethod
    def merged(cls, parts: "list[Moments]") -> "Moments":
        """Merge the moments of several groups of rows."""
        return reduce(add, parts)

    @property
    def weight(self) -> float:
        """The sum of the weights."""
        return float(self.gram[-1, -1])

    def total(self) -> FloatArray:
        """Sums of the shifted columns: [n_features + n_targets]."""
        return self.gram[:-1, -1]

    def mean(self) -> FloatArray:
        """Weighted means of the columns: [n_features + n_targets]."""
        return self.shift + self.total() / self.weight

    def products(self, center: FloatArray | None = None) -> FloatArray:
        """Sums of products of columns about a point (by default their mean), as a matrix."""
        return self.shifted(self.mean() if center is None else center).gram[:-1, :-1]

    def squares(self, center: FloatArray | None = None) -> FloatArray:
        """The diagonal of `products` alone: [n_features + n_targets]."""
        delta = self.shift - (self.mean() if center is None else center)
        return np.diag(self.gram)[:-1] + delta * (2 * self.total() + self.weight * delta)
