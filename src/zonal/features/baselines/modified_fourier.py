"""Modified random Fourier features: high frequencies drawn more often than their share."""

import math
from numbers import Real
from typing import Any

import numpy as np

from ..._typing import FloatArray
from ..._validation import check_positive
from ...kernels import Gaussian
from ..fourier import SpectralFeatures

__all__ = ["ModifiedFourierFeatures"]


class ModifiedFourierFeatures(SpectralFeatures):
    r"""Modified random Fourier features of the Gaussian kernel (Avron et al., 2017).

    Ridge regression wants frequencies drawn by their leverage, which is flatter than the
    Gaussian's spectral density p. In units of 1/bandwidth, frequencies come from

    .. math::

        q(w) = \rho\, p(w) + (1 - \rho) \frac{1[w \in [-B, B]^d]}{(2B)^d},
        \qquad B = 10 \sqrt{\log(n/\lambda)}, \qquad p = N(0, I_d),

    and their cosines and sines are multiplied by :math:`\sqrt{p/q} \le \rho^{-1/2}`, so that
    :math:`\mathbb{E}[Z Z^\top] = K`.

    Parameters
    ----------
    kernel : Gaussian or str, default="gaussian"
        The Gaussian; ``"gaussian"`` is ``Gaussian("median")``.
    n_components : int, default=1024
        The width D = 2m. If it is odd, the last frequency has one column with a random offset, as
        in `FourierFeatures`.
    mixture : float, default=0.5
        The share ρ of frequencies drawn from p, between 0 and 1. 1 is `FourierFeatures`. **0 is
        the density of the paper, and useless beyond d ≈ 2**: about :math:`(2.5/B)^d` of the
        frequencies fall where p lives (1 in 10 for d = 1, 1 in 100 for d = 2, 1 in a thousand
        millions for d = 9), and nearly all columns are zero. What p has outside of the box is
        lost then, less than 1e-100 by default. With ρ > 0 the same holds for the other 1 - ρ of
        the frequencies: beyond d ≈ 2 the map is `FourierFeatures` with about ρ D columns.
    n_over_lam : float, default=1000.0
        n/λ, the number of rows over the ridge parameter, above 1: the default is λ = 1e-3 n.
    random_state : int, RandomState instance or None, default=None
        The seed of the frequencies.

    Attributes
    ----------
    kernel_ : Gaussian
        The kernel with all parameters resolved to numbers.
    frequencies_ : ndarray of shape (m, n_features)
        The frequencies w / bandwidth.
    weights_ : ndarray of shape (m,)
        p/q at the frequencies, at most 1/ρ.
    half_width_ : float
        B.
    n_features_in_ : int
        d.

    References
    ----------
    H. Avron, M. Kapralov, C. Musco, C. Musco, A. Velingker and A. Zandieh, "Random Fourier
    Features for Kernel Ridge Regression: Approximation Bounds and Statistical Guarantees",
    ICML 2017.

    Examples
    --------
    >>> import numpy as np
    >>> import zonal
    >>> X = np.random.default_rng(0).standard_normal((200, 1))
    >>> features = zonal.ModifiedFourierFeatures(zonal.Gaussian(1.0), 512, random_state=0).fit(X)
    >>> features.transform(X).shape
    (200, 512)
    >>> round(features.half_width_, 2)
    26.28
    >>> bool(features.weights_.max() <= 2)
    True
    """

    def __init__(
        self,
        kernel: Any = "gaussian",
        n_components: int = 1024,
        *,
        mixture: float = 0.5,
        n_over_lam: float = 1000.0,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.mixture = mixture
        self.n_over_lam = n_over_lam
        self.random_state = random_state

    def _draw(self, n_frequencies: int, rng: np.random.Generator) -> FloatArray:
        kernel = self._check_parameters()
        dim, mixture = self.n_features_in_, float(self.mixture)
        self.half_width_ = width = 10 * math.sqrt(math.log(self.n_over_lam))
        normal = rng.standard_normal((n_frequencies, dim))
        uniform = rng.uniform(-width, width, (n_frequencies, dim))
        w = np.where(rng.random((n_frequencies, 1)) < mixture, normal, uniform)
        # In logs, for the densities leave the range of numbers in high dimension.
        log_p = -0.5 * np.square(w).sum(axis=1) - dim / 2 * math.log(2 * math.pi)
        inside = (np.abs(w) <= width).all(axis=1)
        with np.errstate(divide="ignore"):
            log_box = np.log(inside * (1 - mixture)) - dim * math.log(2 * width)
            log_q_over_p = np.logaddexp(np.log(mixture), log_box - log_p)
        self.frequencies_ = w / kernel.one_scale()
        self.weights_: FloatArray = np.exp(-log_q_over_p)
        return self.weights_

    def _check_parameters(self) -> Gaussian:
        name = type(self).__name__
        if not isinstance(self.kernel_, Gaussian):
            raise ValueError(
                f"kernel={self.kernel_!r} of {name} must be a Gaussian, whose frequencies its box "
                "is made for. Use FourierFeatures (shift-invariant kernels), GegenbauerFeatures, "
                "MaclaurinFeatures (dot-product kernels) or NystroemFeatures (any kernel)."
            )
        is_number = isinstance(self.mixture, Real) and not isinstance(self.mixture, bool)
        if not (is_number and 0 <= self.mixture <= 1):
            raise ValueError(f"mixture={self.mixture!r} of {name} must be between 0 and 1.")
        if check_positive("n_over_lam", self.n_over_lam, name) <= 1:
            raise ValueError(
                f"n_over_lam={self.n_over_lam!r} of {name} must be above 1: a ridge parameter λ "
                "of the number of rows n or more leaves nothing of the kernel."
            )
        return self.kernel_
