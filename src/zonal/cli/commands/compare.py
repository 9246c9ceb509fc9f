"""``zonal compare``: every feature map at several budgets."""

import time
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from sklearn.model_selection import train_test_split

from ..._typing import Array
from ...evaluation import relative_error
from ...evaluation.approximation import SAMPLE_ROWS
from ...learners import ExactKernelRidge, KernelRidge
from ...rows import sample_rows
from ...rows.block import take
from ...tables import open_table
from .. import options as opt
from ..bandwidths import telling_bandwidth
from ..columns import encodable
from ..console import Screen
from ..errors import CommandError
from ..models import MAPS, kernel_named
from ..outputs import outputs
from ..report import figures
from ..report.page import Report
from ..standard import spooled

__all__ = ["compare"]

PICTURES = (".png", ".svg", ".pdf")
LABELS = {
    "approximation": "error of the kernel matrix",
    "mse": "test mean squared error",
    "seconds": "seconds",
}
# The same in the heads of columns, so that a table fits on a screen of 80 columns.
HEADS = {"approximation": "matrix error", "mse": "test MSE", "seconds": "seconds"}


def compare(
    data: opt.Data,
    target: Annotated[
        str | None,
        typer.Option(
            metavar="COL",
            help="A column of numbers to predict; without it only the kernel matrix is compared.",
            rich_help_panel=opt.TABLE,
            show_default=False,
        ),
    ] = None,
    budget: Annotated[
        list[int] | None,
        typer.Option(
            min=1, help="A number of features to try; repeat it. 64, 256 and 1,024 if left out."
        ),
    ] = None,
    rows: Annotated[
        int, typer.Option(min=10, help="Use at most this many rows, chosen by row number.")
    ] = 10_000,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Where the plot goes: .png, .svg or .pdf.")
    ] = None,
    report: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Where the HTML report goes.")
    ] = None,
    inputs: opt.Input = None,
    ignore: opt.Ignore = None,
    lat: opt.Lat = None,
    lon: opt.Lon = None,
    drop_missing: opt.DropMissing = False,
    kernel: opt.Kernel = "gaussian",
    bandwidth: Annotated[
        str,
        typer.Option(
            metavar="NUMBER",
            help="The bandwidth of the kernel on scaled columns, 'median' for the median distance, "
            "or 'auto' for one at which maps differ: with a target the one that predicts best.",
            rich_help_panel=opt.MODEL,
        ),
    ] = "auto",
    seed: opt.Seed = 0,
    force: opt.Force = False,
    as_json: opt.Json = False,
) -> None:
    """Compare all feature maps of one kernel: their errors and their times against the budget.

    The error of the kernel matrix is ‖ZZᵀ - K‖ / ‖K‖ on a sample of rows. With a target, ridge
    regression on the features is fitted to nine tenths of the rows and tested on the rest; the
    line "exact" is the kernel itself on all of these rows, what the features stand for.

    For example:

    - `zonal compare heights.parquet --target height --lat lat --lon lon --plot maps.png`
    """
    screen = Screen(as_json)
    if plot is not None and plot.suffix.lower() not in PICTURES:
        raise CommandError(f"{plot} must end in {', '.join(PICTURES)}, not {plot.suffix!r}.")
    wanted = kernel_named(kernel, "median" if bandwidth == "auto" else bandwidth)
    widths = sorted(set(budget or [64, 256, 1024]))
    with outputs(plot, report, force=force) as (plot_path, report_path):
        table = open_table(spooled(data))
        found, encoder = encodable(
            table,
            screen,
            lat=lat,
            lon=lon,
            inputs=inputs,
            ignore=ignore,
            target=target,
            drop_missing=drop_missing,
        )
        chosen = sample_rows(len(found.X), rows)
        X = encoder.fit_transform(take(found.X, chosen))  # without y, which test rows share
        y = None if found.y is None else found.y[chosen]
        if bandwidth == "auto":
            with screen.stage("Choosing a bandwidth"):
                resolved = telling_bandwidth(wanted, X, y, widths)
        else:
            resolved = wanted.resolve(X)
        results = []
        with screen.stage("Comparing", len(MAPS) * len(widths) + (y is not None)) as advance:
            for name in MAPS:
                for width in widths:
                    results.append({"map": name, "features": width})
                    results[-1].update(_measure(name, resolved, width, X, y, seed))
                    advance(1)
            if y is not None:
                results.append(_exact(resolved, X, y, seed))
                advance(1)
        drawings = _draw(results, y is not None)
        if plot is not None:
            _save_plot(results, y is not None, plot_path)
        if report is not None:
            page = Report(
                f"Feature maps: {data.name}",
                f"{resolved!r} on {len(X):,} rows and {X.shape[1]} columns.",
            )
            page.figures("Error and time against the budget", drawings)
            page.table("Results", *_table(results, y is not None))
            page.notes("Notes", _notes(results))
            page.notes("Warnings", screen.warnings)
            page.write(report_path)
    screen.table(f"{resolved!r}, {len(X):,} rows", *_table(results, y is not None))
    for line in _notes(results):
        screen.note(line)
    for what, path in (("Plot", plot), ("Report", report)):
        if path is not None:
            screen.note(f"{what}: {path}")
    screen.finish({"data": data, "kernel": repr(resolved), "rows": len(X), "results": results})


def _measure(
    name: str, kernel: Any, width: int, X: Array, y: Array | None, seed: int
) -> dict[str, Any]:
    """Return the errors and seconds of one map, or a note why there are none."""
    features = MAPS[name](kernel, n_components=width, random_state=seed)
    train, test = train_test_split(np.arange(len(X)), test_size=0.1, random_state=seed)
    try:
        # Once on some rows before the clock starts, which compiles.
        features.fit_transform(X[: 2 * width])
        start = time.perf_counter()
        if y is None:
            features.fit(X).transform(X)
            seconds = time.perf_counter() - start
            error = None
        else:
            model = KernelRidge(features).fit(X[train], y[train])
            seconds = time.perf_counter() - start
            error = float(np.mean((model.predict(X[test]) - y[test]) ** 2))
            features = model.features_
        approximation = relative_error(features, X[sample_rows(len(X), SAMPLE_ROWS)])
    except ValueError as problem:
        # Some maps are not for every kernel, dimension or budget.
        return {"note": str(problem).split(". ")[0].split(": ")[0]}
    return {"approximation": approximation, "mse": error, "seconds": seconds}


def _exact(kernel: Any, X: Array, y: Array, seed: int) -> dict[str, Any]:
    """Return the error and seconds of the exact solution, with as many coefficients as rows."""
    train, test = train_test_split(np.arange(len(X)), test_size=0.1, random_state=seed)
    model = ExactKernelRidge(kernel, "cv", fit_intercept=True, random_state=seed)
    start = time.perf_counter()
    model.fit(X[train], y[train])
    seconds = time.perf_counter() - start
    error = float(np.mean((model.predict(X[test]) - y[test]) ** 2))
    row = {"map": figures.EXACT, "features": len(train), "approximation": 0.0, "mse": error}
    note = "" if model.report_.converged else "did not converge"
    return row | {"seconds": seconds, "note": note}


def _table(results: list[dict[str, Any]], with_target: bool) -> tuple[list[str], list[list[Any]]]:
    """Return what was measured; `_notes` tells of the others."""
    keys = _keys(with_target)
    rows = [
        [row["map"], row["features"], *(row[key] for key in keys)]
        for row in results
        if "seconds" in row
    ]
    return ["map", "features", *(HEADS[key] for key in keys)], rows


def _notes(results: list[dict[str, Any]]) -> list[str]:
    """Return a line for each map and reason, however many budgets it holds for."""
    widths: dict[tuple[str, str], list[str]] = {}
    for row in results:
        if row.get("note"):
            widths.setdefault((row["map"], row["note"]), []).append(f"{row['features']:,}")
    return [f"{name} ({', '.join(found)}): {note}." for (name, note), found in widths.items()]


def _series(results: list[dict[str, Any]], key: str) -> dict[str, list[tuple[int, float]]]:
    series: dict[str, list[tuple[int, float]]] = {}
    for row in results:
        if row.get(key):
            series.setdefault(row["map"], []).append((row["features"], row[key]))
    return series


def _keys(with_target: bool) -> list[str]:
    return ["approximation", *(["mse"] if with_target else []), "seconds"]


def _draw(results: list[dict[str, Any]], with_target: bool) -> list[tuple[str, Any]]:
    return [
        (f"{LABELS[key].capitalize()}.", figures.budgets(_series(results, key), LABELS[key]))
        for key in _keys(with_target)
    ]


def _save_plot(results: list[dict[str, Any]], with_target: bool, path: Path) -> None:
    keys = _keys(with_target)
    figures.budget_panels({LABELS[key]: _series(results, key) for key in keys}).savefig(path)
