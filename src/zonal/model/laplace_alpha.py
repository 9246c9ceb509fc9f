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
from scipy.optimize import brentq

from .._typing import FloatArray

__all__ = ["AlphaSearch"]

# The range of α that is searched, in units of the mean eigenvalue of the first S, and values tried
# in it. (Of a later S it may be zero: where rows are certain they have no curvature.)
RANGE, N_TRIED = (1e-12, 1e6), 54


class AlphaSearch:
    """A search that goes on from quadratic model to quadratic model.

    Parameters
    ----------
    n_latent : int
        t.
    """

    def __init__(self, n_latent: int = 1) -> None:
        self.n_latent = n_latent
        self.alpha: float | None = None
        self._logs: FloatArray | None = None

    def next(self, values: FloatArray, squares: FloatArray) -> float:
        """Return α of the largest evidence, after the first time that next to the one at hand.

        Parameters
        ----------
        values : ndarray of shape (D,)
            λ.
        squares : ndarray of shape (D,)
            Squares of Vᵀb, summed over latent functions.
        """

        def loss(log: float) -> float:
            alpha = np.exp(log)
            log_det = self.n_latent * np.log1p(values / alpha)
            return 0.5 * float((log_det - squares / (values + alpha)).sum())

        logs = self._range(values)
        losses = np.array([loss(log) for log in logs])
        if self.alpha is None:
            best = int(losses.argmin())
        else:
            best = _lowest(losses, int(np.abs(logs - np.log(self.alpha)).argmin()))

        def slope(log: float) -> float:
            alpha = np.exp(log)
            shrunk = 1 / (values + alpha)
            return float((alpha * squares * shrunk**2 - self.n_latent * values * shrunk).sum())

        # The root of the slope, which rounding moves less than the lowest of nearly equal losses.
        low, high = logs[max(best - 1, 0)], logs[min(best + 1, N_TRIED - 1)]
        if slope(low) < 0 < slope(high):
            best_log = float(brentq(slope, low, high, xtol=1e-13))
        else:  # at an end of the range
            best_log = float(logs[best])
        self.alpha = float(np.exp(best_log))
        return self.alpha

    def begin_at(self, alpha: float, values: FloatArray) -> float:
        """Begin at an α that is about right, with the first λ."""
        self._range(values)
        return self.further(alpha)

    def _range(self, values: FloatArray) -> FloatArray:
        """Return the logarithms of the α that are tried, which the first λ tell."""
        if self._logs is None:
            low, high = np.log(RANGE) + np.log(values.mean() or 1.0)
            self._logs = np.linspace(low, high, N_TRIED)
        return self._logs

    def further(self, alpha: float) -> float:
        """Go to another α, or to the end of the range."""
        assert self._logs is not None
        self.alpha = float(np.exp(np.clip(np.log(alpha), self._logs[0], self._logs[-1])))
        return self.alpha


def _lowest(losses: FloatArray, place: int) -> int:
    """Return where the losses are lowest, downhill from a place."""
    while True:
        first = max(place - 1, 0)
        best = first + int(losses[first : place + 2].argmin())
        if losses[best] >= losses[place]:
            return place
        place = best
