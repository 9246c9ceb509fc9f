"""The part of a report that tells how sure the model is."""

from typing import Any

from ..._typing import Array
from ...evaluation import Findings
from ...evaluation.interval_errors import COVERAGES, LEVELS, IntervalErrors
from ..console import figure as shown
from . import figures
from .page import Report

__all__ = ["distance_rows", "draw_intervals", "interval_rows", "region_rows"]


def interval_rows(found: dict[str, Any]) -> list[list[Any]]:
    """Return rows of a table: what intervals promise, what they hold, how wide they are."""
    percents = [f"{100 * share:.0f}" for share in COVERAGES]
    return [
        [
            f"{p} %",
            f"{100 * found[f'coverage_{p}']:.1f} %",
            found[f"width_{p}"],
            found[f"score_{p}"],
        ]
        for p in percents
    ]


def region_rows(shown: dict[str, Array]) -> list[list[Any]]:
    """Return rows of a table: zones of 30° of latitude, and what intervals hold there."""
    rows = []
    for south in range(60, -91, -30):
        # The north pole belongs to the last zone.
        mine = (shown["lat"] >= south) & ((shown["lat"] < south + 30) | (south == 60))
        if not mine.any():
            continue
        found = IntervalErrors.of(shown["truth"][mine], shown["quantiles"][mine]).measures()
        held = [f"{100 * found[f'coverage_{p}']:.1f} %" for p in (90, 95)]
        scores = [found[f"score_{p}"] for p in (90, 95)]
        rows.append([_zone(south), f"{mine.sum():,}", *held, found["crps"], *scores])
    return rows


def _zone(south: int) -> str:
    ends = (abs(south), abs(south + 30))
    return f"{min(ends)} to {max(ends)}° {'N' if south >= 0 else 'S'}"


def distance_rows(found: list[dict[str, Any]]) -> list[list[Any]]:
    """Return rows of a table: classes of distances, and what intervals hold there."""

    def line(record: dict[str, Any]) -> list[Any]:
        least, most = record["from"], record["to"]
        distance = f"more than {least:g}" if most is None else f"{least:g} to {most:g}"
        held = [f"{100 * record[name]:.1f} %" for name in ("coverage_90", "coverage_95")]
        return [distance, f"{record['rows']:,.0f}", *held]

    return [line(record) for record in found]


def draw_intervals(
    page: Report, result: dict[str, Any], found: Findings, target: str, part: str
) -> None:
    """Add tables and figures of the intervals of new observations.

    Parameters
    ----------
    page : Report
    result : dict
        The measures of the intervals.
    found : Findings
    target : str
        The name of the target.
    part : str
        Which rows they were measured on.
    """
    page.table(
        "How sure it is",
        ("intervals", f"hold, {part} rows", f"mean width, {target}", "interval score"),
        interval_rows(result),
        _sentence(result, target),
    )
    names = {
        "crps": f"this model, {part} rows",
        "crps_of_constant": "all targets, whatever the row",
        "left_out_crps": "this model, rows left out of the fit",
        "left_out_crps_without_calibration": "the same without calibration: normal, with the "
        "model's own standard deviation",
    }
    page.table(
        "The error of the whole distribution (CRPS)",
        ("of what", "CRPS"),
        [[name, result[key]] for key, name in names.items() if key in result],
        "The mean absolute error, generalised to distributions: less is better.",
    )
    if "by_distance" in result:
        page.table(
            "Near the rows and far from them",
            ("distance to the nearest row, in spacings", "rows", "in 90 %", "in 95 %"),
            distance_rows(result["by_distance"]),
            "Training rows that were left out one by one, and others inside balls that were "
            "emptied of all rows, each predicted from the rows that were left.",
        )
    if "lat" in found.shown and "quantiles" in found.shown:
        page.table(
            "By latitude",
            (
                "latitudes",
                f"{part} rows",
                "in 90 %",
                "in 95 %",
                "CRPS",
                "interval score, 90 %",
                "95 %",
            ),
            region_rows(found.shown),
            "Intervals hold on average over rows like those of the fit, not in each zone.",
        )
    assert found.intervals is not None
    drawings = [
        (
            "Are quantiles what they say? On the line they are.",
            figures.quantile_curve(LEVELS, found.intervals.curve()),
        )
    ]
    if len(found.mapped.get("width", [])):
        place = (found.mapped["lat"], found.mapped["lon"])
        drawings.append(
            (
                "The width of 90 % intervals.",
                figures.globe(*place, found.mapped["width"], label=f"width, {target}", ratios=True),
            )
        )
    page.figures("Intervals", drawings)


def _sentence(result: dict[str, Any], target: str) -> str:
    """Say what an interval means."""
    held, width = result["coverage_90"], result["width_90"]
    gain = 1 - result["crps"] / (result["crps_of_constant"] or 1.0)
    return (
        f"An interval is where a new observation of {target} is expected. Those of 90 % held "
        f"{100 * held:.1f} % of rows that the model had not seen and are {shown(width)} wide on "
        f"average, wider where the model knows less. The predicted distributions have "
        f"{100 * gain:.0f} % less error than one distribution for all rows."
    )
