"""The page of results."""

from typing import Any

__all__ = ["page"]

ABOUT = (
    "# Joint answers\n\n`python -m benchmarks.joint`: draws, means over blocks, known errors and "
    "several targets, with `NeighborKriging()` and `CoKriging()` and nothing set. The machine was "
    "shared by many: CPU seconds are what counts."
)
AREAS = (
    "## Areas\n\nMeans over blocks of 10° that are held out, a tenth at a time and two tenths in "
    "all (of airs_co2 blocks of one day, 8,000 random retrievals). *Cells independent*: the "
    "variances of cells added up, as if they knew nothing of each other. Intervals are the model's "
    "own, not calibrated."
)
PEERS = (
    "## Peers\n\nElevation at 2,000 cells, given 1,000 rows or 60,000, the same exponential kernel "
    "and noise for each. GSTools and PyKrige solve dense systems of all rows. The "
    "central 90 % of 20 draws hold 81 % where the law is right: (18.05 - 0.95) / 21."
)
TARGETS = {
    "argo": "150 m where 100 m was measured alone",
    "unrelated": "150 m beside an unrelated target",
}


def _table(columns: dict[str, list[str]]) -> str:
    lines = [list(columns), ["---"] * len(columns), *zip(*columns.values(), strict=True)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _draws(kept: dict[str, Any]) -> list[str]:
    d = kept["draws"]
    columns = {
        "draws of the 1° globe": ["elevation, 64,800 cells"],
        "100 draws, s (CPU)": [f"{d['seconds']:.1f} ({d['CPU']:.1f})"],
        "mean off predict, of std": [f"{d['mean off, of std']:.4f}"],
        "its standard error": [f"{d['its standard error']:.4f}"],
        "std over predict's": [f"{d['std over that of predict']:.4f}"],
        "scatter of that": [f"{d['scatter of that']:.4f}"],
        "standard error": [f"{d['standard error of a std']:.4f}"],
    }
    return ["## Draws\n\nMoments are of 2,000 draws, at every 16th cell.", _table(columns)]


def _variogram(kept: dict[str, Any]) -> list[str]:
    columns = {"variogram, by lag": ["draws over the model's"]}
    columns |= {lag: [f"{value:.3f}"] for lag, value in kept["variogram"].items()}
    text = "Of 200 draws that know next to no data, against σ² (k(0) - k(h))."
    return [text, _table(columns)]


def _areas(kept: dict[str, Any]) -> list[str]:
    found = {name: kept[f"areas {name}"] for name in ("elevation", "airs_co2")
             if f"areas {name}" in kept}  # fmt: skip
    columns = {
        "data": list(found),
        "blocks": [f"{a['blocks']:,}" for a in found.values()],
        "90 % hold": [f"{a['held']:.1%}" for a in found.values()],
        "cells independent": [f"{a['held, cells independent']:.1%}" for a in found.values()],
        "RMSE": [f"{a['RMSE']:.3g}" for a in found.values()],
        "mean std": [f"{a['mean std']:.3g}" for a in found.values()],
    }
    return [AREAS, _table(columns)]


def _errors(kept: dict[str, Any]) -> list[str]:
    found = kept["errors"]
    columns = {
        "airs_co2, 40,000 retrievals": list(found),
        "CRPS": [f"{e['CRPS']:.4f}" for e in found.values()],
        "MSE": [f"{e['MSE']:.3f}" for e in found.values()],
        "90 % hold": [f"{e['held']:.1%}" for e in found.values()],
        "common noise, ppm²": [f"{e['extra']:.3f}" for e in found.values()],
        "fit, s (CPU)": [f"{e['CPU']:.1f}" for e in found.values()],
    }
    one, own = found["one noise"], found["own errors"]
    if "slope" not in one:
        return ["## Known errors", _table(columns)]
    words = (
        f"The stated errors are {one['stated']:.2f} ppm² of the {one['left']:.2f} ppm² that "
        "held-out retrievals differ by from the field, and what is left of their squares grows by "
        f"{one['slope']:.2f} ± {one['slope, standard error']:.2f} for each ppm² stated, where 1 "
        "would be a true error: there is little in them to gain. The CRPS with own errors is "
        f"{own['difference']:+.5f} ± {own['standard error']:.5f} off that with one noise."
    )
    return ["## Known errors", words, _table(columns)]


def _targets(kept: dict[str, Any]) -> list[str]:
    found = {title: kept[name] for name, title in TARGETS.items() if name in kept}
    columns = {
        "argo, 5,000 profiles": list(found),
        "MSE alone": [f"{c['alone']:.4f}" for c in found.values()],
        "MSE together": [f"{c['together']:.4f}" for c in found.values()],
        "change": [f"{c['together'] / c['alone'] - 1:+.1%}" for c in found.values()],
        "90 % hold": [f"{c['held']:.1%}" for c in found.values()],
        "correlation found": [f"{c['correlation'][1]:.2f}" for c in found.values()],
        "alone, s (CPU)": [f"{c['CPU'][0]:.1f}" for c in found.values()],
        "together, s (CPU)": [f"{c['CPU'][1]:.1f}" for c in found.values()],
    }
    return ["## Several targets", _table(columns)]


def _peers(kept: dict[str, Any]) -> list[str]:
    found = {
        key: run for name, runs in kept.items() if name.startswith("peers ")
        for key, run in runs.items()
    }  # fmt: skip
    columns = {
        "library": list(found),
        "version": [p["version"] for p in found.values()],
        "answers with": [p["answers"] for p in found.values()],
        "seconds (CPU)": [
            p["reason"] if "reason" in p else f"{p['seconds']:.1f} ({p['CPU']:.1f})"
            for p in found.values()
        ],
        "CRPS, km": ["–" if "reason" in p else f"{p['CRPS']:.4f}" for p in found.values()],
        "90 % hold": ["–" if "reason" in p else f"{p['held']:.1%}" for p in found.values()],
    }
    return [PEERS, _table(columns)]


PARTS = {
    "draws": _draws,
    "variogram": _variogram,
    "areas elevation": _areas,
    "errors": _errors,
    "argo": _targets,
    "peers zonal": _peers,
}


def page(kept: dict[str, Any]) -> str:
    """Return the results as they stand."""
    parts = [ABOUT]
    for name, part in PARTS.items():
        if name in kept:
            parts += part(kept)
    return "\n\n".join(parts) + "\n"
