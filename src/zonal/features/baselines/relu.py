"""Random features of arc-cosine kernels: one layer of a network with random weights."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from ..._typing import Array, FloatArray
from ..._validation import check_choice
from ...kernels import ArcCosine
from ..base import KernelFeatures
from ..directions import DIRECTIONS
from ..training_sample import TrainingSample

__all__ = ["NetworkFeatures", "ReLUFeatures", "activate", "draw_weights"]

#: How weights are drawn.
SAMPLING = ("leverage", "orthogonal", "gaussian")


def draw_weights(
    sampling: str, n_units: int, dim: int, order: int, rng: np.random.Generator
) -> FloatArray:
    r"""Draw weights w such that 2 E[⟨w,x⟩₊ⁿ ⟨w,y⟩₊ⁿ] is the arc-cosine kernel of order n.

    Gaussian, or uniform directions of the length for which :math:`\|w\|^{2n}` has the mean that it
    has for Gaussian weights: 1, d or d(d + 2). That is importance sampling by a bound of
    the leverage scores, which are proportional to :math:`\|w\|^{2n}`.

    Returns
    -------
    ndarray of shape (n_units, dim)
    """
    if sampling == "gaussian":
        return rng.standard_normal((n_units, dim))
    scheme = "orthogonal" if sampling == "orthogonal" else "iid"
    length = (1.0, math.sqrt(dim), (dim * (dim + 2.0)) ** 0.25)[order]
    return length * DIRECTIONS[scheme](n_units, dim, rng)


def activate(values: Array, order: int) -> None:
    """Turn u into √(2/m) u₊ⁿ, in place; at zero the step is one half. values [b, m]."""
    if order == 0:
        values[:] = np.heaviside(values, values.dtype.type(0.5))
    else:
        np.maximum(values, 0, out=values)
    if order == 2:
        np.square(values, out=values)
    values *= math.sqrt(2 / values.shape[1])


class NetworkFeatures(KernelFeatures):
    """Base class: features that are units of a network with random weights, for one kernel."""

    kernel_: Any
    sampling: str

    def _check_network(self, kind: type, wanted: str) -> None:
        """Raise ValueError for other kernels and for weights that are drawn in no known way."""
        name = type(self).__name__
        check_choice("sampling", self.sampling, SAMPLING, name)
        if not isinstance(self.kernel_, kind):
            raise ValueError(
                f"kernel={self.kernel_!r} of {name} must be {wanted}: use GegenbauerFeatures or "
                "NystroemFeatures for others."
            )


class ReLUFeatures(NetworkFeatures):
    r"""Random features of an arc-cosine kernel (Cho and Saul, 2009).

    .. math::

        z(x) = \sqrt{\tfrac{2}{m}}\, \big[\max(0, \langle w_1, x\rangle)^n, \dots,
        \max(0, \langle w_m, x\rangle)^n\big], \qquad \mathbb{E}[Z Z^\top] = K .

    Parameters
    ----------
    kernel : ArcCosine or "arc_cosine", default="arc_cosine"
        The kernel, of order n = 0, 1 or 2.
    n_components : int, default=1024
        The number of units m.
    sampling : {"leverage", "orthogonal", "gaussian"}, default="leverage"
        The weights w. ``"gaussian"``: independent normal, as Cho and Saul have them.
        ``"leverage"``: directions uniform on the sphere, all of one length, which leverage scores
        ask for (Zandieh et al., 2021): unbiased, and never of larger variance.
        ``"orthogonal"``: these, orthogonal in blocks of d.
    random_state : int, RandomState instance or None, default=None
        The seed of the weights.

    Attributes
    ----------
    kernel_ : ArcCosine
        The kernel.
    weights_ : ndarray of shape (m, n_features)
        The weights w.
    n_features_in_ : int
        d.

    References
    ----------
    Y. Cho and L. K. Saul, "Kernel Methods for Deep Learning", NIPS 2009.

    A. Zandieh, I. Han, H. Avron, N. Shoham, C. Kim and J. Shin, "Scaling Neural Tangent Kernels
    via Sketching and Random Features", NeurIPS 2021.

    Examples
    --------
    >>> import numpy as np
    >>> import zonal
    >>> X = np.random.default_rng(0).standard_normal((100, 5))
    >>> Z = zonal.ReLUFeatures(zonal.ArcCosine(1), 4096, random_state=0).fit_transform(X)
    >>> K = zonal.ArcCosine(1)(X)
    >>> bool(np.linalg.norm(Z @ Z.T - K) < 0.05 * np.linalg.norm(K))
    True
    """

    def __init__(
        self,
        kernel: Any = "arc_cosine",
        n_components: int = 1024,
        *,
        sampling: str = "leverage",
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.sampling = sampling
        self.random_state = random_state

    def _fit(self, sample: TrainingSample, seed: int) -> int:
        self._check_network(ArcCosine, "an arc-cosine kernel, such as zonal.ArcCosine(order=1)")
        rng = np.random.default_rng(seed)
        order, dim = int(self.kernel_.order), self.n_features_in_
        self.weights_ = draw_weights(self.sampling, int(self.n_components), dim, order, rng)
        return int(self.n_components)

    @property
    def scratch_width(self) -> int:
        """Intermediate numbers a row."""
        return self.n_columns

    def evaluator(self, dtype: npt.DTypeLike) -> Callable[[Any, Array], None]:
        """Return a function that fills the activations of a block."""
        table = np.ascontiguousarray(self.weights_.T, dtype)
        order = int(self.kernel_.order)

        def block(rows: Any, out: Array) -> None:
            out[:] = rows @ table
            activate(out, order)

        return block

    def _gradients(self, rows: FloatArray) -> FloatArray:
        order = int(self.kernel_.order)
        values = rows @ self.weights_.T
        slopes = (
            math.sqrt(2 / len(self.weights_)) * order * np.maximum(values, 0) ** max(order - 1, 0)
        )
        slopes = np.where(values > 0, slopes, 0.0)
        return np.asarray(slopes[:, :, None] * self.weights_)
