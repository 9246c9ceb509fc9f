"""Table 3 for people: the page and the picture."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from scipy.stats import spearmanr

import zonal

from ..measure import table
from .common import SLOW, mean_and_deviation
from .table3_setting import DATASETS, FULL, METHODS

__all__ = ["body", "draw"]

#: The version that ran k-means once for each seed.
ONE_START = "0.1.0"


def body(rows: list[dict[str, Any]]) -> str:
    """The page."""
    sizes = {row["dataset"]: (row["n"], row["d"], row["k"]) for row in rows}
    parts = [
        "Mean ± standard deviation over the seeds. The columns are standardised, then the rows "
        "scaled to unit norm. The paper states neither a standardisation nor the bandwidth: both, "
        "the latter that of exp(-‖x - y‖²), were chosen here because they come close to its "
        "numbers, so that the agreement of the levels is no evidence. Each number is of the best "
        "of ten starts of k-means++, by the objective in the method's own features.\n\n"
        "**Gegenbauer (paper)** is `GegenbauerFeatures.paper`, with the q up to 15 and s up to 4 "
        "for which Z Zᵀ is closest to the kernel matrix of 500 rows: the paper states neither. "
        "**Gegenbauer (zonal)** is `GegenbauerFeatures` as it comes. q, s is what each has.\n\n"
        "- **Own features** is the paper's number: the objective in each method's own feature "
        "space. Features that lose a part of the kernel look better than they are.\n"
        "- **Exact kernel** is the objective of the labels found, in the space of the kernel "
        "itself, and can be compared between methods.\n"
        "- Harmonic is not in the paper, and TensorSketch and Adaptive Sketch only by "
        "name. Product features need groups of columns, and the "
        "automatic choice picks a kernel of its own, with another objective: both are left out."
    ]
    parts += [_ranks(rows)]
    header = (
        "method",
        "q, s",
        "own features",
        "published",
        "exact kernel",
        "adjusted Rand index",
        "seconds",
    )
    for dataset, (n, d, k) in sizes.items():
        lines = []
        for method in METHODS:
            row = _find(rows, dataset, method)
            lines.append(
                _line(row)
                if row
                else (method, "", f"not run: {_forecast(rows, dataset)}", "–", "–", "–", "–")
            )
        parts += [f"## {dataset}: n = {n:,}, d = {d}, k = {k}", table(lines, header)]
    return "\n\n".join(parts)


def _find(rows: list[dict[str, Any]], dataset: str, method: str) -> dict[str, Any] | None:
    key = {"dataset": dataset, "method": method}
    return next((row for row in rows if key.items() <= row.items()), None)


def _line(row: dict[str, Any]) -> tuple[str, ...]:
    published = "–" if row["published"] is None else f"{row['published']:.2f}"
    own, exact, rand, seconds = (
        "{:.{p}f} ± {:.{p}f}".format(*mean_and_deviation(row[key]), p=places)
        for key, places in (("own", 3), ("exact", 3), ("rand", 2), ("seconds", 2))
    )
    version = row.get("version", "0.1.0")
    if version != zonal.__version__:
        own += f" (v{version}{', one start' if version == ONE_START else ''})"
    cut = ", ".join(map(str, row.get("degree and order", [])))
    return row["method"], cut, own, published, exact, rand, seconds


def _forecast(rows: list[dict[str, Any]], dataset: str) -> str:
    """What a cell takes, from the methods that are known: seeds and starts."""
    known = [row for row in rows if row["dataset"] == dataset and row["method"] != SLOW]
    times = [
        len(FULL.seeds)
        * float(np.mean(row["seconds"]))
        * (FULL.starts if row.get("version", ONE_START) == ONE_START else 1)
        for row in known
    ]
    return f"about {np.median(times):.0f} CPU s" if times else "no time known"


def _ranks(rows: list[dict[str, Any]]) -> str:
    """How the order of the methods agrees with the paper's, on each dataset."""
    found = []
    for dataset in DATASETS:
        chosen = [r for r in rows if r["dataset"] == dataset and r["published"] is not None]
        if len(chosen) > 2:
            own = [float(np.mean(row["own"])) for row in chosen]
            rank = spearmanr(own, [row["published"] for row in chosen]).statistic
            found.append(f"{dataset} {rank:.2f}")
    return f"Rank correlation with the published objectives: {', '.join(found)}."


def draw(rows: list[dict[str, Any]]) -> Figure:
    """The picture: both objectives, and the published ones."""
    figure = Figure(figsize=(12, 6.5), layout="constrained")
    for axis, dataset in zip(figure.subplots(2, 3).flat, DATASETS, strict=True):
        chosen = [row for row in rows if row["dataset"] == dataset]
        places = np.arange(len(chosen))
        for shift, key, label in (
            (-0.2, "own", "own features"),
            (0.2, "exact", "exact kernel"),
        ):
            means, deviations = np.array([mean_and_deviation(row[key]) for row in chosen]).T
            axis.bar(places + shift, means, 0.4, yerr=deviations, label=label)
        published = [row["published"] or np.nan for row in chosen]
        axis.plot(places - 0.2, published, "k_", ms=12, mew=2, label="published, own features")
        axis.set(title=dataset, ylabel="objective")
        axis.set_xticks(places, [row["method"] for row in chosen], rotation=35, ha="right")
    figure.legend(*axis.get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure
