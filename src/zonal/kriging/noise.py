"""Noise by evidence for kernels without compiled form, on few rows and without gradients."""

import math

import numpy as np
from scipy.optimize import minimize_scalar

from .._typing import FloatArray
from ..kernels import Kernel
from .effort import FEW_NEIGHBORS, JUDGED
from .locations import Locations
from .marginal import Observed, marginal
from .neighbors import earlier_neighbors
from .numerics import LOG_NOISE, NOISE_START
from .reference import local_matrices, solve_matrices
from .whitening import Whitening

__all__ = ["find_noise", "has_signal"]


def find_noise(locations: Locations, kernel: Kernel, n_neighbors: int) -> float:
    """η of a kernel whose parameters are numbers."""
    head = locations.head(JUDGED // 2)
    if not has_signal(head.targets):
        return NOISE_START
    center = head.targets - head.targets.mean(axis=0)
    columns = np.column_stack([np.ones(len(head)), center])
    points = np.ascontiguousarray(head.rows, np.float64)
    rows = np.arange(len(head), dtype=np.int32)
    neighbors = earlier_neighbors(points, min(n_neighbors, FEW_NEIGHBORS, len(head) - 1))
    matrices = list(local_matrices(kernel, points, points, neighbors))

    def loss(log_eta: float) -> float:
        noise = math.exp(log_eta)
        nugget = noise / head.weight
        weights, variance = solve_matrices(matrices, nugget, neighbors)
        whitening = Whitening(rows, neighbors, weights, variance + nugget)
        whitened = whitening.apply(columns)
        observed = Observed.of(whitening.variance, head.repeated, noise)
        return -marginal(whitened.T @ whitened, center.shape[1], observed).log_evidence

    found = minimize_scalar(loss, bounds=LOG_NOISE, method="bounded", options={"maxiter": 20})
    return math.exp(float(found.x))


def has_signal(targets: FloatArray) -> bool:
    """Whether there is anything to learn parameters from."""
    varies = np.ptp(targets, axis=0) > 1e-12 * np.abs(targets).max(axis=0)
    return len(targets) >= 3 and bool(varies.any())
