r"""Words: levels as vertices of a simplex if they are few, as means of the targets if many.

The mean of a level with the weight n and the sum s of its (centred) targets is shrunk,

.. math:: \frac{s}{n + m}, \qquad m = \frac{\sigma^2}{\tau^2},

by the ratio of the variance within levels to that between them (empirical Bayes). A training row
must not see its own target: rows are in five folds by a hash of their numbers, and a row's level
has the mean over the other folds. scikit-learn's `TargetEncoder` draws its folds at random and
needs all rows at once; these sums can be added up over blocks, and do not depend on them.
"""

from dataclasses import dataclass, replace

import numpy as np

from ...._typing import Array, FloatArray
from ....rows.levels import levels_of, looked_up
from ..choices import FOLDS, RARE
from ..numerics import DECIMALS, MOST_WORDS
from .numbers import edge_factor

__all__ = [
    "MeanPart",
    "SimplexPart",
    "WordLevels",
    "WordSums",
    "shrinkage",
]

# What an empty cell is called among the levels.
MISSING = "(missing)"


@dataclass(frozen=True)
class WordSums:
    """Sums over the rows of each word of a column, which add up over blocks of rows.

    Attributes
    ----------
    words : ndarray of str, of shape (k,)
        Sorted; a gap is a word too.
    weights : ndarray of shape (FOLDS, k)
        Sums of the weights of each word in each fold.
    sums : ndarray of shape (FOLDS, k, t)
        Sums of weights times centred targets; t = 0 without targets.
    squares : ndarray of shape (t,)
        The sum of weights times squared targets over all rows.
    n_rows : int
    """

    words: Array
    weights: FloatArray
    sums: FloatArray
    squares: FloatArray
    n_rows: int

    @classmethod
    def of(
        cls, words: Array, targets: FloatArray | None, weights: FloatArray, folds: Array
    ) -> "WordSums":
        """Sum over words (None for a gap) and centred targets [n, t]."""
        levels, codes = levels_of(words)
        named = [MISSING if word is None else word for word in levels]
        known = np.array(sorted(set(named)), dtype=object)
        places = dict(zip(known.tolist(), range(len(known)), strict=True))
        codes = looked_up(places, named, -1)[codes]
        if targets is None:
            targets = np.empty((len(words), 0))
        shape, place = (FOLDS, len(known)), folds * len(known) + codes
        columns = [weights, *(weights * column for column in targets.T)]
        size = FOLDS * len(known)
        totals = [np.bincount(place, one, minlength=size).reshape(shape) for one in columns]
        parts = np.stack(totals, axis=2).astype(np.float64)
        squares = np.asarray(weights @ targets**2)
        return cls(known, parts[:, :, 0], parts[:, :, 1:], squares, len(words))

    def __add__(self, other: "WordSums") -> "WordSums":
        """Sum over the rows of both."""
        words = np.union1d(self.words, other.words)
        weights = np.zeros((FOLDS, len(words)))
        sums = np.zeros((FOLDS, len(words), self.sums.shape[2]))
        for part in (self, other):
            place = np.searchsorted(words, part.words)
            weights[:, place] += part.weights
            sums[:, place] += part.sums
        squares, n_rows = self.squares + other.squares, self.n_rows + other.n_rows
        commonest = np.argsort(-weights.sum(axis=0), kind="stable")[:MOST_WORDS]
        kept = np.sort(commonest)
        return WordSums(words[kept], weights[:, kept], sums[:, kept], squares, n_rows)

    def of_levels(self, levels: "WordLevels") -> tuple[FloatArray, FloatArray]:
        """Return the weights and sums of levels: [FOLDS, n_codes] and [FOLDS, n_codes, t]."""
        codes = levels.codes(self.words)
        weights = np.zeros((levels.n_codes, FOLDS))
        sums = np.zeros((levels.n_codes, FOLDS, self.sums.shape[2]))
        np.add.at(weights, codes, self.weights.T)
        np.add.at(sums, codes, self.sums.swapaxes(0, 1))
        return weights.T, sums.swapaxes(0, 1)


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
    def of(cls, name: str, sums: WordSums) -> "WordLevels":
        """Find the levels of a column of words."""
        counts = sums.weights.sum(axis=0)
        rare = 1 if sums.n_rows < 10 * RARE else RARE
        frequent = sums.words[counts >= rare].astype(str)
        levels = frequent if len(frequent) else np.array([MISSING])
        found = cls(name, levels, np.empty(0))
        shares = sums.of_levels(found)[0].sum(axis=0)
        return replace(found, shares=shares / counts.sum())

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
        table: dict[str | None, int] = dict(
            zip(self.levels.tolist(), range(len(self.levels)), strict=True)
        )
        other = len(table)
        table[None] = table.get(MISSING, other)
        return looked_up(table, words, other)


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
    def of(cls, levels: WordLevels, words: WordSums) -> "MeanPart":
        """Fit to the sums over words."""
        weights, sums = words.of_levels(levels)
        totals = weights.sum(axis=0)
        shrink = shrinkage(totals, sums.sum(axis=0), words.squares)
        part = cls(levels, weights, sums, shrink, np.ones(sums.shape[2]))
        share = totals / totals.sum()
        means = part._means()
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
        codes = self.levels.codes(words)
        if folds is None:
            return np.round(self._means()[codes] / self.scale, DECIMALS)
        others = self.sums.sum(axis=0) - self.sums
        totals = self.weights.sum(axis=0) - self.weights
        without = others / (totals[:, :, None] + self.shrink)
        return np.round(without[folds, codes] / self.scale, DECIMALS)

    def _means(self) -> FloatArray:
        """Return the shrunken mean of each level: [n_codes, t]."""
        totals = self.weights.sum(axis=0)
        return np.asarray(self.sums.sum(axis=0) / (totals[:, None] + self.shrink))


def shrinkage(totals: FloatArray, sums: FloatArray, squares: FloatArray) -> FloatArray:
    """Return the ratio of the variances within and between levels, by the method of moments."""
    known = totals > 0
    totals, n_levels, whole = totals[known], int(known.sum()), float(totals.sum())
    explained = (sums[known] ** 2 / totals[:, None]).sum(axis=0)  # Σ n_k mean_k²
    within = np.maximum(squares - explained, 0.0) / max(whole - n_levels, 1.0)
    # E Σ n_k mean_k² = (k - 1) σ² + (n - Σ n_k² / n) τ² for centred targets.
    spread = explained - (n_levels - 1) * within
    between = np.maximum(spread / max(whole - float(totals @ totals) / whole, 1.0), 0.0)
    variance = np.maximum(squares / whole, np.finfo(float).tiny)
    # At least a ten-thousandth of the variance is between levels, so that m stays finite.
    return np.asarray(np.maximum(within, 1e-6 * variance) / np.maximum(between, 1e-4 * variance))
