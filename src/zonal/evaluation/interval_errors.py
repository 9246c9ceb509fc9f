"""How well intervals hold, from sums over rows that blocks can add to."""

from dataclasses import dataclass

import numpy as np

from .._typing import Array, FloatArray
from ..calibration.scores import level_weights, pinball

__all__ = ["COVERAGES", "LEVELS", "IntervalErrors", "crps_of_constant"]

#: Levels of the quantiles that are looked at, and the coverages between pairs of them.
LEVELS = np.concatenate([[0.025], np.arange(1, 20) / 20, [0.975]])
COVERAGES = (0.5, 0.8, 0.9, 0.95)


@dataclass(frozen=True)
class IntervalErrors:
    """Sums over rows with truth y and quantiles at `LEVELS`.

    Attributes
    ----------
    rows : float
        n, or the sum of weights.
    below, losses : ndarrays of shape (n_levels,)
        How often y is at most the quantile, and pinball losses.
    inside, width : ndarrays of shape (n_coverages,)
        How often y is in the interval, and how wide it is.

    Examples
    --------
    >>> import numpy as np
    >>> from zonal.evaluation import IntervalErrors
    >>> quantiles = np.tile(np.linspace(-1, 1, 21), (2, 1))
    >>> IntervalErrors.of(np.array([0.0, 3.0]), quantiles).measures()["coverage_90"]
    0.5
    """

    rows: float
    below: FloatArray
    losses: FloatArray
    inside: FloatArray
    width: FloatArray

    @classmethod
    def of(cls, truth: Array, quantiles: Array, weight: Array | None = None) -> "IntervalErrors":
        """Return the sums of some rows: y [n], quantiles [n, n_levels]."""
        shares = np.ones(len(truth)) if weight is None else np.asarray(weight, np.float64)
        y, ends = np.asarray(truth)[:, None], _ends()
        low, high = quantiles[:, ends[:, 0]], quantiles[:, ends[:, 1]]
        return cls(
            float(shares.sum()),
            shares @ (y <= quantiles),
            shares @ pinball(truth, quantiles, LEVELS),
            shares @ ((low <= y) & (y <= high)),
            shares @ (high - low),
        )

    def __add__(self, other: "IntervalErrors") -> "IntervalErrors":
        """Return the sums of the rows of both."""
        return IntervalErrors(
            self.rows + other.rows,
            self.below + other.below,
            self.losses + other.losses,
            self.inside + other.inside,
            self.width + other.width,
        )

    def measures(self) -> dict[str, float]:
        """Return ``crps``, and ``coverage_90``, ``width_90`` and ``score_90`` of each coverage.

        The interval score of a coverage 1 - α is 2/α times the pinball losses of both ends.
        """
        if not self.rows:
            return {}
        found = {"crps": float(2 * self.losses @ level_weights(LEVELS) / self.rows)}
        for place, share in enumerate(COVERAGES):
            found[f"coverage_{100 * share:.0f}"] = float(self.inside[place] / self.rows)
            found[f"width_{100 * share:.0f}"] = float(self.width[place] / self.rows)
            losses = self.losses[_ends()[place]].sum()
            found[f"score_{100 * share:.0f}"] = float(2 / (1 - share) * losses / self.rows)
        return found

    def curve(self) -> FloatArray:
        """Return the share of rows at most the quantile of each level: [n_levels]."""
        return self.below / max(self.rows, 1.0)


def crps_of_constant(truth: Array) -> float:
    """Return the CRPS of the distribution of all targets, whatever the row: E|y - y'|/2."""
    y = np.sort(np.asarray(truth, np.float64))
    n = len(y)
    return float(np.sum((2 * np.arange(1, n + 1) - n - 1) * y) / n**2) if n else 0.0


def _ends() -> Array:
    """Return the places of the levels at both ends of each coverage: [n_coverages, 2]."""
    pairs = [((1 - share) / 2, (1 + share) / 2) for share in COVERAGES]
    return np.array([[int(np.argmin(np.abs(LEVELS - level))) for level in pair] for pair in pairs])
