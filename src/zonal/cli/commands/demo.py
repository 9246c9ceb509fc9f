"""``zonal demo``: the Earth's elevation from latitude and longitude, beside scikit-learn."""

import time
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from sklearn.kernel_approximation import Nystroem, RBFSampler

from ..._typing import Array
from ...datasets import load_elevation
from ...evaluation import Split
from ...features import GegenbauerFeatures, SphereEncoder
from ...grid.maps import draw_cells
from ...kernels import Gaussian
from ...learners import KernelRidge
from ...tables import LoadedRows
from .. import options as opt
from ..console import Screen
from ..errors import CommandError
from ..outputs import outputs
from ..report.fit_page import draw_fit, show_fit
from ..training import LocalTrainingRows, judge_model, train

__all__ = ["demo"]

# The bandwidth of the maps that are told one: the best for elevation at this many features.
BANDWIDTH = 0.15
TEST_FRACTION = 0.1
HEADER = ("features", "test MSE, km²", "fit, s")


def demo(
    out: Annotated[
        Path, typer.Option(metavar="FOLDER", help="Where elevation.png and elevation.html go.")
    ] = Path(),
    budget: opt.Budget = 1024,
    every: Annotated[
        int, typer.Option(min=1, max=15, help="Use every so many degrees only, to be quick.")
    ] = 1,
    seed: opt.Seed = 0,
    force: opt.Force = False,
    as_json: opt.Json = False,
) -> None:
    """Fit the Earth's elevation, compare with scikit-learn, draw the map and a report.

    64,800 points of the globe, a tenth of them for the test. zonal chooses its features by itself;
    the others use a Gaussian kernel of bandwidth 0.15.
    """
    screen = Screen(as_json)
    if not out.is_dir():
        raise CommandError(f"There is no folder {out}.")
    picture, report = out / "elevation.png", out / "elevation.html"
    with outputs(picture, report, force=force) as (picture_path, report_path):
        rows = _elevation(every)
        with screen.stage("Compiling"):
            _warm_up()
        model = _model("auto", budget, seed)
        split = Split(TEST_FRACTION, seed)
        training = LocalTrainingRows(rows, split)
        trained = train(model, training, screen, target="elevation, km")
        result, sample = judge_model(model, training, trained, screen, where=(0, 1))
        test = split.is_test(0, len(rows.X))
        result = {"data": "elevation", **result}
        table = [("zonal, chosen automatically", result["test"]["mse"], screen.seconds["Fitting"])]
        others = _others(budget, seed)
        with screen.stage("Fitting the others", len(others)) as advance:
            for name, features in others:
                table.append((name, *_mse_and_seconds(features, rows, test, budget, seed)))
                advance(1)
        with screen.stage("Drawing"):
            _draw(rows, model.predict(rows.X), picture_path)
            page = draw_fit(model, result, sample, screen)
            note = f"The others with {budget:,} features, alpha by 2-fold cross-validation."
            page.table("Beside other features", HEADER, table, note)
            page.write(report_path)
    show_fit(screen, result)
    screen.table(f"Elevation of the Earth, {len(rows.X):,} points", HEADER, table)
    screen.note(f"Map: {picture}\nReport: {report}")
    comparison = [dict(zip(("features", "mse", "seconds"), row, strict=True)) for row in table]
    screen.finish({**result, "comparison": comparison, "map": picture, "report": report})


def _elevation(every: int) -> LoadedRows:
    """Return latitude, longitude and elevation in km, on a grid of so many degrees."""
    data = load_elevation()
    place = data.data.astype(np.float64)
    kept = (np.floor(place) % every == 0).all(axis=1)
    return LoadedRows(place[kept], data.target[kept].astype(np.float64) / 1000, ["lat", "lon"])


def _model(features: Any, budget: int, seed: int) -> Any:
    return KernelRidge(features, encoder=SphereEncoder(0, 1), budget=budget, random_state=seed)


def _others(budget: int, seed: int) -> list[tuple[str, Any]]:
    gamma = 1 / (2 * BANDWIDTH**2)
    options: dict[str, Any] = {"n_components": budget, "random_state": seed}
    return [
        ("zonal GegenbauerFeatures", GegenbauerFeatures(Gaussian(BANDWIDTH), **options)),
        ("scikit-learn RBFSampler", RBFSampler(gamma=gamma, **options)),
        ("scikit-learn Nystroem", Nystroem(gamma=gamma, **options)),
    ]


def _warm_up() -> None:
    """Compile before the clock starts."""
    place = np.random.default_rng(0).uniform(-80, 80, (100, 2))
    _model(GegenbauerFeatures(n_components=8), 8, 0).fit(place, place[:, 0]).predict(place)


def _mse_and_seconds(
    features: Any, rows: LoadedRows, test: Array, budget: int, seed: int
) -> tuple[float, float]:
    assert rows.y is not None
    start = time.perf_counter()
    model = _model(features, budget, seed).fit(rows.X[~test], rows.y[~test])
    seconds = time.perf_counter() - start
    return float(np.mean((model.predict(rows.X[test]) - rows.y[test]) ** 2)), seconds


def _draw(rows: LoadedRows, prediction: Array, path: Path) -> None:
    """Draw the true elevation, the prediction and the error as maps side by side."""
    from matplotlib import colormaps
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.figure import Figure

    assert rows.y is not None
    lat, lon = np.unique(rows.X[:, 0]), np.unique(rows.X[:, 1])
    order = np.lexsort((rows.X[:, 1], rows.X[:, 0]))
    # Blue below the sea, from green to white above it.
    terrain = colormaps["terrain"](np.r_[0:0.17:128j, 0.25:1:128j])
    earth = LinearSegmentedColormap.from_list("earth", terrain)
    panels = [
        ("Elevation", rows.y, earth, 6),
        ("Prediction, a tenth of the places held out", prediction, earth, 6),
        ("Prediction minus elevation", prediction - rows.y, "RdBu_r", 2),
    ]
    figure = Figure(figsize=(13, 3.1), layout="constrained", dpi=150)
    for axes, (title, values, colours, limit) in zip(figure.subplots(1, 3), panels, strict=True):
        field = values[order].reshape(len(lat), len(lon))
        image = draw_cells(axes, lat, lon, field, cmap=colours, vmin=-limit, vmax=limit)
        axes.set_title(title)
        bar = figure.colorbar(image, ax=axes, orientation="horizontal", shrink=0.6, aspect=40)
        bar.set_label("km")
    figure.savefig(path)
