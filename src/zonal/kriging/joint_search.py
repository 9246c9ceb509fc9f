"""Parameters of the joint model by its evidence, from those of the local part alone."""

import math
from dataclasses import replace

import numpy as np

from .._typing import Array
from .correlation import Correlation, of_kernel
from .evidence import Parameters, Sample, evaluate, maximize
from .locations import Locations
from .marginal import Observed, marginal
from .search import Found, column_groups

__all__ = ["joint_parameters"]

# Rows whose terms of the evidence are summed.
JUDGED_ROWS = 4_000
# Ratios of the two parts' variances, of which the best is where the climb begins.
LOG_RATIOS = np.log(np.geomspace(1e-3, 1e4, 15))


def joint_parameters(
    locations: Locations,
    features: Array,
    start: Found,
    *,
    n_neighbors: int = 16,
    n_iterations: int = 8,
) -> Found:
    """Climb the evidence of the joint model from the parameters of the local part alone.

    The kernel's family stays; its length scales, the noise and the ratio of the two parts'
    variances move together.

    Parameters
    ----------
    locations : Locations
        All rows, or at least as many of the first as have features.
    features : ndarray of shape (n_sample, D)
        Features of the first locations.
    start : Found
        What the local part has alone. Its kernel must be one that compiled code knows.
    n_neighbors : int, default=16
    n_iterations : int, default=8
        Of L-BFGS.

    Returns
    -------
    Found
    """
    head = locations.head(len(features))
    correlation = of_kernel(start.kernel)
    if correlation is None:
        raise ValueError(
            f"kernel={start.kernel!r} cannot stand beside features: use Matern with ν = 1/2, 3/2 "
            "or 5/2, Gaussian, Laplacian or RationalQuadratic."
        )
    n_columns = head.rows.shape[1]
    scales = np.broadcast_to(np.asarray(correlation.length_scale, float), (n_columns,))
    isotropic = np.ndim(correlation.length_scale) == 0
    groups = np.zeros(n_columns, np.intp) if isotropic else column_groups(head.rows)
    center = np.asarray(head.rows, np.float64).mean(axis=0)
    sample = Sample.of(head, center, scales, groups, features).thin(JUDGED_ROWS)
    n_groups = int(groups.max()) + 1
    log_noise = math.log(start.noise) if start.noise > 0 else -math.inf
    free = np.full(n_groups + 2, True)
    free[n_groups] = start.noise > 0
    begin = _with_best_ratio(sample, correlation, Parameters(np.zeros(n_groups), log_noise), 16)
    best, value = maximize(sample, correlation, begin, free, n_neighbors, n_iterations)
    factors = np.exp(best.log_scales)
    name = "bandwidth" if hasattr(start.kernel, "bandwidth") else "length_scale"
    moved = float(scales[0] * factors[0]) if isotropic else scales * factors[groups]
    kernel = type(start.kernel)(**(start.kernel.get_params() | {name: moved}))
    return Found(kernel, math.exp(best.log_noise), math.exp(best.log_ratio), value)


def _with_best_ratio(
    sample: Sample, correlation: Correlation, parameters: Parameters, n_neighbors: int
) -> Parameters:
    """Return parameters with the ratio that the evidence prefers, all others given."""
    at = evaluate(sample, correlation, parameters, sample.neighbors(parameters, n_neighbors))
    judged, n_targets = sample.judged, sample.targets.shape[1]
    noise = math.exp(parameters.log_noise)
    observed = Observed.of(
        at.whitening.variance, sample.weight[judged], sample.within[judged], noise
    )
    gram = at.whitened.T @ at.whitened
    values = [marginal(gram, n_targets, observed, math.exp(log)).log_evidence for log in LOG_RATIOS]
    return replace(parameters, log_ratio=float(LOG_RATIOS[int(np.argmax(values))]))
