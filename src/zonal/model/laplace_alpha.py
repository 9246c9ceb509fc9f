r"""The α of the largest evidence of a quadratic model of the log likelihood.

With S = V diag(λ) Vᵀ and the slope b at zero coefficients, for t latent functions of one curvature,

.. math:: \tfrac12 \sum_j \left(\frac{(V^\top b)_j^2}{\lambda_j + \alpha}
    - t \log(1 + \lambda_j / \alpha)\right) .

The model holds about the coefficients at which it was made, and these belong to an α. Far from
it the model is wrong: where classes can be told apart, rows at the mode have hardly any curvature,
and the loss at zero coefficients, by the model, is hardly larger than that at the mode. Hence the
search climbs from the α at hand to the optimum next to it.
"""

import numpy as np
from scipy.optimize import minimize_scalar

from .._typing import FloatArray

__all__ = ["alpha_of_evidence"]

# The range of α that is searched, in units of the mean eigenvalue of S, and values tried in it.
RANGE, N_TRIED = (1e-12, 1e6), 54


def alpha_of_evidence(
    values: FloatArray, squares: FloatArray, n_latent: int = 1, near: float | None = None
) -> float:
    """Return the α of largest evidence, or that of the optimum next to a given one.

    Parameters
    ----------
    values : ndarray of shape (D,)
        λ.
    squares : ndarray of shape (D,)
        Squares of Vᵀb, summed over latent functions.
    n_latent : int
        t.
    near : float, optional
        The α that the quadratic model belongs to; none at zero coefficients.
    """

    def loss(log: float) -> float:
        alpha = np.exp(log)
        log_det = n_latent * np.log1p(values / alpha)
        return 0.5 * float((log_det - squares / (values + alpha)).sum())

    low, high = np.log(RANGE)
    logs = np.log(values.mean() or 1.0) + np.linspace(low, high, N_TRIED)
    losses = np.array([loss(log) for log in logs])
    best = int(losses.argmin())
    if near is not None:
        best = int(np.abs(logs - np.log(near)).argmin())
        around = losses[max(best - 1, 0) : best + 2]
        while around.min() < losses[best]:
            best = max(best - 1, 0) + int(around.argmin())
            around = losses[max(best - 1, 0) : best + 2]
    bounds = logs[max(best - 1, 0)], logs[min(best + 1, N_TRIED - 1)]
    found = minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": 1e-8})
    return float(np.exp(found.x))
