"""The figures of the reports, with matplotlib."""

import base64
import io
from collections.abc import Sequence
from itertools import cycle
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._typing import Array
from ...grid.maps import draw_cells, draw_points, fold_colours

if TYPE_CHECKING:  # matplotlib is slow to import, and few commands draw
    from matplotlib.figure import Figure

__all__ = [
    "approximation",
    "as_image",
    "budget_panels",
    "budgets",
    "calibration",
    "confusion",
    "cv_curve",
    "dependence",
    "folds",
    "globe",
    "predicted",
    "quantile_curve",
    "residuals",
    "spread",
]

# Small, so that the text can still be read on a telephone.
SIZE = (4.4, 3.3)
MARKERS = "osD^v<>PX"
# Colours that can be told from a white page and from a dark one.
BLUE, ORANGE, GREY = "#2f81c7", "#d97324", "#7d8894"
# Those of words and axes, and of the grid behind them, by day and by night.
INK, GRID = ("#1c2430", "#dfe5ec"), ("#e4e4e4", "#39424e")
# The line of what all maps stand for.
EXACT = "exact"
# Points beyond which more of them only make a larger file.
MAX_POINTS = 4000
# Names of classes that can be read side by side.
MOST_NAMES = 45
# A table is drawn as an image where at least this share of its grid is filled, else as points.
FILLED = 0.9


def as_image(figure: "Figure") -> str:
    """Return a figure as the source of an HTML image, in vectors, which follows the page at night.

    It has no background of its own, and a style that brightens words, axes and the grid.
    """
    import matplotlib

    _ink(figure)
    buffer = io.StringIO()
    with matplotlib.rc_context({"svg.fonttype": "path"}):
        figure.savefig(buffer, format="svg", dpi=200, transparent=True)
    rules = "".join(
        f'[style*="{kind}: {day}"] {{ {kind}: {night} !important; }} '
        for day, night in (INK, GRID)
        for kind in ("fill", "stroke")
    )
    style = f"<style>@media (prefers-color-scheme: dark) {{ {rules}}}</style></svg>"
    drawing = buffer.getvalue().replace("</svg>", style)
    return "data:image/svg+xml;base64," + base64.b64encode(drawing.encode()).decode()


def _ink(figure: "Figure") -> None:
    """Give all words and axes that have no colour of their own the one that follows the page."""
    from matplotlib import rcParams
    from matplotlib.axis import Tick
    from matplotlib.spines import Spine
    from matplotlib.text import Text

    for text in figure.findobj(Text):
        if text.get_color() == rcParams["text.color"]:
            text.set_color(INK[0])
    for spine in figure.findobj(Spine):
        spine.set_edgecolor(INK[0])
    for tick in figure.findobj(Tick):
        for line in (tick.tick1line, tick.tick2line):
            line.set_color(INK[0])


def _axes(xlabel: str, ylabel: str) -> "tuple[Figure, Any]":
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context({"font.size": 9, "axes.spines.top": False}):
        figure = Figure(figsize=SIZE, layout="constrained")
        axes = figure.add_subplot()
    axes.spines["right"].set_visible(False)
    axes.grid(color=GRID[0], linewidth=0.6)
    axes.set_axisbelow(True)
    axes.set(xlabel=_words(xlabel), ylabel=_words(ylabel))
    return figure, axes


def _words(text: str) -> str:
    """Return text as matplotlib draws it letter by letter, though names may look like TeX."""
    return text.replace("$", r"\$")


def _some(*arrays: Array) -> list[Array]:
    chosen = np.random.default_rng(0).permutation(len(arrays[0]))[:MAX_POINTS]
    return [np.asarray(array)[chosen] for array in arrays]


def _dots(count: int) -> dict[str, float]:
    """Return the style of points: few are drawn large and dark enough to be seen."""
    return {"s": 14, "alpha": 0.6} if count < 500 else {"s": 5, "alpha": 0.35}


def predicted(truth: Array, prediction: Array, name: str) -> "Figure":
    """Draw predicted against true values, with the line where they agree."""
    figure, axes = _axes(f"true {name}", f"predicted {name}")
    low, high = float(min(truth.min(), prediction.min())), float(max(truth.max(), prediction.max()))
    axes.plot([low, high], [low, high], color=GREY, linewidth=1)
    x, y = _some(truth, prediction)
    axes.scatter(x, y, color=BLUE, linewidths=0, rasterized=True, **_dots(len(x)))
    return figure


def residuals(truth: Array, prediction: Array, name: str) -> "Figure":
    """Draw residuals against predictions."""
    figure, axes = _axes(f"predicted {name}", "true - predicted")
    axes.axhline(0, color=GREY, linewidth=1)
    x, y = _some(prediction, truth - prediction)
    axes.scatter(x, y, color=BLUE, linewidths=0, rasterized=True, **_dots(len(x)))
    return figure


def spread(truth: Array, prediction: Array) -> "Figure":
    """Draw the histogram of the residuals; few that are far away are counted at its ends."""
    figure, axes = _axes("true - predicted", "rows")
    errors = truth - prediction
    low = np.quantile(errors, 0.005, method="lower")  # the smallest of up to 200
    high = np.quantile(errors, 0.995, method="higher")
    if low == high:
        axes.hist(errors, bins=40, color=BLUE)
        return figure
    _, edges, _ = axes.hist(errors, bins=40, range=(low, high), color=BLUE)
    width = edges[1] - edges[0]
    for far, place, furthest in (
        (errors < low, low - width, errors.min()),
        (errors > high, high, errors.max()),
    ):
        count = np.count_nonzero(far)
        if count:
            label = f"{count:,} beyond, up to {furthest:.3g}"
            axes.bar(place, count, width, align="edge", color=ORANGE, label=label)
    if axes.get_legend_handles_labels()[0]:
        axes.legend(frameon=False, fontsize=8)
    return figure


def cv_curve(alphas: Array, mean: Array, std: Array, chosen: float) -> "Figure":
    """Draw the cross-validated error against alpha."""
    figure, axes = _axes("regularisation alpha", "cross-validated squared error")
    order = np.argsort(alphas)
    x, y, width = alphas[order], mean[order], std[order]
    axes.fill_between(x, y - width, y + width, color=BLUE, alpha=0.2, linewidth=0)
    axes.plot(x, y, "o-", color=BLUE, markersize=3)
    axes.axvline(chosen, color=ORANGE, linewidth=1.2, label=f"chosen: {chosen:.2g}")
    if (x[x > 0] > 0).any():
        axes.set_xscale("log")
    if y.max() > 20 * y.min() > 0:
        axes.set_yscale("log")
    axes.legend(frameon=False)
    return figure


def approximation(curve: Sequence[tuple[int, float]], chosen: int) -> "Figure":
    """Draw the error of the kernel matrix against the number of features."""
    figure, axes = _axes("features", "error of the kernel matrix")
    widths, errors = zip(*curve, strict=True)
    axes.loglog(widths, errors, "o-", color=BLUE, markersize=4)
    axes.axvline(chosen, color=ORANGE, linewidth=1.2, label=f"used: {chosen:,}")
    _plain_ticks(axes, widths)
    axes.legend(frameon=False)
    return figure


def budgets(series: dict[str, list[tuple[int, float]]], label: str) -> "Figure":
    """Draw a quantity of every map against the number of features."""
    figure, axes = _axes("features", label)
    figure.set_size_inches(4.4, 4.6)
    _draw_series(axes, series, label)
    figure.legend(frameon=False, fontsize=8, loc="outside lower center", ncols=3)
    return figure


def _draw_series(axes: Any, series: dict[str, list[tuple[int, float]]], label: str) -> None:
    """Draw a line for each map, and a dashed one across for the exact solution."""
    # Nine markers and ten colours come together again after ninety lines.
    for marker, (name, points) in zip(cycle(MARKERS), series.items()):  # no end
        x, y = zip(*points, strict=True)
        if name == EXACT:
            axes.axhline(y[0], color=GREY, linestyle="--", linewidth=1.2, label=name)
        else:
            axes.loglog(x, y, marker + "-", markersize=4, linewidth=1.2, label=name)
    axes.set(xlabel="features", ylabel=label)
    maps = (points for name, points in series.items() if name != EXACT)
    _plain_ticks(axes, sorted({width for points in maps for width, _ in points}))


def _plain_ticks(axes: Any, widths: Sequence[int]) -> None:
    axes.set_xticks(widths, [f"{width:,}" for width in widths])
    axes.minorticks_off()


def confusion(matrix: Array, classes: Sequence[str]) -> "Figure":
    """Draw the counts of true and predicted classes."""
    figure, axes = _axes("predicted class", "true class")
    axes.grid(visible=False)
    shares = matrix / np.maximum(matrix.sum(axis=1, keepdims=True), 1)
    axes.imshow(shares, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    # Names, of every few classes where there are many; never their numbers.
    places = range(0, len(classes), -(-len(classes) // MOST_NAMES))
    names = [_words(_cut(classes[place], 9)) for place in places]
    size = 9 if len(classes) <= 12 else 6
    axes.set_xticks(places, names, size=size, rotation=90 if len(classes) > 5 else 0)
    axes.set_yticks(places, names, size=size)
    if len(classes) <= 12:
        for (row, column), count in np.ndenumerate(matrix):
            colour = "#ffffff" if shares[row, column] > 0.5 else "#101418"
            axes.text(column, row, f"{count:,}", ha="center", va="center", color=colour, size=8)
    return figure


def _cut(name: str, most: int) -> str:
    return name if len(name) <= most else f"{name[: most - 1]}…"


def calibration(confidence: Array, correct: Array) -> "Figure":
    """Draw the share of right answers against the probability of the class that was named."""
    figure, axes = _axes("probability of the named class", "share that is right")
    axes.plot([0, 1], [0, 1], color=GREY, linewidth=1)
    edges = np.quantile(confidence, np.linspace(0, 1, 11))
    bins = np.digitize(confidence, np.unique(edges)[1:-1])
    filled = np.unique(bins)
    x = [confidence[bins == one].mean() for one in filled]
    y = [correct[bins == one].mean() for one in filled]
    axes.plot(x, y, "o-", color=BLUE, markersize=4)
    lowest = max(0.0, min(*x, *y) - 0.05)
    axes.set(xlim=(lowest, 1.01), ylim=(lowest, 1.01))
    return figure


def quantile_curve(levels: Array, shares: Array) -> "Figure":
    """Draw the share of rows below their quantiles against the level of these."""
    figure, axes = _axes("level of the quantile", "share of rows below it")
    axes.plot([0, 1], [0, 1], color=GREY, linewidth=1)
    axes.plot(levels, shares, "o-", color=BLUE, markersize=4)
    axes.set(xlim=(0, 1), ylim=(0, 1))
    return figure


def dependence(
    values: Array, means: Array, name: str, label: str, seen: Array | None = None
) -> "Figure":
    """Draw mean predictions against the values of a column: a curve, or points for words.

    Small lines at the bottom tell where values were `seen`.
    """
    if values.dtype.kind == "f":
        figure, axes = _axes(name, label)
        axes.plot(values, means, color=BLUE)
        if seen is not None:
            low = np.zeros(len(seen))
            place = axes.get_xaxis_transform()
            axes.vlines(seen, low, low + 0.03, color=GREY, linewidth=0.5, transform=place)
        return figure
    figure, axes = _axes(label, "")
    order = np.argsort(means)
    axes.plot(means[order], np.arange(len(means)), "o", color=BLUE)
    names = [_words(_cut(str(value), 24)) for value in values[order]]
    axes.set_yticks(np.arange(len(means)), names)
    return figure


def globe(
    lat: Array,
    lon: Array,
    values: Array,
    *,
    label: str,
    centred: bool = False,
    limit: float = 0.0,
    ratios: bool = False,
) -> "Figure":
    """Draw values on a map: an image where they fill a grid, else points.

    Parameters
    ----------
    lat, lon, values : ndarrays of shape (n,)
    label : str
        What the colours mean.
    centred : bool
        Whether zero is in the middle of the colours.
    limit : float
        The largest value shown, if `centred`.
    ratios : bool
        Whether colours are on a scale of ratios, for values that are positive and of many sizes.
    """
    figure, axes = _map()
    style: dict[str, Any] = {}
    if ratios:
        style = _of_ratios(values)
    if centred:
        style = {"cmap": "RdBu_r", "vmin": -limit, "vmax": limit}
    rows, row = np.unique(lat, return_inverse=True)
    columns, column = np.unique(lon, return_inverse=True)
    if len(rows) > 1 and len(columns) > 1 and len(lat) >= FILLED * len(rows) * len(columns):
        grid = np.full((len(rows), len(columns)), np.nan)
        grid[row, column] = values
        artist = draw_cells(axes, rows, columns, grid, **style)
    else:
        y, x, z = _some(lat, lon, values)
        artist = draw_points(axes, y, x, z, **style)
    norm = style.get("norm")
    bar = figure.colorbar(
        artist, ax=axes, label=_words(label), orientation="horizontal", shrink=0.9, aspect=30,
        extend="neither" if norm is None else "both",
    )  # fmt: skip
    if norm is not None:
        ticks = np.geomspace(norm.vmin, norm.vmax, 5).tolist()
        bar.set_ticks(ticks, labels=[f"{tick:.2g}" for tick in ticks])
        bar.minorticks_off()
    return figure


def _of_ratios(values: Array) -> dict[str, Any]:
    """Return a scale of ratios between what all but a few percent of positive values are."""
    from matplotlib.colors import LogNorm

    low, high = np.quantile(values, [0.02, 0.98])
    return {"norm": LogNorm(low, high)} if 0 < low < high else {}


def folds(lat: Array, lon: Array, fold: Array) -> "Figure":
    """Draw which fold places are in."""
    figure, axes = _map()
    n_folds = int(fold.max()) + 1
    y, x, z = _some(lat, lon, fold)
    artist = draw_points(axes, y, x, z, **fold_colours(n_folds))
    bar = figure.colorbar(
        artist, ax=axes, label="fold", orientation="horizontal", shrink=0.9, aspect=30
    )
    bar.set_ticks(range(n_folds), labels=[str(k + 1) for k in range(n_folds)])
    return figure


def _map() -> "tuple[Figure, Any]":
    from matplotlib.figure import Figure

    figure = Figure(figsize=SIZE, layout="constrained")
    return figure, figure.add_subplot()


def budget_panels(panels: dict[str, dict[str, list[tuple[int, float]]]]) -> "Figure":
    """Draw several quantities against the number of features, side by side with one legend."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.2 * len(panels) + 1.6, 3.8), layout="constrained", dpi=150)
    for axes, (label, series) in zip(
        np.atleast_1d(figure.subplots(1, len(panels))), panels.items(), strict=True
    ):
        _draw_series(axes, series, label)
    axes.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))
    return figure
