"""Random Fourier features, and where shift-invariant kernels tell their spectral distribution."""

import math
from abc import abstractmethod
from collections.abc import Callable
from functools import singledispatch
from typing import Any

import numpy as np
import numpy.typing as npt

from .._typing import Array, FloatArray
from ..engines.trigonometric import cosines_and_sines
from ..kernels import Gaussian, Kernel, Matern, Product, RationalQuadratic, Scaled, Sum
from ..kernels.slopes import Slopes
from ..polynomials import uniform_sphere
from .directions import DIRECTIONS
from .gradients import AnchoredFeatures
from .training_sample import TrainingSample

__all__ = ["FourierFeatures", "SpectralFeatures", "spectral_norms"]

# Phases in float32 are right to 2⁻²⁴ of themselves: up to this many turns, to about 1e-4 of a turn.
SINGLE_TURNS = 256.0


@singledispatch
def spectral_norms(
    kernel: Kernel, n_frequencies: int, dim: int, rng: np.random.Generator
) -> FloatArray:
    r"""Return norms ‖w‖ of frequencies drawn from a kernel's spectral distribution in dimension d.

    A continuous kernel of x - y is the Fourier transform of a measure (Bochner), and one that is
    rotation-invariant, as all of this library are, of a rotation-invariant measure: frequencies
    are a random norm times an independent uniform direction. So the norms are all that a kernel
    has to tell. A new kernel joins in with ``@spectral_norms.register``.

    Parameters
    ----------
    kernel : Kernel
        The kernel, with all parameters resolved to numbers.
    n_frequencies, dim : int
        How many, and the dimension d.
    rng : numpy.random.Generator
        Where randomness comes from.

    Returns
    -------
    ndarray of shape (n_frequencies,)
    """
    raise ValueError(
        f"No spectral distribution is known for kernel={kernel!r}: Fourier features are for "
        "shift-invariant kernels such as zonal.Gaussian(bandwidth=1.0). Use GegenbauerFeatures, "
        "MaclaurinFeatures (dot-product kernels) or NystroemFeatures (any kernel)."
    )


@spectral_norms.register
def _(
    kernel: Gaussian, n_frequencies: int, dim: int, rng: np.random.Generator
) -> FloatArray:  # w is normal with covariance I / σ²
    return np.sqrt(rng.chisquare(dim, n_frequencies)) / kernel.one_scale()


@spectral_norms.register
def _(
    kernel: Matern, n_frequencies: int, dim: int, rng: np.random.Generator
) -> FloatArray:  # w is multivariate t with 2ν degrees of freedom, covers Laplacian too
    norms = np.sqrt(rng.chisquare(dim, n_frequencies)) / kernel.one_scale()
    if kernel.nu == math.inf:
        return norms
    shrink = np.sqrt(rng.chisquare(2 * kernel.nu, n_frequencies) / (2 * kernel.nu))
    # A rough kernel has frequencies beyond all numbers; those beyond 1e15 act alike in float64.
    return norms / np.maximum(shrink, 1e-15)


@spectral_norms.register
def _(
    kernel: RationalQuadratic, n_frequencies: int, dim: int, rng: np.random.Generator
) -> FloatArray:  # a mixture of Gaussians, whose inverse square widths are Gamma distributed
    inverse_squares = rng.gamma(kernel.alpha, 1 / kernel.alpha, n_frequencies)
    squares = rng.chisquare(dim, n_frequencies) * inverse_squares
    return np.sqrt(squares) / kernel.one_scale()


@spectral_norms.register
def _(kernel: Scaled, n_frequencies: int, dim: int, rng: np.random.Generator) -> FloatArray:
    return spectral_norms(kernel.kernel, n_frequencies, dim, rng)


@spectral_norms.register
def _(
    kernel: Sum, n_frequencies: int, dim: int, rng: np.random.Generator
) -> FloatArray:  # the measures add up: a mixture
    share = _mass(kernel.k1) / _mass(kernel)
    norms = [spectral_norms(part, n_frequencies, dim, rng) for part in (kernel.k1, kernel.k2)]
    return np.where(rng.random(n_frequencies) < share, *norms)


@spectral_norms.register
def _(
    kernel: Product, n_frequencies: int, dim: int, rng: np.random.Generator
) -> FloatArray:  # a convolution: the frequencies add up, at a uniform angle
    first, second = (spectral_norms(k, n_frequencies, dim, rng) for k in (kernel.k1, kernel.k2))
    cosine = uniform_sphere(n_frequencies, dim, rng)[:, 0]
    return np.sqrt(np.maximum(first**2 + second**2 + 2 * first * second * cosine, 0.0))


def _mass(kernel: Kernel) -> float:
    """Return k(x, x), the mass of the spectral measure."""
    return float(kernel.diag(np.zeros((1, 1)))[0])


def _reduce_far_rows(turns: Array, rows: Any, in_double: Callable[[Any], Array]) -> None:
    """Replace phases of many turns by their fractions, found in float64, row by row."""
    if max(turns.max(initial=0.0), -turns.min(initial=0.0)) <= SINGLE_TURNS:
        return
    far = np.flatnonzero(np.abs(turns).max(axis=1) > SINGLE_TURNS)
    exact = in_double(rows[far].astype(np.float64))
    turns[far] = exact - np.rint(exact)


class SpectralFeatures(AnchoredFeatures):
    r"""Base class of maps made of cosines and sines of random frequencies.

    .. math::

        z(x) = \sqrt{k(0)/m}\; [a_j \cos\langle w_j, x\rangle,\; a_j \sin\langle w_j, x\rangle]_j
        \qquad a_j^2 = p(w_j) / q(w_j)

    for m frequencies drawn from a density q, all cosines first. An odd width D = 2m - 1 leaves
    one column for the last frequency: :math:`\sqrt 2 \cos(\langle w_m, x\rangle + b)` with b
    uniform on [0, 2π], which is unbiased too.

    Subclasses define `_draw(n_frequencies, rng)`; they set ``frequencies_`` there, or define
    `_turns(dtype)` if they have a faster product than the one with a matrix.
    """

    frequencies_: FloatArray

    def _fit(self, sample: TrainingSample, seed: int) -> int:
        rng = np.random.default_rng(seed)
        n_frequencies = -(-self.n_components // 2)
        ratio = self._draw(n_frequencies, rng)
        self._amplitudes = np.sqrt(_mass(self.kernel_) * ratio / n_frequencies)
        self._offset = None
        if self.n_components % 2:
            self._amplitudes[-1] *= math.sqrt(2)
            self._offset = float(rng.random())
        return int(self.n_components)

    @abstractmethod
    def _draw(self, n_frequencies: int, rng: np.random.Generator) -> FloatArray:
        """Draw the frequencies from a density q; return p/q at each: [n_frequencies]."""

    def _turns(self, dtype: npt.DTypeLike) -> Callable[[Any], Array]:
        """Return a function from rows [b, d] to phases ⟨w, x⟩ / 2π [b, n_frequencies]."""
        # [d, m] in C order, made once: a sparse product would copy any other for every block.
        table = np.ascontiguousarray(self.frequencies_.T / (2 * np.pi), dtype)
        return lambda rows: np.asarray(rows @ table)

    @property
    def scratch_width(self) -> int:
        """Intermediate numbers a row."""
        return len(self._amplitudes)

    def evaluator(self, dtype: npt.DTypeLike, shift: float = 0.0) -> Callable[[Any, Array], None]:
        """Return a function that fills cosines and sines, turned by a share of a full turn."""
        turns_of = self._turns(dtype)
        amplitudes = self._amplitudes.astype(dtype)

        in_double = None if np.dtype(dtype) == np.float64 else self._turns(np.float64)

        def block(rows: Any, out: Array) -> None:
            turns = turns_of(rows)
            if in_double is not None:
                _reduce_far_rows(turns, rows, in_double)
            if self._offset is not None:
                turns[:, -1] += self._offset
            if shift:
                turns += shift
            cosines_and_sines(turns, amplitudes, out)

        return block

    def _column_slopes(self, rows: FloatArray) -> tuple[Slopes, FloatArray]:
        # The derivatives of cosine and sine are themselves, a quarter of a turn later.
        slopes = np.empty((len(rows), self.n_columns))
        self.evaluator(np.float64, shift=0.25)(rows, slopes)
        frequencies = 2 * np.pi * self._turns(np.float64)(np.eye(rows.shape[1])).T
        n_sines = self.n_columns - len(frequencies)
        return (
            Slopes(np.zeros_like(slopes), slopes),
            np.concatenate([frequencies, frequencies[:n_sines]]),
        )


class FourierFeatures(SpectralFeatures):
    r"""Random Fourier features of a shift-invariant kernel (Rahimi and Recht, 2007).

    With frequencies :math:`w_1, \dots, w_m` drawn from the kernel's spectral distribution,

    .. math::

        z(x) = \frac{1}{\sqrt m} [\cos\langle w_1, x\rangle, \dots, \cos\langle w_m, x\rangle,
        \sin\langle w_1, x\rangle, \dots, \sin\langle w_m, x\rangle],
        \qquad \mathbb{E}[Z Z^\top] = K .

    Pairs of a cosine and a sine have less variance than cosines with random offsets, for all
    rows: :math:`(1 - k^2)^2 / D` for an entry k of the Gaussian's matrix, and
    :math:`z(x)^\top z(x) = k(x, x)` without any error.

    Parameters
    ----------
    kernel : Kernel or str, default="gaussian"
        A shift-invariant kernel: Gaussian, Matern, Laplacian, RationalQuadratic, and multiples,
        sums and products of these.
        ``"gaussian"`` is ``Gaussian("median")``.
    n_components : int, default=1024
        The width D = 2m. If it is odd, the last of m = (D + 1)/2 frequencies has one column,
        :math:`\sqrt{2/m} \cos(\langle w_m, x\rangle + b)` with a uniform b: still unbiased,
        but :math:`z(x)^\top z(x)` is no longer constant.
    orthogonal : bool, default=False
        Whether frequencies are orthogonal in blocks of d (uniformly random, Haar's measure, with
        norms drawn as before; Yu et al., 2016): still unbiased, with less variance.
    random_state : int, RandomState instance or None, default=None
        The seed of the frequencies.

    Attributes
    ----------
    kernel_ : Kernel
        The kernel with all parameters resolved to numbers.
    frequencies_ : ndarray of shape (m, n_features)
        The frequencies w.
    n_features_in_ : int
        d.

    Notes
    -----
    Nothing but a median bandwidth is learnt from data. CSR rows are never filled: the products
    with the frequencies take time proportional to the number of stored entries.

    A phase of t turns is known to about 2⁻⁵³ t turns; for rows in float32 those of more than 256
    turns are found in float64 and reduced before they are rounded. So the features do not depend
    on the type or the memory order of X, up to 1e-3 in float32 and 2⁻⁵⁰ t in float64, which is 1e-9
    for rows of 1e6 length scales. Beyond 1e12 length scales nothing is left of the fractions:
    centre or scale such rows first.

    The frequencies of a rough kernel have heavy tails: those of Matern exceed M/ℓ with a
    probability of about :math:`M^{-2\nu}`, so for ν well below 1/2 the features are biased upwards
    by the probability of phases beyond 2⁵³ turns, which have no fraction.

    References
    ----------
    A. Rahimi and B. Recht, "Random Features for Large-Scale Kernel Machines", NIPS 2007.

    F. X. Yu, A. T. Suresh, K. Choromanski, D. Holtmann-Rice and S. Kumar, "Orthogonal Random
    Features", NIPS 2016.

    Examples
    --------
    >>> import numpy as np
    >>> import zonal
    >>> X = np.random.default_rng(0).standard_normal((200, 3))
    >>> Z = zonal.FourierFeatures(zonal.Gaussian(2.0), 512, random_state=0).fit_transform(X)
    >>> Z.shape
    (200, 512)
    >>> K = zonal.Gaussian(2.0)(X)
    >>> bool(np.linalg.norm(Z @ Z.T - K) < 0.1 * np.linalg.norm(K))
    True
    """

    def __init__(
        self,
        kernel: Any = "gaussian",
        n_components: int = 1024,
        *,
        orthogonal: bool = False,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.orthogonal = orthogonal
        self.random_state = random_state

    def _draw(self, n_frequencies: int, rng: np.random.Generator) -> FloatArray:
        if not isinstance(self.orthogonal, bool | np.bool_):
            raise ValueError(
                f"orthogonal={self.orthogonal!r} of FourierFeatures must be True or False."
            )
        dim = self.n_features_in_
        norms = spectral_norms(self.kernel_, n_frequencies, dim, rng)
        scheme = "orthogonal" if self.orthogonal else "iid"
        self.frequencies_ = norms[:, None] * DIRECTIONS[scheme](n_frequencies, dim, rng)
        return np.ones(n_frequencies)
