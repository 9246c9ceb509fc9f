r"""Kernels of infinitely wide networks of any activation, by their Hermite series.

For unit rows of cosine t, two units of a wide random layer see a pair of standard normals of
correlation t. With the coefficients :math:`a_n` of the activation in orthonormal Hermite
polynomials, their mean product is

.. math:: \mathbb{E}[\sigma(u)\,\sigma(v)] = \sum_n a_n^2\, t^n, \qquad
    \mathbb{E}[\sigma'(u)\,\sigma'(v)] = \sum_n n\, a_n^2\, t^{n-1} .
"""

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.polynomial import polynomial
from numpy.polynomial.legendre import leggauss
from scipy.special import erf, expit, ndtr

from .._loaded import MOST, check_number
from .._typing import FloatArray, ScalarFunction
from .._validation import check_choice, check_count
from .zonal import Zonal

__all__ = ["ACTIVATIONS", "NetworkKernel", "dual_series"]

Activation = Callable[[FloatArray], FloatArray]

#: Activations by name.
ACTIVATIONS: dict[str, Activation] = {
    "erf": erf,
    "gelu": lambda u: u * ndtr(u),
    "silu": lambda u: u * expit(u),
    "sin": np.sin,
    "tanh": np.tanh,
}
# Degrees of the Hermite series, and what they may leave out of E[σ²].
N_TERMS, LEFT_OUT = 256, 1e-6
# Panels of Gauss–Legendre quadrature: at 14 the root of the normal density is 1e-22, and at degree
# 256 a period of the Hermite functions is two of these panels. One ends at 0, where kinks are.
PANELS, END = 280, 14.0


@lru_cache(maxsize=16)
def dual_series(activation: str | Activation) -> FloatArray:
    """Return a_n² / E[σ²] for n = 0, 1, …: the Taylor coefficients of a layer's kernel.

    Examples
    --------
    E[erf(u) erf(v)] = (2/π) arcsin(2t/3) is odd, and its first coefficient is 4/(3π):

    >>> from zonal.kernels.network import dual_series
    >>> import math
    >>> series = dual_series("erf")
    >>> bool(abs(series[1] * (2 / math.pi) * math.asin(2 / 3) - 4 / (3 * math.pi)) < 1e-12)
    True
    """
    function = ACTIVATIONS[activation] if isinstance(activation, str) else activation
    nodes, weights = leggauss(10)
    edges = np.linspace(-END, END, PANELS + 1)
    half = (edges[1] - edges[0]) / 2
    u = (edges[:-1, None] + half * (1 + nodes)).ravel()
    root = np.exp(-np.square(u) / 4) / (2 * np.pi) ** 0.25  # of the normal density
    values = np.asarray(function(u), dtype=np.float64) * root
    if values.shape != u.shape or not np.isfinite(values).all():
        raise ValueError(
            f"activation={activation!r} of NetworkKernel must take an array and return finite "
            "numbers of the same shape."
        )
    weighted = values * np.tile(half * weights, PANELS)
    total = float(weighted @ values)
    if total == 0:
        raise ValueError(f"activation={activation!r} of NetworkKernel is zero everywhere.")
    squares = np.empty(N_TERMS)
    before, current = np.zeros_like(u), root
    for n in range(N_TERMS):
        squares[n] = float(weighted @ current) ** 2 / total
        # The recurrence of orthonormal Hermite functions, which neither over- nor underflows.
        before, current = current, (u * current - np.sqrt(n) * before) / np.sqrt(n + 1)
    if 1 - squares.sum() > LEFT_OUT:
        raise ValueError(
            f"The Hermite series of activation={activation!r} leaves out "
            f"{1 - squares.sum():.2g} of E[σ²] at degree {N_TERMS - 1}, more than {LEFT_OUT:g}: "
            "it has a kink or a jump. Use NNGP, NTK or ArcCosine for ReLU and its powers, or a "
            "smooth activation."
        )
    squares[squares < 1e-18] = 0.0  # rounding
    return squares / squares.sum()


def network(t: Any, activation: str | Activation, depth: int, tangent: bool) -> Any:
    """Return the kernel of a network of the cosine; real or in the complex unit disc."""
    series = np.trim_zeros(dual_series(activation), "b")
    slope = polynomial.polyder(series)
    sigma, total = t, t
    for _ in range(depth):
        previous, sigma = sigma, polynomial.polyval(sigma, series)
        total = total * polynomial.polyval(previous, slope) + sigma if tangent else sigma
    return total


@lru_cache(maxsize=16)
def _of_network(activation: str | Activation, depth: int, tangent: bool) -> ScalarFunction:
    """Return one and the same function for one network, so that its series is found once."""
    return partial(network, activation=activation, depth=depth, tangent=tangent)


class NetworkKernel(Zonal):
    r"""Kernel of an infinitely wide network of a smooth activation, on the unit sphere.

    With :math:`\kappa(t) = \mathbb{E}[\sigma(u)\sigma(v)] / \mathbb{E}[\sigma^2]` for standard
    normals of correlation t, from the Hermite series of σ, and :math:`\Sigma_0 = K_0 = t`,

    .. math::

        \Sigma_h = \kappa(\Sigma_{h-1}), \qquad
        K_h = K_{h-1}\, \kappa'(\Sigma_{h-1}) + \Sigma_h .

    :math:`\Sigma_L` is the Gaussian process of the random network (NNGP) and :math:`K_L` its
    Neural Tangent kernel. Layers are scaled to keep the norm, as initialisations do. Rows must
    have norm one: with other norms such a network is no function of the angle alone.

    Parameters
    ----------
    activation : {"erf", "gelu", "silu", "sin", "tanh"} or callable, default="gelu"
        σ, vectorised over arrays. Kinks and jumps make the series slow: an error says so.
    depth : int, default=2
        The number of hidden layers L ≥ 1.
    tangent : bool, default=False
        The Neural Tangent kernel in place of the Gaussian process.

    References
    ----------
    A. Daniely, R. Frostig and Y. Singer, "Toward Deeper Understanding of Neural Networks: The
    Power of Initialization and a Dual View on Expressivity", NeurIPS 2016.

    Examples
    --------
    >>> import zonal
    >>> kernel = zonal.NetworkKernel("sin", depth=1)
    >>> kernel([[1.0, 0.0]], [[0.8, 0.6]]).round(6)  # sinh(0.8) / sinh(1)
    array([[0.755705]])
    """

    def __init__(
        self, activation: str | Activation = "gelu", depth: int = 2, tangent: bool = False
    ) -> None:
        self.activation = activation
        self.depth = depth
        self.tangent = tangent

    def check(self) -> None:
        """Raise ValueError if a parameter is out of range."""
        check_count("depth", self.depth, "NetworkKernel")
        if not callable(self.activation):
            check_choice("activation", self.activation, tuple(ACTIVATIONS), "NetworkKernel")
        dual_series(self.activation)

    def _check_loaded(self) -> None:
        check_number(self, "depth", 1, MOST)

    def _function(self) -> ScalarFunction:
        return _of_network(self.activation, self.depth, bool(self.tangent))
