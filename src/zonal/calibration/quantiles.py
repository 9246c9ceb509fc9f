r"""Quantiles of scores, such that a new score falls below them as often as they say.

Scores s₁ ≤ … ≤ s_n of rows that a model has not seen, and the score of a new row, are exchangeable,
so that the new one has each of n + 1 ranks with the same probability. Thus it is at least s_k with
k = ⌊(n + 1) p⌋ with probability at least 1 - p, and at most s_k with k = ⌈(n + 1) p⌉ with
probability at least p, for every n and every distribution (Vovk et al. 2005).
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

from .._typing import FloatArray
from .numerics import ROUNDING

__all__ = ["MeanQuantiles", "ScoreQuantiles", "check_levels"]


@dataclass(frozen=True)
class ScoreQuantiles:
    """Sorted scores of each target, with the weight up to each of them.

    Attributes
    ----------
    scores : ndarray of shape (n, n_targets)
    totals : ndarray of shape (n, n_targets)
        Cumulated weights, of mean one over the scores that count.
    """

    scores: FloatArray
    totals: FloatArray

    @classmethod
    def of(cls, scores: FloatArray, weight: FloatArray | None = None) -> "ScoreQuantiles":
        """Sort scores [n, t] of rows with weights [n]."""
        order = np.argsort(scores, axis=0, kind="stable")
        shares = np.ones(len(scores)) if weight is None else np.asarray(weight, np.float64)
        # Only the ratios of weights count: there are as many scores as rows that count.
        shares = shares / max(shares.max(initial=0.0), np.finfo(float).tiny)
        shares = shares * (np.count_nonzero(shares) / max(shares.sum(), np.finfo(float).tiny))
        return cls(np.take_along_axis(scores, order, axis=0), np.cumsum(shares[order], axis=0))

    def at(self, levels: npt.ArrayLike) -> FloatArray:
        """Return the quantiles at levels: [n_levels, n_targets].

        Below 1/2 the lower of two neighbouring scores, above it the upper one, at 1/2 their mean.
        Beyond the outermost scores, which rows that are too few cannot tell, a normal tail.
        """
        found = check_levels(levels)
        if not len(self.scores):
            return np.tile(ndtri(found)[:, None], self.scores.shape[1])
        return np.array([self._at(level) for level in found])

    def spread(self) -> FloatArray:
        """Return the root mean square of the scores of each target; one where there are none."""
        if not len(self.scores):
            return np.ones(self.scores.shape[1])
        shares = np.diff(self.totals, axis=0, prepend=0.0)
        return np.asarray(np.sqrt(np.average(self.scores**2, axis=0, weights=shares)))

    def size(self) -> FloatArray:
        """Return the width of the interval that holds nine of ten scores, over that of a normal.

        Unlike the root mean square, a few large scores do not change it.
        """
        lower, upper = self.at([0.05, 0.95])
        return np.asarray((upper - lower) / (2 * ndtri(0.95)))

    def _at(self, level: float) -> FloatArray:
        if level == 0.5:
            return (self._upper(level) + self._lower(level)) / 2
        return self._upper(level) if level > 0.5 else self._lower(level)

    def _upper(self, level: float) -> FloatArray:
        """The smallest score with at least (n + 1) p of the weight up to it."""
        wanted = level * (self.totals[-1] + 1) * (1 - ROUNDING)
        found = np.argmax(self.totals >= wanted, axis=0)
        inside = np.take_along_axis(self.scores, found[None], axis=0)[0]
        return np.where(wanted <= self.totals[-1], inside, self._tail(level, self.scores[-1]))

    def _lower(self, level: float) -> FloatArray:
        """The same from below, for the negative scores in reverse order."""
        totals = self.totals[-1] - np.vstack([np.zeros_like(self.totals[:1]), self.totals[:-1]])
        mirrored = ScoreQuantiles(-self.scores[::-1], totals[::-1])
        return -mirrored._upper(1 - level)

    def _tail(self, level: float, outermost: FloatArray) -> FloatArray:
        """Continue the outermost score like the tail of a normal distribution about zero."""
        total = self.totals[-1]
        known = ndtri(np.maximum(total / (total + 1), 0.6))
        return np.maximum(outermost, outermost * ndtri(level) / known)


@dataclass(frozen=True)
class MeanQuantiles:
    """The weighted mean of the quantiles of several models, whose scores are made of unit size.

    Attributes
    ----------
    parts : tuple of ScoreQuantiles
    weights : tuple of float
        Of sum one.
    """

    parts: tuple[ScoreQuantiles, ...]
    weights: tuple[float, ...]

    @property
    def scores(self) -> FloatArray:
        """The scores of the first model."""
        return self.parts[0].scores

    def at(self, levels: npt.ArrayLike) -> FloatArray:
        """Return the quantiles at levels: [n_levels, n_targets]."""
        unit = [part.at(levels) / part.size() for part in self.parts]
        return np.tensordot(self.weights, unit, 1)

    def spread(self) -> FloatArray:
        """Return the mean of the root mean squares of such scores."""
        unit = [part.spread() / part.size() for part in self.parts]
        return np.tensordot(self.weights, unit, 1)


def check_levels(levels: npt.ArrayLike) -> FloatArray:
    """Return levels of quantiles as an array of numbers between 0 and 1."""
    found = np.atleast_1d(np.asarray(levels, np.float64))
    if found.ndim != 1 or not len(found) or not ((found > 0) & (found < 1)).all():
        raise ValueError(
            f"q={levels!r} must be one or more levels between 0 and 1, such as [0.05, 0.5, 0.95]."
        )
    return found
