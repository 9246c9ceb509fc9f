"""Parquet files, alone or as the parts of a folder; Feather files."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .arrow import arrow
from .errors import TableError
from .table import Table, cut, named_types

__all__ = ["open_feather", "open_parquet", "parquet_files"]


def parquet_files(path: Path) -> list[Path]:
    """Return a Parquet file, or those of a folder in natural order: part.2 before part.10."""

    def key(file: Path) -> list[Any]:
        return [int(word) if word.isdigit() else word for word in re.split(r"(\d+)", str(file))]

    return [path] if path.is_file() else sorted(path.rglob("*.parquet"), key=key)


def open_parquet(path: Path) -> Table:
    """Open a Parquet file, or a folder of them whose columns are alike."""
    pa = arrow()
    files = parquet_files(path)
    n_rows = 0
    types: dict[str, Any] = {}
    for place in files:
        with pa.parquet.ParquetFile(place) as file:
            found = named_types(place, file.schema_arrow.names, file.schema_arrow.types)
            n_rows += file.metadata.num_rows
        types = types or found
        if found != types:
            raise TableError(f"{place} has other columns, or of other types, than {files[0]}.")

    def read(columns: list[str], batch_rows: int) -> Iterator[Any]:
        for place in files:
            with pa.parquet.ParquetFile(place) as file:
                yield from file.iter_batches(batch_rows, columns=columns)

    return Table(str(path), "parquet", files, types, n_rows, read)


def open_feather(path: Path) -> Table:
    """Open a Feather file (version 2, which is Arrow's own format)."""
    pa = arrow()

    def batches() -> Iterator[Any]:
        with pa.memory_map(str(path)) as place, pa.ipc.open_file(place) as file:
            yield from (file.get_batch(number) for number in range(file.num_record_batches))

    def read(columns: list[str], batch_rows: int) -> Iterator[Any]:
        yield from cut((batch.select(columns) for batch in batches()), batch_rows)

    with pa.memory_map(str(path)) as place, pa.ipc.open_file(place) as file:
        types = named_types(path, file.schema.names, file.schema.types)
        n_rows = sum(file.get_batch(i).num_rows for i in range(file.num_record_batches))
    return Table(str(path), "feather", [path], types, n_rows, read)
