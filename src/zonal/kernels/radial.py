"""Radial functions h_ℓ of a generalized zonal kernel, as small objects that can be saved.

Each is a callable: radii of shape (n,) to coefficients of shape (n, max_degree + 1, n_radial).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np

from .._typing import FloatArray

__all__ = ["PowerRadial", "Radial", "SphereRadial", "StackedRadial", "TaylorRadial"]


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
        blocks = [np.asarray(part(radii))[:, : self.n_degrees] for part in self.parts]
        padded = [np.pad(b, ((0, 0), (0, self.n_degrees - b.shape[1]), (0, 0))) for b in blocks]
        return self.factor * np.concatenate(padded, axis=2)


@dataclass(frozen=True, eq=False)
class SphereRadial:
    r"""One function that is exact on the sphere of one radius R.

    With :math:`k_\ell(r, r') = \langle H_\ell(r), H_\ell(r')\rangle`,

    .. math:: h_\ell(r) = k_\ell(r, R) / \sqrt{k_\ell(R, R)},

    so that h_ℓ(R)² is the full coefficient (all i summed); other radii get the Nyström
    extension, which never exceeds the kernel: h_ℓ(r)² ≤ k_ℓ(r, r).

    Attributes
    ----------
    radial : callable
        H, with as many functions as its series needs at R.
    radius : float
        R.
    at_radius : ndarray of shape (max_degree + 1, many)
        H(R).
    """

    radial: Radial
    radius: float
    at_radius: FloatArray

    @classmethod
    def of(cls, radial: Radial, radius: float) -> Self:
        """Make the function from H and R."""
        return cls(radial, radius, radial(np.array([radius]))[0])

    def __call__(self, radii: FloatArray) -> FloatArray:
        radii = np.asarray(radii, dtype=np.float64)
        norms = np.linalg.norm(self.at_radius, axis=1)  # [degree]
        out = np.repeat(norms[None], len(radii), axis=0)
        # Rows on the sphere, all of them as a rule, need no evaluation of their own; the others
        # go a few at a time, for H may have hundreds of functions.
        off = np.flatnonzero(np.abs(radii - self.radius) > 1e-6 * self.radius)
        for start in range(0, len(off), 256):
            rows = off[start : start + 256]
            cross = np.einsum("nli,li->nl", self.radial(radii[rows]), self.at_radius)
            out[rows] = np.divide(cross, norms, out=np.zeros_like(cross), where=norms > 0)
        return out[:, :, None]
