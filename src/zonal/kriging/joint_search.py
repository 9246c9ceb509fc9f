"""Parameters of the joint model by its evidence, from those of the local part alone."""

import math

import numpy as np

from .._typing import Array
from .correlation import of_kernel
from .evidence import Parameters, Sample, maximize
from .locations import Locations
from .search import Found, column_groups

__all__ = ["joint_parameters"]

# Rows whose terms of the evidence are summed, and ratios of variances to begin with.
JUDGED_ROWS = 6_000
RATIOS = (1.0, 30.0)


def joint_parameters(
    locations: Locations,
    features: Array,
    start: Found,
    *,
    n_neighbors: int = 24,
    n_iterations: int = 12,
) -> Found:
    """Climb the evidence of the joint model from the parameters of the local part alone.

    The kernel's family stays; its length scales, the noise and the ratio of the two parts'
    variances move together, and the neighbours are found anew once.

    Parameters
    ----------
    locations : Locations
        All rows, or at least as many of the first as have features.
    features : ndarray of shape (n_sample, D)
        Features of the first locations.
    start : Found
        What the local part has alone. Its kernel must be one that compiled code knows.
    n_neighbors : int, default=24
    n_iterations : int, default=12
        Of L-BFGS, for each set of neighbours.

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
    tries = [
        maximize(
            sample,
            correlation,
            Parameters(np.zeros(n_groups), log_noise, math.log(ratio)),
            free,
            n_neighbors,
            n_iterations // 2,
        )
        for ratio in RATIOS
    ]
    best, value = max(tries, key=lambda one: one[1])
    best, value = maximize(sample, correlation, best, free, n_neighbors, n_iterations)
    factors = np.exp(best.log_scales)
    name = "bandwidth" if hasattr(start.kernel, "bandwidth") else "length_scale"
    moved = float(scales[0] * factors[0]) if isotropic else scales * factors[groups]
    kernel = type(start.kernel)(**(start.kernel.get_params() | {name: moved}))
    return Found(kernel, math.exp(best.log_noise), math.exp(best.log_ratio), value)
