"""Models of one or two kernels, and the rows by whose evidence they are judged."""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from .._typing import Array, FloatArray
from ..engines.correlation import Correlation, scaled
from ..kernels import Kernel
from ..kernels.compiled import of_kernel
from .climbing import climb
from .covariance import Covariance
from .evidence import evaluate
from .locations import Locations
from .low import LandmarkLow, Low, less
from .marginal import Observed, best_ratio
from .neighbors import Indices
from .pairs import NO_LOW, Extra, compiled_pairs
from .sample import Parameters, Sample
from .units import column_groups

__all__ = ["Judge", "Short", "Step"]

# The variance of k_long is at most so many times that of the targets. On one fold of July's
# temperatures over land evidence alone liked 2,100 times, and the field ran away where there is no
# land (Hawaii: -107 °C). Elevation has 5, the simulated field .4, COADS 4 to 86 (its error at
# random places is .246 with the bound and .251 without).
MOST_VARIANCE = 10.0


@dataclass(frozen=True)
class Step:
    """A model and its evidence.

    Attributes
    ----------
    long : Kernel or None
        The kernel whose low degrees are features, of weight one; None: there are none.
    low : Low or None
    share : float
        One with a short kernel beside it, zero without.
    parameters : Parameters
        Logarithms of the factors of the short kernel's length scales, of noise and of the weight.
    value : float
        The log evidence.
    """

    long: Kernel | None
    low: Low | None
    share: float
    parameters: Parameters
    value: float = math.nan

    def say(self) -> None:
        """Print it."""
        numbers = np.exp(self.parameters.vector()).round(6)
        print(f"{self.long} beside {self.share:g} short: {self.value:.2f}, {numbers}")


@dataclass(frozen=True)
class Short:
    """The kernel that the steps start from.

    Attributes
    ----------
    kernel : Kernel
    correlation : Correlation
    scales : ndarray of shape (d,)
        Its length scales.
    groups : ndarray of shape (d,)
        Columns of one number share a length scale.
    isotropic : bool
        Whether it has one for all.
    """

    kernel: Kernel
    correlation: Correlation
    scales: FloatArray
    groups: npt.NDArray[np.intp]
    isotropic: bool

    @classmethod
    def of(cls, kernel: Kernel, rows: Array) -> "Short":
        """Take a kernel that has a compiled form."""
        correlation = of_kernel(kernel)
        assert correlation is not None
        isotropic, n_columns = np.ndim(correlation.length_scale) == 0, rows.shape[1]
        scales = np.broadcast_to(np.asarray(correlation.length_scale, float), (n_columns,))
        groups = np.zeros(n_columns, np.intp) if isotropic else column_groups(rows)
        return cls(kernel, correlation, np.ascontiguousarray(scales), groups, isotropic)

    @property
    def n_groups(self) -> int:
        """The number of length scales that may differ."""
        return int(self.groups.max()) + 1

    def moved(self, log_factors: FloatArray) -> Kernel:
        """Return the kernel with other length scales."""
        name = "bandwidth" if hasattr(self.kernel, "bandwidth") else "length_scale"
        scales = self.scales * np.exp(log_factors)[self.groups]
        given: Any = float(scales[0]) if self.isotropic else scales
        return type(self.kernel)(**(self.kernel.get_params() | {name: given}))


class Judge:
    """Rows whose terms of the evidence are summed, with the rows that they need.

    Parameters
    ----------
    part : Locations
    judged : ndarray of int32
        Numbers of the rows that are summed, increasing.
    n_first : int
        How many of them are the first rows, which are far apart.
    short : Short
    n_neighbors : int
    """

    def __init__(
        self, part: Locations, judged: Indices, n_first: int, short: Short, n_neighbors: int
    ) -> None:
        self.part, self.short, self.n_first = part, short, n_first
        center = np.asarray(part.rows, np.float64).mean(axis=0)
        sample = Sample.of(part, center, short.scales, short.groups)
        self.sample = replace(sample, judged=judged)
        nothing = Parameters(np.zeros(short.n_groups), 0.0)
        self.neighbors = self.sample.neighbors(nothing, n_neighbors)
        self._harmonics: FloatArray | None = None
        self._last: tuple[Low, Sample, Extra] | None = None

    def alone(self, start: Parameters) -> Step:
        """Return the kernel as it is."""
        found = evaluate(self.sample, self.short.correlation, start, self.neighbors).found
        return Step(None, None, 1.0, start, found.log_evidence)

    def valued(self, step: Step) -> Step:
        """Return a step with its evidence."""
        sample, extra = self._with(step)
        at = evaluate(sample, self.short.correlation, step.parameters, self.neighbors, extra)
        return replace(step, value=at.found.log_evidence)

    def bounded(self, step: Step) -> Step:
        """Return a step whose k_long has no more than `MOST_VARIANCE` of the targets' variance."""
        if step.long is None or not step.share:
            return step
        sample, extra = self._with(step)
        at = evaluate(sample, self.short.correlation, step.parameters, self.neighbors, extra)
        most = math.log(MOST_VARIANCE / float(at.found.scale.mean()))
        if step.parameters.log_ratio <= most:
            return step
        return self.valued(replace(step, parameters=replace(step.parameters, log_ratio=most)))

    def climbed(self, step: Step, free: npt.NDArray[np.bool_], n_iterations: int) -> Step:
        """Climb from a step, whose evidence need not be known."""
        sample, extra = self._with(step)
        best, value, _ = climb(
            sample, self.short.correlation, step.parameters, free, self.neighbors, n_iterations,
            extra,
        )  # fmt: skip
        return replace(step, parameters=best, value=value)

    def as_large_as_targets(self, start: Parameters) -> Parameters:
        """Return a kernel as steep at its origin as the given one, with the targets' variance.

        Near rows tell how steep it is, which is all they tell: a Matérn kernel grows with the
        distance r like σ² (r / ℓ)^2ν.
        """
        found = evaluate(self.sample, self.short.correlation, start, self.neighbors).found
        factor = math.log(float(found.scale.mean()))
        power = 2 * float(getattr(self.short.kernel, "nu", 1.0))
        return replace(
            start,
            log_scales=start.log_scales - factor / power,
            log_noise=start.log_noise + factor,
        )

    def climbed_alone(
        self, start: Parameters, free: npt.NDArray[np.bool_], n_iterations: int
    ) -> tuple[Parameters, float]:
        """Climb with the kernel alone: where to, and how high."""
        correlation = self.short.correlation
        return climb(self.sample, correlation, start, free, self.neighbors, n_iterations)[:2]

    def at_near_rows(self, step: Step) -> float:
        """Return the evidence of the rows whose neighbours are as near as they will be."""
        sample, extra = self._with(step)
        near = slice(self.n_first, None)
        sample = replace(sample, judged=sample.judged[near])
        at = step.parameters
        neighbors, extra = self.neighbors[near], extra.part(near)
        return evaluate(sample, self.short.correlation, at, neighbors, extra).found.log_evidence

    def weighed(self, step: Step) -> Step:
        """Return the step with the weight of k_long that is best for its features.

        While the neighbours see k_long with one weight, all weights of the features are compared by
        one matrix of sums; then the neighbours see it with the best of them.
        """
        sample, extra = self._with(step)
        n_targets = sample.targets.shape[1]
        repeated, noise = sample.repeated.part(sample.judged), math.exp(step.parameters.log_noise)
        for _ in range(2):  # the second time with the first weight in the neighbours' eyes
            parameters = step.parameters
            at = evaluate(sample, self.short.correlation, parameters, self.neighbors, extra)
            observed = Observed.of(at.whitening.variance, repeated, noise)
            ratio, _value = best_ratio(at.whitened.T @ at.whitened, n_targets, observed)
            step = replace(step, parameters=replace(parameters, log_ratio=math.log(ratio)))
        return self.valued(step)

    def _with(self, step: Step) -> tuple[Sample, Extra]:
        """Return the sample with features, and what k_long adds to covariances beside them."""
        long, low = step.long, step.low
        assert long is not None
        assert low is not None
        if self._last is not None and self._last[0] is low:
            return self._last[1], self._last[2]._replace(share=step.share)
        features = self._features(low)
        of_long = of_kernel(long)
        assert of_long is not None
        covariance = less(Covariance.of(of_long), low)
        z = features if isinstance(low, LandmarkLow) else NO_LOW[0]
        points = scaled(self.part.rows, of_long.length_scale)
        extra = compiled_pairs(covariance, points, self.sample.judged, self.neighbors, z)
        self._last = low, replace(self.sample, features=features), extra
        return self._last[1], extra._replace(share=step.share)

    def _features(self, low: Low) -> FloatArray:
        if isinstance(low, LandmarkLow):
            return low.features(self.part.rows)
        if self._harmonics is None:  # the same for all kernels, but for their variances
            unit = replace(low, coefficients=low.dimensions.astype(float))
            self._harmonics = unit.features(self.part.rows)
        return self._harmonics * np.repeat(low.roots, low.dimensions)
