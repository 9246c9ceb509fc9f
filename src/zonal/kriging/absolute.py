r"""Noise that is known in the units of the targets: the variance of row i is v_i + s.

Elsewhere the scale σ² of the process follows from the others in closed form, because noise is a
multiple of it. Here it cannot: with :math:`\eta_i = (v_i + s) / \sigma^2` the log evidence is

.. math::

    -2 \log p(y) = \frac{Q(\sigma^2, s)}{\sigma^2} + N \log(2 \pi \sigma^2) + \sum_i \log v_i
    + \log|\tau A| + \dots

in the notation of `marginal`, and σ² and s are searched for. The shape of the kernel is found
before, with the weights 1/(v_i + s) as relative precisions.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.optimize import minimize, minimize_scalar

from .._typing import FloatArray
from .effort import JUDGED
from .joint import Features, whitened_gram
from .locations import Locations
from .marginal import Marginal, Observed, marginal
from .neighbors import Indices
from .numerics import FIRST_STEPS, LEAST_SHARE, MOST_CALLS, REACH
from .process import LocalProcess
from .search import Found

__all__ = ["AbsoluteEvidence"]


@dataclass(frozen=True)
class AbsoluteEvidence:
    """Vecchia's log evidence of one target as a function of σ² and s.

    Attributes
    ----------
    at : callable
        From s to locations, with weights of mean one and targets about zero, and the noise
        variance of a row of weight one.
    found : Found
        The kernel, the ratio of features, and where the search starts.
    features : callable or None
        Features beside the process; None: those of the split kernel, if any.
    n_neighbors : int
        As predictions will have them.
    n_judged : int
        Rows whose terms of the evidence are summed.
    """

    at: Callable[[float], tuple[Locations, float]]
    found: Found
    features: Features | None
    n_neighbors: int
    n_judged: int = JUDGED

    def process(self, locations: Locations, noise: float) -> LocalProcess:
        """Return the process at locations, with noise relative to the kernel."""
        found = self.found
        return LocalProcess(
            locations.rows, locations.weight, found.kernel, noise,
            min(self.n_neighbors, len(locations)), found.low,
        )  # fmt: skip

    @cached_property
    def _judged(self) -> tuple[Indices, Indices]:
        """The rows whose terms count, and their earlier neighbours: the same for every s."""
        locations, _ = self.at(0.0)
        rows = np.linspace(0, len(locations) - 1, min(self.n_judged, len(locations))).astype(
            np.int32
        )
        return rows, self.process(locations, self.found.noise).earlier(rows)

    def marginal(self, extra: float, scale: float | None) -> Marginal:
        """Return mean, coefficients and evidence at s and σ² (None: at relative noise)."""
        locations, unit = self.at(extra)
        noise = self.found.noise if scale is None else unit / scale
        process, (rows, neighbors) = self.process(locations, noise), self._judged
        whitening = process.whitening(rows, None, neighbors)
        map_ = self.features or process.features
        gram = whitened_gram(whitening, locations, map_, process.points)
        observed = Observed.of(whitening.variance, locations.repeated.part(rows), noise)
        return marginal(gram, 1, observed, self.found.ratio, scale=scale)

    def value(self, log_scale: float, extra: float) -> float:
        """Return the log evidence of the judged rows."""
        return self.marginal(extra, math.exp(log_scale)).log_evidence

    def best_scale(self, start: float, extra: Callable[[float], float]) -> float:
        """Return the logarithm of the best σ², where s is a function of σ²."""
        found = minimize_scalar(
            lambda log: -self.value(log, extra(math.exp(log))),
            bounds=(start - REACH, start + REACH),
            method="bounded",
            options={"xatol": 1e-4},
        )
        return float(found.x)

    def best(self, extra: float, learnt: bool, ratio: float | None) -> tuple[float, float]:
        """Return σ² and s of the largest evidence.

        Parameters
        ----------
        extra : float
            s, or where the search for it starts.
        learnt : bool
            Whether s is searched for.
        ratio : float or None
            s over σ², where that is given.
        """
        start = math.log(max(float(self.marginal(extra, None).scale[0]), 1e-300))
        if ratio is not None:
            log = self.best_scale(start, lambda scale: ratio * scale)
            return math.exp(log), ratio * math.exp(log)
        if not learnt:
            return math.exp(self.best_scale(start, lambda _: extra)), extra
        least = LEAST_SHARE * self.at(0.0)[1]
        begin: FloatArray = np.array([start, math.log(max(extra, 1e3 * least))])
        found = self._climbed(begin, FIRST_STEPS, least)
        alone = self.best_scale(float(found.x[0]), lambda _: 0.0)
        if self.value(alone, 0.0) >= -found.fun:
            return math.exp(alone), 0.0
        if len(self.at(0.0)[0]) > self.n_judged:
            # The common noise of 36,000 CO₂ retrievals is 6.8 ppm² by 3,000 rows, with a standard
            # error of 0.3 by heavy tails, and 6.4 by 12,000.
            more = replace(self, n_judged=6 * JUDGED)
            found = more._climbed(found.x, FIRST_STEPS / 5, least)
        return math.exp(found.x[0]), math.exp(found.x[1])

    def _climbed(self, begin: FloatArray, steps: FloatArray, least: float) -> Any:
        """Climb from logarithms of σ² and s, to a tenth of a unit of the log evidence."""

        def loss(vector: FloatArray) -> float:
            return -self.value(float(vector[0]), max(math.exp(float(vector[1])), least))

        options: Any = {
            "initial_simplex": begin + steps, "maxfev": MOST_CALLS, "xatol": 2e-2, "fatol": 0.1,
        }  # fmt: skip
        return minimize(loss, begin, method="Nelder-Mead", options=options)
