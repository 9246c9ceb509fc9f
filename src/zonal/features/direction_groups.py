"""Which radial indices of Gegenbauer features share one table of directions."""

import numpy as np
import numpy.typing as npt

from .._loaded import check_array, check_kind
from .._typing import FloatArray
from .directions import direction_table, direction_weights

__all__ = ["DirectionGroup", "direction_groups"]


class DirectionGroup:
    """Radial indices that share one table of directions.

    Attributes
    ----------
    directions : ndarray of shape (m, d)
    radial : slice
        The radial indices.
    counts : ndarray of shape (n_radial_of_the_group,)
        How many directions each uses.
    balance : ndarray of shape (counts.sum(),)
        √(m_i · weight) of each column's direction: ones, except for d = 1.
    """

    def __init__(
        self,
        directions: FloatArray,
        radial: slice,
        counts: npt.NDArray[np.intp],
    ) -> None:
        self.directions = directions
        self.radial = radial
        self.counts = counts
        weights = [count * direction_weights(directions[:count]) for count in counts]
        self.balance = np.sqrt(np.concatenate(weights))

    def _check_loaded(self) -> None:
        """Raise ValueError unless every radial index uses directions that there are."""
        check_kind(self, "radial", slice)
        m = len(check_array(self, "directions", "f", (None, None)))
        counts = check_array(self, "counts", "i", (None,), 1, m)
        check_array(self, "balance", "f", (int(counts.sum()),))


def direction_groups(
    directions: FloatArray,
    counts: npt.NDArray[np.intp],
    scheme: str,
    seed: int,
) -> list[DirectionGroup]:
    """Return one table for all radial indices, or a lattice for each count."""
    if scheme != "fibonacci" or counts[0] == counts[-1]:
        return [DirectionGroup(directions, slice(0, len(counts)), counts)]
    split = int(np.argmax(counts < counts[0]))
    smaller = direction_table(scheme, counts[-1], directions.shape[1], seed)
    return [
        DirectionGroup(directions, slice(0, split), counts[:split]),
        DirectionGroup(smaller, slice(split, len(counts)), counts[split:]),
    ]
