r"""The covariances of several targets, of their fields and at places, by Vecchia's evidence.

Both are :math:`L L^\top` with triangular L, whose entries are searched for; one factor for both
follows in closed form, as the scale of a single target does.
"""

import math
from typing import Any

import numpy as np
from scipy.optimize import minimize

from .._typing import FloatArray
from ..kernels import Kernel
from .coregional import CoregionalProcess
from .effort import JUDGED
from .neighbors import Indices
from .numerics import LOG_ROOTS, STEPS

__all__ = ["find_covariances"]


def find_covariances(
    rows: FloatArray, y: FloatArray, kernel: Kernel, noise: float, n_neighbors: int
) -> tuple[FloatArray, FloatArray, float]:
    """Return B, E and the log evidence of the observations that were judged.

    Parameters
    ----------
    rows : ndarray of shape (n, d + 1)
        Places and numbers of targets, in random order.
    y : ndarray of shape (n,)
        Observations, of mean zero and variance one for each target.
    kernel : Kernel
    noise : float
        Of each target alone, relative to the kernel: where the search starts.
    n_neighbors : int
    """
    targets = rows[:, -1].astype(np.int32)
    t = int(targets.max()) + 1
    lower = np.tril_indices(t)
    diagonal = np.flatnonzero(lower[0] == lower[1])
    judged = np.linspace(0, len(rows) - 1, min(JUDGED, len(rows))).astype(np.int32)
    judged = np.unique(judged)
    apart = np.eye(t)  # neighbours do not depend on covariances
    neighbors = CoregionalProcess(rows, kernel, apart, noise * apart, n_neighbors).earlier(judged)

    def matrices(vector: FloatArray) -> tuple[FloatArray, FloatArray]:
        found = []
        for part in np.split(vector, 2):
            root = np.zeros((t, t))
            entries = part.copy()
            entries[diagonal] = np.exp(entries[diagonal])
            root[lower] = entries
            found.append(root @ root.T)
        return found[0], found[1]

    def loss(vector: FloatArray) -> float:
        variance, squares = _terms(rows, y, kernel, *matrices(vector), judged, neighbors)
        n = len(judged)
        return 0.5 * (n * math.log(float(squares.mean())) + float(np.log(variance).sum())) / n

    start = _start(t, noise, lower, diagonal)
    bounds = [
        LOG_ROOTS if k in diagonal else (-1e2, 1e2) for k in range(len(lower[0]))
    ] * 2  # fmt: skip
    found = minimize(
        loss, start, method="L-BFGS-B", bounds=bounds, options={"maxiter": 2 * STEPS, "eps": 1e-5}
    )
    fields, places = matrices(found.x)
    variance, squares = _terms(rows, y, kernel, fields, places, judged, neighbors)
    scale = float(squares.mean())
    n = len(judged)
    value = -0.5 * (n * (math.log(2 * math.pi * scale) + 1) + float(np.log(variance).sum()))
    return scale * fields, scale * places, value


def _terms(
    rows: FloatArray, y: FloatArray, kernel: Kernel, fields: FloatArray, places: FloatArray,
    judged: Indices, neighbors: Indices,
) -> tuple[FloatArray, FloatArray]:  # fmt: skip
    """Return conditional variances of observations, and squares of what is whitened of them."""
    process = CoregionalProcess(rows, kernel, fields, places, neighbors.shape[1])
    whitening = process.whitening(judged, None, neighbors)
    return whitening.variance, np.square(whitening.apply(y[:, None])[:, 0])


def _start(t: int, noise: float, lower: Any, diagonal: Any) -> FloatArray:
    """Begin with targets that are alike but not equal, and noise that is not shared."""
    together = 0.5 + 0.5 * np.eye(t)
    root = np.linalg.cholesky(together)[lower]
    root[diagonal] = np.log(root[diagonal])
    own = np.zeros(len(root))
    own[diagonal] = 0.5 * math.log(max(noise, 1e-6))
    return np.asarray(np.clip(np.concatenate([root, own]), LOG_ROOTS[0], 1e2))
