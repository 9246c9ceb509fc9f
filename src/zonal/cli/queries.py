"""A table of rows that will be asked: intervals are made for their distances to the data."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from ..grid.files import is_grid_file
from ..tables import Columns, open_table
from ..tables.frames import FrameStream
from .errors import CommandError
from .looking import Kinds

__all__ = ["read_queries"]


def read_queries(path: Path, columns: Columns, survey: Any, kinds: Kinds) -> Any:
    """Return the inputs of rows that will be asked, as a frame; rows with gaps are left out.

    Parameters
    ----------
    path : Path
        A table that has the inputs of the fit among its columns.
    columns : Columns
        What the fit reads of its own table.
    survey : mapping of str to ColumnSurvey
        What the columns of that table hold.
    kinds : Kinds
    """
    if is_grid_file(path):
        raise CommandError(
            f"--queries {path} is a grid: give a table with the columns "
            f"{', '.join(columns.inputs)}. `zonal fill` knows the holes of a grid by itself."
        )
    table = open_table(path)
    for name in columns.inputs:
        table.check(name, "input column")
    asked = replace(columns, table=table, target=[], weight=None, drop_missing=True)
    return pd.concat([rows for (rows,) in FrameStream(asked, survey, kinds.categorical)])
