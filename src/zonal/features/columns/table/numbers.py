"""Numbers: centred and scaled, plain or by normal scores, with an indicator where some are missing.

Also ordered categoricals, whose levels are numbered, dates, which are a trend and circles, and
times of day, which are a circle.
"""

from dataclasses import dataclass

import numpy as np

from ...._typing import Array, FloatArray
from ..facts import DAY, MONDAY, PERIODS
from .monotone import NormalScores

__all__ = ["DatePart", "NumberPart", "PlacePart", "TimePart", "edge_factor", "indicator"]


def edge_factor(shares: FloatArray) -> float:
    r"""Return the factor c of indicators that gives a column of words the variance of a number.

    Indicators c e_k of levels with shares p_k have the variance c² (1 - Σ p_k²) in all, and any two
    levels the distance √2 c. So c = (1 - Σ p_k²)^{-1/2}, but at most √2, which is a distance of
    2: a level that is rare is not to be far from everything.
    """
    variance = 1.0 - float(np.square(shares).sum())
    longest = 2**0.5
    return min(variance**-0.5, longest) if variance > longest**-2 else longest


def indicator(flags: Array, share: float) -> FloatArray:
    """Return a column that tells two levels apart, one of them with that share."""
    factor = 2**0.5 * edge_factor(np.array([share, 1 - share]))
    return (np.asarray(flags, dtype=np.float64) - share) * factor


@dataclass(frozen=True)
class NumberPart:
    """A column of numbers.

    Attributes
    ----------
    name : str
    center, scale : float
        Of the numbers, or of their scores.
    gaps : float
        The share of missing numbers, which get the mean and an indicator; 0: no indicator.
    scores : NormalScores or None
        The monotone map before; None: plain.
    """

    name: str
    center: float
    scale: float
    gaps: float = 0.0
    scores: NormalScores | None = None

    @classmethod
    def of(cls, name: str, values: FloatArray, weights: FloatArray, mapped: bool) -> "NumberPart":
        """Fit to numbers, of which at least one is known."""
        known = ~np.isnan(values)
        share = weights[known] / weights[known].sum()
        scores = NormalScores.of(values[known], weights[known]) if mapped else None
        seen = values[known] if scores is None else scores(values[known])
        center = float(share @ seen)
        deviation = float(np.sqrt(share @ (seen - center) ** 2))
        rounding = 10 * np.finfo(float).eps * abs(center)
        missing = float(weights[~known].sum() / weights.sum())
        return cls(name, center, deviation if deviation > rounding else 1.0, missing, scores)

    @property
    def names(self) -> list[str]:
        """The columns of the output."""
        return [self.name, f"{self.name}_missing"] if self.gaps else [self.name]

    @property
    def description(self) -> str:
        """How the column is encoded, in words."""
        how = "number" if self.scores is None else "number by normal scores"
        return f"{how}, {self.gaps:.1%} missing" if self.gaps else how

    def encode(self, values: FloatArray) -> FloatArray:
        """Return the columns of numbers, NaN for what is missing: [n, 1 or 2]."""
        found = values if self.scores is None else self.scores(values)
        scaled = (found - self.center) / self.scale
        gaps = np.isnan(scaled)
        scaled = np.where(gaps, 0.0, scaled)
        if not self.gaps:
            return scaled[:, None]
        return np.column_stack([scaled, indicator(gaps, self.gaps)])


@dataclass(frozen=True)
class DatePart:
    """A column of dates: the trend, and the place on a circle for each period that they span.

    Attributes
    ----------
    trend : NumberPart
        Of the seconds since 1970.
    periods : tuple of str
        Some of day, week and year. Circles have the radius one, and so the variance of a number.
    """

    trend: NumberPart
    periods: tuple[str, ...]

    @classmethod
    def of(cls, name: str, dates: Array, weights: FloatArray) -> "DatePart":
        """Fit to dates, of which at least one is known."""
        seconds = _seconds(dates)
        known = seconds[~np.isnan(seconds)]
        span = float(np.ptp(known))
        found = [period for period, (_, least) in PERIODS.items() if span >= least]
        if not np.any(np.mod(known, DAY) != known[0] % DAY):
            found = [period for period in found if period != "day"]
        return cls(NumberPart.of(name, seconds, weights, mapped=False), tuple(found))

    @property
    def names(self) -> list[str]:
        """The columns of the output."""
        name = self.trend.name
        circles = [f"{name}_{p}_{axis}" for p in self.periods for axis in ("cos", "sin")]
        return [*self.trend.names, *circles]

    @property
    def description(self) -> str:
        """How the column is encoded, in words."""
        gaps = f", {self.trend.gaps:.1%} missing" if self.trend.gaps else ""
        return " and ".join(["trend", *self.periods]) + gaps

    def encode(self, dates: Array) -> FloatArray:
        """Return trend and circles of dates, NaT for what is missing."""
        seconds = _seconds(dates)
        columns = [self.trend.encode(seconds)]
        for period in self.periods:
            angle = 2 * np.pi * (seconds + MONDAY - DAY) / PERIODS[period][0]
            circle = np.column_stack([np.cos(angle), np.sin(angle)])
            columns.append(np.nan_to_num(circle, nan=0.0))
        return np.hstack(columns)


@dataclass(frozen=True)
class TimePart:
    """A column of times of day: a place on the unit circle, with the variance of a number.

    Attributes
    ----------
    name : str
    gaps : float
        The share of missing times, which are in the middle and have an indicator; 0: none.
    """

    name: str
    gaps: float = 0.0

    @property
    def names(self) -> list[str]:
        """The columns of the output."""
        circle = [f"{self.name}_day_cos", f"{self.name}_day_sin"]
        return [*circle, f"{self.name}_missing"] if self.gaps else circle

    @property
    def description(self) -> str:
        """How the column is encoded, in words."""
        return f"time of day, {self.gaps:.1%} missing" if self.gaps else "time of day"

    def encode(self, times: Array) -> FloatArray:
        """Return the circle of times since midnight, NaT for what is missing: [n, 2 or 3]."""
        gaps = np.isnat(times)
        angle = 2 * np.pi / DAY * np.where(gaps, 0.0, times.astype(np.int64) / 1e6)
        circle = np.column_stack([np.cos(angle), np.sin(angle)]) * ~gaps[:, None]
        return np.column_stack([circle, indicator(gaps, self.gaps)]) if self.gaps else circle


@dataclass(frozen=True)
class PlacePart:
    """Latitude and longitude in degrees: a point of the sphere; the origin where one is missing."""

    names: tuple[str, ...] = ("sphere_x", "sphere_y", "sphere_z")
    description: str = "point of the sphere"

    def encode(self, degrees: FloatArray) -> FloatArray:
        """Return points of the sphere for latitudes and longitudes [n, 2]."""
        latitude, longitude = np.radians(degrees).T
        flat = np.cos(latitude)
        point = [flat * np.cos(longitude), flat * np.sin(longitude), np.sin(latitude)]
        return np.nan_to_num(np.column_stack(point), nan=0.0)


def _seconds(dates: Array) -> FloatArray:
    """Return seconds since 1970, NaN for what is missing."""
    return np.where(np.isnat(dates), np.nan, dates.astype("datetime64[us]").astype(np.int64) / 1e6)
