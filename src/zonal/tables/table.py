"""A file of named columns, whatever its format."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .._suggestions import near
from .arrow import arrow
from .errors import TableError

__all__ = ["BATCH_ROWS", "Table", "cut", "named_types"]

# Rows that are read at a time.
BATCH_ROWS = 1 << 16


@dataclass(frozen=True)
class Table:
    """A table in one or several files.

    Attributes
    ----------
    path : str
        What messages call it.
    kind : {"csv", "parquet", "feather", "npz", "zarr"}
    files : list of path
        Where its rows are, in order.
    types : dict of str to pyarrow type
        The columns, in their order. All columns of CSV are text until they are used; a type of
        NumPy stands for one that Arrow does not have.
    n_rows : int or None
        None where only reading tells (CSV).
    read : callable
        Yields batches of rows, given the names of columns and the size of batches.
    """

    path: str
    kind: str
    files: list[Path]
    types: dict[str, Any]
    n_rows: int | None
    read: Callable[[list[str], int], Iterator[Any]]

    def check(self, name: str, role: str = "column") -> str:
        """Return the name of a column, or raise an error if there is no such column."""
        if name in self.types:
            return name
        names = [repr(known) for known in self.types]
        shown = ", ".join(names[:20]) + (f" and {len(names) - 20} more" if len(names) > 20 else "")
        raise TableError(
            f"{self.path} has no {role} {name!r}.{near(name, self.types)} Its columns are {shown}."
        )

    def batches(self, columns: list[str], batch_rows: int = BATCH_ROWS) -> Iterator[Any]:
        """Yield batches of some columns; a table without rows is an error."""
        empty = True
        try:
            for batch in self.read(columns, batch_rows):
                empty = empty and batch.num_rows == 0
                yield batch
        except MemoryError:  # some of Arrow's own are
            raise
        except arrow().ArrowException as error:
            raise TableError(f"{self.path} cannot be read: {error}") from error
        if empty:
            raise TableError(f"{self.path} has columns, but no rows.")


def cut(batches: Iterator[Any], batch_rows: int) -> Iterator[Any]:
    """Yield batches of at most some number of rows."""
    for batch in batches:
        for first in range(0, max(batch.num_rows, 1), batch_rows):
            yield batch.slice(first, batch_rows)


def named_types(path: Path, names: list[str], types: list[Any]) -> dict[str, Any]:
    """Return the types of columns by name; a name that occurs twice is an error."""
    twice = sorted(name for name, count in Counter(names).items() if count > 1)
    if twice:
        raise TableError(
            f"{path} has several columns of one name: {', '.join(map(repr, twice))}. Rename them."
        )
    return dict(zip(names, types, strict=True))
