"""Radial functions h_ℓ of a generalized zonal kernel, as small objects that can be saved.

Each is a callable: radii of shape (n,) to coefficients of shape (n, max_degree + 1, n_radial), with
a method `derivative` of the same shapes.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import xlogy

from .._typing import FloatArray

__all__ = ["PowerRadial", "Radial", "StackedRadial", "TaylorRadial", "radial_derivative"]


#: Radii [n] to coefficients [n, max_degree + 1, n_radial].
Radial = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True, eq=False)
class TaylorRadial:
    """The paper's monomials, h_{ℓ,i}(t) = exp(w_{ℓ,i} - decay t²) t^{ℓ+2i}, in log space.

    Attributes
    ----------
    log_weights : ndarray of shape (max_degree + 1, n_radial)
        w_{ℓ,i}.
    decay : float
        1 / (2 bandwidth²) for the Gaussian kernel, zero for dot-product kernels.
    """

    log_weights: FloatArray
    decay: float

    def __call__(self, radii: FloatArray) -> FloatArray:
        n_degrees, n_radial = self.log_weights.shape
        power = np.arange(n_degrees)[:, None] + 2 * np.arange(n_radial)
        # The smallest float stands in for zero: 0⁰ = 1 and every higher power vanishes.
        radii = np.asarray(radii, dtype=np.float64)
        log_radii = np.log(np.maximum(radii, np.finfo(np.float64).tiny))[:, None, None]
        with np.errstate(over="ignore"):
            decay = self.decay * np.square(radii)[:, None, None]
            return np.exp(self.log_weights + power * log_radii - decay)

    def derivative(self, radii: FloatArray) -> FloatArray:
        """Return h'(t) = exp(w - decay t²) (p t^{p-1} - 2 decay t^{p+1}), with p = ℓ + 2i."""
        n_degrees, n_radial = self.log_weights.shape
        power = np.arange(n_degrees)[:, None] + 2 * np.arange(n_radial)
        t = np.asarray(radii, dtype=np.float64)[:, None, None]
        with np.errstate(over="ignore"):
            decay = self.decay * np.square(t)
            lower = np.exp(self.log_weights + xlogy(np.maximum(power - 1, 0), t) - decay)
        return power * lower - 2 * self.decay * t * self(radii)


@dataclass(frozen=True, eq=False)
class PowerRadial:
    """Homogeneous kernels: h_ℓ(t) = √c_ℓ tᵖ, one function for every degree.

    Attributes
    ----------
    root_coefficients : ndarray of shape (max_degree + 1,)
        √c_ℓ.
    power : int
        p.
    """

    root_coefficients: FloatArray
    power: int

    def __call__(self, radii: FloatArray) -> FloatArray:
        radii = np.asarray(radii, dtype=np.float64)
        return (np.power(radii, self.power)[:, None] * self.root_coefficients)[:, :, None]

    def derivative(self, radii: FloatArray) -> FloatArray:
        """Return h'(t) = √c p t^{p-1}."""
        slopes = self.power * np.power(np.asarray(radii, dtype=np.float64), max(self.power - 1, 0))
        return (slopes[:, None] * self.root_coefficients)[:, :, None]


@dataclass(frozen=True, eq=False)
class StackedRadial:
    """Several radial functions side by side: the expansion of a sum of kernels.

    Attributes
    ----------
    parts : tuple of callables
        The radial functions of the summands.
    n_degrees : int
        Degrees of the whole; shorter parts are padded with zeros.
    factor : float
        Multiplies every part.
    """

    parts: tuple[Radial, ...]
    n_degrees: int
    factor: float = 1.0

    def __call__(self, radii: FloatArray) -> FloatArray:
        return self._joined([np.asarray(part(radii)) for part in self.parts])

    def derivative(self, radii: FloatArray) -> FloatArray:
        """Return the derivatives of all parts."""
        return self._joined([radial_derivative(part, radii) for part in self.parts])

    def _joined(self, blocks: list[FloatArray]) -> FloatArray:
        blocks = [block[:, : self.n_degrees] for block in blocks]
        padded = [np.pad(b, ((0, 0), (0, self.n_degrees - b.shape[1]), (0, 0))) for b in blocks]
        return self.factor * np.concatenate(padded, axis=2)


def radial_derivative(radial: Radial, radii: FloatArray) -> FloatArray:
    """Return the derivative of radial functions at radii: [n, max_degree + 1, n_radial]."""
    derivative = getattr(radial, "derivative", None)
    if derivative is None:
        raise NotImplementedError(
            f"The radial functions {radial!r} have no derivative, which gradients need: give "
            "them as an object with a method derivative(radii) of the same shapes."
        )
    return np.asarray(derivative(radii), dtype=np.float64)
