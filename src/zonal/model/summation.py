"""Which sums are taken over rows of numbers; frozen before the first row is summed."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .._typing import Array, FloatArray
from ..features.space import FeatureSpace
from ..features.sums import moments_of_rows, start_of_moments
from ..moments import Moments
from ..moments.folds import hashed_folds
from ..rows import Block
from ..rows.costs import announce_cost, eigen_seconds, sum_seconds

__all__ = ["Summation", "announce_sums"]


@dataclass(frozen=True)
class Summation:
    """Moments of features and targets, for each fold of the rows.

    Attributes
    ----------
    features : transformer
        Fitted.
    n_columns : int
        The number of its columns D.
    shift : ndarray of shape (D + t,)
        What the moments are about.
    n_folds : int
        Folds, by a hash of the rows' numbers.
    """

    features: Any
    n_columns: int
    shift: FloatArray
    n_folds: int = 1

    @classmethod
    def of(cls, features: Any, X: Any, Y: Array, n_folds: int = 1) -> "Summation":
        """Learn the number of columns, and what moments are taken about, from a sample of rows."""
        shift = start_of_moments(FeatureSpace(features, 0), X, Y)
        return cls(features, len(shift) - Y.shape[1], shift, n_folds)

    @property
    def space(self) -> FeatureSpace:
        """The space of the features."""
        return FeatureSpace(self.features, self.n_columns)

    @property
    def n_bytes(self) -> int:
        """Bytes of the moments of one fold."""
        return int(8 * (len(self.shift) + 1) ** 2)

    def folds(self, block: Block, title: str = "") -> list[Moments]:
        """Sum the moments of the rows of each fold; targets are [n, t]."""
        if self.n_folds == 1:
            return self.groups(block, None, 1, title)
        labels = hashed_folds(block.start, block.start + len(block), self.n_folds)
        return self.groups(block, labels, self.n_folds, title)

    def groups(
        self, block: Block, labels: npt.NDArray[np.intp] | None, n_groups: int, title: str = ""
    ) -> list[Moments]:
        """Sum the moments of each group of rows."""
        found, expected = block.y.shape[1], len(self.shift) - self.n_columns
        if found != expected:
            raise ValueError(f"This chunk has {found} targets, but the first had {expected}.")
        return moments_of_rows(self.space, block, labels, self.shift, n_groups, title)


def announce_sums(
    owner: str, n_rows: int, width: int, n_targets: int, n_sums: int, solving: float
) -> None:
    """Warn of sums and systems that will take much time or memory, before they are made.

    Parameters
    ----------
    owner : str
        The learner.
    n_rows, width, n_targets : int
        Rows, features and targets.
    n_sums : int
        Sums that are taken side by side: one for each fold.
    solving : float
        How long systems take once there are sums, in eigendecompositions of their size. Measured:
        below one where a Cholesky factor or few eigenvectors are enough.
    """
    # Each sum, the whole, a copy and two of the eigendecomposition.
    n_bytes = 8.0 * (n_sums + 4) * (width + n_targets + 1) ** 2
    announce_cost(
        f"{owner} with {width:,} features and {n_targets:,} targets",
        eigen_seconds(width, solving) + sum_seconds(n_rows, width + n_targets),
        n_bytes,
        "Lower budget or n_components; a number in the place of 'cv' needs fewer sums; labels in "
        "thousands of classes may be numbers, for KernelRidge.",
    )
