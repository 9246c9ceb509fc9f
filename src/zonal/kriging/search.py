"""Parameters by evidence: from small samples and all candidates to the whole sample and one."""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize_scalar

from .._typing import Array, FloatArray
from ..kernels import Kernel, Matern
from .correlation import EXPONENTIAL, MATERN_32, MATERN_52, Correlation, of_kernel
from .evidence import LOG_NOISE, Parameters, Sample, maximize
from .locations import Locations
from .marginal import Observed, marginal
from .neighbors import earlier_neighbors
from .weights import local_matrices, solve_matrices
from .whitening import Whitening

__all__ = ["Found", "column_groups", "compress", "find_noise", "find_parameters"]

#: Rows whose terms of the evidence are summed, and rows among which their neighbours are.
SAMPLE_ROWS, BASE_ROWS = 16_000, 100_000
# Rows judged, rows among which their neighbours are, neighbours, iterations, searches for
# neighbours: of the rounds that find a start, compare kernels and polish the best.
ROUNDS = (
    (2_000, 16_000, 12, 12, 4),
    (4_000, BASE_ROWS, 16, 10, 4),
    (SAMPLE_ROWS, BASE_ROWS, 24, 8, 2),
)
# Starts: length scales in units of the distance between two random rows, and noise.
STARTS, NOISE_START = (0.5, 0.05), 0.1
_FAMILIES = {
    0.5: Correlation(EXPONENTIAL),
    1.5: Correlation(MATERN_32),
    2.5: Correlation(MATERN_52),
}
# Features are compressed if there are more than the first number, to at most the second, or to
# what holds all but this share of their squares.
SMALL_WIDTH, MOST_FEATURES, LEFT_OUT = 32, 256, 1e-4
# Kernels whose evidence a row is that close are both polished.
TIE = 0.01
# A kernel without compiled form is judged by fewer rows.
SLOW_ROWS, SLOW_NEIGHBORS = 1_000, 16


@dataclass(frozen=True)
class Candidate:
    """A correlation function with parameters, and its log evidence once it is known."""

    correlation: Correlation
    parameters: Parameters
    value: float = math.nan


@dataclass(frozen=True)
class Found:
    """The kernel, the noise and the features' share that the evidence prefers.

    Attributes
    ----------
    kernel : Kernel
        In the units of the rows.
    noise : float
        η, relative to the kernel.
    ratio : float
        τ, the variance of the coefficients of features, relative to the kernel.
    log_evidence : float
        Of the sample, with targets of unit variance.
    """

    kernel: Kernel
    noise: float
    ratio: float
    log_evidence: float


def column_groups(rows: Array) -> npt.NDArray[np.intp]:
    """Columns that share a length scale: those of points on a circle or a sphere.

    Two or three columns side by side whose squares have the same sum in every row are one angle
    or one place on the Earth. All others have a length scale of their own.

    Returns
    -------
    ndarray of shape (d,)
        The number of each column's group.

    Examples
    --------
    >>> import numpy as np
    >>> from zonal.kriging.search import column_groups
    >>> angle, height = np.linspace(0, 6, 50), np.linspace(2, 3, 50)
    >>> column_groups(np.column_stack([np.cos(angle), np.sin(angle), height]))
    array([0, 0, 1])
    """
    n_columns = rows.shape[1]
    squares = np.asarray(rows, np.float64) ** 2
    varies = np.ptp(rows, axis=0) > 0
    groups, first, number = np.empty(n_columns, np.intp), 0, 0
    while first < n_columns:
        width = 1
        for size in (3, 2):
            part = slice(first, first + size)
            sums = squares[:, part].sum(axis=1)
            together = first + size <= n_columns and varies[part].all()
            if together and np.ptp(sums) <= 1e-5 * sums.max():
                width = size
                break
        groups[first : first + width] = number
        first, number = first + width, number + 1
    return groups


def find_parameters(
    locations: Locations,
    kernel: Kernel | None = None,
    noise: float | None = None,
    features: Array | None = None,
    n_neighbors: int = 24,
    smoothness: tuple[float, ...] = (0.5, 1.5, 2.5),
    verbose: bool = False,
) -> Found:
    """Maximise the evidence of a sample, over whatever is not given.

    Parameters
    ----------
    locations : Locations
        All rows, or at least `SAMPLE_ROWS` of them from the beginning.
    kernel : Kernel, optional
        A kernel whose parameters are numbers, and stay. By default a Matérn kernel of ν = 1/2,
        3/2 or 5/2 with length scales for each column (see `column_groups`).
    noise : float, optional
        η, if it is known.
    features : ndarray of shape (n_sample, D), optional
        Features of the first locations, for the joint model: there are as many rows in the
        sample.
    n_neighbors : int, default=24
        The most neighbours that rows are conditioned on here.
    smoothness : tuple of float
        The ν to choose from, of 1/2, 3/2 and 5/2, where no kernel is given.
    verbose : bool, default=False
        Print what each round finds.
    """
    n_rows = min(len(locations), BASE_ROWS if features is None else len(features))
    head = locations.head(n_rows)
    given = None if kernel is None else of_kernel(kernel)
    if kernel is not None and given is None:
        if features is not None:
            raise ValueError(
                f"kernel={kernel!r} cannot stand beside features: use Matern with ν = 1/2, 3/2 or "
                "5/2, Gaussian, Laplacian or RationalQuadratic."
            )
        eta = find_noise(head, kernel, n_neighbors) if noise is None else noise
        return Found(kernel, eta, 1.0, math.nan)
    units = _Units.of(head.rows, given)
    reduced = None if features is None else compress(features)
    sample = Sample.of(head, units.center, units.spread, units.groups, reduced)
    free = np.concatenate(
        [np.full(units.n_groups, kernel is None), [noise is None, features is not None]]
    )
    start = NOISE_START if noise is None else noise
    log_noise = math.log(start) if start > 0 else -math.inf
    if given is not None:
        correlations = [given]
        starts = [Parameters(np.zeros(units.n_groups), log_noise)]
    else:
        correlations = [_FAMILIES[nu] for nu in smoothness]
        starts = units.starts(log_noise)
    climber = _Climber(sample, free, n_neighbors, verbose)
    best = _rounds(climber, correlations, starts, _has_signal(head.targets))
    scales = np.exp(best.parameters.log_scales)[units.groups] * units.spread
    chosen = kernel if kernel is not None else _matern(best.correlation, scales)
    noise, ratio = (math.exp(value) for value in best.parameters.vector()[-2:])
    return Found(chosen, noise, ratio, best.value)


@dataclass(frozen=True)
class _Climber:
    """Climbs with everything but the start and the kernel fixed."""

    sample: Sample
    free: npt.NDArray[np.bool_]
    n_neighbors: int
    verbose: bool

    def climb(self, number: int, candidate: Candidate) -> Candidate:
        """A candidate after a round."""
        n_rows, n_base, m, n_iterations, n_searches = ROUNDS[number]
        part = self.sample.thin(n_rows, n_base)
        best, value = maximize(
            part,
            candidate.correlation,
            candidate.parameters,
            self.free,
            min(m, self.n_neighbors),
            n_iterations,
            n_searches,
        )
        if self.verbose:
            numbers = np.exp(best.vector()).round(6)
            print(f"{len(part)} rows, {candidate.correlation}: {value / len(part):.4f}, {numbers}")
        return Candidate(candidate.correlation, best, value)


def _rounds(
    climber: _Climber,
    correlations: list[Correlation],
    starts: list[Parameters],
    has_signal: bool,
) -> Candidate:
    """Find a start with the middle kernel, compare the kernels from there, polish the best."""
    middle = correlations[len(correlations) // 2]
    if not has_signal:
        return Candidate(middle, starts[0])
    found = max((climber.climb(0, Candidate(middle, start)) for start in starts), key=_value)
    first = [Candidate(correlation, found.parameters) for correlation in correlations]
    if len(first) > 1:
        first = sorted((climber.climb(1, candidate) for candidate in first), key=_value)
        margin = TIE * ROUNDS[1][0]
        first = [one for one in first[-2:] if one.value > first[-1].value - margin]
    return max((climber.climb(2, candidate) for candidate in first), key=_value)


def _value(candidate: Candidate) -> float:
    return candidate.value


@dataclass(frozen=True)
class _Units:
    """Columns in units in which starts make sense."""

    center: FloatArray
    spread: FloatArray
    groups: npt.NDArray[np.intp]
    n_groups: int

    @classmethod
    def of(cls, rows: Array, given: Correlation | None) -> "_Units":
        numbers = np.asarray(rows, np.float64)
        center, n_columns = numbers.mean(axis=0), rows.shape[1]
        if given is not None:
            spread = np.broadcast_to(np.asarray(given.length_scale, float), (n_columns,))
            return cls(center, spread, np.zeros(n_columns, np.intp), 1)
        groups = column_groups(rows)
        counts = np.bincount(groups)
        spread = np.sqrt(np.bincount(groups, numbers.var(axis=0)) / counts)[groups]
        return cls(center, np.where(spread > 0, spread, 1.0), groups, len(counts))

    def starts(self, log_noise: float) -> list[Parameters]:
        size = math.sqrt(2 * len(self.groups))
        return [
            Parameters(np.full(self.n_groups, math.log(size * share)), log_noise)
            for share in STARTS
        ]


def _matern(correlation: Correlation, scales: FloatArray) -> Kernel:
    nu = next(nu for nu, family in _FAMILIES.items() if family is correlation)
    return Matern(nu, scales)


def compress(features: Array) -> FloatArray:
    """Fewer columns Z' with Z'Z'ᵀ ≈ ZZᵀ, which is all that the evidence depends on.

    The leading principal components about zero, for at most `LEFT_OUT` of the trace or as many as
    `MOST_FEATURES`. What is left out is for the local part to explain.
    """
    Z = np.asarray(features, np.float64)
    if Z.shape[1] <= SMALL_WIDTH:
        return Z
    values, vectors = np.linalg.eigh(Z.T @ Z)
    missing = np.cumsum(np.maximum(values, 0.0))
    n_dropped = int(np.searchsorted(missing, LEFT_OUT * missing[-1]))
    return Z @ vectors[:, max(n_dropped, Z.shape[1] - MOST_FEATURES) :]


def find_noise(locations: Locations, kernel: Kernel, n_neighbors: int) -> float:
    """η by evidence for a kernel without compiled form, on few rows and without gradients."""
    head = locations.head(SLOW_ROWS)
    if not _has_signal(head.targets):
        return NOISE_START
    center = head.targets - head.targets.mean(axis=0)
    columns = np.column_stack([np.ones(len(head)), center])
    points = np.ascontiguousarray(head.rows, np.float64)
    rows = np.arange(len(head), dtype=np.int32)
    neighbors = earlier_neighbors(points, min(n_neighbors, SLOW_NEIGHBORS, len(head) - 1))
    matrices = list(local_matrices(kernel, points, points, neighbors))

    def loss(log_noise: float) -> float:
        noise = math.exp(log_noise)
        nugget = noise / head.weight
        weights, variance = solve_matrices(matrices, nugget, neighbors)
        whitening = Whitening(rows, neighbors, weights, variance + nugget)
        whitened = whitening.apply(columns)
        observed = Observed.of(whitening.variance, head.weight, head.within, noise)
        return -marginal(whitened.T @ whitened, center.shape[1], observed).log_evidence

    found = minimize_scalar(loss, bounds=LOG_NOISE, method="bounded", options={"maxiter": 20})
    return math.exp(float(found.x))


def _has_signal(targets: FloatArray) -> bool:
    """Whether there is anything to learn parameters from."""
    varies = np.ptp(targets, axis=0) > 1e-12 * np.abs(targets).max(axis=0)
    return len(targets) >= 3 and bool(varies.any())
