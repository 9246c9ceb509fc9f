r"""A classifier on features, fitted by its log loss.

Left out of the fit, row i would have (to second order, about the mode)

.. math:: f_{-i} = f_i - \frac{\ell_i}{1 - h_i \ell_i}\, ([y_i = c] - p_c)_c,

with the leverage ℓ and the curvature h. Averages over the posterior of f are MacKay's, of the
differences of two classes: f is divided by √(1 + π v / 8), v the variance of these.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import Array, FloatArray
from ..calibration.softmax import SoftmaxCalibration
from ..features.space import FeatureSpace
from ..likelihoods import Multinomial
from ..likelihoods.averages import probit_scaled
from ..moments.ridge import linear
from ..rows.block import take
from .class_fit import ClassMode
from .class_sums import curvature, latent_of
from .feature_calibration import MOST_LEVERAGE, copies_of

__all__ = ["FromClasses", "left_out_logits"]

# Numbers that gradients of leverages take at a time.
GRADIENT_NUMBERS = 1 << 24


@dataclass(frozen=True)
class FromClasses:
    """Logits of the classes, averaged over the posterior, and their calibration.

    Attributes
    ----------
    space : FeatureSpace
    mode : ClassMode
    calibrated : SoftmaxCalibration
        By rows that are left out.
    """

    space: FeatureSpace
    mode: ClassMode
    calibrated: SoftmaxCalibration

    #: There is no local part.
    part = None

    @classmethod
    def of(
        cls, space: FeatureSpace, mode: ClassMode, X: Any, labels: Any, weight: FloatArray
    ) -> "FromClasses":
        """Calibrate a mode by a sample of its rows, each left out."""
        logits = left_out_logits(space, mode, X, labels, weight)
        return cls(space, mode, SoftmaxCalibration.of(logits, labels, weight))

    def class_calibration(self) -> SoftmaxCalibration:
        """What makes logits probabilities."""
        return self.calibrated

    @property
    def intercept(self) -> FloatArray:
        """The constants of all classes: [K]."""
        return latent_of_columns(self.mode.intercept[None])[0]

    @property
    def coef(self) -> FloatArray:
        """The coefficients of all classes: [D, K]."""
        return latent_of_columns(self.mode.coef)

    @property
    def alpha(self) -> float:
        """The regularisation."""
        return self.mode.alpha

    @property
    def cv_results(self) -> dict[str, Array]:
        """Nothing: the evidence decides."""
        return {}

    def mean(self, rows: Any) -> Array:
        """Return logits of the classes at the mode: [n, K]."""
        mode = self.mode
        found = self.space.map(rows, lambda Z: linear(Z, mode.coef, mode.intercept))
        return latent_of(np.asarray(found, np.float64))

    def averaged(self, rows: Any) -> FloatArray:
        """Return logits that are averaged over the posterior: [n, K]; their order is the same."""
        return _averaged(*_latent(self.space, self.mode, rows))

    def gradient(self, rows: Any, held_out: bool = False) -> Array:
        """Return gradients of the logits at the mode: [n, K, d]."""
        return self.space.gradient(rows, self.coef)

    def averaged_gradient(self, rows: Any) -> Array:
        r"""Return gradients of the averaged logits: [n, K, d].

        With the leverage ℓ = ‖Rᵀ(z - a)‖² + const and s = (1 + πtℓ/8)^(-1/2),
        ∇(sf) = s∇f - f s³ (πt/8) Rᵀ(z - a) · ∇Rᵀz.
        """
        spread, parts = self.mode.spread, []
        times = 1 if self.mode.coef.shape[1] == 1 else 2
        step = max(1, GRADIENT_NUMBERS // (spread.root.size * np.shape(rows)[1]))
        for first in range(0, np.shape(rows)[0], step):
            some = take(rows, slice(first, first + step))
            f, leverage = _latent(self.space, self.mode, some)
            turned = self.space.map(some, lambda Z: (Z - spread.middle) @ spread.root)
            along = np.einsum("nr,nrd->nd", turned, self.space.gradient(some, spread.root))
            scale = 1 / np.sqrt(1 + np.pi / 8 * times * leverage)
            pull = np.pi / 8 * times * (scale**3)[:, None] * f
            own = self.space.gradient(some, self.coef)
            parts.append(scale[:, None, None] * own - pull[:, :, None] * along[:, None, :])
        return np.concatenate(parts)

    def without(self, rows: Any) -> "FromClasses":
        """Return the model as if some rows were not known: a single row matters little."""
        return self

    def shares(self) -> dict[str, float]:
        """There are none."""
        raise AttributeError("There is no local part: local_ is None.")

    def light(self) -> "FromClasses":
        """Return the model: it keeps no sums."""
        return self


def left_out_logits(
    space: FeatureSpace, mode: ClassMode, X: Any, labels: Any, weight: FloatArray
) -> FloatArray:
    """Return averaged logits of rows of the fit, each left out of it: [n, K]."""
    f, leverage = _latent(space, mode, X)
    own, chances = Multinomial(), Multinomial().mean(f)
    slope = own.derivatives(labels, f)[0]
    # Copies of a row are left out together, as a row that has their weight is.
    copies = copies_of(np.column_stack([leverage, f, labels]))
    together = np.bincount(copies, weight)[copies]
    kept = 1 - np.minimum(together * curvature(chances) * leverage, MOST_LEVERAGE)
    pull = together * leverage / kept
    if mode.coef.shape[1] == 1:  # the first class stays at zero
        slope = np.column_stack([np.zeros(len(f)), slope[:, 1]])
    return _averaged(f - pull[:, None] * slope, leverage / kept)


def latent_of_columns(coef: FloatArray) -> FloatArray:
    """Return coefficients of all classes; of two, the first has zeros."""
    return np.column_stack([np.zeros(len(coef)), coef]) if coef.shape[1] == 1 else coef


def _latent(space: FeatureSpace, mode: ClassMode, X: Any) -> tuple[FloatArray, FloatArray]:
    """Return logits at the mode and leverages at rows: [n, K], [n]."""

    def columns(Z: Array) -> Array:
        return np.column_stack([linear(Z, mode.coef, mode.intercept), mode.spread.leverage(Z)])

    found = space.map(X, columns)
    return latent_of(np.asarray(found[:, :-1], np.float64)), np.asarray(found[:, -1], np.float64)


def _averaged(f: FloatArray, leverage: FloatArray) -> FloatArray:
    """Divide logits by what the variance of their differences asks for."""
    times = 1 if f.shape[1] == 2 else 2  # of two classes f is the difference
    return probit_scaled(f, times * leverage[:, None])
