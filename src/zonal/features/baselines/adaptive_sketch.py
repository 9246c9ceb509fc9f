"""Features by adaptive sampling: coordinates of tensor powers, drawn by leverage scores."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.linalg import eigh

from ..._typing import Array, FloatArray
from ..._validation import check_count, is_sparse
from ...kernels.expansion.cut import average_taylor
from ..landmarks import distinct_rows
from ..training_sample import TrainingSample
from .sketched_powers import TOL
from .taylor import TaylorFeatures, unit_rows, warn_if_cut
from .tuple_sampling import TupleSampler

__all__ = ["AdaptiveSketchFeatures"]

# Rows that leverage scores are found from, random vectors that they are found with, and columns
# of the sketches of powers.
ROWS, PROBES, SKETCH = 2000, 8, 16
# Draws for each column, at most, where tuples repeat.
MOST = 16


class AdaptiveSketchFeatures(TaylorFeatures):
    r"""Coordinates of tensor powers, sampled by ridge leverage scores (Woodruff, Zandieh, 2020).

    For :math:`k(x,y) = e^{-\beta(\|x\|^2+\|y\|^2)} \sum_j a_j \langle x,y\rangle^j`, the features
    are products of columns,

    .. math::

        z_I(x) = \sqrt{\frac{a_j}{1 - (1 - p_I)^N}}\, e^{-\beta\|x\|^2}\, x_{i_1} \cdots x_{i_j},
        \qquad I = (i_1, \dots, i_j) \sim p, \qquad \mathbb{E}[Z Z^\top] = K,

    for the different tuples among N draws (over the chance to be drawn at all, so that likely
    ones are exact), with p close to the ridge leverage scores
    :math:`\phi_I^\top (K + \lambda)^{-1} \phi_I` of the values φ_I at the rows. They come in
    rounds: first p is proportional to ‖φ_I‖²; the features of one round give (Z Zᵀ + λ)⁻¹ for the
    next, with a smaller λ. Tuples are drawn column after column with sketches of the powers that
    are left, so that no power is ever formed and sparse rows stay sparse. The number of features
    needed grows with the statistical dimension of the rows, whatever their number of columns.

    Parameters
    ----------
    kernel : Kernel or str, default="gaussian"
        A kernel with a Taylor series in ⟨x, y⟩, as for `PolySketchFeatures`.
    n_components : int, default=1024
        The number of columns D. As many tuples are drawn as fill them, by what the round before
        found; those that differ in their order share a column, and columns of zeros may follow.
    n_rounds : int, default=3
        Rounds of sampling.
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
        What the features estimate: E[Z Zᵀ] = ``series_(X - center_)`` at the rows of the sample.
    tuples_ : list of ndarrays of shape (n, degree)
        The columns whose product each feature is, for every piece of the series.
    lam_ : float
        λ of the last round.
    center_ : ndarray of shape (n_features,)
        The point subtracted from all rows (zeros for none).
    n_features_in_ : int
        d.

    Notes
    -----
    Scores are found from at most 2,000 rows. A product of columns that is zero in all of these is
    hardly ever drawn: what only other rows have is missing from the features.

    References
    ----------
    D. P. Woodruff and A. Zandieh, "Near Input Sparsity Time Kernel Embeddings via Adaptive
    Sampling", ICML 2020.

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse as sp
    >>> import zonal
    >>> X = sp.random(300, 5000, density=0.002, random_state=0, format="csr")
    >>> features = zonal.AdaptiveSketchFeatures(zonal.Polynomial(2), 512, random_state=0)
    >>> features.fit_transform(X).shape
    (300, 512)
    """

    quick = False

    def __init__(
        self,
        kernel: Any = "gaussian",
        n_components: int = 1024,
        *,
        n_rounds: int = 3,
        center: Any = "auto",
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.n_rounds = n_rounds
        self.center = center
        self.random_state = random_state

    def _fit(self, sample: TrainingSample, seed: int) -> int:
        name = type(self).__name__
        check_count("n_rounds", self.n_rounds, name)
        norms = self._norms(sample)
        series, energy = average_taylor(self.kernel_, norms, sample.weights, TOL, name)
        warn_if_cut(self.kernel_, series, 1 - energy.sum(), self.n_components)
        self.series_ = series
        rng = np.random.default_rng(seed)
        # Repeated rows and weighted ones are the same, in the order of a hash.
        chosen, weights = distinct_rows(sample.rows, sample.weights)
        chosen, weights = chosen[:ROWS], weights[:ROWS]
        rows = unit_rows(self._centered(sample.rows[chosen]), norms[chosen])
        # [n, n_pieces]: what each row weighs in the coordinates of each piece.
        heights = np.exp(series.log_weights(norms[chosen])) * np.sqrt(weights)[:, None]
        sampler = TupleSampler(rows, int(series.degrees.max()), SKETCH, rng)
        self.lam_ = math.inf
        Z: FloatArray | None = None
        n_draws = int(self.n_components)
        for _ in range(int(self.n_rounds)):
            probes = self._probes(Z, len(chosen), rng)
            n_found = self._draw(sampler, probes, heights, n_draws, rng)
            # The next round may draw as often as it takes to fill the columns: tuples repeat.
            n_draws = min(n_draws * int(self.n_components) // n_found, MOST * self.n_components)
            Z = np.empty((len(chosen), int(self._counts.sum())))
            self._unit_features(np.float64)(rows, Z)
            Z *= np.repeat(heights * np.exp(self._log_scales), self._counts, axis=1)
        return int(self._counts.sum())

    def _probes(self, Z: FloatArray | None, n_rows: int, rng: np.random.Generator) -> FloatArray:
        """Return (Z Zᵀ/λ + 1)^{-1/2} G for random vectors G; G itself at first.

        λ is what a sample of D can serve, as for Nyström features: the mean of the eigenvalues
        beyond the first D/(4 log D).
        """
        G = rng.standard_normal((n_rows, PROBES))
        if Z is None:
            return G
        wide = Z.shape[1] > n_rows
        squares, basis = eigh(Z @ Z.T if wide else Z.T @ Z)
        squares = np.maximum(squares, 0.0)
        size = Z.shape[1]
        k = math.ceil(size / (4 * math.log(size))) if size > 1 else 1
        rest = max(np.sort(squares)[::-1][k:].sum(), 1e-12 * squares.sum(), np.finfo(float).tiny)
        self.lam_ = min(self.lam_, float(rest / k))
        # √(1 + s/λ), where s/λ may be too large: a round finds nothing, and the next one much.
        growth = np.hypot(1.0, np.sqrt(squares) / math.sqrt(self.lam_))
        if wide:
            return np.asarray(basis @ ((basis.T @ G) / growth[:, None]))
        weights = 1 / (self.lam_ * growth * (growth + 1))
        return np.asarray(G - Z @ (basis @ (weights[:, None] * (basis.T @ (Z.T @ G)))))

    def _draw(
        self,
        sampler: TupleSampler,
        probes: FloatArray,
        heights: FloatArray,
        n_draws: int,
        rng: np.random.Generator,
    ) -> int:
        """Draw tuples of all pieces, by their masses, and return how many columns they need.

        A tuple counts once, however often it is drawn, over the probability that it is drawn at
        all (Horvitz and Thompson): tuples that are sure to be drawn are exact.
        """
        degrees = self.series_.degrees.tolist()
        weighted = [probes * height[:, None] for height in heights.T]
        masses = np.array([sampler.mass(H, q) for H, q in zip(weighted, degrees, strict=True)])
        # Where the rows are so far from each other that all is zero, no piece is better.
        share = 0.9 * masses / (masses.sum() or 1.0) + 0.1 / len(masses)
        share /= share.sum()
        counts = rng.multinomial(n_draws, share)
        found = []
        for H, degree, count, p in zip(weighted, degrees, counts, share, strict=True):
            tuples, log_p = sampler.draw(H, degree, int(count))
            drawn, first = np.unique(tuples, axis=0, return_index=True)
            # Orders of the same columns share a feature.
            drawn.sort(axis=1)
            distinct, which = np.unique(drawn, axis=0, return_inverse=True)
            log_squares = np.full(len(distinct), -np.inf)
            log_drawn = _log_drawn(math.log(p) + log_p[first], n_draws)
            np.logaddexp.at(log_squares, which.ravel(), -log_drawn)
            found.append((distinct, log_squares))
        self._keep(found, rng)
        return sum(len(distinct) for distinct, _ in found)

    def _keep(
        self, found: list[tuple[npt.NDArray[np.intp], FloatArray]], rng: np.random.Generator
    ) -> None:
        """Fit tuples and the logs of their squared factors into D columns.

        Too many: the most likely stay, and of the others a random part, with larger factors. Too
        few: columns of zeros, of the last piece.
        """
        size = int(self.n_components)
        logs = np.concatenate([part for _, part in found])
        order = np.argsort(logs, kind="stable")
        if len(logs) > size:
            rest = order[size // 2 :]
            kept = rng.choice(rest, size - size // 2, replace=False)
            logs[kept] += math.log(len(rest) / len(kept))
            logs[np.setdiff1d(rest, kept)] = -np.inf
        self.tuples_, self._factors = [], []
        for distinct, part in zip(
            (distinct for distinct, _ in found),
            np.split(logs, np.cumsum([len(part) for _, part in found])[:-1]),
            strict=True,
        ):
            stays = part > -np.inf
            self.tuples_.append(distinct[stays])
            self._factors.append(np.exp(part[stays] / 2))
        missing = size - sum(map(len, self.tuples_))
        blank = np.zeros((missing, self.tuples_[-1].shape[1]), np.intp)
        self.tuples_[-1] = np.concatenate([self.tuples_[-1], blank])
        self._factors[-1] = np.concatenate([self._factors[-1], np.zeros(missing)])
        self._counts = np.array([len(part) for part in self.tuples_])
        self._log_scales = np.zeros(len(self.series_))

    @property
    def scratch_width(self) -> int:
        """Intermediate numbers a row."""
        return 3 * self.n_columns + len(self._used())

    def _used(self) -> npt.NDArray[np.intp]:
        """Return the columns that are in some tuple."""
        return np.unique(np.concatenate([tuples.ravel() for tuples in self.tuples_]))

    def _unit_features(self, dtype: npt.DTypeLike) -> Callable[[Any, Array], None]:
        used = self._used()
        # A factor of a high degree may be beyond the numbers of a type: each column has its root.
        roots = np.concatenate(
            [
                factors ** (1 / max(tuples.shape[1], 1))
                for tuples, factors in zip(self.tuples_, self._factors, strict=True)
            ]
        ).astype(dtype)
        # The tuples with a first, a second, … column: all but the features before them.
        n_columns = np.repeat(self.series_.degrees, self._counts)
        longer = [
            (
                int(np.searchsorted(n_columns, k, side="right")),
                np.searchsorted(
                    used, np.concatenate([t[:, k] for t in self.tuples_ if k < t.shape[1]])
                ),
            )
            for k in range(int(self.series_.degrees.max()))
        ]

        def fill(rows: Any, out: Array) -> None:
            values = _columns(rows, used)
            out[:] = np.where(n_columns == 0, roots, 1)
            for start, places in longer:
                out[:, start:] *= values[:, places] * roots[start:]

        return fill

    def _unit_gradients(self, rows: FloatArray) -> tuple[FloatArray, FloatArray]:
        values = np.empty((len(rows), self.n_columns))
        self._unit_features(np.float64)(rows, values)
        gradients = np.zeros((*values.shape, rows.shape[1]))
        start = 0
        for tuples, factors in zip(self.tuples_, self._factors, strict=True):
            places = start + np.arange(len(tuples))
            for number, column in enumerate(tuples.T):
                others = np.delete(tuples, number, axis=1)
                gradients[:, places, column] += factors * rows[:, others].prod(axis=2)
            start += len(tuples)
        return values, gradients


def _columns(rows: Any, columns: npt.NDArray[np.intp]) -> Array:
    """Return columns of rows, dense: [b, n]."""
    return np.asarray(rows[:, columns].toarray() if is_sparse(rows) else rows[:, columns])


def _log_drawn(log_p: FloatArray, n_draws: int) -> FloatArray:
    """Return log(1 - (1 - p)ⁿ), where p may be below all numbers: it is np, if that is small."""
    p = np.exp(np.minimum(log_p, 0.0))
    with np.errstate(divide="ignore"):  # a tuple that is the only one, or too rare
        exact = np.log(-np.expm1(n_draws * np.log1p(-p)))
    return np.where(n_draws * p < 1e-12, math.log(n_draws) + log_p, exact)
