"""CSV files: the delimiter is found, and every cell is text until it is used."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .arrow import arrow
from .errors import TableError
from .table import Table, cut, named_types

__all__ = ["csv_delimiter", "open_csv"]

# Bytes that are read at a time.
BATCH_BYTES = 1 << 20
DELIMITERS = ",;\t|"


def csv_delimiter(path: Path) -> str:
    """Return the most frequent delimiter in the first line, outside of quotes."""
    with arrow().input_stream(path, compression="detect") as stream:
        start = stream.read(1 << 16).decode("utf-8-sig", errors="ignore")
    header = re.sub(r'"[^"]*"', "", start).split("\n")[0]
    return max(DELIMITERS, key=header.count)


def open_csv(path: Path) -> Table:
    """Open a CSV file, compressed or not."""
    pa = arrow()
    delimiter = csv_delimiter(path)
    parse = pa.csv.ParseOptions(delimiter=delimiter, newlines_in_values=True)
    block = pa.csv.ReadOptions(block_size=_block_bytes(path))

    def start(convert: Any) -> Any:
        stream = pa.input_stream(path, compression="detect")
        return pa.csv.open_csv(
            stream, read_options=block, parse_options=parse, convert_options=convert
        )

    def read(columns: list[str], batch_rows: int) -> Iterator[Any]:
        # As text, since a type that is guessed from the first rows is an error in a later one.
        convert = pa.csv.ConvertOptions(
            include_columns=columns,
            column_types={name: pa.string() for name in columns},
            strings_can_be_null=True,
        )
        try:
            yield from cut(start(convert), batch_rows)
        except pa.ArrowInvalid as error:
            raise _explained(path, delimiter, error) from error

    try:
        names = start(None).schema.names
    except pa.ArrowInvalid as error:
        raise _explained(path, delimiter, error) from error
    types = named_types(path, names, [pa.string()] * len(names))
    return Table(str(path), "csv", [path], types, None, read)


def _block_bytes(path: Path) -> int:
    """Return how many bytes are read at a time: at least some rows, since a block must hold one."""
    with arrow().input_stream(path, compression="detect") as stream:
        start = stream.read(BATCH_BYTES)
    long_rows = len(start) == BATCH_BYTES and start.count(b"\n") < 16
    return 16 * BATCH_BYTES if long_rows else BATCH_BYTES


def _explained(path: Path, delimiter: str, error: Exception) -> TableError:
    counts = re.search(r"Expected (\d+) columns, got (\d+)", str(error))
    hint = ""
    if counts and delimiter == "," and int(counts[2]) > int(counts[1]):
        hint = " If its numbers have decimal commas, write them with decimal points."
    return TableError(f"{path} cannot be read: {error}{hint}")
