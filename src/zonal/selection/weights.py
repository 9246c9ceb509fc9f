"""When one candidate is better than another, and how several are weighed."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy.optimize import nnls

from .._typing import FloatArray
from ..calibration.variance import LEAST_GAIN

__all__ = ["beyond_chance", "simplex_weights", "spread_of_mean"]

#: A gain counts from one standard error on, beside the least gain of all choices. Not tuned.
DEVIATIONS = 1.0
#: Candidates with less weight are left out, and the others weighed again: they would cost as much
#: as the others in each prediction. Not tuned.
LEAST_WEIGHT = 0.05


def beyond_chance(gains: FloatArray, scale: float, ends: Sequence[int] = ()) -> bool:
    """Tell whether the mean of some gains is more than chance.

    Rows of a gap gain or lose together, so that splits count rather than rows: in one of five
    gaps everything may be better, and nothing in the others.

    Parameters
    ----------
    gains : ndarray of shape (n,)
        By how much the loss of one candidate is below that of another, row by row.
    scale : float
        The mean loss of the other.
    ends : sequence of int
        Where the rows of each split end.

    Examples
    --------
    >>> import numpy as np
    >>> from zonal.selection.weights import beyond_chance
    >>> noise = np.random.default_rng(0).standard_normal(400)
    >>> beyond_chance(noise + 0.2, 1.0), beyond_chance(noise, 1.0)
    (True, False)
    """
    error = gains.std() / max(len(gains), 2) ** 0.5
    if len(ends) > 1:
        means = np.array([part.mean() for part in np.split(gains, ends[:-1])])
        error = max(error, means.std(ddof=1) / len(means) ** 0.5)
    return bool(gains.mean() > max(LEAST_GAIN * scale, DEVIATIONS * error))


def simplex_weights(
    predicted: npt.NDArray[np.floating],
    truth: FloatArray,
    weight: FloatArray | None = None,
    shares: FloatArray | None = None,
    allowed: npt.NDArray[np.bool_] | None = None,
) -> FloatArray:
    r"""Return the weights of candidates whose mean has the smallest squared error.

    .. math:: \min_w \sum_i v_i \big\| y_i - \sum_{j,c} h_{ij} w_{jc} \hat y_{ic} \big\|^2, \qquad
        w \ge 0, \quad \sum_c w_{jc} = 1.

    Parameters
    ----------
    predicted : ndarray of shape (n_candidates, n, t)
    truth : ndarray of shape (n, t)
    weight : ndarray of shape (n,), optional
        v, of the rows.
    shares : ndarray of shape (n, k), optional
        h, of sum one, where each of k nodes has weights of its own (`hats`).
    allowed : ndarray of shape (k, n_candidates), bool, optional
        The weights that are not zero by decree; one of each node at least.

    Returns
    -------
    ndarray of shape (n_candidates,), or (k, n_candidates) with `shares`

    Examples
    --------
    >>> import numpy as np
    >>> from zonal.selection.weights import simplex_weights
    >>> rng = np.random.default_rng(0)
    >>> y = rng.standard_normal((500, 1))
    >>> two = np.stack([y + rng.standard_normal((500, 1)) * s for s in (1.0, 1.0)])
    >>> simplex_weights(two, y).round(1)
    array([0.5, 0.5])
    """
    n_rows, n_targets = truth.shape
    nodes = np.ones((n_rows, 1)) if shares is None else shares
    # With sum one, y - Σ w ŷ = Σ w (y - ŷ): the weights of the errors that cancel best.
    errors = truth[None] - predicted
    if weight is not None:
        errors = errors * np.sqrt(weight)[:, None]
    unit = np.sqrt(np.square(errors).sum(axis=(1, 2)).max()) or 1.0
    each = np.einsum("cnt,nk->ntkc", errors / unit, nodes)
    each = each.reshape(n_rows * n_targets, -1)
    # The rows of ones, made heavy, are the conditions that weights of a node sum to one.
    heavy = 1e4
    ones = np.kron(np.eye(nodes.shape[1]), np.full(len(errors), heavy))
    right = np.append(np.zeros(len(each)), np.full(len(ones), heavy))
    # The normal equations of the few candidates: as exact as is needed, and quick.
    system = np.vstack([each, ones])
    free = slice(None) if allowed is None else np.flatnonzero(allowed.ravel())
    solution = np.zeros(system.shape[1])
    solution[free] = nnls(*_triangular(system[:, free], right))[0]
    found = solution.reshape(len(ones), -1)
    found = found / found.sum(axis=1, keepdims=True)
    return np.asarray(found[0] if shares is None else found)


def _triangular(system: FloatArray, right: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return a square system with the same least squares problem."""
    Q, R = np.linalg.qr(system)
    return R, Q.T @ right


def spread_of_mean(
    predicted: npt.NDArray[np.floating], truth: FloatArray, weights: FloatArray
) -> float:
    """Return the error of a weighted mean over the weighted mean of the errors, at most one.

    Errors that are not the same cancel in part, so that the intervals of the mean are narrower than
    the mean of the intervals. Absolute errors tell it much better than what nine of ten errors stay
    below: from 3,000 of 30,000 flights the former have .985 with a standard deviation of .001, and
    the latter .982 with .011, which moves the share that 90 % intervals hold by one per cent.
    """
    errors = truth[None] - predicted
    own = np.abs(errors).mean(axis=(1, 2))
    mean = np.abs(np.tensordot(weights, errors, 1)).mean()
    return float(mean / max(weights @ own, np.finfo(float).tiny))
