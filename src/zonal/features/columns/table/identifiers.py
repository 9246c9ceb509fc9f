"""Columns of whole numbers that name rows, and say nothing of new ones.

Where rows are sorted by what is to be learnt, the number of a row tells it, but that of a new row
does not. Two things give such a column away, both only among whole numbers of which none occurs
twice: its name (``id``, ``index``, ``Unnamed: 0``), or that it counts the rows, in their order and
from zero or one on. Rows may have been left out since: half of the numbers must still be there.
"""

import warnings
from collections.abc import Collection

import numpy as np

from ...._typing import Array
from ...._warnings import LeftOutWarning
from ....tables.names import is_name_of_rows
from ..choices import RARE
from .cells import Cells

__all__ = ["identifiers", "warn_left_out"]

NAMED = "an identifier by its name: no number occurs twice"
COUNTED = "an identifier: it counts the rows"


def identifiers(cells: dict[str, Cells], row_numbers: Array) -> dict[str, str]:
    """Return the columns that name rows, each with a note; none where there are no others.

    Parameters
    ----------
    cells : dict of str to Cells
        The columns, in the order of the rows.
    row_numbers : ndarray of int, of shape (n,)
        The numbers of these rows among all rows.
    """
    notes = {name: _note(name, column, row_numbers) for name, column in cells.items()}
    found = {name: note for name, note in notes.items() if note}
    return found if len(found) < len(cells) else {}


def _note(name: str, cells: Cells, row_numbers: Array) -> str:
    values = cells.values
    if cells.measure != "whole" or len(values) < 10 * RARE or len(np.unique(values)) < len(values):
        return ""
    if is_name_of_rows(name):
        return NAMED
    steps, n_rows = np.diff(values), int(np.max(row_numbers)) + 1
    monotone = (steps > 0).all() or (steps < 0).all()
    counts = monotone and values.min() >= 0 and values.max() < 2 * n_rows
    return COUNTED if counts else ""


def warn_left_out(columns: list[dict[str, str]], ignore: Collection[str]) -> None:
    """Warn of columns that are left out, but for those that are to be ignored.

    Parameters
    ----------
    columns : list of dict
        As `TableEncoder.columns_` has them.
    ignore : collection of str
    """
    lost = [
        f"{record['column']!r} ({record['note']})"
        for record in columns
        if record["encoding"] == "left out" and record["column"] not in ignore
    ]
    if not lost:
        return
    numbers = [record["column"] for record in columns if record["note"] in (NAMED, COUNTED)]
    keep = f" If numbers mean something, keep them by TableEncoder(numeric={numbers})."
    warnings.warn(
        f"Left out of the table: {', '.join(lost)}.{keep if numbers else ''} Columns that are "
        "named in TableEncoder(ignore=[...]) are left out without a warning.",
        LeftOutWarning,
        stacklevel=2,
    )
