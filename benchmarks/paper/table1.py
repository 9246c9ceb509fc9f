"""Table 1: how many features spectral approximation takes, measured beside the stated bounds.

For rows drawn uniformly from the ball of radius r and the Gaussian kernel of bandwidth 1: the
smallest width at which features are an (ε, λ)-spectral approximation, and how it grows with n/λ
and with r.
"""

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from scipy.linalg import eigvalsh

import zonal
from zonal.theory.spectral import exact_error

from ..measure import limited, table
from .common import GIVEN_UP, MOST_SECONDS, NAMED_METHODS, SLOW, Report, Rows, say

KERNEL = zonal.Gaussian(1.0)
EPS = 0.5
# The common point of the two sweeps.
RATIO, RADIUS = 100.0, 1.0
# The search doubles the width, then divides the last step into this many.
STEPS = 4
LARGEST = 1 << 15

METHODS: dict[str, Any] = {
    "Fourier": zonal.FourierFeatures,
    "Modified Fourier": zonal.ModifiedFourierFeatures,
    "Nyström": zonal.NystroemFeatures,
    "PolySketch": zonal.PolySketchFeatures,
    **NAMED_METHODS,
    "Gegenbauer": zonal.GegenbauerFeatures,
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
    "Gegenbauer": (
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
    500, (2, 3, 4, 5, 6), (10.0, 100.0, 1e3, 1e4), (0.5, 1.0, 2.0, 3.0), (0, 1, 2), tuple(METHODS)
)
QUICK = Setting(
    150,
    (2, 3),
    (10.0, 100.0, 1e3),
    (0.5, 1.0, 2.0),
    (0,),
    tuple(name for name in METHODS if name != SLOW),
)


def ball(n: int, dim: int, radius: float) -> np.ndarray:
    """Rows uniform in a ball: the same rows for every radius, up to their scale."""
    rng = np.random.default_rng(dim)
    X = rng.standard_normal((n, dim))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    return radius * X * rng.random((n, 1)) ** (1 / dim)


def smallest_width(reached: Callable[[int], bool], start: int = 4) -> int | None:
    """The smallest width of a geometric grid that is enough, if wider ones are enough, too.

    None, where even the largest is not.
    """
    width = start
    while not reached(width):
        width *= 2
        if width > LARGEST:
            return None
    if width == start:
        return width
    low, high = 0, STEPS  # width / 2 · 2^(step / STEPS): the first is too little, the last enough
    while high - low > 1:
        middle = (low + high) // 2
        enough = reached(round(width / 2 * 2 ** (middle / STEPS)))
        low, high = (low, middle) if enough else (middle, high)
    return round(width / 2 * 2 ** (high / STEPS))


def measure(
    dim: int, ratio: float, radius: float, n: int, seeds: tuple[int, ...], methods: list[str]
) -> dict[str, Any]:
    """The width that each method needs on one dataset, with the bounds beside it."""
    X = ball(n, dim, radius)
    K = KERNEL(X)
    lam = n / ratio
    values = np.maximum(eigvalsh(K), 0.0)
    s_lam = float((values / (values + lam)).sum())

    def enough(name: str) -> Callable[[int], bool]:
        # The distribution of these frequencies is made for one n/λ.
        extra = {"n_over_lam": ratio} if name == "Modified Fourier" else {}

        def reached(width: int) -> bool:
            errors = []
            # A fit of adaptive sketches takes seconds.
            for seed in seeds[:1] if name == SLOW else seeds:
                with warnings.catch_warnings():
                    # Widths that are too small are what the search is about.
                    warnings.simplefilter("ignore", zonal.TruncationWarning)
                    features = METHODS[name](KERNEL, width, random_state=seed, **extra)
                    Z = features.fit_transform(X)
                errors.append(exact_error(K, Z, lam))
            return float(np.median(errors)) <= EPS

        return reached

    def width(name: str) -> int | str | None:
        if name != SLOW:
            return smallest_width(enough(name))
        try:
            with limited(MOST_SECONDS):
                return smallest_width(enough(name))
        except TimeoutError:
            return GIVEN_UP

    return {
        "d": dim,
        "n/λ": ratio,
        "r": radius,
        "s_λ": s_lam,
        # K + λ ⪯ (1 + ε)(ZZᵀ + λ) leaves no eigenvalue of K above ελ beyond the rank of Z.
        "least": int((values > EPS * lam).sum()),
        "measured": {name: width(name) for name in methods},
        "stated": {name: bound(dim, radius, ratio, s_lam) for name, (_, bound) in BOUNDS.items()},
    }


def run(quick: bool = False, methods: list[str] | None = None, known: Rows | None = None) -> Report:
    """Both sweeps in every dimension; of some methods only what is not known yet."""
    setting = QUICK if quick else FULL
    rows = []
    for dim in setting.dims:
        points = [(ratio, RADIUS) for ratio in setting.ratios]
        points += [(RATIO, radius) for radius in setting.radii if radius != RADIUS]
        for ratio, radius in points:
            before = _known(known or [], dim, ratio, radius)
            asked = [name for name in methods or setting.methods if name not in before]
            found = measure(dim, ratio, radius, setting.n, setting.seeds, asked)
            found["measured"] = {**before, **found["measured"]}
            rows.append(found)
            say(f"table1: d = {dim}, n/λ = {ratio:g}, r = {radius:g}: {rows[-1]['measured']}")
    shown = {
        "kernel": f"Gaussian of bandwidth {KERNEL.bandwidth:g}",
        "n": setting.n,
        "ε": EPS,
        "dimensions": setting.dims,
        "n/λ": setting.ratios,
        "r": setting.radii,
        "largest width tried": LARGEST,
        "seeds": setting.seeds,
    }
    return Report(
        f"Table 1: features needed for ε = {EPS}, measured",
        shown,
        rows,
        _body(rows, setting.dims),
        _draw(rows, setting.dims),
    )


def _known(known: Rows, dim: int, ratio: float, radius: float) -> dict[str, Any]:
    """The widths that were measured before at one point."""
    point = {"d": dim, "n/λ": ratio, "r": radius}
    return {
        k: v for row in known if point.items() <= row.items() for k, v in row["measured"].items()
    }


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


def _body(rows: list[dict[str, Any]], dims: tuple[int, ...]) -> str:
    parts = [
        "The smallest width for which Z Zᵀ is an (ε, λ)-spectral approximation, median error of "
        "the seeds, on a grid of four widths an octave; “stated” is the paper's bound, without "
        "constants and powers of log n. Adaptive Sketch was run with one seed, and given up after "
        "four minutes. No method can do with fewer features than K has eigenvalues above ελ "
        "(“least”). The last columns are exponents of growth: slopes of log width against "
        "log(n/λ) at r = 1 and against log r at n/λ = 100. "
        "All methods run with their defaults; where a width is beyond the largest that was tried, "
        "the error that is left is that of the truncated expansion, which no width takes away "
        "(Gegenbauer: give max_degree and n_radial there)."
        "\n\nBounds: "
        + "; ".join(f"{name} {formula}" for name, (formula, _) in BOUNDS.items())
        + "."
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
                *(_width(row[group][method]) for row in points),
                *("–" if slope is None else f"{round(slope, 2) + 0.0:.2f}" for slope in slopes),
            )

        lines: list[tuple[str, ...]] = []
        for name in METHODS:
            if name in ratios[0]["measured"]:
                lines.append(line(name, "measured", name))
            if name in BOUNDS:
                lines.append(line(f"{name}, stated", "stated", name))
        lines.append(("least", *(f"{row['least']}" for row in points), "", ""))
        lines.append(("s_λ", *(f"{row['s_λ']:.1f}" for row in points), "", ""))
        parts += [f"## d = {dim}", table(lines, header)]
    return "\n\n".join(parts)


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
            for name in points[0]["measured"]:
                found = [row["measured"][name] for row in points]
                widths = [np.nan if one in (None, GIVEN_UP) else one for one in found]
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
