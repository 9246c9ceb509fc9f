"""The report of a fit, and its tables on the screen."""

from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.metrics import confusion_matrix

from ..._typing import Array
from ...evaluation import approximation_curve
from ...evaluation.judge import FIGURE_ROWS
from ..chosen import choices, length_scales, tried
from ..console import Screen
from ..training import FitSample
from . import figures
from .dependence import draw_dependence
from .interval_section import draw_intervals, interval_rows
from .page import Report

__all__ = ["draw_fit", "show_fit"]

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


COLUMNS = ("column", "kind", "encoding", "note")
# Length scales that are shown without being asked for.
MOST_SCALES = 12
# Columns whose treatment fits on a screen.
MOST_COLUMNS = 40


def _quality_rows(result: dict[str, Any]) -> list[list[Any]]:
    return [
        [name, result["test"].get(key), result["train"].get(key)]
        for key, name in NAMES.items()
        if key in result["train"]
    ]


def _column_rows(result: dict[str, Any], most: int | None = None) -> list[list[str]]:
    """Return what was done with each column, at most so many."""
    rows = [[record[name] for name in COLUMNS] for record in result["columns"]]
    if most is None or len(rows) <= most:
        return rows
    return [*rows[:most], [f"and {len(rows) - most} more", "", "", ""]]


def show_fit(screen: Screen, result: dict[str, Any]) -> None:
    """Print the tables of a fit."""
    screen.table(
        f"{result['target']} from {len(result['inputs'])} columns, {result['rows']:,} rows",
        ("", f"test ({result['rows_test']:,} rows)", "training"),
        _quality_rows(result),
    )
    if "intervals" in result:
        names = ("intervals", "hold", "mean width", "interval score")
        screen.table("How sure it is", names, interval_rows(result["intervals"]))
    compared = result.get("validation")
    if compared:
        header = ("", "random rows", compared["name"])
        screen.table("Random rows and blocks", header, _validation_rows(compared))
        screen.note(compared["advice"])
    if result["columns"]:
        screen.table("Columns", COLUMNS, _column_rows(result, MOST_COLUMNS))
    screen.table("Selected", ("", ""), result["selected"].items())
    screen.table("Seconds", ("", ""), screen.seconds.items())


def draw_fit(learner: Any, result: dict[str, Any], sample: FitSample, screen: Screen) -> Report:
    """Return the report of a fit: quality, figures, what was selected, timings."""
    target = result["target"]
    page = Report(
        f"{target}: {Path(result['data']).name}",
        f"{type(learner).__name__} on {', '.join(result['inputs'][:12])}"
        f"{' …' if len(result['inputs']) > 12 else ''}; trained on {result['rows_train']:,} rows, "
        f"tested on {result['rows_test']:,} others.",
    )
    part = "test" if result["rows_test"] else "train"
    first = [key for key in ("r2", "accuracy", "rmse", "mae", "log_loss") if key in result[part]]
    size = ("features", learner.n_columns_)
    if not learner.n_columns_:
        size = ("neighbours", learner.local_.n_neighbors_)
    page.tiles(
        [(f"{NAMES[key]}, {part}", result[part][key]) for key in first]
        + [size, ("seconds to fit", screen.seconds["Fitting"])]
    )
    page.table(
        "Quality",
        ("measure", f"test ({result['rows_test']:,} rows)", "training"),
        _quality_rows(result),
    )
    _draw_validation(page, result, sample.folds)
    _draw_predictions(page, learner, sample.findings.shown, target, part, result)
    if len(sample.findings.mapped["truth"]):
        _draw_map(page, learner, sample.findings.mapped, target)
    if "intervals" in result:
        draw_intervals(page, result["intervals"], sample.findings, target, part)
    draw_dependence(page, learner, sample.rows, target, result.get("importances", {}))
    _draw_choice(page, learner, result, sample.rows)
    page.table("Seconds", ("stage", "seconds"), screen.seconds.items())
    page.notes("Suggestions", result.get("suggestions", []))
    page.notes("Warnings", screen.warnings)
    return page


def _validation_rows(compared: dict[str, Any]) -> list[list[Any]]:
    return [
        [name, compared["random"].get(key), compared["blocks"][key]]
        for key, name in NAMES.items()
        if key in compared["blocks"]
    ]


def _draw_validation(page: Report, result: dict[str, Any], folds: dict[str, Array]) -> None:
    compared = result.get("validation")
    if not compared:
        return
    page.table(
        "Random rows and blocks",
        ("measure", "random rows", compared["name"]),
        _validation_rows(compared),
        compared["advice"],
    )
    if folds:
        page.figures("Folds", [(f"The {compared['name']}.", figures.folds(**folds))])


def _draw_predictions(
    page: Report,
    learner: Any,
    shown: dict[str, Array],
    target: str,
    part: str,
    result: dict[str, Any],
) -> None:
    truth, prediction = shown["truth"], shown["prediction"]
    if not is_classifier(learner):
        drawings = [
            ("Predicted against true values.", figures.predicted(truth, prediction, target)),
            ("Residuals against predictions.", figures.residuals(truth, prediction, target)),
            ("How large the residuals are.", figures.spread(truth, prediction)),
        ]
    else:
        matrix = confusion_matrix(truth, prediction, labels=learner.classes_)
        names = [str(name) for name in learner.classes_]
        drawings = [
            ("True and predicted classes.", figures.confusion(matrix, names)),
            (
                "Are probabilities what they say? On the line they are. The expected calibration "
                f"error is {result['calibration_error']:.3f}.",
                figures.calibration(shown["confidence"], prediction == truth),
            ),
        ]
    sampled = result[f"rows_{part}"] > FIGURE_ROWS
    note = f"A sample of {len(truth):,} of them." if sampled else ""
    page.figures(f"Predictions, {part} rows", drawings, note)


def _draw_map(page: Report, learner: Any, mapped: dict[str, Array], target: str) -> None:
    lat, lon, truth, prediction = (mapped[name] for name in ("lat", "lon", "truth", "prediction"))
    if not is_classifier(learner):
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
    page.figures("Map", drawings, f"{len(truth):,} rows, those of training included.")


def _draw_choice(page: Report, learner: Any, result: dict[str, Any], rows: Any) -> None:
    if result["columns"]:
        page.table("Columns", COLUMNS, _column_rows(result), "What was done with each.")
    page.table("Selected, and why", ("what", "value", "why"), choices(learner))
    scales = length_scales(learner)
    if scales:
        page.table(
            f"Length scales of the local part ({len(scales)})",
            ("column", "length scale"),
            scales,
            "Of columns on a common scale: along a short one the prediction changes fast.",
            folded=len(scales) > MOST_SCALES,
        )
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
    encoded = learner.encoder_.transform(rows)
    curve = approximation_curve(learner.features_, encoded, learner.n_columns_)
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
    header, candidates = tried(learner)
    if candidates:
        note = "The candidates of the automatic choice."
        page.table(f"What was tried ({len(candidates)})", header, candidates, note, folded=True)
