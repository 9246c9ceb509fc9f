"""The rows of a table that a model sees: which columns, as numbers, block by block."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from .._typing import Array
from ..features.columns.sphere_encoder import DEGREES
from .errors import CommandError
from .tables import Table
from .values import ADVICE, check_complete, dtype_of, is_text, numbers, tidy, whole_numbers

__all__ = ["Columns", "Rows", "TableRows", "read_rows"]


@dataclass(frozen=True)
class Rows:
    """Rows of numbers [n, d] with their columns' names, and a target [n] if one was asked for."""

    X: Array
    y: Array | None
    inputs: list[str]
    n_dropped: int

    @property
    def n_rows(self) -> int:
        """How many there are."""
        return len(self.X)

    def __iter__(self) -> Iterator[tuple[Array, Any]]:
        """All of them as one block, as `TableRows` yields many."""
        yield self.X, self.y


@dataclass(frozen=True)
class Columns:
    """What is read of every row, checked: numbers X, and a target y.

    Attributes
    ----------
    table : Table
    inputs : list of str
        The columns of X.
    target : str or None
        The column of y.
    labels : bool
        Whether y are classes, which may be text, and not numbers.
    drop_missing : bool
        Leave out rows in which a value is missing, instead of complaining.
    degrees : dict of str to (str, int, int)
        Columns that are angles: what they are called, the lowest and the highest value.
    """

    table: Table
    inputs: list[str]
    target: str | None = None
    labels: bool = False
    drop_missing: bool = False
    degrees: dict[str, tuple[str, int, int]] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        table: Table,
        *,
        inputs: list[str] | None = None,
        ignore: list[str] | None = None,
        target: str | None = None,
        labels: bool = False,
        drop_missing: bool = False,
        lat: str | None = None,
        lon: str | None = None,
    ) -> "Columns":
        """The columns that options name; X are by default all but `target` and `ignore`."""
        if target is not None:
            table.check(target, "target column")
        left_out = [table.check(name) for name in ignore or []] + ([target] if target else [])
        asked = dict.fromkeys(inputs or (name for name in table.types if name not in left_out))
        chosen = [table.check(name) for name in asked]
        if target in chosen:
            raise CommandError(
                f"The target {target!r} is among the inputs: leave it out of --input."
            )
        if not chosen:
            raise CommandError(
                f"{table.path} has no column left to learn from: its columns are "
                f"{', '.join(map(repr, table.types))}."
            )
        angles = {
            name: (angle, *DEGREES[angle])
            for name, angle in ((lat, "latitude"), (lon, "longitude"))
            if name is not None
        }
        return cls(table, chosen, target, labels, drop_missing, angles)

    @property
    def names(self) -> list[str]:
        """All columns that are read."""
        return [*self.inputs, self.target] if self.target else self.inputs

    @property
    def dtype(self) -> Any:
        """That of X."""
        return dtype_of(self.table, self._numeric)

    @property
    def _numeric(self) -> list[str]:
        return self.inputs if self.labels else self.names

    def parse(self, batch: Any, first_row: int) -> tuple[Array, Any]:
        """X [b, d] and y [b] or None of a batch that begins with a certain row of the table."""
        values = numbers(self.table, batch, self._numeric, first_row)
        if not self.drop_missing:
            check_complete(self.table, batch, values, self._numeric, first_row, ADVICE)
        self._check_degrees(values, first_row)
        known = np.isfinite(values).all(axis=1)
        if self.target is None:
            return values[known], None
        if not self.labels:
            # Contiguous rows, which the last column would interrupt.
            return np.ascontiguousarray(values[known, :-1]), values[known, -1]
        marks = tidy(batch.column(self.target))
        present = ~marks.is_null(nan_is_null=True).to_numpy(zero_copy_only=False)
        if not self.drop_missing and not present.all():
            raise CommandError(
                f"Row {first_row + int(np.argmin(present)) + 1} (counted from 1, without the "
                f"header) of {self.table.path} has no {self.target!r}. Fill it{ADVICE}."
            )
        known &= present
        marks = marks.filter(pa.array(known))
        if is_text(marks.type):
            return values[known], np.array(marks.to_pylist(), dtype=str)
        return values[known], marks.to_numpy(zero_copy_only=False)

    def _check_degrees(self, values: Array, first_row: int) -> None:
        for name, (angle, low, high) in self.degrees.items():
            column = values[:, self.inputs.index(name)]
            outside = np.flatnonzero((column < low) | (column > high))
            if len(outside):
                raise CommandError(
                    f"Row {first_row + outside[0] + 1} (counted from 1, without the header) of "
                    f"{self.table.path} has {column[outside[0]]:g} in column {name!r}, which is "
                    f"not a {angle}: those are degrees from {low} to {high}. Are --lat and --lon "
                    "swapped? If not, correct or remove such rows."
                )


class TableRows:
    """Blocks (X, y) of the rows of a table; every iteration reads the file anew.

    Classes in text that are all whole numbers become numbers, in every pass after the first.

    Attributes
    ----------
    inputs : list of str
        The columns of X.
    n_rows, n_dropped : int
        Rows with and without missing values, known after a pass.
    advance : callable
        Is told how many rows were read.
    """

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self._whole = False
        self.inputs = columns.inputs
        self.n_rows = self.n_dropped = 0
        self.advance: Callable[[int], None] = lambda rows: None

    def __iter__(self) -> Iterator[tuple[Array, Any]]:
        first = n_rows = 0
        whole = True
        for batch in self._columns.table.batches(self._columns.names):
            X, y = self._columns.parse(batch, first)
            whole = whole and whole_numbers(y) is not None
            yield X, self.classes(y)
            first += batch.num_rows
            n_rows += len(X)
            self.advance(batch.num_rows)
        if not n_rows:
            raise CommandError(
                f"Every row of {self._columns.table.path} lacks a number: there is nothing to "
                "learn."
            )
        self.n_rows, self.n_dropped, self._whole = n_rows, first - n_rows, whole

    def classes(self, y: Any) -> Any:
        """Targets as they are, or text as numbers if a whole pass found nothing else."""
        return whole_numbers(y) if self._whole else y


def read_rows(
    table: Table, *, advance: Callable[[int], None] = lambda rows: None, **options: Any
) -> Rows:
    """All rows of a table in memory.

    Parameters
    ----------
    table : Table
    advance : callable
        Is told how many rows were read.
    **options
        As `Columns.of` takes them.
    """
    rows = TableRows(Columns.of(table, **options))
    rows.advance = advance
    parts = list(rows)
    X = np.concatenate([part for part, _ in parts])
    y = None
    if options.get("target") is not None:
        y = rows.classes(np.concatenate([part for _, part in parts]))
    return Rows(X, y, rows.inputs, rows.n_dropped)
