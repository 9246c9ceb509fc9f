"""Numbers and classes from the columns of a batch, with messages that name row and value."""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet

from .._typing import Array
from .errors import CommandError
from .tables import Table, not_numbers

__all__ = [
    "check_complete",
    "dtype_of",
    "is_text",
    "numbers",
    "tidy",
    "whole_numbers",
]

ADVICE = ", or leave such rows out with --drop-missing"


def whole_numbers(y: Any) -> Array | None:
    """Labels in text that all say whole numbers as such, else None.

    Examples
    --------
    >>> import numpy as np
    >>> from zonal.cli.values import whole_numbers
    >>> whole_numbers(np.array(["12", "-3"]))
    array([12, -3])
    >>> whole_numbers(np.array(["12", "0x1F"])) is None
    True
    """
    if y is None or y.dtype.kind != "U":
        return None
    text = pa.array(y)
    # Arrow by itself takes 0x1F for 31.
    if not pc.all(pc.match_substring_regex(text, "^-?[0-9]+$"), min_count=0).as_py():
        return None
    try:
        return np.asarray(pc.cast(text, pa.int64()))
    except pa.ArrowInvalid:  # beyond 64 bits
        return None


def numbers(table: Table, batch: Any, columns: list[str], first_row: int = 0) -> Array:
    """Columns of a batch as numbers [b, d], with NaN for what is missing.

    float32 if no column is more precise than that in the file, else float64.
    """
    out = np.empty((batch.num_rows, len(columns)), dtype_of(table, columns))
    for number, name in enumerate(columns):
        out[:, number] = _as_numbers(table, name, batch.column(name), first_row)
    return out


def dtype_of(table: Table, columns: list[str]) -> Any:
    """The precision that holds all of some columns: float32, or else float64."""
    small = all(_is_small(table.types[name]) for name in columns)
    return np.dtype(np.float32 if small else np.float64)


def _is_small(kind: Any) -> bool:
    narrow = (pa.float32(), pa.float16(), pa.int8(), pa.uint8(), pa.int16(), pa.uint16())
    return kind in narrow or pa.types.is_boolean(kind)


def is_text(kind: Any) -> bool:
    """Whether a type of Arrow is that of texts."""
    return pa.types.is_string(kind) or pa.types.is_large_string(kind)


def tidy(column: Any) -> Any:
    """A column without a dictionary; text without spaces around it, null if nothing is left."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if not is_text(column.type):
        return column
    text = pc.utf8_trim_whitespace(column)
    return pc.if_else(pc.equal(text, ""), pa.scalar(None, text.type), text)


def _as_numbers(table: Table, name: str, column: Any, first_row: int) -> Array:
    column = tidy(column)
    kind = column.type
    if is_text(kind):
        if not _is_numeric(column):
            row = _first_text(column)
            raise CommandError(
                f"Column {name!r} of {table.path} must hold numbers, but row {first_row + row + 1} "
                f"(counted from 1, without the header) holds {column[row].as_py()!r}. Correct it, "
                f"or leave the column out with --ignore {name!r}."
            )
    elif not (
        pa.types.is_floating(kind)
        or pa.types.is_integer(kind)
        or pa.types.is_boolean(kind)
        or pa.types.is_decimal(kind)
        or pa.types.is_null(kind)
    ):
        raise not_numbers(table.path, name, kind)
    if pa.types.is_boolean(kind):
        column = pc.cast(column, pa.int8())
    # Whole numbers above 2^53, such as times in nanoseconds, are rounded: that is not an error.
    column = pc.cast(column, pa.float64(), safe=False)
    return np.asarray(column.to_numpy(zero_copy_only=False))


def _is_numeric(text: Any) -> bool:
    try:
        pc.cast(text, pa.float64())
    except pa.ArrowInvalid:
        return False
    return True


def _first_text(text: Any) -> int:
    """The first row of a column that is not a number, by bisection."""
    low, high = 0, len(text)  # all rows below `low` are numbers, some row below `high` is not
    while high - low > 1:
        middle = (low + high) // 2
        if _is_numeric(text.slice(low, middle - low)):
            low = middle
        else:
            high = middle
    return low


def check_complete(
    table: Table, batch: Any, values: Array, columns: list[str], first_row: int, advice: str = ""
) -> None:
    """Name the first row of a batch in which a number is missing or infinite."""
    known = np.isfinite(values).all(axis=1)
    if known.all():
        return
    row = int(np.argmin(known))
    name = columns[int(np.argmin(np.isfinite(values[row])))]
    value = batch.column(name)[row].as_py()
    found = "nothing" if value is None else repr(value)
    raise CommandError(
        f"Row {first_row + row + 1} (counted from 1, without the header) of {table.path} has "
        f"{found} in column {name!r}, where a finite number must be. Fill it{advice}."
    )
