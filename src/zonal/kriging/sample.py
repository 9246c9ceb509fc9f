"""Rows by which parameters are judged, and the parameters."""

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from .._typing import Array, FloatArray
from .locations import Locations, Repeated
from .neighbors import Indices, earlier_neighbors
from .numerics import SAME_METRIC

__all__ = ["Parameters", "Sample"]


@dataclass(frozen=True)
class Parameters:
    """What the evidence depends on, in logarithms.

    Attributes
    ----------
    log_scales : ndarray of shape (n_groups,)
        Length scales, one for each group of columns.
    log_noise : float
        η, the ratio of the noise to the process; -inf for none.
    log_ratio : float
        τ, the ratio of the variance of the coefficients to the process; of no meaning without
        features.
    """

    log_scales: FloatArray
    log_noise: float
    log_ratio: float = 0.0

    def vector(self) -> FloatArray:
        """All numbers in one array."""
        return np.concatenate([self.log_scales, [self.log_noise, self.log_ratio]])

    @classmethod
    def of_vector(cls, vector: FloatArray) -> "Parameters":
        """The inverse of `vector`."""
        return cls(vector[:-2].copy(), float(vector[-2]), float(vector[-1]))


@dataclass(frozen=True)
class Sample:
    """Rows by which parameters are judged.

    The log evidence is a sum over rows, each given earlier ones. Where `judged` are some of the
    rows only, it is an estimate of the whole: fewer terms, but neighbours as near as among all.

    Attributes
    ----------
    points : ndarray of shape (n, d)
        Rows with columns of unit variance, in random order.
    groups : ndarray of shape (d,)
        Columns of one number share a length scale.
    targets, weight, repeated
        As in `Locations`, with targets of mean zero and variance one.
    judged : ndarray of shape (s,)
        The rows whose terms are summed, increasing.
    features : ndarray of shape (n, D)
        Z; D may be zero.
    center : bool
        Whether a constant mean is fitted.
    """

    points: FloatArray
    groups: npt.NDArray[np.intp]
    targets: FloatArray
    weight: FloatArray
    repeated: Repeated
    judged: Indices
    features: FloatArray
    center: bool = True
    _known: dict[tuple[int, ...], Indices] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @classmethod
    def of(
        cls,
        locations: Locations,
        center: FloatArray,
        spread: FloatArray,
        groups: npt.NDArray[np.intp],
        features: Array | None = None,
    ) -> "Sample":
        """Take locations with columns in units of their spread, and targets of unit variance."""
        points = (np.asarray(locations.rows, np.float64) - center) / spread
        targets = locations.targets - locations.targets.mean(axis=0)
        unit = targets.std(axis=0)
        unit[unit == 0] = 1.0
        empty = np.empty((len(points), 0))
        return cls(
            points,
            groups,
            targets / unit,
            locations.weight,
            locations.repeated._replace(within=locations.repeated.within / unit**2),
            np.arange(len(points), dtype=np.int32),
            empty if features is None else np.asarray(features, np.float64),
        )

    def __len__(self) -> int:
        return len(self.judged)

    def thin(self, n_rows: int, n_base: int | None = None) -> "Sample":
        """Judge by fewer rows, evenly spread over the order, with neighbours among fewer."""
        base = min(n_base or len(self.points), len(self.points))
        judged = self.judged[self.judged < base]
        if n_rows < len(judged):
            judged = judged[np.linspace(0, len(judged) - 1, n_rows).astype(np.intp)]
        return replace(
            self,
            points=self.points[:base],
            targets=self.targets[:base],
            weight=self.weight[:base],
            repeated=self.repeated.part(slice(base)),
            judged=judged,
            features=self.features[:base],
        )

    @cached_property
    def columns(self) -> FloatArray:
        """The constant, the targets and the features: [n, 1 + t + D]."""
        return np.column_stack([np.ones(len(self.points)), self.targets, self.features])

    def scaled(self, parameters: Parameters) -> FloatArray:
        """The points in units of the length scales."""
        return np.ascontiguousarray(self.points / np.exp(parameters.log_scales)[self.groups])

    def neighbors(self, parameters: Parameters, n_neighbors: int) -> Indices:
        """Earlier neighbours in a metric that hardly differs from that of the parameters.

        The metric is that of the nearest ratios on a grid, so that climbs which run side by side
        find the same neighbours, whichever asks first.
        """
        most = min(n_neighbors, max(len(self.points) - 1, 1))
        steps = np.rint((parameters.log_scales - parameters.log_scales[0]) / SAME_METRIC)
        key = (most, *steps.astype(int).tolist())
        if key not in self._known:
            near = Parameters(steps * SAME_METRIC, parameters.log_noise)
            self._known[key] = earlier_neighbors(self.scaled(near), most, self.judged)
        return self._known[key]
