r"""Probabilities of classes from averaged logits, and sets of classes that cover.

.. math:: p_c \propto e^{f_c / T},

with the temperature T of least log loss on rows that are left out of the fit; where the model is
right, T is one.

*Exceptions.* A share ε of the rows has a class by chance, ε = 1/(n + 1) with n rows that were left
out. Where all of these have the class of the largest probability there may be no exceptions at all:
with the prior probability 1/2 of that (Jeffreys 1939), and a rate of Beta(1/2, 1/2) otherwise, they
would have stayed unseen with the probability :math:`B = \Gamma(n + \tfrac12) / (\sqrt\pi\,
\Gamma(n + 1))`, and ε is B/(1 + B) times as large.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize, minimize_scalar
from scipy.special import expit, gammaln, log_softmax, softmax

from .._typing import Array, FloatArray
from .distance import NODES, DistanceScale
from .numerics import TEMPERATURES
from .quantiles import ScoreQuantiles
from .scores import check_coverage

__all__ = ["SoftmaxCalibration", "exceptions", "farther_logits", "softmax_gradient"]


def softmax_gradient(chances: FloatArray, slopes: Array) -> FloatArray:
    """Return gradients of p = softmax(f) from those of f [n, c, d]: p_c (∇f_c - Σ p ∇f)."""
    mean = np.einsum("nc,ncd->nd", chances, slopes)
    return np.asarray(chances[:, :, None] * (slopes - mean[:, None, :]))


def exceptions(scores: Array, labels: npt.NDArray[np.intp], weight: FloatArray) -> float:
    """Return the share ε of rows whose class is chance, from scores [n, c] of left-out rows.

    Examples
    --------
    >>> import numpy as np
    >>> from zonal.calibration.softmax import exceptions
    >>> scores, ones = np.tile([1.0, 0.0], (99, 1)), np.ones(99)
    >>> exceptions(scores, np.arange(99) // 98, ones)
    0.01
    >>> round(exceptions(scores, np.zeros(99, int), ones), 5)
    0.00054
    """
    counted = weight > 0
    # Weights are counts; where they add up to less than the rows, only their ratios count.
    n_rows = max(float(weight.sum()), float(np.count_nonzero(counted)))
    if (scores.argmax(axis=1) != labels)[counted].any():
        return 1 / (1 + n_rows)
    unseen = np.exp(gammaln(n_rows + 0.5) - gammaln(n_rows + 1)) / np.sqrt(np.pi)
    return float(unseen / (1 + unseen) / (1 + n_rows))


@dataclass(frozen=True)
class SoftmaxCalibration:
    """How logits of classes become probabilities and sets.

    Attributes
    ----------
    temperature : float
        T.
    mixed : float
        The share of the uniform distribution, so that no class is impossible.
    loss : float
        The mean log loss of the rows that were left out.
    chances : tuple of ScoreQuantiles or None
        Of each class, the probabilities of that class at its rows; None where there are none.
    """

    temperature: float
    mixed: float
    loss: float
    chances: tuple[ScoreQuantiles | None, ...] = ()

    @classmethod
    def of(
        cls, logits: FloatArray, labels: npt.NDArray[np.intp], weight: FloatArray
    ) -> "SoftmaxCalibration":
        """Calibrate by logits [n, c] of rows that were not seen, of classes 0, …, c - 1."""
        rows = np.arange(len(logits))

        def loss(log: float) -> float:
            chances = log_softmax(logits * np.exp(-log), axis=1)
            return float(-np.average(chances[rows, labels], weights=weight))

        found = minimize_scalar(
            loss, bounds=TEMPERATURES, method="bounded", options={"xatol": 1e-4}
        )
        mixed = exceptions(logits, labels, weight)
        plain = cls(float(np.exp(found.x)), mixed, float(found.fun))
        chances = plain.probabilities(logits)
        own = tuple(
            ScoreQuantiles.of(chances[labels == c, c, None], weight[labels == c])
            if (labels == c).any()
            else None
            for c in range(logits.shape[1])
        )
        return cls(plain.temperature, plain.mixed, plain.loss, own)

    def probabilities(self, logits: Array) -> FloatArray:
        """Return probabilities from logits [n, c]."""
        found = softmax(np.asarray(logits, np.float64) / self.temperature, axis=1)
        return np.asarray((1 - self.mixed) * found + self.mixed / logits.shape[1])

    def gradient(self, logits: Array, slopes: Array) -> FloatArray:
        """Return gradients of the probabilities from those of the logits [n, c, d]."""
        raw = softmax(np.asarray(logits, np.float64) / self.temperature, axis=1)
        return (1 - self.mixed) * softmax_gradient(raw, slopes / self.temperature)

    def sets(self, logits: Array, coverage: float) -> npt.NDArray[np.bool_]:
        """Return which classes each set holds: [n, c]; as `ClassCalibration.sets`."""
        missed = 1 - check_coverage(coverage)
        least = [
            0.0 if own is None or missed * (own.totals[-1, 0] + 1) < 1 else own.at(missed)[0, 0]
            for own in self.chances
        ]
        return self.probabilities(logits) >= np.array(least)


def farther_logits(
    logits: FloatArray,
    labels: npt.NDArray[np.intp],
    weight: FloatArray,
    distance: FloatArray,
    holes: npt.NDArray[np.intp],
    near_distance: FloatArray,
) -> DistanceScale | None:
    r"""Find by what logits of two classes are divided far from the rows, in logarithms c.

    .. math:: \min_c\; -\sum_{\text{holes}} \operatorname{mean}_i
        \log \sigma\big(\pm e^{-c(d_i)} f_i\big) + \tfrac12 \sum_j (c_j - c_{j-1})^2,
        \qquad c_0 = 0,

    with c linear in the logarithm of the distance between a few nodes: rows of one hole err
    together, and count as one.

    Parameters
    ----------
    logits : ndarray of shape (n,)
        f of the second class at rows in holes, right where rows are left out alone.
    labels : ndarray of shape (n,)
        0 or 1.
    weight : ndarray of shape (n,)
    distance : ndarray of shape (n,)
        From these rows to the nearest known one.
    holes : ndarray of shape (n,)
        Which hole each lies in.
    near_distance : ndarray of shape (s,)
        The distances of rows that are left out alone.

    Returns
    -------
    DistanceScale or None
        None where holes are no deeper than rows that are left out alone.

    Examples
    --------
    >>> import numpy as np
    >>> from zonal.calibration.softmax import farther_logits
    >>> rng = np.random.default_rng(0)
    >>> f, distance = rng.normal(0, 3, 3000), rng.uniform(1, 10, 3000)
    >>> labels = (rng.random(3000) < 1 / (1 + np.exp(-f / distance**0.5))).astype(int)
    >>> ones = np.ones(3000)
    >>> found = farther_logits(f, labels, ones, distance, np.arange(3000), ones)
    >>> factor = np.exp(found.at(np.array([1.0, 4.0, 9.0]))).ravel()
    >>> bool(np.abs(factor - [1, 2, 3]).max() < 0.4)
    True
    """
    tiny = np.finfo(float).tiny
    far, near = (np.log(np.maximum(d, tiny)) for d in (distance, near_distance))
    first, last = float(np.median(near)), float(np.quantile(far, 0.9))
    if last <= first:
        return None
    nodes = np.linspace(first, last, NODES)
    hats = np.column_stack([np.interp(far, nodes, one) for one in np.eye(NODES)])[:, 1:]
    share = weight / np.bincount(holes, weight)[holes]
    right = np.where(labels == 1, logits, -logits)

    def objective(values: FloatArray) -> tuple[float, FloatArray]:
        scaled = right * np.exp(-hats @ values)
        steps = np.diff(values, prepend=0.0)
        loss = float(share @ np.logaddexp(0.0, -scaled)) + 0.5 * float(steps @ steps)
        slope = hats.T @ (share * scaled * expit(-scaled))
        return loss, slope + steps - np.append(steps[1:], 0.0)

    found = minimize(objective, np.zeros(NODES - 1), jac=True, method="L-BFGS-B")
    return DistanceScale(nodes, np.append(0.0, found.x)[:, None])
