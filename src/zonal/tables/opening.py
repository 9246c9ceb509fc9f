"""Opening a table by the ending of its name."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .._suggestions import near
from .arrow import arrow
from .csv import open_csv
from .errors import TableError
from .npz import open_npz
from .parquet import open_feather, open_parquet, parquet_files
from .table import Table
from .zarr import open_zarr

__all__ = ["open_table", "open_tables"]

READERS = {
    ".csv": open_csv, ".tsv": open_csv, ".txt": open_csv, ".csv.gz": open_csv,
    ".tsv.gz": open_csv, ".txt.gz": open_csv, ".parquet": open_parquet, ".pq": open_parquet,
    ".feather": open_feather, ".npz": open_npz, ".zarr": open_zarr,
}  # fmt: skip


def open_table(path: str | os.PathLike[str]) -> Table:
    """Open a file, or a folder of Parquet files, and look at its columns, not yet at its rows.

    Parameters
    ----------
    path : path-like
        CSV, Parquet, Feather, NPZ or Zarr by the ending of the name.

    Raises
    ------
    FileNotFoundError
        If there is none.
    TableError
        If it is of another kind, damaged or without columns.
    """
    place = Path(path)
    if not place.exists():
        folder = place.parent
        others = [item.name for item in folder.iterdir()] if folder.is_dir() else []
        raise FileNotFoundError(f"There is no file {place}.{near(place.name, others)}")
    name = place.name.lower()
    ending = next((end for end in READERS if name.endswith(end)), None)
    if place.is_dir() and ending != ".zarr":
        if not parquet_files(place):
            raise TableError(f"{place} is a folder, and no Parquet files (*.parquet) are in it.")
        ending = ".parquet"
    if ending is None:
        raise TableError(
            f"{place} is of a kind that is not read here: its name must end in "
            f"{', '.join(READERS)}, not {place.suffix!r}."
        )
    if place.is_file() and place.stat().st_size == 0:
        raise TableError(f"{place} is empty.")
    try:
        table = READERS[ending](place)
    except MemoryError:  # some of Arrow's own are
        raise
    except (arrow().ArrowException, UnicodeDecodeError) as error:
        raise TableError(f"{place} cannot be read, it may be damaged: {error}") from error
    if not table.types:
        raise TableError(f"{place} has no columns.")
    return table


def open_tables(paths: list[str | os.PathLike[str]]) -> Table:
    """Open several files with the same columns as one table, in the order given."""
    if not paths:
        raise ValueError("No path was given: name at least one file.")
    parts = [open_table(path) for path in paths]
    first = parts[0]
    for part in parts[1:]:
        if part.types != first.types:
            raise TableError(
                f"{part.path} has other columns, or of other types, than {first.path}."
            )

    def read(columns: list[str], batch_rows: int) -> Iterator[Any]:
        for part in parts:
            yield from part.read(columns, batch_rows)

    if len(parts) == 1:
        return first
    counts = [part.n_rows for part in parts]
    n_rows = None if None in counts else sum(count or 0 for count in counts)
    files = [file for part in parts for file in part.files]
    name = f"{first.path} and {len(parts) - 1} more"
    return Table(name, first.kind, files, first.types, n_rows, read)
