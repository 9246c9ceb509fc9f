"""Nyström features: projections of the kernel onto landmarks among the rows."""

import warnings
from collections.abc import Callable
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight

from .._typing import Array, FloatArray
from .._validation import canonical, check_choice, check_count, valid_rows
from ..kernels import Kernel, as_kernel
from ..rows.costs import announce_cost, eigen_seconds, sum_seconds
from ..rows.dispatch import blockwise, sampled
from .base import KernelFeatures
from .kernel_blocks import kernel_diag
from .landmarks import SAMPLING, choose_landmarks, distinct_rows, whitening
from .training_sample import TrainingSample

__all__ = ["NystroemFeatures"]

# Error of a row of float32 features that is tolerated, relative to √k(x, x).
SINGLE_ERROR = 1e-4


class NystroemFeatures(KernelFeatures):
    r"""Nyström features of any kernel.

    With landmarks :math:`x_{i_1}, \dots, x_{i_m}` among the rows, and the eigendecomposition of
    their kernel matrix,

    .. math::

        Z = K_{X,I}\, U \Lambda^{-1/2}, \qquad K_{I,I} = U \Lambda U^\top,
        \qquad Z Z^\top = K_{X,I} K_{I,I}^+ K_{I,X} \preceq K,

    exact in rows and columns of landmarks. Unlike random features these adapt to the data, and
    so they are not unbiased. Never forms an n × n matrix.

    Parameters
    ----------
    kernel : Kernel, callable or str, default="gaussian"
        The kernel. ``"gaussian"`` is ``Gaussian("median")``; a plain function
        ``kernel(X, Y) -> [n_rows_x, n_rows_y]`` must be positive definite.
    n_components : int, default=1024
        The number of landmarks m, and the largest width of the output: eigenvalues below 1e-15 of
        the largest, or below rounding errors, are dropped. Where there are fewer distinct rows
        than that, all are landmarks, with a warning.
    sampling : {"recursive", "uniform", "rpcholesky"}, default="recursive"
        How landmarks are drawn, always distinct and from all rows.
        ``"recursive"``: by ridge leverage scores, found recursively (Musco and Musco, 2017): O(n m)
        kernel values, O(n m²) time and little memory; finds small clusters that
        ``"uniform"``, the cheapest, misses.
        ``"rpcholesky"``: randomly pivoted Cholesky (Chen et al., 2023), each landmark by what
        the earlier ones leave of k(x, x): about the best for its number, in the same time, but
        with n × m numbers in memory. Beyond 1e8 of them (800 MB) the landmarks come from a sample
        of 1e8 / m rows. Takes fewer than m if those leave nothing.
    random_state : int, RandomState instance or None, default=None
        The seed of the draws. But for rounding, they do not depend on the order of the rows (given
        the kernel), nor on the number of threads.

    Attributes
    ----------
    kernel_ : Kernel or callable
        The kernel with all parameters resolved to numbers.
    landmarks_ : ndarray or CSR matrix of shape (m, n_features)
        The landmarks.
    landmark_indices_ : ndarray of shape (m,)
        Their row numbers in the X of `fit` (the first of equal rows).
    eigenvalues_ : ndarray of shape (n_columns,)
        The eigenvalues of the landmarks' kernel matrix that are kept, decreasing.
    n_features_in_ : int
        d.

    Notes
    -----
    A row of weight w counts as w equal rows, exactly (except in the median bandwidth of more than
    2,000 rows), and a row of weight zero is never a landmark. Features of float32 rows are float32,
    but where small eigenvalues would amplify its rounding errors, float64 is used on the way.

    References
    ----------
    C. Musco and C. Musco, "Recursive Sampling for the Nyström Method", NeurIPS 2017.

    Y. Chen, E. N. Epperly, J. A. Tropp and R. J. Webber, "Randomly pivoted Cholesky: Practical
    approximation of a kernel matrix with few entry evaluations", 2023; with the rejection step of
    E. N. Epperly, J. A. Tropp and R. J. Webber, "Embrace rejection: Kernel matrix approximation by
    accelerated randomly pivoted Cholesky", 2024.

    Examples
    --------
    >>> import numpy as np
    >>> import zonal
    >>> X = np.random.default_rng(0).standard_normal((500, 3))
    >>> features = zonal.NystroemFeatures(zonal.Gaussian(2.0), n_components=100, random_state=0)
    >>> Z = features.fit_transform(X)
    >>> features.landmarks_.shape
    (100, 3)
    >>> K = zonal.Gaussian(2.0)(X)
    >>> bool(np.linalg.norm(Z @ Z.T - K) < 1e-3 * np.linalg.norm(K))
    True
    """

    def __init__(
        self,
        kernel: Any = "gaussian",
        n_components: int = 1024,
        *,
        sampling: str = "recursive",
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.sampling = sampling
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Choose landmarks among all rows, and learn what the kernel leaves to the data.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
            Rows. A median bandwidth comes from at most 10,000 of them, chosen by row number; of
            Dask collections and streams the landmarks too.
        y : ignored
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows; a row of weight 2 counts as two rows.

        Returns
        -------
        self
        """
        self._n_features_out: int | None = None
        X, sample_weight = sampled(X, sample_weight)
        X = canonical(valid_rows(self, X, accept_sparse="csr", dtype=[np.float64, np.float32]))
        name = type(self).__name__
        check_count("n_components", self.n_components, name)
        check_choice("sampling", self.sampling, SAMPLING, name)
        seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        sample = TrainingSample(X, sample_weight)
        if callable(self.kernel) and not isinstance(self.kernel, Kernel | type):
            self.kernel_ = self.kernel
        else:
            self.kernel_ = as_kernel(self.kernel).resolve(sample.rows, sample.weights)
            self.kernel_.check()
        self._check_range(sample)
        weights = _check_sample_weight(sample_weight, X, dtype=np.float64)
        rows, totals = distinct_rows(X, weights)
        size = min(int(self.n_components), len(rows))
        recursive = self.sampling == "recursive"
        # Leverage scores of all rows, round by round, take about five sums over them.
        seconds = 5 * sum_seconds(len(rows), size) if recursive else 0.0
        announce_cost(
            f"{name} of {size:,} landmarks",
            seconds + eigen_seconds(size, 1.0 if recursive else 0.7),
            24.0 * size**2,
            "Lower n_components.",
        )
        self.landmark_indices_ = rows[self._choose(X[rows], totals, seed)]
        self.landmarks_ = X[self.landmark_indices_]
        self._n_features_out = self._fit(sample, seed)
        return self

    def _choose(self, X: Any, weights: Array, seed: int) -> npt.NDArray[np.intp]:
        """Choose the landmarks among distinct rows, by number."""
        n_rows = X.shape[0]
        if n_rows > self.n_components:
            rng = np.random.default_rng(seed)
            return choose_landmarks(
                self.sampling, self.kernel_, X, weights, int(self.n_components), rng
            )
        if n_rows < self.n_components:
            warnings.warn(
                f"n_components={self.n_components} exceeds the {n_rows} distinct rows of positive "
                "weight: all of them are landmarks. Lower n_components to silence this.",
                UserWarning,
                stacklevel=3,
            )
        return np.arange(n_rows)

    def _fit(self, sample: TrainingSample, seed: int) -> int:
        self.eigenvalues_, self._whitening = whitening(self.kernel_, self.landmarks_)
        return len(self.eigenvalues_)

    @blockwise
    def kernel_diag(self, X: Any) -> Array:
        """Return k(x, x) of the exact kernel at rows: [n_samples]."""
        X = self._valid(X)
        return kernel_diag(self.kernel_, X).astype(X.dtype, copy=False)

    @property
    def scratch_width(self) -> int:
        """Intermediate numbers a row."""
        return sum(self._whitening.shape)  # a row of the kernel matrix, and of the features

    def evaluator(self, dtype: npt.DTypeLike) -> Callable[[Any, Array], None]:
        """Return a function that fills whitened kernel values at the landmarks."""
        dtype = np.dtype(dtype)
        if dtype == np.float32 and self._single_error() > SINGLE_ERROR:
            dtype = np.dtype(np.float64)
        landmarks = self.landmarks_.astype(dtype)
        factor = self._whitening.astype(dtype)

        def block(rows: Any, out: Array) -> None:
            K = np.asarray(self.kernel_(rows.astype(dtype, copy=False), landmarks), dtype)
            if dtype == out.dtype:
                np.matmul(K, factor, out=out)
            else:
                out[:] = K @ factor

        return block

    def _gradients(self, rows: FloatArray) -> FloatArray:
        return self._contracted(rows, np.eye(self.n_columns))

    def _contracted(self, rows: FloatArray, coef: FloatArray) -> FloatArray:
        if not isinstance(self.kernel_, Kernel):
            raise NotImplementedError(
                f"kernel={self.kernel_!r} is a plain function, whose gradient is not known: use a "
                "kernel of this library, such as zonal.Gaussian."
            )
        return self.kernel_.contract_gradient(rows, self.landmarks_, self._whitening @ coef)

    @property
    def _contracted_width(self) -> int:
        return 4 * self.landmarks_.shape[0]

    def _single_error(self) -> float:
        """Return a row's error relative to √k(x, x) if the kernel has errors of float32.

        An error ε k(x, x) in each entry is ε k(x, x) λ_j^-½ in feature j.
        """
        diagonal = self.eigenvalues_.sum() / self.landmarks_.shape[0]
        square = diagonal * (1 / self.eigenvalues_).sum()
        return float(np.finfo(np.float32).eps / 2 * np.sqrt(square))
