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
        √(m_i · weight) of each column's direction: ones, except for d = 1 and leverage scores.
    balanced : bool
        Whether all are ones.
    """

    def __init__(
        self,
        directions: FloatArray,
        radial: slice,
        counts: npt.NDArray[np.intp],
        weights: FloatArray | None = None,
    ) -> None:
        self.directions = directions
        self.radial = radial
        self.counts = counts
        shares = [
            direction_weights(directions[:count])
            if weights is None
            else weights[:count] * (len(weights) / count)
            for count in counts
        ]
        self.balance = np.sqrt(
            np.concatenate([n * share for n, share in zip(counts, shares, strict=True)])
        )
        self.balanced = weights is None and directions.shape[1] > 1

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
    weights: FloatArray | None = None,
) -> list[DirectionGroup]:
    """Return one table for all radial indices, or a lattice for each count."""
    if scheme != "fibonacci" or counts[0] == counts[-1]:
        return [DirectionGroup(directions, slice(0, len(counts)), counts, weights)]
    split = int(np.argmax(counts < counts[0]))
    smaller = direction_table(scheme, counts[-1], directions.shape[1], seed)
    return [
        DirectionGroup(directions, slice(0, split), counts[:split]),
        DirectionGroup(smaller, slice(split, len(counts)), counts[split:]),
    ]
