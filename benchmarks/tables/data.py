"""The tables, what is predicted in each, and how they are split."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from zonal.datasets import load_protein

__all__ = ["TABLES", "Table", "load", "split"]

FOLDER = Path(__file__).parents[1] / "data" / "tables"
TEST_SHARE = 0.2


@dataclass(frozen=True)
class Table:
    """What is predicted, and which columns are left out: those that are known only with it."""

    target: str
    ignore: tuple[str, ...] = ()


TABLES = {
    "diamonds": Table("price"),
    "bikeshare": Table("bikers", ("casual", "registered")),
    "txhousing": Table("median"),
    "weather": Table("pressure"),
    "flights": Table("air_time", ("dep_time", "dep_delay", "arr_time", "arr_delay")),
    "happiness": Table("prestige"),
    "wage": Table("wage", ("logwage",)),
    "protein": Table("RMSD"),
}


def load(name: str) -> tuple[pd.DataFrame, Any]:
    """Return the inputs as a frame and the target; rows without a target are left out."""
    if name == "protein":
        found = load_protein()
        columns = [f"f{number}" for number in range(found.data.shape[1])]
        return pd.DataFrame(found.data.astype(np.float64), columns=columns), found.target
    table = TABLES[name]
    frame = pd.read_csv(FOLDER / f"{name}.csv.gz", low_memory=False)
    frame = frame[frame[table.target].notna()].reset_index(drop=True)
    y = frame.pop(table.target).to_numpy(dtype=np.float64)
    return frame.drop(columns=list(table.ignore)), y


def split(n_rows: int, number: int) -> tuple[Any, Any]:
    """Return the numbers of training and test rows of one split."""
    order = np.random.default_rng(number).permutation(n_rows)
    n_test = int(TEST_SHARE * n_rows)
    return np.sort(order[n_test:]), np.sort(order[:n_test])
