"""Parameters by evidence: from small samples and all candidates to the whole sample and one."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize_scalar

from .._typing import Array, FloatArray
from ..kernels import Kernel, Matern
from .correlation import Correlation, of_kernel
from .evidence import LOG_NOISE, Parameters, Sample, maximize
from .locations import Locations
from .marginal import Observed, marginal
from .process import LocalProcess

__all__ = ["Found", "column_groups", "find_noise", "find_parameters"]

#: Rows whose terms of the evidence are summed, and rows among which their neighbours are.
SAMPLE_ROWS, BASE_ROWS = 16_000, 100_000
# Rows, neighbours and iterations of the rounds. The first compares starts, the second kernels.
ROUNDS = ((2_000, 12, 30), (6_000, 16, 10), (SAMPLE_ROWS, 24, 10))
# Starts: length scales in units of the distance between two random rows, and noise.
STARTS, NOISE_START = (0.5, 0.05), 0.1
SMOOTHNESS = (0.5, 1.5, 2.5)
# A kernel without compiled form is judged by fewer rows.
SLOW_ROWS = 1_000


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
        Of the sample.
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
    verbose : bool, default=False
        Print what each round finds.
    """
    n_rows = min(len(locations), BASE_ROWS if features is None else len(features))
    head = locations.head(n_rows)
    if kernel is not None and of_kernel(kernel) is None:
        if features is not None:
            raise ValueError(
                f"kernel={kernel!r} cannot stand beside features: use Matern with ν = 1/2, 3/2 or "
                "5/2, Gaussian, Laplacian or RationalQuadratic."
            )
        eta = find_noise(head, kernel, n_neighbors) if noise is None else noise
        return Found(kernel, eta, 1.0, math.nan)
    units = _Units.of(head.rows, kernel)
    sample = Sample.of(head, units.center, units.spread, units.groups, features)
    free = np.concatenate(
        [np.full(units.n_groups, kernel is None), [noise is None, features is not None]]
    )
    log_noise = (
        math.log(NOISE_START) if noise is None else (math.log(noise) if noise > 0 else -math.inf)
    )
    if kernel is not None:
        correlations = [of_kernel(kernel)]
        starts = [Parameters(np.zeros(units.n_groups), log_noise)]
    else:
        correlations = [of_kernel(Matern(nu)) for nu in SMOOTHNESS]
        starts = units.starts(log_noise)
    best, correlation, value = _rounds(sample, correlations, starts, free, n_neighbors, verbose)
    scales = np.exp(best.log_scales)[units.groups] * units.spread
    chosen = kernel if kernel is not None else _matern(correlation, scales)
    return Found(chosen, math.exp(best.log_noise), math.exp(best.log_ratio), value)


def _rounds(
    sample: Sample,
    correlations: list[Any],
    starts: list[Parameters],
    free: npt.NDArray[np.bool_],
    n_neighbors: int,
    verbose: bool,
) -> tuple[Parameters, Correlation, float]:
    """Fewer candidates in each round, and more rows."""
    candidates = [(correlation, start) for correlation in correlations for start in starts]
    if not _has_signal(sample.targets):
        middle = correlations[len(correlations) // 2]
        return starts[0], middle, math.nan
    results: list[tuple[float, Correlation, Parameters]] = []
    for number, (n_rows, m, n_iterations) in enumerate(ROUNDS):
        part = sample.thin(n_rows)
        results = []
        for correlation, start in candidates:
            best, value = maximize(
                part, correlation, start, free, min(m, n_neighbors), n_iterations
            )
            results.append((value, correlation, best))
            if verbose:
                print(
                    number, len(part), correlation.family, value / len(part), np.exp(best.vector())
                )
        results.sort(key=lambda result: -result[0])
        if number == 0:  # the best start of each kernel
            results = [
                next(result for result in results if result[1] is correlation)
                for correlation in correlations
            ]
        if number == 1 or len(part) == len(sample):
            results = [max(results, key=lambda result: result[0])]
        candidates = [(correlation, best) for _, correlation, best in results]
    value, correlation, best = results[0]
    return best, correlation, value


@dataclass(frozen=True)
class _Units:
    """Columns in units in which starts make sense."""

    center: FloatArray
    spread: FloatArray
    groups: npt.NDArray[np.intp]
    n_groups: int

    @classmethod
    def of(cls, rows: Array, kernel: Kernel | None) -> "_Units":
        numbers = np.asarray(rows, np.float64)
        center, n_columns = numbers.mean(axis=0), rows.shape[1]
        if kernel is not None:
            correlation = of_kernel(kernel)
            assert correlation is not None
            spread = np.broadcast_to(np.asarray(correlation.length_scale, float), (n_columns,))
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
    nu = next(nu for nu in SMOOTHNESS if of_kernel(Matern(nu)) == correlation)
    return Matern(nu, scales)


def find_noise(locations: Locations, kernel: Kernel, n_neighbors: int) -> float:
    """η by evidence for a kernel without compiled form, on few rows and without gradients."""
    head = locations.head(SLOW_ROWS)
    if not _has_signal(head.targets):
        return NOISE_START
    columns = np.column_stack([np.ones(len(head)), head.targets])

    def loss(log_noise: float) -> float:
        noise = math.exp(log_noise)
        process = LocalProcess(head.rows, head.weight, kernel, noise, min(n_neighbors, 16))
        whitening = process.whitening()
        whitened = whitening.apply(columns)
        observed = Observed(whitening.variance, head.weight, head.within.sum(axis=0), noise)
        gram = whitened.T @ whitened
        return -marginal(gram, head.targets.shape[1], observed).log_evidence

    found = minimize_scalar(loss, bounds=LOG_NOISE, method="bounded", options={"maxiter": 20})
    return math.exp(float(found.x))


def _has_signal(targets: FloatArray) -> bool:
    """Whether there is anything to learn parameters from."""
    return len(targets) >= 3 and bool(np.ptp(targets, axis=0).max() > 0)
