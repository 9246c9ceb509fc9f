"""Parameters of the joint model by its evidence, from those of the local part alone."""

import math
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from .._typing import FloatArray
from ..engines.correlation import Correlation, scaled
from ..kernels.compiled import of_kernel
from .climbing import maximize
from .effort import FIRST_ROWS, JUDGED
from .evidence import evaluate
from .joint import Features, whitened_gram
from .locations import Locations
from .marginal import Observed, best_ratio
from .neighbors import earlier_neighbors
from .numerics import BASE_ROWS, SAMPLE_NUMBERS
from .process import LocalProcess
from .sample import Parameters, Sample
from .search import Found
from .units import column_groups, log_noise

__all__ = ["joint_parameters"]


def joint_parameters(
    locations: Locations,
    features: Features,
    n_features: int,
    start: Found,
    *,
    move_kernel: bool = True,
    move_noise: bool = True,
    n_neighbors: int = 16,
    n_iterations: int = 8,
) -> Found:
    """Climb the evidence of the joint model from the parameters of the local part alone.

    The kernel's family stays; its length scales, the noise and the ratio of the two parts'
    variances move together.

    Parameters
    ----------
    locations : Locations
        All rows.
    features : callable
        Maps rows [k, d] to features [k, D].
    n_features : int
        D.
    start : Found
        What the local part has alone. Where compiled code does not know its kernel, kernel and
        noise stay.
    move_kernel, move_noise : bool, default=True
        Whether length scales and noise may change.
    n_neighbors : int, default=16
    n_iterations : int, default=8
        Of L-BFGS.

    Returns
    -------
    Found
    """
    correlation = of_kernel(start.kernel)
    if correlation is None:
        return _ratio_alone(locations, features, start, n_neighbors)
    n_columns = locations.rows.shape[1]
    scales = np.broadcast_to(np.asarray(correlation.length_scale, float), (n_columns,))
    isotropic = np.ndim(correlation.length_scale) == 0
    groups = np.zeros(n_columns, np.intp) if isotropic else column_groups(locations.rows)
    sample = _sample(locations, features, n_features, scales, groups, n_neighbors)
    n_groups = int(groups.max()) + 1
    free = np.full(n_groups + 2, True)
    free[:n_groups] = move_kernel
    free[n_groups] = move_noise and start.noise > 0
    begin = _with_best_ratio(
        sample, correlation, Parameters(np.zeros(n_groups), log_noise(start.noise)), n_neighbors
    )
    best, value = maximize(sample, correlation, begin, free, n_neighbors, n_iterations)
    factors = np.exp(best.log_scales)
    name = "bandwidth" if hasattr(start.kernel, "bandwidth") else "length_scale"
    moved = float(scales[0] * factors[0]) if isotropic else scales * factors[groups]
    kernel = type(start.kernel)(**(start.kernel.get_params() | {name: moved}))
    return Found(kernel, math.exp(best.log_noise), math.exp(best.log_ratio), value)


def _sample(
    locations: Locations,
    features: Features,
    n_features: int,
    scales: FloatArray,
    groups: npt.NDArray[np.intp],
    n_neighbors: int,
) -> Sample:
    """Draw rows to judge by, with the features of those that they need.

    Few features: rows and their neighbours among all, which are as near as they will be in the
    model. Many: a part of the rows, in which neighbours are farther away.
    """
    n_most = max(SAMPLE_NUMBERS // max(n_features, 1), 1)
    if JUDGED * (n_neighbors + 1) <= n_most:
        base = locations.head(BASE_ROWS)
        judged = np.linspace(0, len(base) - 1, min(JUDGED, len(base))).astype(np.int32)
        most = min(n_neighbors, max(len(base) - 1, 1))
        near = earlier_neighbors(scaled(base.rows, scales), most, judged)
        support = np.unique(np.append(near, judged))
        part = locations.take(support[support >= 0])
        own = np.searchsorted(support[support >= 0], judged).astype(np.int32)
    else:
        part = locations.head(min(n_most, 2 * FIRST_ROWS))
        own = np.linspace(0, len(part) - 1, min(2 * JUDGED, len(part))).astype(np.int32)
    center = np.asarray(part.rows, np.float64).mean(axis=0)
    return replace(Sample.of(part, center, scales, groups, features(part.rows)), judged=own)


def _ratio_alone(locations: Locations, features: Features, start: Found, n_neighbors: int) -> Found:
    """Find the ratio of the two parts for any kernel, by a few rows."""
    part = locations.head(JUDGED)
    most = min(n_neighbors, max(len(part) - 1, 1))
    process = LocalProcess(part.rows, part.weight, start.kernel, start.noise, most)
    whitening = process.whitening()
    gram = whitened_gram(whitening, part, features, process.points)
    observed = Observed.of(whitening.variance, part.repeated, start.noise)
    ratio, value = best_ratio(gram, part.targets.shape[1], observed)
    return replace(start, ratio=ratio, log_evidence=value)


def _with_best_ratio(
    sample: Sample, correlation: Correlation, parameters: Parameters, n_neighbors: int
) -> Parameters:
    """Return parameters with the ratio that the evidence prefers, all others given."""
    at = evaluate(sample, correlation, parameters, sample.neighbors(parameters, n_neighbors))
    judged, n_targets = sample.judged, sample.targets.shape[1]
    noise = math.exp(parameters.log_noise)
    observed = Observed.of(at.whitening.variance, sample.repeated.part(judged), noise)
    gram = at.whitened.T @ at.whitened
    ratio, _ = best_ratio(gram, n_targets, observed)
    return replace(parameters, log_ratio=math.log(ratio))
