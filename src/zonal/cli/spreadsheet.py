"""CSV that a spreadsheet can open without running anything."""

import warnings
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pyarrow as pa
import pyarrow.compute
import pyarrow.csv

__all__ = ["SafeCsvWriter"]

# What makes a spreadsheet take a cell for a formula, and the numbers that begin alike.
FORMULA = r"^[=+\-@\t\r]"
NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$|^[+-](inf|nan)$"


class SafeCsvWriter:
    """Write CSV whose words are never formulas.

    A spreadsheet runs a cell that begins with ``=``, ``+``, ``-``, ``@``, a tab or a carriage
    return, and words of a table may come from anywhere. Such words, and such names of columns, get
    an apostrophe in front, which a spreadsheet shows as text; a warning says how many. Numbers
    stay as they are.
    """

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        names = pa.array(schema.names, pa.string())
        self._names = _quoted(names).to_pylist()
        self._changed = {name: 1 for name in schema.names if name not in self._names}
        fields = [field.with_name(name) for field, name in zip(schema, self._names, strict=True)]
        self._writer = pa.csv.CSVWriter(path, pa.schema(fields))

    def write_batch(self, batch: pa.RecordBatch) -> None:
        """Write rows."""
        columns = []
        for name, column in zip(batch.schema.names, batch.columns, strict=True):
            if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
                quoted = _quoted(column)
                count = pa.compute.sum(pa.compute.not_equal(quoted, column)).as_py() or 0
                self._changed[name] = self._changed.get(name, 0) + count
                column = quoted
            columns.append(column)
        self._writer.write_batch(pa.record_batch(columns, names=self._names))

    def close(self) -> None:
        """End the file, and say what was changed in it."""
        self._writer.close()
        changed = {name: count for name, count in self._changed.items() if count}
        if changed:
            told = ", ".join(f"{count:,} of {name!r}" for name, count in changed.items())
            warnings.warn(
                f"Words that a spreadsheet would run as formulas have an apostrophe in front: "
                f"{told}. Write Parquet to keep them as they are.",
                UserWarning,
                stacklevel=2,
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _quoted(words: Any) -> Any:
    """Return words with an apostrophe in front of those that would be formulas."""
    compute = pa.compute
    formula = compute.and_not(
        compute.match_substring_regex(words, FORMULA), compute.match_substring_regex(words, NUMBER)
    )
    text = pa.scalar("'", words.type), words, pa.scalar("", words.type)
    return compute.if_else(formula, compute.binary_join_element_wise(*text), words)
