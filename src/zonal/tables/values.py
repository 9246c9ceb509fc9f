"""Numbers and classes from the columns of a batch, with messages that name row and value."""

import re
from typing import Any

import numpy as np

from .._typing import Array
from .arrow import arrow
from .errors import Advice, TableError, not_numbers
from .table import Table

__all__ = [
    "cast",
    "check_complete",
    "classes",
    "dtype_of",
    "holds_numbers",
    "is_text",
    "numbers",
    "tidy",
    "whole_numbers",
]

# "1,5", "-0,25e3", "1.234,5": numbers as many languages write them.
DECIMAL_COMMA = r"[+-]?(\d+|\d{1,3}([. ]\d{3})+),\d+([eE][+-]?\d+)?"


def whole_numbers(y: Any) -> Array | None:
    """Return labels in text that are all whole numbers as such, or None.

    Examples
    --------
    >>> import numpy as np
    >>> from zonal.tables.values import whole_numbers
    >>> whole_numbers(np.array(["12", "-3"]))
    array([12, -3])
    >>> whole_numbers(np.array(["12", "0x1F"])) is None
    True
    """
    if y is None or y.dtype.kind != "U":
        return None
    pa = arrow()
    pc = pa.compute
    text = pa.array(y)
    # Arrow by itself takes 0x1F for 31.
    if not pc.all(pc.match_substring_regex(text, "^-?[0-9]+$"), min_count=0).as_py():
        return None
    try:
        return np.asarray(pc.cast(text, pa.int64()))
    except pa.ArrowInvalid:  # beyond 64 bits
        return None


def numbers(
    table: Table, batch: Any, columns: list[str], first_row: int = 0, advice: Advice | None = None
) -> Array:
    """Return columns of a batch as numbers [b, d], with NaN for what is missing.

    float32 if no column is more precise than that in the file, else float64.

    Parameters
    ----------
    table : Table
        Where the batch comes from.
    batch : pyarrow.RecordBatch
        Rows.
    columns : list of str
        Names of d columns.
    first_row : int
        The number of rows in the table before the batch, for messages.
    advice : Advice, optional
        The words of messages.
    """
    out = np.empty((batch.num_rows, len(columns)), dtype_of(table, columns))
    for number, name in enumerate(columns):
        column = batch.column(name)
        out[:, number] = _as_numbers(table, name, column, first_row, advice or Advice())
    return out


def dtype_of(table: Table, columns: list[str]) -> Any:
    """Return the precision that holds all of some columns: float32, or else float64."""
    small = all(_is_small(table.types[name]) for name in columns)
    return np.dtype(np.float32 if small else np.float64)


def _is_small(kind: Any) -> bool:
    pa = arrow()
    narrow = (pa.float32(), pa.float16(), pa.int8(), pa.uint8(), pa.int16(), pa.uint16())
    return isinstance(kind, pa.DataType) and (kind in narrow or pa.types.is_boolean(kind))


def is_text(kind: Any) -> bool:
    """Tell whether a type of Arrow is text, as it is or by a dictionary."""
    pa = arrow()
    if not isinstance(kind, pa.DataType):
        return False
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def tidy(column: Any) -> Any:
    """Return a column without a dictionary, its text without spaces around; null for blank text."""
    pa = arrow()
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if not is_text(column.type):
        return column
    text = pa.compute.utf8_trim_whitespace(column)
    return pa.compute.if_else(pa.compute.equal(text, ""), pa.scalar(None, text.type), text)


def holds_numbers(column: Any) -> bool:
    """Tell whether all cells of a column of text are numbers or empty.

    Numbers with decimal commas count: they are meant as numbers, and `numbers` refuses them.
    """
    text = tidy(column)
    if cast(text) is not None:
        return True
    pc = arrow().compute
    with_points = pc.replace_substring_regex(text, f"^{DECIMAL_COMMA}$", "0")
    return cast(with_points) is not None


def classes(column: Any) -> tuple[Any, Array]:
    """Return a tidy column of labels, and which of its rows have one."""
    marks = tidy(column)
    return marks, ~marks.is_null(nan_is_null=True).to_numpy(zero_copy_only=False)


def _as_numbers(table: Table, name: str, column: Any, first_row: int, advice: Advice) -> Array:
    pa = arrow()
    listed = table.types[name]
    if not isinstance(listed, pa.DataType):
        raise not_numbers(table.path, name, listed, advice)
    if is_text(column.type):
        return _text_as_numbers(table, name, column, first_row, advice)
    column = tidy(column)
    kind = column.type
    if not (
        pa.types.is_floating(kind)
        or pa.types.is_integer(kind)
        or pa.types.is_boolean(kind)
        or pa.types.is_decimal(kind)
        or pa.types.is_null(kind)
    ):
        raise not_numbers(table.path, name, kind, advice)
    if pa.types.is_boolean(kind):
        column = pa.compute.cast(column, pa.int8())
    # Whole numbers above 2^53, such as times in nanoseconds, are rounded: that is not an error.
    column = pa.compute.cast(column, pa.float64(), safe=False)
    return np.asarray(column.to_numpy(zero_copy_only=False))


def _text_as_numbers(table: Table, name: str, column: Any, first_row: int, advice: Advice) -> Array:
    found = cast(column)
    if found is None:  # spaces around a number, perhaps
        column = tidy(column)
        found = cast(column)
    if found is None:
        row = _first_text(column)
        raise _not_a_number(table, name, first_row + row, column[row].as_py(), advice)
    return np.asarray(found.to_numpy(zero_copy_only=False))


def _not_a_number(table: Table, name: str, row: int, value: str, advice: Advice) -> TableError:
    remedy = f"Correct it, or {advice.column.format(name=name)}."
    if re.fullmatch(DECIMAL_COMMA, value):
        remedy = "Decimal commas are not read: write numbers with a decimal point, such as 1.5."
    return TableError(
        f"Column {name!r} of {table.path} must hold numbers, but row {row + 1} "
        f"(counted from 1, without the header) holds {value!r}. {remedy}"
    )


def cast(text: Any) -> Any:
    """Return text as numbers, or None if some of it is not a number."""
    pa = arrow()
    try:
        return pa.compute.cast(text, pa.float64())
    except pa.ArrowInvalid:
        return None


def _first_text(text: Any) -> int:
    """Find the first row of a column that is not a number, by bisection."""
    low, high = 0, len(text)  # all rows below `low` are numbers, some row below `high` is not
    while high - low > 1:
        middle = (low + high) // 2
        if cast(text.slice(low, middle - low)) is not None:
            low = middle
        else:
            high = middle
    return low


def check_complete(
    table: Table, batch: Any, values: Array, columns: list[str], first_row: int, advice: str
) -> None:
    """Name the first row of a batch in which a number is missing or infinite.

    Parameters
    ----------
    table, batch, columns, first_row
        As `numbers` takes them.
    values : ndarray of shape (b, d)
        The numbers.
    advice : str
        What to do instead of filling it.
    """
    known = np.isfinite(values).all(axis=1)
    if known.all():
        return
    row = int(np.argmin(known))
    name = columns[int(np.argmin(np.isfinite(values[row])))]
    value = batch.column(name)[row].as_py()
    found = "nothing" if value is None else repr(value)
    raise TableError(
        f"Row {first_row + row + 1} (counted from 1, without the header) of {table.path} has "
        f"{found} in column {name!r}, where a finite number must be. Fill it, or {advice}."
    )
