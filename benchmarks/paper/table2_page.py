"""Table 2 for people: the page and the picture."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure

import zonal

from ..measure import table
from .common import mean_and_deviation, published_name
from .table2_setting import AUTOMATIC, FULL, METHODS, NOTES, ORDERS, OURS, PUBLISHED, applies

__all__ = ["body", "draw", "find", "standing"]

Row = dict[str, Any]
FEATURES = tuple(method for method in METHODS if method not in AUTOMATIC)
NOT_RUN = "not run"
HEADER = (
    "method",
    "MSE, bandwidth 1",
    "published",
    "q, s",
    "seconds",
    "published",
    "MSE, own bandwidth",
    "q, s",
    "seconds",
    "bandwidth",
)
NOTE = (
    "Mean ± standard deviation over the seeds of the test error and of the seconds (features, "
    "cross-validation of alpha and solution). Bandwidth 1 is the kernel as the paper writes it, "
    "with the published numbers beside. At their own bandwidth all methods use the one that "
    "cross-validation prefers on a sample of the first split's training rows, from the widest on "
    "until the error rises; the product of the sphere and time has two. All these are features "
    "without a local part.\n\n"
    "**Gegenbauer (paper)** is `GegenbauerFeatures.paper`: independent directions, Taylor radial "
    "functions, no centring; degree 15, where Figure 1 ends, and the order s of "
    f"{', '.join(map(str, ORDERS))} with the smallest cross-validated error on the sample, for the "
    "paper states neither. **Gegenbauer (zonal)** is `GegenbauerFeatures` as it comes. q, s is "
    "what each has. The originals of Maclaurin and PolySketch leave everything to chance; ours, "
    "below, keep the constant and the low degrees exact. All sketches have degree 15 at bandwidth "
    "1. The others run with their defaults. Sketches are given up where one fit takes more than "
    "four minutes of CPU time; a bandwidth on the sample, and all smaller ones, where it takes "
    "more than one. A seed that takes more than a minute is the only one. – is what has no place: "
    "products need time. A number of an older version has that version beside it."
)


def find(rows: list[Row], dataset: str, method: str, part: str) -> Row | None:
    """The row of a method, or None where it has no place."""
    key = {"dataset": dataset, "method": method, "part": part}
    return next((row for row in rows if key.items() <= row.items()), None)


def standing(rows: list[Row], dataset: str) -> tuple[str, str, float, float]:
    """The best features at their own bandwidth, the best of ours, and how much worse that is.

    The difference of errors, with its standard error: the seeds split the rows in the same way for
    all methods, so that differences are taken seed by seed.
    """
    chosen = [
        row
        for row in rows
        if row["dataset"] == dataset
        and row["part"] == "own bandwidth"
        and row["method"] in FEATURES
        and row["mse"]
    ]
    best = min(chosen, key=lambda row: float(np.mean(row["mse"])))
    ours = min(
        (row for row in chosen if row["method"] in OURS), key=lambda row: float(np.mean(row["mse"]))
    )
    n = min(len(ours["mse"]), len(best["mse"]))
    mean, deviation = mean_and_deviation(np.subtract(ours["mse"][:n], best["mse"][:n]))
    return best["method"], ours["method"], mean, deviation / n**0.5


def _verdicts(rows: list[Row]) -> str:
    lines = []
    for dataset in PUBLISHED:
        if not any(find(rows, dataset, method, "own bandwidth") for method in OURS):
            continue
        best, ours, worse, error = standing(rows, dataset)
        if best == ours:
            lines.append(f"- {dataset}: {best} is best.")
        else:
            tie = "a tie" if worse <= 2 * error else "not a tie"
            lines.append(
                f"- {dataset}: {best} is best; {ours}, the best of ours, is {worse:.3g} ± "
                f"{error:.2g} (standard error) above it: {tie}."
            )
    return "At their own bandwidths:\n\n" + "\n".join(lines)


def body(rows: list[Row]) -> str:
    """The page."""
    parts = [NOTE, _verdicts(rows)]
    for dataset, note in NOTES.items():
        lines: list[tuple[str, ...]] = []
        for method in FEATURES:
            first = find(rows, dataset, method, "bandwidth 1")
            second = find(rows, dataset, method, "own bandwidth")
            if first is None and second is None and not applies(method, dataset, False, FULL):
                continue
            missing = [
                _forecast(first) if applies(method, dataset, own, FULL) else "–"
                for own in (False, True)
            ]
            lines.append(
                (
                    method,
                    _cell(first, "mse", missing[0]),
                    _known(first, "published mse"),
                    _cut(first),
                    _cell(first, "seconds"),
                    _known(first, "published seconds"),
                    _cell(second, "mse", missing[1]),
                    _cut(second),
                    _cell(second, "seconds"),
                    _bandwidth(second),
                )
            )
        n = next(row["n"] for row in rows if row["dataset"] == dataset)
        parts += [f"## {dataset}: n = {n:,}; {note}", table(lines, HEADER)]
    parts += _automatic(rows)
    return "\n\n".join(parts)


def _automatic(rows: list[Row]) -> list[str]:
    """The automatic choice in a table of its own, dated by the version that chose."""
    lines: list[tuple[str, ...]] = []
    for method in AUTOMATIC:
        found = [find(rows, dataset, method, "own bandwidth") for dataset in PUBLISHED]
        versions = sorted({row.get("version", "0.1.0") for row in found if row})
        cells = [
            f"{_error(row)} ({np.mean(row['seconds']):.0f} s)" if row else "–" for row in found
        ]
        lines += [(method, ", ".join(versions), *cells)] if versions else []
    if not lines:
        return []
    return [
        "## The automatic choice",
        "Auto is `KernelRidge(budget=1024, local=None)`, features alone; Default is "
        "`KernelRidge()` with the local part that it chooses, one seed. Both choose their kernel "
        "themselves, on the same splits; seconds are CPU time, the choice included.",
        table(lines, ("method", "version", *PUBLISHED)),
    ]


def _forecast(first: Row | None) -> str:
    """What a cell that was not run takes at least: the seeds, and two bandwidths on the sample."""
    if first is None or not first["seconds"]:
        return NOT_RUN
    fits = len(FULL.seeds) + 2 * FULL.pilot / (0.9 * first["n"])
    minutes = fits * float(np.mean(first["seconds"])) / 60
    return f"{NOT_RUN}: at least {minutes:.1f} CPU min"


def _cut(row: Row | None) -> str:
    return ", ".join(map(str, row.get("degree and order", []))) if row else ""


def _bandwidth(row: Row | None) -> str:
    return "–" if row is None else " × ".join(f"{value:g}" for value in row["bandwidth"]) or "–"


def _cell(row: Row | None, key: str, missing: str = "–") -> str:
    """Mean and deviation; why there is none; and the version where it is an older one."""
    if row is None:
        return missing
    if not row[key]:
        return str(row.get("reason") or "given up") if key == "mse" else "–"
    if key == "seconds":
        mean, deviation = mean_and_deviation(row[key])
        return f"{mean:.2f} ± {deviation:.2f}" if len(row[key]) > 1 else f"{mean:.2f}"
    version = row.get("version", "0.1.0")
    notes = [] if version == zonal.__version__ else [f"v{version}"]
    notes += ["one seed"] if len(row[key]) == 1 else []
    return _error(row) + (f" ({', '.join(notes)})" if notes else "")


def _error(row: Row) -> str:
    mean, deviation = mean_and_deviation(row["mse"])
    places = 2 if mean >= 10 else 3
    if len(row["mse"]) == 1:
        return f"{mean:.{places}f}"
    return f"{mean:.{places}f} ± {deviation:.{places}f}"


def _known(row: Row | None, key: str) -> str:
    return "–" if row is None or row[key] is None else f"{row[key]:g}"


def draw(rows: list[Row]) -> Figure:
    """The picture: errors of both parts, and the published ones."""
    figure = Figure(figsize=(12, 7.5), layout="constrained")
    for axis, dataset in zip(figure.subplots(2, 2).flat, PUBLISHED, strict=True):
        methods = [
            name
            for name in FEATURES
            if any(find(rows, dataset, name, part) for part in ("bandwidth 1", "own bandwidth"))
        ]
        places = np.arange(len(methods))
        for shift, part in ((-0.2, "bandwidth 1"), (0.2, "own bandwidth")):
            found = [find(rows, dataset, method, part) for method in methods]
            errors = [row["mse"] if row else [] for row in found]
            sample = [mean_and_deviation(one) if one else (np.nan, 0.0) for one in errors]
            means, deviations = np.array(sample).T
            axis.bar(places + shift, means, 0.4, yerr=deviations, label=part)
        published = [
            PUBLISHED[dataset].get(published_name(method), (np.nan,))[0] for method in methods
        ]
        axis.plot(places - 0.2, published, "k_", ms=12, mew=2, label="published, bandwidth 1")
        axis.set(title=dataset, ylabel="mean squared error")
        axis.set_xticks(places, methods, rotation=35, ha="right")
    figure.legend(*axis.get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure
