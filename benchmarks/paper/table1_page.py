"""Table 1 for people: the page, the picture, and the exponents of growth."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure

import zonal

from ..measure import table
from .common import GIVEN_UP, SLOW
from .table1_setting import BOUNDS, LARGEST, METHODS, RADIUS, RATIO, TIMES

__all__ = ["body", "draw", "exponent", "sweep"]

NOT_RUN = "not run"


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
    "of its own paper, a box of half-width 10 √log(n/λ), of which the Gaussian's frequencies fill "
    "a share that falls like a power d; the row below mixes that with the Gaussian's own, half and "
    "half. PolySketch (original) leaves all degrees to chance, ours keeps the low ones exact. "
    "Adaptive Sketch is given up after four CPU minutes. No method can do with fewer features than "
    "K has eigenvalues above ελ (“least”). The last columns are exponents of growth: slopes of log "
    "width against log(n/λ) at r = 1 and against log r at n/λ = 100. All other methods run with "
    "their defaults."
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
    """Which lines are of an older version, with the seeds that it had."""
    names = {
        name: row["version"].get(name, "0.1.0")
        for name in METHODS
        for row in rows
        if name in row["measured"] and row["version"].get(name) != zonal.__version__
    }
    listed = "; ".join(
        f"{name} ({version}, {'one seed' if name == SLOW else 'three seeds'})"
        for name, version in names.items()
    )
    return [f"Of an older version: {listed}."] if names else []


def _gaps(rows: list[dict[str, Any]]) -> list[str]:
    """Which lines were not run, and how to."""
    names = [name for name in METHODS if not all(name in row["measured"] for row in rows)]
    text = "Not run, for lack of CPU time (`python -m benchmarks.paper table1 --missing` does): "
    return [f"{text}{'; '.join(names)}."] if names else []


def body(rows: list[dict[str, Any]], dims: tuple[int, ...]) -> str:
    """The page."""
    parts = [
        NOTE
        + "\n\n"
        + _verdict(rows)
        + "\n\nBounds: "
        + "; ".join(f"{name} {formula}" for name, (formula, _) in BOUNDS.items())
        + ".",
        *_older(rows),
        *_gaps(rows),
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
                *(
                    _width(row[group][method]) if method in row[group] else NOT_RUN
                    for row in points
                ),
                *("–" if slope is None else f"{round(slope, 2) + 0.0:.2f}" for slope in slopes),
            )

        lines: list[tuple[str, ...]] = []
        for name in METHODS:
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


def draw(rows: list[dict[str, Any]], dims: tuple[int, ...]) -> Figure:
    """The picture: widths over both sweeps."""
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
                place = list(METHODS).index(name)
                style = "--" if place >= 10 else "-"  # there are ten colours
                axis.loglog(places, widths, style, marker=".", color=f"C{place % 10}", label=name)
            axis.loglog(places, [row["least"] for row in points], "k:", label="least possible")
            axis.set(title=f"d = {dim}", xlabel=label)
            axis.set_xticks(places, [f"{place:g}" for place in places])
            axis.minorticks_off()
            axis.grid(alpha=0.3)
        axes[line, 0].set_ylabel("features needed")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=5)
    return figure
