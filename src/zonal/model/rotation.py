r"""Features of few rows in the coordinates of those rows.

With n rows and D > n features, :math:`Z^\top = Q R` with Q [D, n]: the coefficients are Q γ, where
γ belongs to the n features ZQ, and directions beyond keep their prior. The fit is the same, and
systems have the size n.
"""

from dataclasses import dataclass, replace

import numpy as np

from .._typing import Array, FloatArray
from .newton import Mode
from .newton_sums import Spread

__all__ = ["Rotation"]


@dataclass(frozen=True)
class Rotation:
    """An orthonormal basis, whose first columns span the features of all rows.

    Attributes
    ----------
    basis : ndarray of shape (D, D)
    rank : int
        How many columns do.
    """

    basis: FloatArray
    rank: int

    @classmethod
    def of(cls, Z: Array) -> "Rotation":
        """Find it for features [n, D] with n < D."""
        basis, _ = np.linalg.qr(np.asarray(Z, np.float64).T, mode="complete")
        return cls(basis, len(Z))

    def apply(self, Z: Array) -> FloatArray:
        """Return features in the new coordinates, [n, rank] for the rows of the fit."""
        return np.asarray(np.asarray(Z, np.float64) @ self.basis[:, : self.rank])

    def undo(self, mode: Mode) -> Mode:
        """Return a mode in the coordinates of the features."""
        own, rest = self.basis[:, : self.rank], self.basis[:, self.rank :]
        prior = np.sqrt(1 / mode.alpha) if mode.alpha > 0 else 0.0
        # In the order of a `RidgePosterior`: what the rows determine best comes last.
        root = np.column_stack([rest * prior, own @ mode.spread.root])
        spread = Spread(root, own @ mode.spread.middle, mode.spread.constant)
        return replace(mode, coef=own @ mode.coef, spread=spread)
