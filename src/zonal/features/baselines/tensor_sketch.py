"""TensorSketch features: convolutions of count sketches, for every degree of a Taylor series."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.fft
import scipy.sparse as sp

from ..._typing import Array, FloatArray
from ..._validation import is_sparse
from ..training_sample import TrainingSample
from .sketch_tree import base_matrix, fold
from .sketched_powers import SketchedPowers

__all__ = ["CountSketches", "TensorSketchFeatures"]


@dataclass(frozen=True, eq=False)
class CountSketches:
    """The j count sketches of x whose convolution is a sketch of its tensor power of degree j.

    Attributes
    ----------
    degree : int
        j.
    width : int
        Of the sketch; the buckets of a length that Fourier transforms like are folded to it.
    matrix : CSR array of shape (d, j · length)
        All count sketches, side by side.
    """

    degree: int
    width: int
    matrix: Any

    def astype(self, dtype: npt.DTypeLike) -> "CountSketches":
        """Convert the matrix to one precision."""
        return CountSketches(self.degree, self.width, self.matrix.astype(dtype, copy=False))

    def fill(self, rows: Any, out: Array) -> None:
        """Fill the sketch [b, width] of rows [b, d]."""
        if self.degree == 0:
            out[:] = 0
            out[:, 0] = 1
            return
        counts = self._counts(rows)
        if self.degree == 1:
            fold(counts[:, 0], out)
        else:
            spectrum = scipy.fft.rfft(counts, axis=2).prod(axis=1)
            fold(scipy.fft.irfft(spectrum, counts.shape[2], axis=1, overwrite_x=True), out)

    def derivative(self, rows: Array, column: int) -> Array:
        """Return the derivative of the sketch with respect to one column of the rows."""
        out = np.zeros((len(rows), self.width), rows.dtype)
        if self.degree == 0:
            return out
        spectra = scipy.fft.rfft(self._counts(rows), axis=2)
        inner = scipy.fft.rfft(self._counts(np.eye(1, rows.shape[1], column)), axis=2)
        total = np.zeros_like(spectra[:, 0])
        for number in range(self.degree):  # the rule for products
            total += inner[:, number] * np.delete(spectra, number, axis=1).prod(axis=1)
        fold(scipy.fft.irfft(total, self.matrix.shape[1] // self.degree, axis=1), out)
        return out

    def _counts(self, rows: Any) -> Array:
        """Return all count sketches of rows: [b, j, length]."""
        counts = rows @ self.matrix
        counts = counts.toarray() if is_sparse(counts) else np.asarray(counts)
        return counts.reshape(rows.shape[0], self.degree, -1)


class TensorSketchFeatures(SketchedPowers):
    r"""TensorSketch of every tensor power of a kernel's Taylor series (Pham and Pagh, 2013).

    For :math:`k(x,y) = e^{-\beta(\|x\|^2+\|y\|^2)} \sum_j a_j \langle x,y\rangle^j` with
    :math:`a_j \ge 0`, the features are, for every degree j up to a cut-off,

    .. math::

        \sqrt{a_j}\; e^{-\beta\|x\|^2}\; \mathcal{F}^{-1}\big(\mathcal{F} C_1 x \circ \cdots
        \circ \mathcal{F} C_j x\big), \qquad \mathbb{E}[Z Z^\top] = K,

    with independent count sketches :math:`C_i`, which add every column of x, with a random sign, to
    a random bucket. The variance of a degree grows like 3ʲ (`PolySketchFeatures`: linearly), the
    time like j times that of a Fourier transform and of the non-zero entries.

    Parameters
    ----------
    kernel : Kernel or str, default="gaussian"
        A kernel with a Taylor series in ⟨x, y⟩: Gaussian, Exponential, Polynomial, DotProduct,
        their sums and products. (``PolynomialCountSketch`` of scikit-learn serves polynomials.)
    n_components : int, default=1024
        The width D of the output, shared among the degrees in proportion to a_j R^{2j}, R² the
        mean squared norm of the rows, with at least one column each. Degree 0 has one column and
        degree 1 at most d; with these they are *exact*.
    degree : int or "auto", default="auto"
        The largest degree. ``"auto"``: the smallest whose tail is below 1e-4 of the mean k(x, x),
        or the last that earns half a column, if that is lower; where there are more degrees than
        columns, those that matter most. An explicit degree needs as many columns as there are
        degrees.
    center : bool, array-like of shape (n_features,) or "auto", default="auto"
        What is subtracted from the rows: nothing, their mean or a given point. ``"auto"`` is the
        mean for shift-invariant kernels on dense data, unless the rows lie on a sphere around
        zero, of which they are more than a small part.
    random_state : int, RandomState instance or None, default=None
        The seed.

    Attributes
    ----------
    kernel_ : Kernel
        The kernel with all parameters resolved to numbers.
    series_ : TaylorSeries
        What the features estimate without bias: E[Z Zᵀ] = ``series_(X - center_)``.
    degrees_ : ndarray of shape (n_pieces,)
        The degrees, ascending (twice where two summands of the kernel have different decay).
    widths_ : ndarray of shape (n_pieces,)
        The number of columns of each; their sum is `n_components`.
    sketches_ : list of CountSketches
        Those of each.
    center_ : ndarray of shape (n_features,)
        The point subtracted from all rows (zeros for none).
    n_features_in_ : int
        d.

    References
    ----------
    N. Pham and R. Pagh, "Fast and Scalable Polynomial Kernels via Explicit Feature Maps",
    KDD 2013.

    Examples
    --------
    >>> import numpy as np
    >>> import zonal
    >>> X = np.random.default_rng(0).standard_normal((200, 20))
    >>> features = zonal.TensorSketchFeatures(zonal.Gaussian(6.0), 512, random_state=0)
    >>> Z = features.fit_transform(X)
    >>> features.degrees_, features.widths_
    (array([0, 1, 2, 3, 4]), array([  1,  20, 405,  75,  11]))
    >>> K = zonal.Gaussian(6.0)(X)
    >>> bool(np.linalg.norm(Z @ Z.T - K) < 0.03 * np.linalg.norm(K))
    True
    """

    def __init__(
        self,
        kernel: Any = "gaussian",
        n_components: int = 1024,
        *,
        degree: int | str = "auto",
        center: Any = "auto",
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.degree = degree
        self.center = center
        self.random_state = random_state

    def _fit(self, sample: TrainingSample, seed: int) -> int:
        dim = self.n_features_in_
        self._share_columns(
            sample, lambda degree: dim**degree if degree < 2 else int(self.n_components)
        )
        rng = np.random.default_rng(seed)
        self.sketches_ = [
            _draw(dim, int(degree), int(width), rng)
            for degree, width in zip(self.degrees_, self.widths_, strict=True)
        ]
        return int(self.widths_.sum())

    @property
    def scratch_width(self) -> int:
        """Intermediate numbers a row: count sketches and their transforms."""
        return self.n_columns + max(3 * part.matrix.shape[1] for part in self.sketches_)

    def _unit_features(self, dtype: npt.DTypeLike) -> Callable[[Any, Array], None]:
        parts = [part.astype(dtype) for part in self.sketches_]

        def fill(rows: Any, out: Array) -> None:
            start = 0
            for part in parts:
                part.fill(rows, out[:, start : start + part.width])
                start += part.width

        return fill

    def _unit_gradients(self, rows: FloatArray) -> tuple[FloatArray, FloatArray]:
        values = np.empty((len(rows), self.n_columns))
        self._unit_features(np.float64)(rows, values)
        gradients = np.empty((*values.shape, rows.shape[1]))
        for column in range(rows.shape[1]):
            parts = [part.derivative(rows, column) for part in self.sketches_]
            gradients[:, :, column] = np.concatenate(parts, axis=1)
        return values, gradients


def _draw(dim: int, degree: int, width: int, rng: np.random.Generator) -> CountSketches:
    """Draw the count sketches of one degree; a first degree that fits is exact."""
    if degree == 1 and dim <= width:
        return CountSketches(degree, width, sp.eye_array(dim, width, format="csr"))
    length = int(scipy.fft.next_fast_len(width, real=True))
    parts = [base_matrix("count", dim, length, rng) for _ in range(degree)]
    matrix = sp.hstack([sp.csr_array((dim, 0)), *parts], format="csr")
    return CountSketches(degree, width, matrix)
