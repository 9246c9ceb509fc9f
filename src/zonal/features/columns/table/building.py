"""From the values of all columns to the parts that encode them."""

import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.stats import skew

from ...._suggestions import near
from ...._typing import Array, FloatArray
from ....rows import sample_rows
from ....rows.levels import levels_of
from ..choices import PILOT_ROWS, RARE, SKEWED
from ..facts import DEGREES
from ..sphere_encoder import named_like
from .cells import gaps_of
from .crossed import CrossedPart, crossed
from .filling import GapRegressions
from .numbers import DatePart, NumberPart, PlacePart, TimePart
from .pilot import best_encoding
from .words import MeanPart, SimplexPart, WordLevels, WordSums

__all__ = ["Builder", "encode_parts", "find_place", "pilot_rows"]


@dataclass
class Builder:
    """Fits the part of every column.

    Attributes
    ----------
    values : dict of str to ndarray of shape (n,)
        Numbers, dates, times or words.
    targets : ndarray of shape (n, t), or None
        Centred.
    weights, folds : ndarrays of shape (n,)
    place : list of str
        The columns of latitude and longitude, or none.
    numbers : {"auto", "plain", "normal"}
    max_levels : int
    word_sums : dict of str to WordSums
        Of columns of words whose sums over more rows than these are known.
    notes : dict of str to str
        What is worth telling of columns.
    """

    values: dict[str, Array]
    targets: FloatArray | None
    weights: FloatArray
    folds: Array
    place: list[str]
    numbers: str
    max_levels: int
    word_sums: dict[str, WordSums] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)

    def parts(self) -> dict[str, Any]:
        """Return the parts by the names of columns; those that cannot help have none."""
        counting = np.flatnonzero(self.weights > 0)
        sample = counting[sample_rows(len(counting))]
        mapped = self._mapped(sample)
        found: dict[str, Any] = {}
        if self.place:
            found[" and ".join(self.place)] = PlacePart()
        for name in self.values:
            if name not in self.place:
                found[name] = self._part(name, sample, name in mapped)
                self._look_for_copy(name)
        return {name: part for name, part in found.items() if part is not None}

    def crossed(self, parts: dict[str, Any]) -> CrossedPart | None:
        """Return combinations of words and times, if a kernel regression gains by them."""
        if self.targets is None or self.word_sums:  # of a sample, combinations are too rare
            return None
        found = crossed(parts, self.values, self.targets, self.weights, self.folds)
        if found is None:
            return None
        few = pilot_rows(self.weights)
        values = {name: column[few] for name, column in self.values.items()}
        rows = encode_parts(parts, values, self.place, self.folds[few])
        wider = np.hstack([rows, found.encode(values, self.folds[few])])
        better = best_encoding([rows, wider], self.targets[few], self.weights[few])
        return found if better else None

    def fills(self, parts: dict[str, Any]) -> GapRegressions:
        """Return regressions for the gaps of numbers, if a kernel regression gains by them."""
        columns, start = [], 0
        for part in parts.values():
            if isinstance(part, NumberPart) and part.gaps:
                columns.append(start)
            start += len(part.names)
        if not columns or self.targets is None or self.numbers != "auto":
            return GapRegressions()
        few = pilot_rows(self.weights)
        values = {name: column[few] for name, column in self.values.items()}
        rows = encode_parts(parts, values, self.place, self.folds[few])
        found = GapRegressions.of(rows, columns, self.weights[few])
        return (
            found if found.helps(rows, self.targets[few], self.weights[few]) else GapRegressions()
        )

    def _part(self, name: str, sample: Array, mapped: bool) -> Any:
        """Fit one column; None for one that cannot help, with a note."""
        if self.values[name].dtype.kind == "O":
            return self._word_part(name)
        values, weights = self.values[name][sample], self.weights[sample]
        gaps = gaps_of(values)
        known = values[~gaps]
        if not len(known) or not (gaps.any() or (known != known[0]).any()):
            self.notes[name] = f"always {known[0]}" if len(known) else "empty"
            return None
        if values.dtype.kind == "M":
            return DatePart.of(name, values, weights)
        if values.dtype.kind == "m":
            return TimePart(name, float(weights[gaps].sum() / weights.sum()))
        return NumberPart.of(name, values, weights, mapped)

    def _word_part(self, name: str) -> Any:
        words = self.word_sums.get(name)
        if words is None:
            words = WordSums.of(self.values[name], self.targets, self.weights, self.folds)
        levels = WordLevels.of(name, words)
        n_different = len(words.words)
        few = words.n_rows < 10 * RARE
        if np.count_nonzero(levels.shares) < 2 or (few and n_different == words.n_rows):
            identifier = f"an identifier: {n_different:,} different words"
            self.notes[name] = identifier if n_different > 1 else f"always {words.words[0]!r}"
            return None
        if len(levels.levels) <= self.max_levels:
            return SimplexPart(levels)
        if self.targets is None:
            return SimplexPart(levels.commonest(self.max_levels))
        return MeanPart.of(levels, words)

    def _mapped(self, sample: Array) -> set[str]:
        """Return the columns of numbers that become normal scores."""
        few = sample[sample_rows(len(sample), PILOT_ROWS)]
        columns = {
            name: values[few]
            for name, values in self.values.items()
            if values.dtype.kind == "f"
            and name not in self.place
            and len(np.unique(values[few])) > 2
        }
        if self.numbers != "auto":
            return set(columns) if self.numbers == "normal" else set()
        if self.targets is None or not columns:
            return set()
        weights, everything = self.weights[few], list(columns)
        skewed = [n for n, column in columns.items() if abs(_skewness(column)) > SKEWED]
        choices = [[], *([skewed] if 0 < len(skewed) < len(everything) else []), everything]

        def encoded(mapped: list[str]) -> FloatArray:
            parts = [
                NumberPart.of(name, column, weights, name in mapped).encode(column)
                for name, column in columns.items()
                if not np.isnan(column).all()
            ]
            return np.hstack(parts)

        return set(choices[best_encoding(map(encoded, choices), self.targets[few], weights)])

    def _look_for_copy(self, name: str) -> None:
        """Warn of a column that is the target in another form, which new rows may not have."""
        targets, values = self.targets, self.values[name]
        # Levels with fewer rows on average tell any target by chance.
        few = 2 * RARE
        if targets is None or len(values) < few or not targets.any():
            return
        if values.dtype.kind == "O":
            counts = np.bincount(codes := levels_of(values)[1])
            if len(counts) > len(values) / few:
                return
            means = [np.bincount(codes, column) / counts for column in targets.T]
            left = targets - np.column_stack(means)[codes]
        elif values.dtype.kind == "f" and not np.isnan(values).any():
            line = np.column_stack([np.ones(len(values)), values - values.mean()])
            left = targets - line @ np.linalg.lstsq(line, targets, rcond=None)[0]
        else:
            return
        if np.abs(left).max() < 1e-9 * np.abs(targets).max():
            self.notes[name] = "tells the target exactly"
            warnings.warn(
                f"Column {name!r} tells the target exactly. If new rows will not have it, leave it "
                "out.",
                UserWarning,
                stacklevel=2,
            )


def encode_parts(
    parts: dict[str, Any], values: dict[str, Array], place: list[str], folds: Array | None
) -> FloatArray:
    """Return the columns of all parts side by side.

    Parameters
    ----------
    parts : dict of str to part
    values : dict of str to ndarray of shape (n,)
        Of the columns of the table.
    place : list of str
        The columns of latitude and longitude, or none.
    folds : ndarray of shape (n,), or None
        Of training rows, for means of targets.
    """
    blocks = []
    for name, part in parts.items():
        if isinstance(part, PlacePart):
            blocks.append(part.encode(np.column_stack([values[n] for n in place])))
        elif isinstance(part, CrossedPart):
            blocks.append(part.encode(values, folds))
        elif isinstance(part, MeanPart):
            blocks.append(part.encode(values[name], folds))
        else:
            blocks.append(part.encode(values[name]))
    return np.hstack(blocks)


def pilot_rows(weights: FloatArray) -> Array:
    """Return the rows of positive weight that regressions of a few thousand rows see."""
    counting = np.flatnonzero(weights > 0)
    sample = counting[sample_rows(len(counting))]
    return sample[sample_rows(len(sample), PILOT_ROWS)]


def _skewness(column: FloatArray) -> float:
    known = column[~np.isnan(column)]
    return float(skew(known)) if len(known) > 2 and np.ptp(known) > 0 else 0.0


def find_place(
    values: dict[str, Array], latitude: str | None, longitude: str | None, named: bool
) -> list[str]:
    """Return the columns of latitude and longitude, or none.

    Parameters
    ----------
    values : dict of str to ndarray
    latitude, longitude : str or None
        Names, "auto" for columns with such names that hold degrees, or None.
    named : bool
        Whether columns have names of their own.
    """
    found = []
    for angle, wanted in (("latitude", latitude), ("longitude", longitude)):
        if wanted is None or (wanted == "auto" and not named):
            return []
        names = [wanted]
        if wanted == "auto":
            names = [list(values)[place] for place in named_like(angle, values)]
        elif wanted not in values:
            raise ValueError(f"{angle}={wanted!r} is not a column.{near(wanted, values)}")
        low, high = DEGREES[angle]
        for name in names:
            column = values[name]
            if column.dtype.kind == "f" and bool(np.all((column >= low) & (column <= high))):
                found.append(name)
            elif wanted != "auto":
                raise ValueError(
                    f"{angle}={name!r} must hold degrees from {low} to {high} in every row."
                )
    return found if len(set(found)) == len(found) == 2 else []
