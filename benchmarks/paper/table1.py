"""Table 1: how many features spectral approximation takes, measured beside the stated bounds.

For rows drawn uniformly from the ball of radius r and the Gaussian kernel of bandwidth 1: the
smallest width at which features are an (ε, λ)-spectral approximation, how it grows with n/λ and
with r, and the time that features of that width take.
"""

import math
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from scipy.linalg import eigvalsh

import zonal
from zonal.theory.spectral import exact_error

from ..measure import limited, table
from .common import GIVEN_UP, MOST_SECONDS, NAMED_METHODS, SLOW, Ledger, Report, Rows, say

KERNEL = zonal.Gaussian(1.0)
EPS = 0.5
# The common point of the two sweeps.
RATIO, RADIUS = 100.0, 1.0
# The search doubles the width, then divides the last step into this many.
STEPS = 4
LARGEST = 1 << 15

# Rows whose features are timed.
TIMED_ROWS = 10_000
TIMES = "µs a row"

METHODS: dict[str, Any] = {
    "Fourier": zonal.FourierFeatures,
    "Modified Fourier": partial(zonal.ModifiedFourierFeatures, mixture=0.0),
    "Modified Fourier, half of it plain": zonal.ModifiedFourierFeatures,
    "Nyström": zonal.NystroemFeatures,
    "PolySketch": zonal.PolySketchFeatures,
    **NAMED_METHODS,
    "Gegenbauer (paper)": zonal.GegenbauerFeatures.paper,
    "Gegenbauer (paper), theorem's q and s": zonal.GegenbauerFeatures.paper,
    "Gegenbauer (zonal)": zonal.GegenbauerFeatures,
    "Harmonic": zonal.HarmonicFeatures,
}

# The paper's column "feature dimension" for dimension d, radius r, n/λ and s_λ; powers of log n and
# constants are left out there, and so they are here.
Bound = Callable[[int, float, float, float], float]
BOUNDS: dict[str, tuple[str, Bound]] = {
    "Fourier": ("n/λ", lambda d, r, ratio, s: ratio),
    "Modified Fourier": (
        "(248r)^d log(n/λ)^(d/2) + (200 log(n/λ))^(2d)",
        lambda d, r, ratio, s: (
            (248 * r) ** d * math.log(ratio) ** (d / 2) + (200 * math.log(ratio)) ** (2 * d)
        ),
    ),
    "Nyström": ("s_λ", lambda d, r, ratio, s: s),
    "PolySketch": ("r¹⁰ s_λ", lambda d, r, ratio, s: r**10 * s),
    "Adaptive Sketch": ("s_λ", lambda d, r, ratio, s: s),
    "Gegenbauer (paper)": (
        "((2 log(n/λ))^d + (1.93r)^(2d)) / (d-1)!",
        lambda d, r, ratio, s: (
            ((2 * math.log(ratio)) ** d + (1.93 * r) ** (2 * d)) / math.factorial(d - 1)
        ),
    ),
}


@dataclass(frozen=True)
class Setting:
    """Rows, the dimensions, the two sweeps, the seeds of the features, and the methods."""

    n: int
    dims: tuple[int, ...]
    ratios: tuple[float, ...]
    radii: tuple[float, ...]
    seeds: tuple[int, ...]
    methods: tuple[str, ...]


FULL = Setting(
    500,
    (2, 3, 4, 5, 6),
    (10.0, 100.0, 1e3, 1e4),
    (0.5, 1.0, 2.0, 3.0),
    (0, 1, 2, 3, 4),
    tuple(METHODS),
)
QUICK = Setting(
    150,
    (2, 3),
    (10.0, 100.0, 1e3),
    (0.5, 1.0, 2.0),
    (0,),
    # Few of the frequencies of a box are of use, and the search goes far.
    tuple(name for name in METHODS if name not in (SLOW, "Modified Fourier")),
)


def ball(n: int, dim: int, radius: float) -> np.ndarray:
    """Rows uniform in a ball: the same rows for every radius, up to their scale."""
    rng = np.random.default_rng(dim)
    X = rng.standard_normal((n, dim))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    return radius * X * rng.random((n, 1)) ** (1 / dim)


def smallest_width(
    reached: Callable[[int], bool], start: int = 4, largest: int = LARGEST
) -> int | None:
    """The smallest width of a geometric grid that is enough, if wider ones are enough, too.

    None, where even the largest is not.
    """
    width = start
    while not reached(width):
        width *= 2
        if width > largest:
            return None
    if width == start:
        return width
    low, high = 0, STEPS  # width / 2 · 2^(step / STEPS): the first is too little, the last enough
    while high - low > 1:
        middle = (low + high) // 2
        enough = reached(round(width / 2 * 2 ** (middle / STEPS)))
        low, high = (low, middle) if enough else (middle, high)
    return round(width / 2 * 2 ** (high / STEPS))


@dataclass(frozen=True)
class Cell:
    """One dataset and one ridge: rows, their kernel matrix, and n/λ."""

    dim: int
    ratio: float
    radius: float
    n: int

    @cached_property
    def rows(self) -> np.ndarray:
        return ball(self.n, self.dim, self.radius)

    @cached_property
    def matrix(self) -> np.ndarray:
        return KERNEL(self.rows)

    @property
    def lam(self) -> float:
        return self.n / self.ratio

    def choices(self, name: str) -> list[dict[str, Any]]:
        """What a method may be told of the problem; of several, what needs the fewest features."""
        if name.startswith("Modified Fourier"):  # made for one n/λ
            return [{"n_over_lam": self.ratio}]
        if name == "Gegenbauer (paper), theorem's q and s":
            # The theorem begins with three dimensions; two are three with a column of zeros.
            q, s = zonal.theory.degree_and_order(
                KERNEL, max(self.dim, 3), self.radius, self.n, self.lam, EPS
            )
            return [{"max_degree": q, "n_radial": s}]
        if name == "Gegenbauer (paper)":
            # What the theorem's proof asks of q and s: no entry off by more than ελ/(10n).
            cut = KERNEL.expand(self.dim, radii=[self.radius], tol=EPS / (10 * self.ratio))
            orders = range(1, cut.n_radial + 1)
            return [{"max_degree": cut.max_degree, "n_radial": order} for order in orders]
        return [{}]

    def width(
        self, name: str, options: dict[str, Any], seeds: tuple[int, ...], largest: int
    ) -> int | str | None:
        """The smallest width, of at most so many, whose median error is at most ε."""

        def reached(width: int) -> bool:
            good = bad = 0
            # A fit of adaptive sketches takes seconds.
            asked = seeds[:1] if name == SLOW else seeds
            for seed in asked:
                features = METHODS[name](KERNEL, width, random_state=seed, **options)
                with warnings.catch_warnings():
                    # Widths that are too small are what the search is about.
                    warnings.simplefilter("ignore", zonal.TruncationWarning)
                    Z = features.fit_transform(self.rows)
                enough = exact_error(self.matrix, Z, self.lam) <= EPS
                good, bad = good + enough, bad + (not enough)
                if 2 * max(good, bad) > len(asked):  # the median is settled
                    break
            return good > bad

        start = max(4, options.get("n_radial", 0))
        if name != SLOW:
            return smallest_width(reached, start, largest)
        try:
            with limited(MOST_SECONDS):
                return smallest_width(reached, start, largest)
        except TimeoutError:
            return GIVEN_UP

    def microseconds(self, name: str, width: Any, options: dict[str, Any]) -> float | None:
        """CPU time a row of features of a width, on other rows of the same ball."""
        if not isinstance(width, int):
            return None
        rows = ball(TIMED_ROWS, self.dim, self.radius)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", zonal.TruncationWarning)
            features = METHODS[name](KERNEL, width, random_state=0, **options).fit(self.rows)
        features.transform(rows[:100])  # compile before the clock starts
        times = []
        for _ in range(3):
            start = time.process_time()
            features.transform(rows)
            times.append(time.process_time() - start)
        return 1e6 * min(times) / len(rows)

    def measure(self, name: str, seeds: tuple[int, ...]) -> dict[str, Any]:
        """Width and time of one method."""
        width: int | str | None = None
        chosen: dict[str, Any] = {}
        for options in self.choices(name):
            most = width - 1 if isinstance(width, int) else LARGEST
            another = self.width(name, options, seeds, most)
            if another is not None and (not isinstance(another, int) or another <= most):
                width, chosen = another, options
        found = {"width": width, TIMES: self.microseconds(name, width, chosen), "told": chosen}
        say(f"table1: d = {self.dim}, n/λ = {self.ratio:g}, r = {self.radius:g}: {name} {found}")
        return {**found, "version": zonal.__version__}

    def bounds(self) -> dict[str, Any]:
        """What does not depend on a method."""
        values = np.maximum(eigvalsh(self.matrix), 0.0)
        s_lam = float((values / (values + self.lam)).sum())
        given = self.dim, self.radius, self.ratio, s_lam
        return {
            "d": self.dim,
            "n/λ": self.ratio,
            "r": self.radius,
            "s_λ": s_lam,
            # K + λ ⪯ (1 + ε)(ZZᵀ + λ) leaves no eigenvalue of K above ελ beyond the rank of Z.
            "least": int((values > EPS * self.lam).sum()),
            "stated": {name: bound(*given) for name, (_, bound) in BOUNDS.items()},
        }


def run(
    quick: bool = False,
    methods: list[str] | None = None,
    known: Rows | None = None,
    ledger: Ledger | None = None,
) -> Report:
    """Both sweeps in every dimension; of some methods only, with what is known of the others."""
    setting = QUICK if quick else FULL
    ledger = ledger or Ledger()
    asked = methods or setting.methods
    rows: Rows = []
    cells = [
        Cell(dim, ratio, radius, setting.n)
        for dim in setting.dims
        for ratio, radius in [
            *((ratio, RADIUS) for ratio in setting.ratios),
            *((RATIO, radius) for radius in setting.radii if radius != RADIUS),
        ]
    ]
    for cell in cells:
        before = _known(known or [], cell)
        rows.append({**cell.bounds(), **before})
    # Method by method: a run that is stopped has whole lines of the table.
    for name in asked:
        for row, cell in zip(rows, cells, strict=True):
            found = ledger.get(
                (cell.dim, cell.ratio, cell.radius, name),
                partial(cell.measure, name, setting.seeds),
            )
            if found is not None:
                row["measured"][name] = found["width"]
                row[TIMES][name] = found[TIMES]
                row["version"][name] = found["version"]
    shown = {
        "kernel": f"Gaussian of bandwidth {KERNEL.bandwidth:g}",
        "n": setting.n,
        "ε": EPS,
        "dimensions": setting.dims,
        "n/λ": setting.ratios,
        "r": setting.radii,
        "largest width tried": LARGEST,
        "seeds": setting.seeds,
        "rows of the times": TIMED_ROWS,
    }
    return Report(
        f"Table 1: features needed for ε = {EPS}, and their time, measured",
        shown,
        rows,
        _body(rows, setting.dims),
        _draw(rows, setting.dims),
    )


def _known(known: Rows, cell: Cell) -> dict[str, dict[str, Any]]:
    """What was measured before at one point, of methods that still have their names."""
    point = {"d": cell.dim, "n/λ": cell.ratio, "r": cell.radius}
    found: dict[str, dict[str, Any]] = {"measured": {}, TIMES: {}, "version": {}}
    for row in known:
        if point.items() <= row.items():
            for key, values in found.items():
                given = row.get(key, {})
                values.update({k: v for k, v in given.items() if k in METHODS})
    return found


def sweep(rows: list[dict[str, Any]], dim: int, key: str) -> list[dict[str, Any]]:
    """The rows of one dimension in which only n/λ, or only r, varies."""
    fixed, value = ("r", RADIUS) if key == "n/λ" else ("n/λ", RATIO)
    chosen = [row for row in rows if row["d"] == dim and row[fixed] == value]
    return sorted(chosen, key=lambda row: float(row[key]))


def exponent(points: list[dict[str, Any]], key: str, group: str, method: str) -> float | None:
    """The slope of log width against log n/λ or log r, by least squares.

    None, where fewer than two widths are known.
    """
    widths = [(row[key], row[group].get(method)) for row in points]
    pairs = [pair for pair in widths if pair[1] not in (None, GIVEN_UP)]
    if len(pairs) < 2:
        return None
    logs = np.log(np.array(pairs, float))
    return float(np.polynomial.polynomial.polyfit(logs[:, 0], logs[:, 1], 1)[1])


NOTE = (
    "The smallest width for which Z Zᵀ is an (ε, λ)-spectral approximation, median error of the "
    "seeds, on a grid of four widths an octave; “stated” is the paper's bound, without constants "
    "and powers of log n. **Gegenbauer (paper)** is the paper's map, "
    "`GegenbauerFeatures.paper`, with the q of its proof (the smallest with which no entry of the "
    "kernel is off by more than ελ/(10n)) and the s up to that of the proof which needs the fewest "
    "features; the row below has the q and s that the theorem's formulas give, which cost "
    "directions; "
    "**Gegenbauer (zonal)** is `GegenbauerFeatures` as it comes: lattices or Sobol points for "
    "directions, optimal radial functions, centred rows. Modified Fourier draws from the density "
    "of its own paper, a box; the row below mixes that with the Gaussian's own frequencies, half "
    "and half. Adaptive Sketch was run with one seed, and given up after four minutes. No method "
    "can do with fewer features than K has eigenvalues above ελ (“least”). The last columns are "
    "exponents of growth: slopes of log width against log(n/λ) at r = 1 and against log r at "
    "n/λ = 100. All other methods run with their defaults."
)


def _verdict(rows: list[dict[str, Any]]) -> str:
    """Where the paper's map needs fewer features than Fourier's, and where not."""
    pairs = [
        (row, row["measured"].get("Gegenbauer (paper)"), row["measured"].get("Fourier"))
        for row in rows
    ]
    known = [item for item in pairs if isinstance(item[1], int) and isinstance(item[2], int)]
    lost = [row for row, ours, theirs in known if ours >= theirs]
    listed = "; ".join(f"d = {row['d']}, n/λ = {row['n/λ']:g}, r = {row['r']:g}" for row in lost)
    return (
        f"Of {len(known)} settings the paper's map needs fewer features than Fourier in "
        f"{len(known) - len(lost)}; Fourier does with as few or fewer in {len(lost)}"
        + (f": {listed}." if lost else ".")
    )


def _older(rows: list[dict[str, Any]]) -> list[str]:
    """Which lines are of an older version, with the three seeds that it had."""
    names = [
        name
        for name in METHODS
        if any(
            name in row["measured"] and row["version"].get(name) != zonal.__version__
            for row in rows
        )
    ]
    return [f"Of an older version, with three seeds: {'; '.join(names)}."] if names else []


def _body(rows: list[dict[str, Any]], dims: tuple[int, ...]) -> str:
    parts = [
        NOTE
        + "\n\n"
        + _verdict(rows)
        + "\n\nBounds: "
        + "; ".join(f"{name} {formula}" for name, (formula, _) in BOUNDS.items())
        + ".",
        *_older(rows),
        "## Runtime\n\nThe paper's second column states m nnz(X) for Fourier, Modified Fourier and "
        "Gegenbauer; n m² + m nnz(X) for Nyström; r¹² (n s_λ + nnz(X)) for PolySketch; "
        "r¹⁵ s_λ² n + r⁵ nnz(X) for Adaptive Sketch. Measured, below: CPU microseconds a row of "
        "features of the width that is needed, for rows unseen by the fit (whose time the "
        "landmarks of Nyström and the samples of Adaptive Sketch take besides).",
    ]
    for dim in dims:
        ratios, radii = (sweep(rows, dim, key) for key in ("n/λ", "r"))
        points = ratios + [row for row in radii if row["r"] != RADIUS]
        header = (
            "method",
            *(f"n/λ = {row['n/λ']:g}" for row in ratios),
            *(f"r = {row['r']:g}" for row in points[len(ratios) :]),
            "growth in n/λ",
            "growth in r",
        )

        def line(
            label: str,
            group: str,
            method: str,
            points: list[dict[str, Any]] = points,
            ratios: list[dict[str, Any]] = ratios,
            radii: list[dict[str, Any]] = radii,
        ) -> tuple[str, ...]:
            slopes = (
                exponent(ratios, "n/λ", group, method),
                exponent(radii, "r", group, method),
            )
            return (
                label,
                *(_width(row[group][method]) if method in row[group] else "–" for row in points),
                *("–" if slope is None else f"{round(slope, 2) + 0.0:.2f}" for slope in slopes),
            )

        lines: list[tuple[str, ...]] = []
        for name in METHODS:
            if any(name in row["measured"] for row in points):
                lines.append(line(name, "measured", name))
            if name in BOUNDS:
                lines.append(line(f"{name}, stated", "stated", name))
        lines.append(("least", *(f"{row['least']}" for row in points), "", ""))
        lines.append(("s_λ", *(f"{row['s_λ']:.1f}" for row in points), "", ""))
        times = [
            (name, *(_time(row[TIMES].get(name)) for row in points))
            for name in METHODS
            if any(row[TIMES].get(name) for row in points)
        ]
        parts += [f"## d = {dim}", table(lines, header)]
        parts += ["CPU microseconds a row at that width:", table(times, header[:-2])]
    return "\n\n".join(parts)


def _time(value: float | None) -> str:
    return "–" if value is None else f"{value:.2g}" if value < 10 else f"{value:.0f}"


def _width(value: float | str | None) -> str:
    if isinstance(value, str):
        return value
    if value is None:
        return f"> {LARGEST:,}"
    whole = isinstance(value, int) or 10 <= value < 1e6
    return f"{value:,.0f}" if whole else f"{value:.2g}"


def _draw(rows: list[dict[str, Any]], dims: tuple[int, ...]) -> Figure:
    figure = Figure(figsize=(3.2 * len(dims), 6), layout="constrained")
    axes = figure.subplots(2, len(dims), sharey=True, squeeze=False)
    for line, (key, label) in enumerate((("n/λ", "n/λ (r = 1)"), ("r", "r (n/λ = 100)"))):
        for axis, dim in zip(axes[line], dims, strict=True):
            points = sweep(rows, dim, key)
            places = [row[key] for row in points]
            for name in METHODS:
                found = [row["measured"].get(name) for row in points]
                if not any(isinstance(one, int) for one in found):
                    continue
                widths = [one if isinstance(one, int) else np.nan for one in found]
                color = f"C{list(METHODS).index(name)}"
                axis.loglog(places, widths, marker=".", color=color, label=name)
            axis.loglog(places, [row["least"] for row in points], "k:", label="least possible")
            axis.set(title=f"d = {dim}", xlabel=label)
            axis.set_xticks(places, [f"{place:g}" for place in places])
            axis.minorticks_off()
            axis.grid(alpha=0.3)
        axes[line, 0].set_ylabel("features needed")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=5)
    return figure
