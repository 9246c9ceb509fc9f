"""Figures that TabArena published of two of the tables, quoted beside ours on splits as large."""

from typing import Any

import numpy as np

from ..measure import table

__all__ = ["KEY", "METHODS", "published", "thirds"]

# How keys of these cells end; what is measured here; LightGBM tells how far splits differ.
KEY = ", a third"
METHODS = ("zonal", "LightGBM")
SOURCE = "https://github.com/autogluon/tabarena/tree/29bdbf9c16e8d7363a365ab619c5ba0311691dc7"
FILE = "results_per_split.csv"
HEADER = ("method", "protein, Å", "diamonds", "training, s")
#: The error of split 0 of physiochemical_protein and of diamonds, and its seconds of training, in
#: packages/tabflow_slurm/experiments/eval_output/example_tabarena_v0pt1_local/subsets/lite.
QUOTED = {
    "TabPFN-3": (2.959366, 495.2864, 31.1, 37.3),
    "TabICLv2": (3.027765, 502.9055, 16.6, 18.6),
    "ModernNCA, tuned, ensemble": (3.041553, 509.3657, 80129.7, 81339.1),
    "ModernNCA, tuned": (3.099574, 521.1830, 80129.7, 81339.1),
    "ModernNCA": (3.239527, 525.4807, 209.5, 326.1),
    "RealMLP, tuned": (3.189892, 516.1899, 63802.0, 68059.5),
    "RealMLP": (3.479149, 530.2863, 180.2, 222.9),
    "xRFM, tuned": (3.218364, 523.3009, 13370.1, 17363.5),
    "xRFM": (3.411995, 535.3282, 75.3, 83.4),
    "CatBoost, tuned": (3.435582, 530.7338, 51730.9, 19659.7),
    "CatBoost": (3.559258, 530.7338, 152.1, 105.2),
    "LightGBM, tuned": (3.412955, 528.3670, 7061.7, 4832.4),
    "LightGBM": (3.506379, 535.0955, 29.7, 6.0),
}
TABLES = ("protein", "diamonds")


def thirds(n_rows: int, number: int) -> tuple[Any, Any]:
    """Return the numbers of training and test rows of one random third, as TabArena's are large."""
    order = np.random.default_rng(number).permutation(n_rows)
    return np.sort(order[n_rows // 3 :]), np.sort(order[: n_rows // 3])


def published(known: dict[str, dict[str, Any]]) -> list[str]:
    """Return a table of what is quoted, with ours of the same sizes where they were measured."""
    rows: list[tuple[float, tuple[str, ...]]] = []
    for method, (protein, diamonds, *seconds) in QUOTED.items():
        shown = " / ".join(f"{value:,.0f}" for value in seconds)
        rows.append((protein, (method, f"{protein:.3f}", f"{diamonds:.1f}", shown)))
    for method in METHODS:
        runs = [
            [run for key, run in known.items() if _is_third(key, name, method)] for name in TABLES
        ]
        if all(runs):
            errors = [float(np.mean([run["rmse"] for run in own])) for own in runs]
            spent = " / ".join(f"{np.mean([run['seconds'] for run in own]):.0f}" for own in runs)
            words = f"here: {method}"
            shown = (words, f"{errors[0]:.3f}", f"{errors[1]:.1f}", f"{spent}, with prediction")
            rows.append((errors[0], tuple(f"**{cell}**" for cell in shown)))
    return [
        "## Published figures",
        "",
        "TabArena (Erickson et al. 2025) has two of these tables. Its RMSE on the first of its "
        f"splits (two thirds for training, random) is quoted from [`{FILE}`]({SOURCE}), which its "
        "repository had at that commit; its models are bagged over eight folds, networks and "
        "foundation models run on a graphics processor, and *tuned* is 200 random settings. Ours "
        "is a default call on one thread of a processor on random thirds of the same size "
        f"({_counted(known)}), and LightGBM here stops on a tenth of the rows. TabR is not in "
        "that file, and no table of its error on these data was found.",
        "",
        table([row for _, row in sorted(rows)], HEADER),
    ]


def _counted(known: dict[str, dict[str, Any]]) -> str:
    """Return on how many thirds ours was measured."""
    counts = [
        f"{sum(_is_third(key, name, METHODS[0]) for key in known)} of {name}" for name in TABLES
    ]
    return " and ".join(counts)


def _is_third(key: str, name: str, method: str) -> bool:
    return key.startswith(f"{name}, ") and key.endswith(f", {method}{KEY}")
