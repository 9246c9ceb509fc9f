r"""Words of many levels together with other words and with times: one more column of a table.

What a level is worth may depend on another: an airport is late in the evening, or on the day of a
storm. For each combination of levels there is a shrunken mean of the targets, as `words` has it
for single ones. Which combinations of columns tell something is found step by step by least
squares on a half of the rows, as long as the error on the other half falls; the column is

.. math:: \sum_c \beta_c\, m_c(x),

with :math:`m_c(x)` the mean of the combination c in the row x, for training rows without the
targets of their own fold.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import numpy.typing as npt

from ...._typing import Array, FloatArray
from ....rows import sample_rows
from ..choices import FOLDS
from ..facts import N_CODES
from ..numerics import DECIMALS, JUDGED_ROWS, MOST_FACTORS, MOST_TRIED, TABLE_SIZE
from .numbers import DatePart
from .words import MeanPart, WordLevels, shrinkage

__all__ = ["CrossedPart", "Factor", "crossed"]

# Units of dates, by the period that needs them; a day says its weekday and its month.
UNITS = {"day": "hour", "week": "weekday", "year": "month"}
# A combination takes this share of the error away, or more. Of 2,700,000
# flights five combinations do, and a line through their means leaves an RMSE of 24.8 on other rows
# (twelve more would leave 24.4); the kinds of combinations were settled on that table.
LEAST_GAIN = 0.01


@dataclass(frozen=True)
class Factor:
    """A column of whole numbers: the levels of words, or days, hours, weekdays or months.

    Attributes
    ----------
    column : str
    unit : {"word", "day", "hour", "weekday", "month"}
    n_codes : int
        Numbers are smaller; this one stands for gaps and what was never seen.
    first : int
        The first day since 1970.
    levels : WordLevels or None
        Of words.
    """

    column: str
    unit: str
    n_codes: int
    first: int = 0
    levels: WordLevels | None = None

    @property
    def name(self) -> str:
        """The column, with the unit of dates."""
        return self.column if self.unit == "word" else f"{self.unit} of {self.column}"

    def codes(self, values: Array) -> npt.NDArray[np.int64]:
        """Return the numbers of values: [n]."""
        if self.levels is not None:
            return self.levels.codes(values).astype(np.int64)
        days = values.astype("datetime64[D]")
        if self.unit == "hour":
            found = (values - days).astype("timedelta64[h]").astype(np.int64)
        elif self.unit == "month":
            found = values.astype("datetime64[M]").astype(np.int64) % 12
        else:  # 1970-01-01 was a Thursday
            since = days.astype(np.int64)
            found = (since + 3) % 7 if self.unit == "weekday" else since - self.first
        known = ~np.isnat(values) & (found >= 0) & (found < self.n_codes)
        return np.where(known, found, self.n_codes)


# By the names of factors.
Codes = Mapping[str, npt.NDArray[np.int64]]


@dataclass(frozen=True)
class Cross:
    """Shrunken means of the targets over combinations of levels.

    Attributes
    ----------
    factors : tuple of Factor
    keys : ndarray of shape (k,), int64
        The combinations that occur, sorted, each as one number.
    weights : ndarray of shape (FOLDS, k)
        Sums of the weights of each combination in each fold.
    sums : ndarray of shape (FOLDS, k, t)
        Sums of weights times centred targets.
    shrink : ndarray of shape (t,)
        m.
    """

    factors: tuple[Factor, ...]
    keys: npt.NDArray[np.int64]
    weights: FloatArray
    sums: FloatArray
    shrink: FloatArray

    @classmethod
    def of(
        cls,
        factors: tuple[Factor, ...],
        codes: Codes,
        targets: FloatArray,
        weights: FloatArray,
        folds: Array,
    ) -> "Cross":
        """Sum over the combinations of all rows."""
        keys, places = _numbered(_joined(factors, codes), _size(factors))
        n = FOLDS * len(keys)
        place = folds * len(keys) + places
        columns = [weights, *(weights * column for column in targets.T)]
        totals = np.stack([np.bincount(place, one, minlength=n) for one in columns], axis=1)
        parts = totals.astype(np.float64).reshape(FOLDS, len(keys), -1)
        sums = parts[:, :, 1:]
        squares = np.asarray(weights @ targets**2)
        shrink = shrinkage(parts[:, :, 0].sum(axis=0), sums.sum(axis=0), squares)
        return cls(factors, keys, parts[:, :, 0], sums, shrink)

    def means(self, codes: Codes, folds: Array | None) -> FloatArray:
        """Return the means of rows, of those of given folds without their own: [n, t]."""
        keys = _joined(self.factors, codes)
        place = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        totals, sums = self.weights.sum(axis=0), self.sums.sum(axis=0)
        if folds is None:
            found = (sums / (totals[:, None] + self.shrink))[place]
        else:
            others = totals[place] - self.weights[folds, place]
            found = (sums[place] - self.sums[folds, place]) / (others[:, None] + self.shrink)
        return np.where((self.keys[place] == keys)[:, None], found, 0.0)


@dataclass(frozen=True)
class CrossedPart:
    """A sum of means over combinations of levels.

    Attributes
    ----------
    crosses : tuple of Cross
    coef : ndarray of shape (c, t)
        β, for each target its own.
    scale : ndarray of shape (t,)
        The standard deviation of the sums over the rows.
    """

    crosses: tuple[Cross, ...]
    coef: FloatArray
    scale: FloatArray

    @property
    def factors(self) -> list[Factor]:
        """All columns that are combined."""
        return list({one.name: one for cross in self.crosses for one in cross.factors}.values())

    @property
    def columns(self) -> list[str]:
        """The columns of the table that these come from."""
        return list(dict.fromkeys(factor.column for factor in self.factors))

    @property
    def names(self) -> list[str]:
        """The columns of the output."""
        name, count = " x ".join(self.columns), self.coef.shape[1]
        return [name] if count == 1 else [f"{name}{j}" for j in range(count)]

    @property
    def description(self) -> str:
        """How the columns are encoded, in words."""
        told = [" x ".join(factor.name for factor in cross.factors) for cross in self.crosses]
        return f"means of the target over {', '.join(told)}"

    def encode(self, values: dict[str, Array], folds: Array | None = None) -> FloatArray:
        """Return the sums at rows, for training rows of given folds without their own targets."""
        codes = _codes(self.factors, values)
        found = sum(
            coef * cross.means(codes, folds)
            for cross, coef in zip(self.crosses, self.coef, strict=True)
        )
        return np.asarray(np.round(found / self.scale, DECIMALS))

    def relearnt(
        self, values: dict[str, Array], targets: FloatArray, weights: FloatArray, folds: Array
    ) -> "CrossedPart":
        """Learn means and coefficients from other rows; which combinations there are stays."""
        codes = _codes(self.factors, values)
        crosses = tuple(
            Cross.of(cross.factors, codes, targets, weights, folds) for cross in self.crosses
        )
        return _solved(crosses, codes, targets, weights, folds)


def crossed(
    parts: dict[str, object],
    values: dict[str, Array],
    targets: FloatArray,
    weights: FloatArray,
    folds: Array,
) -> CrossedPart | None:
    """Return the combinations of words and times that tell something; None if there are none.

    Parameters
    ----------
    parts : dict of str to part
        How the columns are encoded one by one.
    values : dict of str to ndarray of shape (n,)
    targets : ndarray of shape (n, t)
        Centred, of unit variance in all.
    weights, folds : ndarrays of shape (n,)
    """
    factors = _factors(parts, values)
    tried = [
        chosen
        for size in range(2, MOST_FACTORS + 1)
        for chosen in combinations(factors, size)
        if any(factor.unit == "word" for factor in chosen) and not _repeats(chosen)
    ][:MOST_TRIED]
    if not tried:
        return None
    codes = _codes(factors, values)
    few = sample_rows(len(folds), JUDGED_ROWS)
    some = {name: column[few] for name, column in codes.items()}
    crosses: list[Cross] = []
    columns: list[FloatArray] = []
    for chosen in tried:
        cross = Cross.of(chosen, codes, targets, weights, folds)
        if 2 * len(cross.keys) <= len(folds):  # fewer rows on average are one row's own target
            crosses.append(cross)
            columns.append(cross.means(some, folds[few]))
    if not crosses:
        return None
    kept = _forward(np.stack(columns), targets[few], weights[few])
    if not kept:
        return None
    return _solved(tuple(crosses[j] for j in kept), codes, targets, weights, folds)


def _factors(parts: dict[str, object], values: dict[str, Array]) -> list[Factor]:
    """Return words of many levels, and the units of dates; none without such words."""
    found = [
        Factor(name, "word", part.levels.n_codes, 0, part.levels)
        for name, part in parts.items()
        if isinstance(part, MeanPart)
    ]
    if not found:
        return []
    for name, part in parts.items():
        if isinstance(part, DatePart):
            days = values[name][~np.isnat(values[name])].astype("datetime64[D]").astype(np.int64)
            first, last = int(days.min()), int(days.max())
            found.append(Factor(name, "day", last - first + 1, first))
            found += [Factor(name, UNITS[one], N_CODES[UNITS[one]]) for one in part.periods]
    return found


def _repeats(factors: tuple[Factor, ...]) -> bool:
    """Tell whether a day stands beside its own weekday or month."""
    days = {factor.column for factor in factors if factor.unit == "day"}
    return any(one.unit in ("weekday", "month") and one.column in days for one in factors)


def _forward(columns: FloatArray, targets: FloatArray, weights: FloatArray) -> list[int]:
    """Choose columns [c, s, t] one after the other, as long as the held-out error falls."""
    half = np.arange(len(weights)) % 2 == 0
    total = weights[~half] @ (targets[~half] ** 2).sum(axis=1)
    kept: list[int] = []
    loss = float(total)
    while len(kept) < len(columns):
        errors = {
            j: _errors(columns[[*kept, j]], targets, weights, half)
            for j in range(len(columns))
            if j not in kept
        }
        best = min(errors, key=lambda j: errors[j][0])
        if not errors[best][1] < (1 - LEAST_GAIN) * loss:
            break
        kept.append(best)
        loss = errors[best][1]
    return kept


def _errors(
    columns: FloatArray, targets: FloatArray, weights: FloatArray, half: Array
) -> tuple[float, float]:
    """Return the weighted squared errors of least squares on one half of the rows and the other."""
    coef = _least_squares(columns[:, half], targets[half], weights[half])
    left = targets - np.einsum("cst,ct->st", columns, coef)
    squares = weights * (left**2).sum(axis=1)
    return float(squares[half].sum()), float(squares[~half].sum())


def _least_squares(columns: FloatArray, targets: FloatArray, weights: FloatArray) -> FloatArray:
    """Return coefficients of columns [c, s, t], for each target its own: [c, t]."""
    coef = np.empty((len(columns), targets.shape[1]))
    for j, target in enumerate(targets.T):
        X = columns[:, :, j] * np.sqrt(weights)
        coef[:, j] = np.linalg.lstsq(X @ X.T, X @ (target * np.sqrt(weights)), rcond=1e-10)[0]
    return coef


def _solved(
    crosses: tuple[Cross, ...],
    codes: Codes,
    targets: FloatArray,
    weights: FloatArray,
    folds: Array,
) -> CrossedPart:
    """Find coefficients by rows, none of whose means has its own target."""
    few = sample_rows(len(folds), JUDGED_ROWS)
    some = {name: column[few] for name, column in codes.items()}
    columns = np.stack([cross.means(some, folds[few]) for cross in crosses])
    coef = _least_squares(columns, targets[few], weights[few])
    sums = np.einsum("cst,ct->st", columns, coef)
    share = weights[few] / weights[few].sum()
    deviation = np.sqrt(share @ (sums - share @ sums) ** 2)
    part = CrossedPart(crosses, coef, np.ones(len(deviation)))
    return replace(part, scale=np.where(deviation > 0, deviation, 1.0))


def _codes(factors: list[Factor], values: dict[str, Array]) -> Codes:
    return {factor.name: factor.codes(values[factor.column]) for factor in factors}


def _size(factors: tuple[Factor, ...]) -> int:
    """Return the number of combinations that there could be."""
    return int(np.prod([factor.n_codes + 1 for factor in factors], dtype=np.int64))


def _joined(factors: tuple[Factor, ...], codes: Codes) -> npt.NDArray[np.int64]:
    """Return the combination of each row as one number."""
    found = codes[factors[0].name]
    for factor in factors[1:]:
        found = found * (factor.n_codes + 1) + codes[factor.name]
    return found


def _numbered(
    keys: npt.NDArray[np.int64], size: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the distinct keys, sorted, and the place of each key among them."""
    if size > TABLE_SIZE:
        found, places = np.unique(keys, return_inverse=True)
        return found, places
    seen = np.zeros(size, bool)
    seen[keys] = True
    return np.flatnonzero(seen), (np.cumsum(seen) - 1)[keys]
