"""``zonal fit``: a model and a report from a table."""

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from sklearn.metrics import confusion_matrix
from sklearn.model_selection import train_test_split

from .._typing import Array
from ..learners import KernelRidge, KernelRidgeClassifier
from ..persistence import save
from . import options as opt
from .approximation import approximation_curve
from .console import Screen
from .errors import CommandError
from .model import encoder, feature_map, model_of, number_or
from .quality import classification, regression
from .read import Rows, open_table, read_rows
from .report import Report
from .selection import choices, tried
from .write import outputs

__all__ = ["draw_fit", "fit", "fit_and_test", "show_fit"]

# Rows that the maps of a report show.
MAP_ROWS = 100_000


def fit(
    data: opt.Data,
    target: Annotated[
        str,
        typer.Option(metavar="COL", help="The column to predict.", rich_help_panel=opt.TABLE),
    ],
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Where the model goes, by habit model.zonal."),
    ] = None,
    report: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Where the HTML report goes.")
    ] = None,
    classify: Annotated[
        bool,
        typer.Option(
            "--classify", help="The target is a class, not a number.", rich_help_panel=opt.TABLE
        ),
    ] = False,
    inputs: opt.Input = None,
    ignore: opt.Ignore = None,
    lat: opt.Lat = None,
    lon: opt.Lon = None,
    drop_missing: opt.DropMissing = False,
    features: opt.Features = "auto",
    kernel: opt.Kernel = "gaussian",
    bandwidth: opt.Bandwidth = "median",
    components: opt.Components = 1024,
    alpha: opt.Alpha = "cv",
    test_fraction: Annotated[
        float,
        typer.Option(
            min=0.0, max=0.9, help="The share of rows kept for the test.", rich_help_panel=opt.RUN
        ),
    ] = 0.1,
    seed: opt.Seed = 0,
    force: opt.Force = False,
    as_json: opt.Json = False,
) -> None:
    """Fit a kernel model to a table; save it and a report.

    Columns are put on a common scale, the regularisation is chosen by cross-validation, and the
    model is judged on rows that it has not seen.

    For example:

    - `zonal fit houses.csv --target price --out houses.zonal --report houses.html`

    - `zonal fit heights.parquet --target height --lat lat --lon lon --out heights.zonal`
    """
    screen = Screen(as_json)
    chosen = feature_map(features, kernel, bandwidth, components)
    regularisation = number_or("--alpha", alpha, "cv")
    if out is None and report is None:
        screen.note(
            "Neither --out nor --report is given: the result is shown, and nothing is kept."
        )
    with outputs(out, report, force=force) as (model_path, report_path):
        table = open_table(data)
        with screen.stage("Reading rows", table.n_rows) as advance:
            rows = read_rows(
                table,
                inputs=inputs,
                ignore=ignore,
                target=target,
                labels=classify,
                drop_missing=drop_missing,
                advance=advance,
            )
        learner = (KernelRidgeClassifier if classify else KernelRidge)(
            chosen, regularisation, budget=components, random_state=seed
        )
        model = model_of(encoder(rows.inputs, lat, lon), learner, rows.inputs, target)
        result, test = fit_and_test(model, rows, test_fraction, seed, screen)
        result = {"data": str(data), **result}
        if report is not None:
            with screen.stage("Drawing"):
                where = (rows.inputs.index(lat), rows.inputs.index(lon)) if lat and lon else None
                draw_fit(model, result, rows, test, screen, where).write(report_path)
        if out is not None:
            with screen.stage("Saving"):
                save(model, model_path)
    show_fit(screen, result)
    for what, path in (("Model", out), ("Report", report)):
        if path is not None:
            screen.note(f"{what}: {path}")
    screen.finish({**result, "model": out, "report": report})


def fit_and_test(
    model: Any, rows: Rows, test_fraction: float, seed: int, screen: Screen
) -> tuple[dict[str, Any], Array]:
    """Fit to a part of the rows and judge on the others; what came of it, and their numbers."""
    assert rows.y is not None
    train, test = _split(len(rows.X), test_fraction, seed)
    with screen.stage("Fitting"):
        model.fit(rows.X[train], rows.y[train])
    learner = model[-1]
    with screen.stage("Testing"):
        result = {
            "target": model.table_["target"],
            "inputs": rows.inputs,
            "rows": len(rows.X),
            "rows_dropped": rows.n_dropped,
            "rows_train": len(train),
            "rows_test": len(test),
            "selected": {what: value for what, value, _ in choices(learner)},
            "alpha": learner.alpha_,
            "test": _quality(model, rows.X[test], rows.y[test], rows.y[train]),
            "train": _quality(model, *_some(rows.X, rows.y, train), rows.y[train]),
        }
    return result, test


def _split(n_rows: int, fraction: float, seed: int) -> tuple[Array, Array]:
    """Row numbers of the training and the test part."""
    numbers = np.arange(n_rows)
    if fraction == 0:
        return numbers, numbers[:0]
    if n_rows < 3:
        raise CommandError(
            f"{n_rows} rows are too few to keep some for the test: give more, or --test-fraction 0."
        )
    train, test = train_test_split(numbers, test_size=fraction, random_state=seed)
    return np.sort(train), np.sort(test)


def _some(X: Array, y: Array, numbers: Array) -> tuple[Array, Array]:
    """At most 20,000 of the rows, for the training error."""
    numbers = numbers[:: max(1, len(numbers) // 20_000)]
    return X[numbers], y[numbers]


def _quality(model: Any, X: Array, y: Array, seen: Array) -> dict[str, float]:
    """Errors at rows, beside those of the best constant on the training rows."""
    if not len(X):
        return {}
    learner = model[-1]
    if isinstance(learner, KernelRidge):
        return regression(y, model.predict(X), float(seen.mean(dtype=np.float64)))
    values, counts = np.unique(seen, return_counts=True)
    # Classes that are in the test part only count as errors, and no loss is defined for them.
    known = np.isin(y, learner.classes_)
    found = classification(
        y[known],
        model.predict(X[known]),
        model.predict_proba(X[known]),
        learner.classes_,
        values[counts.argmax()],
    )
    for name in ("accuracy", "accuracy_of_commonest"):
        found[name] *= float(known.mean())
    return found


NAMES = {
    "rmse": "root mean squared error",
    "mse": "mean squared error",
    "mae": "mean absolute error",
    "r2": "R² (1 is perfect)",
    "mse_of_constant": "mean squared error of a constant",
    "accuracy": "accuracy",
    "log_loss": "log loss",
    "accuracy_of_commonest": "accuracy of the commonest class",
}


def _quality_rows(result: dict[str, Any]) -> list[list[Any]]:
    return [
        [name, result["test"].get(key), result["train"].get(key)]
        for key, name in NAMES.items()
        if key in result["train"]
    ]


def show_fit(screen: Screen, result: dict[str, Any]) -> None:
    """Print the tables of a fit."""
    screen.table(
        f"{result['target']} from {len(result['inputs'])} columns, {result['rows']:,} rows",
        ("", f"test ({result['rows_test']:,} rows)", "training"),
        _quality_rows(result),
    )
    screen.table("Selected", ("", ""), result["selected"].items())
    screen.table("Seconds", ("", ""), screen.seconds.items())


def draw_fit(
    model: Any,
    result: dict[str, Any],
    rows: Rows,
    test: Array,
    screen: Screen,
    where: tuple[int, int] | None,
) -> Report:
    """The report of a fit: quality, figures, what was selected, timings."""
    from . import figures

    assert rows.y is not None
    X, y = rows.X, rows.y
    learner, target = model[-1], result["target"]
    page = Report(
        f"{target}: {Path(result['data']).name}",
        f"{type(learner).__name__} on {', '.join(result['inputs'][:12])}"
        f"{' …' if len(result['inputs']) > 12 else ''}; trained on {result['rows_train']:,} rows, "
        f"tested on {result['rows_test']:,} others.",
    )
    part = "test" if len(test) else "train"
    first = [key for key in ("r2", "accuracy", "rmse", "mae", "log_loss") if key in result[part]]
    page.tiles(
        [(f"{NAMES[key]}, {part}", result[part][key]) for key in first]
        + [("features", learner.n_columns_), ("seconds to fit", screen.seconds["Fitting"])]
    )
    page.table(
        "Quality",
        ("measure", f"test ({result['rows_test']:,} rows)", "training"),
        _quality_rows(result),
    )
    shown = test if len(test) else np.arange(len(X))[:: max(1, len(X) // 20_000)]
    prediction = model.predict(X[shown])
    if isinstance(learner, KernelRidge):
        page.figures(
            f"Predictions, {part} rows",
            [
                ("Predicted against true values.", figures.predicted(y[shown], prediction, target)),
                ("Residuals against predictions.", figures.residuals(y[shown], prediction, target)),
                ("How large the residuals are.", figures.spread(y[shown], prediction)),
            ],
        )
    else:
        matrix = confusion_matrix(y[shown], prediction, labels=learner.classes_)
        names = [str(name) for name in learner.classes_]
        confidence = model.predict_proba(X[shown]).max(axis=1)
        page.figures(
            f"Predictions, {part} rows",
            [
                ("True and predicted classes.", figures.confusion(matrix, names)),
                (
                    "Are probabilities what they say? On the line they are.",
                    figures.calibration(confidence, prediction == y[shown]),
                ),
            ],
        )
    if where is not None:
        _draw_map(page, model, X, y, where, target)
    _draw_choice(page, model, result, X)
    page.table("Seconds", ("stage", "seconds"), screen.seconds.items())
    page.notes("Warnings", screen.warnings)
    return page


def _draw_map(
    page: Report, model: Any, X: Array, y: Array, where: tuple[int, int], target: str
) -> None:
    from . import figures

    numbers = np.arange(len(X))[:: max(1, -(-len(X) // MAP_ROWS))]
    lat, lon = (X[numbers, column] for column in where)
    prediction, truth = model.predict(X[numbers]), y[numbers]
    if isinstance(model[-1], KernelRidge):
        errors = prediction - truth
        limit = float(np.quantile(np.abs(errors), 0.98)) or 1.0
        drawings = [
            ("The data.", figures.globe(lat, lon, truth, label=target)),
            ("The prediction.", figures.globe(lat, lon, prediction, label=target)),
            (
                "Predicted minus true.",
                figures.globe(lat, lon, errors, label=target, centred=True, limit=limit),
            ),
        ]
    else:
        wrong = (prediction != truth).astype(float)
        drawings = [
            (
                "Wrong answers (1) and right ones (0).",
                figures.globe(lat, lon, wrong, label="wrong", centred=True, limit=1.0),
            )
        ]
    page.figures("Map", drawings, "All rows, those of training included.")


def _draw_choice(page: Report, model: Any, result: dict[str, Any], X: Array) -> None:
    from . import figures

    learner = model[-1]
    page.table("Selected, and why", ("what", "value", "why"), choices(learner))
    header, candidates = tried(learner)
    if candidates:
        page.table("What was tried", header, candidates, "The candidates of the automatic choice.")
    drawings = []
    path = learner.cv_results_
    if path:
        errors = (path["mean_test_mse"], path["std_test_mse"])
        drawings.append(
            (
                "Cross-validation: mean and standard deviation over the folds.",
                figures.cv_curve(path["alpha"], *errors, learner.alpha_),
            )
        )
    rows = model[0].transform(X[:: max(1, len(X) // 20_000)])
    curve = approximation_curve(learner.features_, rows, learner.n_columns_)
    if curve:
        result["approximation"] = [{"features": w, "error": e} for w, e in curve]
        drawings.append(
            (
                "Relative error ‖ZZᵀ - K‖ / ‖K‖ of the kernel matrix of a sample of rows.",
                figures.approximation(curve, learner.n_columns_),
            )
        )
    if drawings:
        page.figures("Regularisation and budget", drawings)
