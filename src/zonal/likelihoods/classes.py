r"""Several classes: probabilities are the softmax of latent values, one for each class.

.. math:: \log p(y = c) = f_c - \log \sum_k e^{f_k}, \qquad
    \frac{\partial}{\partial f_k} = [y = k] - p_k, \qquad
    H = \operatorname{diag}(p) - p p^\top .

Newton's method with all of H would couple the classes. H is bounded by
:math:`2 \max_c p_c (1 - p_c)\, I` (Gershgorin), and by :math:`\tfrac12 I` (Böhning 1992).
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .._typing import FloatArray
from .averages import probit_scaled

__all__ = ["Multinomial"]


@dataclass(frozen=True)
class Multinomial:
    """Labels 0, …, K - 1 given latent values [n, K]."""

    name = "multinomial"

    def log_density(self, labels: npt.NDArray[np.intp], f: FloatArray) -> FloatArray:
        """Return log p(y | f): [n]."""
        return self.log_chances(f)[np.arange(len(f)), labels]

    def log_chances(self, f: FloatArray) -> FloatArray:
        """Return the logarithms of the probabilities of the classes: [n, K]."""
        below = f - f.max(axis=1, keepdims=True)
        return np.asarray(below - np.log(np.exp(below).sum(axis=1, keepdims=True)))

    def derivatives(
        self, labels: npt.NDArray[np.intp], f: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return slopes and the diagonal p (1 - p) of the curvature: [n, K] each."""
        chance = self.mean(f)
        slope = -chance
        slope[np.arange(len(f)), labels] += 1
        return slope, chance * (1 - chance)

    def mean(self, f: FloatArray) -> FloatArray:
        """Return the probabilities of the classes: [n, K]."""
        return np.exp(self.log_chances(f))

    def average(self, mean: FloatArray, variance: FloatArray) -> FloatArray:
        """Return probabilities, averaged over f ~ N(mean, variance), by the probit average."""
        return self.mean(probit_scaled(mean, variance))
