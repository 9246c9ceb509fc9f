"""How many features: the theorems' answer, and a measurement, side by side."""

import html
import inspect
import math
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import features as feature_maps
from .._validation import check_count, row_norms
from ..kernels import Kernel
from ..rows import sample_rows
from .counts import degree_and_order, n_features
from .estimate import Estimate
from .inputs import as_kernel_and_rows, check_fraction, check_lam
from .spectral import exact_error
from .statistical import statistical_dimension

__all__ = ["Measurement", "Recommendation", "recommend"]

# Widths that are tried: powers of √2, rounded.
WIDTHS = [round(2 ** (k / 2)) for k in range(4, 27)]

# Rows of which all eigenvalues are computed, for the statistical dimension.
DIMENSION_ROWS = 2000


@dataclass(frozen=True)
class Measurement:
    """What a feature map needs.

    Attributes
    ----------
    name : str
        The class of the map.
    n_components : int or None
        The smallest width tried that is enough, or None if none is.
    note : str
        Why there is no number, or "".
    """

    name: str
    n_components: int | None
    note: str = ""


@dataclass(frozen=True, repr=False)
class Recommendation:
    """What `recommend` found; prints as a small report.

    Attributes
    ----------
    kernel : Kernel
        With all parameters resolved.
    n, dim, n_sample : int
        Rows and columns of the data, and rows of the subsample.
    radius : float
        The largest norm, after centring for shift-invariant kernels.
    lam, eps, delta : float
        λ, ε and δ.
    statistical_dimension : Estimate
        s_λ: of all rows up to 2,000; else of 2,000 of them, with λ scaled as for the subsample.
    max_degree, n_radial, theorem_features : int or None
        q, s and the number of features that the paper's theorem states; None if none covers the
        kernel.
    proved_features : int or None
        The number that is proved for any data (`n_features` with ``proved=True``).
    theorem_note : str
        Why no theorem does, or "".
    measurements : list of Measurement
        One for each feature map, the smallest number first.
    """

    kernel: Kernel
    n: int
    dim: int
    n_sample: int
    radius: float
    lam: float
    eps: float
    delta: float
    statistical_dimension: Estimate
    max_degree: int | None
    n_radial: int | None
    theorem_features: int | None
    proved_features: int | None
    theorem_note: str
    measurements: list[Measurement]

    def _facts(self) -> list[tuple[str, str]]:
        theorem = self.theorem_note or (
            f"q = {self.max_degree}, s = {self.n_radial}, {_number(self.theorem_features)} features"
        )
        return [
            ("kernel", repr(self.kernel)),
            ("rows", f"{self.n:,} in {self.dim} dimensions, norms up to {self.radius:.3g}"),
            ("asked for", f"λ = {self.lam:g}, ε = {self.eps:g}, δ = {self.delta:g}"),
            ("statistical dimension", f"{float(self.statistical_dimension):.1f}"),
            ("the paper's theorem, as stated", theorem),
            *(
                [("proved (enough for any data)", f"{_number(self.proved_features)} features")]
                if self.proved_features
                else []
            ),
        ]

    def _table(self) -> list[tuple[str, str]]:
        return [
            (item.name, _number(item.n_components) if item.n_components else item.note)
            for item in self.measurements
        ]

    @property
    def _heading(self) -> str:
        return f"measured on {self.n_sample:,} rows (enough here)"

    def __str__(self) -> str:
        lines = [f"{name:31}{value}" for name, value in self._facts()]
        lines += [self._heading]
        lines += [f"    {name:27}{value}" for name, value in self._table()]
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        def row(cells: tuple[str, str]) -> str:
            return f"<tr><th>{html.escape(cells[0])}</th><td>{html.escape(cells[1])}</td></tr>"

        heading = f'<tr><th colspan="2">{html.escape(self._heading)}</th></tr>'
        rows = [*map(row, self._facts()), heading, *map(row, self._table())]
        return "<table>" + "".join(rows) + "</table>"


def _number(value: int | None) -> str:
    if value is None:
        return "unknown"
    if value < 10**12:
        return f"{value:,}"
    return f"about 10^{math.floor(math.log10(value))}"


def recommend(
    kernel: Any,
    X: Any,
    *,
    lam: float,
    eps: float = 0.5,
    delta: float = 0.1,
    n_sample: int = 300,
    n_seeds: int = 3,
    random_state: int = 0,
) -> Recommendation:
    r"""Say how many features a kernel needs on given data: by theorem, and measured.

    The theorem's numbers, as the paper states it and as it is proved, are for all data of that
    radius, and usually enormous. The measured
    one is the smallest width, among powers of √2, whose `spectral_error` is at most ε for all of
    a few seeds on a subsample of n' rows, with λ n'/n for λ: K/n and its subsample have about the
    same eigenvalues. Small subsamples err on the small side, as they miss the faintest of them.

    Parameters
    ----------
    kernel : Kernel or str
        The kernel.
    X : {array-like, CSR matrix} of shape (n, d)
        Rows.
    lam : float
        The ridge λ > 0, for all n rows.
    eps, delta : float, default=0.5, 0.1
        ε and δ, strictly between 0 and 1.
    n_sample : int, default=300
        The size n' of the subsample, which is chosen by row number.
    n_seeds : int, default=3
        Seeds for which a width must be enough.
    random_state : int, default=0
        The first of the seeds.

    Returns
    -------
    Recommendation

    Examples
    --------
    >>> import numpy as np
    >>> import zonal
    >>> X = np.random.default_rng(0).standard_normal((200, 3))
    >>> report = zonal.theory.recommend(zonal.Gaussian(2.0), X, lam=1.0, n_sample=100, n_seeds=1)
    >>> report.max_degree, report.n_radial, report.theorem_features > 10**6
    (15, 15, True)
    >>> report.measurements[0].n_components < 50
    True
    """
    owner = "recommend"
    lam = check_lam(lam, owner)
    eps, delta = check_fraction("eps", eps, owner), check_fraction("delta", delta, owner)
    check_count("n_sample", n_sample, owner, minimum=2)
    check_count("n_seeds", n_seeds, owner)
    check_count("random_state", random_state, owner, minimum=0)
    resolved, rows = as_kernel_and_rows(kernel, X, owner)
    n, dim = rows.shape
    sample, scaled = _subsample(rows, lam, n_sample)
    larger, larger_lam = _subsample(rows, lam, DIMENSION_ROWS)
    dimension = statistical_dimension(resolved, larger_lam, X=larger)
    radius = _radius(resolved, rows)
    degree = order = count = proved = None
    note = ""
    try:
        # Columns of zeros change no kernel, and the theorems begin with three columns.
        given = (resolved, max(dim, 3), radius, n, lam, eps)
        degree, order = degree_and_order(*given)
        count = n_features(*given, delta, s_lam=float(dimension))
        proved = n_features(*given, delta, s_lam=float(dimension), proved=True)
    except ValueError as error:
        note = f"none: {str(error).split('. ')[0]}"
    seeds = range(random_state, random_state + n_seeds)
    measured = [_measure(item, resolved, sample, scaled, eps, seeds) for item in _maps()]
    return Recommendation(
        kernel=resolved,
        n=n,
        dim=dim,
        n_sample=sample.shape[0],
        radius=radius,
        lam=lam,
        eps=eps,
        delta=delta,
        statistical_dimension=dimension,
        max_degree=degree,
        n_radial=order,
        theorem_features=count,
        proved_features=proved,
        theorem_note=note,
        measurements=sorted(measured, key=lambda m: (m.n_components or np.inf, m.name)),
    )


def _subsample(rows: Any, lam: float, size: int) -> tuple[Any, float]:
    """Choose some of the rows, and λ for them: K/n keeps about the same eigenvalues."""
    chosen = sample_rows(rows.shape[0], size)
    return rows[chosen].astype(np.float64), lam * len(chosen) / rows.shape[0]


def _radius(kernel: Kernel, rows: Any) -> float:
    """Return the largest norm, around the mean if the kernel does not mind and rows are dense."""
    if kernel.shift_invariant and isinstance(rows, np.ndarray):
        rows = rows - rows.mean(axis=0, dtype=np.float64)
    return float(row_norms(rows).max())


def _maps() -> list[Any]:
    """Return every feature map of the library that is made of a kernel and a width."""
    members = [getattr(feature_maps, name) for name in feature_maps.__all__]
    return [
        member
        for member in members
        if isinstance(member, type)
        and issubclass(member, feature_maps.KernelFeatures)
        and {"kernel", "n_components"} <= set(inspect.signature(member).parameters)
    ]


def _measure(
    feature_map: Any, kernel: Kernel, sample: Any, lam: float, eps: float, seeds: range
) -> Measurement:
    """Find the smallest width that is good enough for every seed: double, then a step back."""
    name = feature_map.__name__
    if not feature_map.quick:
        return Measurement(name, None, "not measured: it is slow to fit")
    matrix = np.asarray(kernel(sample), dtype=np.float64)
    random = "random_state" in inspect.signature(feature_map).parameters
    options = [{"random_state": seed} for seed in seeds] if random else [{}]

    def enough(width: int) -> bool:
        for option in options:
            # Whatever a map warns about, such as a series cut short, shows in the error.
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)
                Z = feature_map(kernel, n_components=width, **option).fit_transform(sample)
            if exact_error(matrix, Z, lam) > eps:
                return False
        return True

    try:
        for position in range(0, len(WIDTHS), 2):
            if enough(WIDTHS[position]):
                between = WIDTHS[max(position - 1, 0)]
                width = between if enough(between) else WIDTHS[position]
                return Measurement(name, width)
    except ValueError as error:
        # The first clause says what the matter is; the rest is advice to somebody who calls it.
        return Measurement(name, None, f"not measured: {str(error).split('. ')[0].split(': ')[0]}")
    return Measurement(name, None, f"more than {WIDTHS[-1]:,}")
