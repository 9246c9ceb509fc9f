r"""Words: levels as vertices of a simplex if they are few, as means of the targets if many.

The mean of a level with the weight n and the sum s of its (centred) targets is shrunk,

.. math:: \frac{s}{n + m}, \qquad m = \frac{\sigma^2}{\tau^2},

by the ratio of the variance within levels to that between them (empirical Bayes). A training row
must not see its own target: rows are in five folds by a hash of their numbers, and a row's level
has the mean over the other folds. scikit-learn's `TargetEncoder` draws its folds at random and
needs all rows at once; these sums can be added up over blocks, and do not depend on them.
"""

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np

from ...._typing import Array, FloatArray
from .numbers import edge_factor

__all__ = ["FOLDS", "MeanPart", "SimplexPart", "WordLevels"]

#: Folds of training rows for means of targets.
FOLDS = 5
# A level with fewer rows than this shares one with the other rare ones.
RARE = 5
# What an empty cell is called among the levels.
MISSING = "(missing)"


@dataclass(frozen=True)
class WordLevels:
    """The levels of a column; rare ones and those never seen share the last.

    Attributes
    ----------
    name : str
    levels : ndarray of str, of shape (k,)
        Sorted.
    shares : ndarray of shape (k + 1,)
        Of each level, and of all others together.
    """

    name: str
    levels: Array
    shares: FloatArray

    @classmethod
    def of(cls, name: str, words: Array, weights: FloatArray, rare: int = RARE) -> "WordLevels":
        """Find the levels of a column of words, None for a gap."""
        counts: Counter[str] = Counter()
        for word, weight in zip(words, weights.tolist(), strict=True):
            counts[MISSING if word is None else word] += weight
        frequent = sorted(level for level, count in counts.items() if count >= rare)
        found = cls(name, np.array(frequent or [MISSING], dtype=str), np.empty(0))
        shares = np.bincount(found.codes(words), weights, minlength=found.n_codes)
        return replace(found, shares=shares / weights.sum())

    def commonest(self, n_levels: int) -> "WordLevels":
        """Return the commonest levels alone."""
        kept = np.sort(np.argsort(-self.shares[:-1], kind="stable")[:n_levels])
        shares = np.append(self.shares[kept], max(1 - self.shares[kept].sum(), 0.0))
        return replace(self, levels=self.levels[kept], shares=shares)

    @property
    def n_codes(self) -> int:
        """The number of levels with that of all others."""
        return len(self.levels) + 1

    def codes(self, words: Array) -> Array:
        """Return the number of each word's level."""
        table = {level: code for code, level in enumerate(self.levels.tolist())}
        other = len(table)
        named = (MISSING if word is None else word for word in words)
        return np.fromiter((table.get(word, other) for word in named), np.intp, len(words))


@dataclass(frozen=True)
class SimplexPart:
    """Levels as vertices of a simplex, all at the distance √2 c of `edge_factor` from each other.

    Centred; two levels need one column. A level that was never seen is in the middle.

    Attributes
    ----------
    levels : WordLevels
    """

    levels: WordLevels

    @property
    def names(self) -> list[str]:
        """The columns of the output."""
        name = self.levels.name
        known = [f"{name}_{level}" for level in self.levels.levels]
        if self.levels.shares[-1] > 0:
            known.append(f"{name}_(other)")
        return known[1:] if len(known) == 2 else known

    @property
    def description(self) -> str:
        """How the column is encoded, in words."""
        return f"{len(self.levels.levels)} levels"

    def encode(self, words: Array) -> FloatArray:
        """Return centred indicators of the levels."""
        codes, shares = self.levels.codes(words), self.levels.shares
        others = shares[-1] > 0
        n_vertices = len(shares) if others else len(shares) - 1
        shares = shares[:n_vertices]
        indicators = (codes[:, None] == np.arange(n_vertices)) - shares
        if not others:
            indicators[codes == n_vertices] = 0.0
        if n_vertices == 2:  # the difference of the two, at the same distance
            indicators = indicators[:, 1:] * 2**0.5
        return np.asarray(indicators * edge_factor(shares))


@dataclass(frozen=True)
class MeanPart:
    """Levels as shrunken means of the targets.

    Attributes
    ----------
    levels : WordLevels
    weights : ndarray of shape (FOLDS, n_codes)
        Sums of the weights of each level in each fold.
    sums : ndarray of shape (FOLDS, n_codes, t)
        Sums of weights times centred targets.
    shrink : ndarray of shape (t,)
        m.
    scale : ndarray of shape (t,)
        The standard deviation of the means over the rows.
    """

    levels: WordLevels
    weights: FloatArray
    sums: FloatArray
    shrink: FloatArray
    scale: FloatArray

    @classmethod
    def of(
        cls,
        levels: WordLevels,
        words: Array,
        targets: FloatArray,
        weights: FloatArray,
        folds: Array,
    ) -> "MeanPart":
        """Fit to words and centred targets [n, t], with weights and folds of the rows."""
        codes = levels.codes(words)
        shape = (FOLDS, levels.n_codes)
        place = folds * levels.n_codes + codes
        size = FOLDS * levels.n_codes
        totals = np.bincount(place, weights, minlength=size).reshape(shape).astype(np.float64)
        columns = [np.bincount(place, weights * y, minlength=size) for y in targets.T]
        sums = np.stack(columns, axis=1).reshape(*shape, -1).astype(np.float64)
        shrink = _shrinkage(totals.sum(axis=0), sums.sum(axis=0), targets, weights, codes)
        part = cls(levels, totals, sums, shrink, np.ones(targets.shape[1]))
        share = weights / weights.sum()
        means = part.encode(words)
        deviation = np.sqrt(share @ (means - share @ means) ** 2)
        return replace(part, scale=np.where(deviation > 0, deviation, 1.0))

    @property
    def names(self) -> list[str]:
        """The columns of the output."""
        name, count = self.levels.name, self.sums.shape[2]
        return [f"{name}_mean"] if count == 1 else [f"{name}_mean{j}" for j in range(count)]

    @property
    def description(self) -> str:
        """How the column is encoded, in words."""
        return f"means of the target in {len(self.levels.levels):,} levels"

    def encode(self, words: Array, folds: Array | None = None) -> FloatArray:
        """Return the means of the levels, for training rows of given folds without their own."""
        totals, sums = self.weights.sum(axis=0), self.sums.sum(axis=0)
        table = sums / (totals[:, None] + self.shrink)  # [n_codes, t]
        codes = self.levels.codes(words)
        if folds is None:
            return np.asarray(table[codes] / self.scale)
        others = sums - self.sums
        without = others / ((totals - self.weights)[:, :, None] + self.shrink)
        return np.asarray(without[folds, codes] / self.scale)


def _shrinkage(
    totals: FloatArray, sums: FloatArray, targets: FloatArray, weights: FloatArray, codes: Array
) -> FloatArray:
    """Return the ratio of the variances within and between levels, by the method of moments."""
    means = sums / np.where(totals > 0, totals, 1.0)[:, None]
    known = totals > 0
    n_levels, whole = int(known.sum()), float(weights.sum())
    within = weights @ (targets - means[codes]) ** 2 / max(whole - n_levels, 1.0)
    # E Σ n_k mean_k² = (k - 1) σ² + (n - Σ n_k² / n) τ² for centred targets.
    spread = totals[known] @ means[known] ** 2 - (n_levels - 1) * within
    between = np.maximum(spread / max(whole - float(totals @ totals) / whole, 1.0), 0.0)
    variance = np.maximum(weights @ targets**2 / whole, np.finfo(float).tiny)
    # At least a ten-thousandth of the variance is between levels, so that m stays finite.
    return np.asarray(np.maximum(within, 1e-6 * variance) / np.maximum(between, 1e-4 * variance))
