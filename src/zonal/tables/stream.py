"""Tables in files as streams of blocks of rows."""

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from .._typing import Array
from .._validation import check_count
from .arrow import arrow
from .columns import Columns
from .errors import TableError
from .opening import open_tables
from .table import BATCH_ROWS
from .values import holds_numbers, is_text, numbers, tidy, whole_numbers

__all__ = ["Stream", "stream"]


class Stream:
    """Blocks (X, y) or (X, y, weight) of a table in files; made by `stream`.

    Every iteration reads the files anew, in the same order.

    Parameters
    ----------
    picked : Columns
        What is read of every row.
    batch_size : int
        Rows that are read at a time.
    frames : bool
        Whether X are pandas frames.

    Attributes
    ----------
    columns, target : list of str
        The columns of X and of y.
    n_rows, n_dropped : int
        Rows that were yielded and rows that were left out; known after a pass.
    advance : callable
        Called with the number of rows read, after each batch.
    """

    def __init__(
        self, picked: Columns, batch_size: int = BATCH_ROWS, *, frames: bool = False
    ) -> None:
        self._picked = picked
        self._frames = frames
        self._numeric: dict[str, bool] = {}
        # Only labels that are asked for as such: a fit must see the same ones in every pass.
        self._tidy_labels = picked.labels is True
        self._whole = False
        self.batch_size = batch_size
        self.columns = picked.inputs
        self.target = picked.target
        self.n_rows = self.n_dropped = 0
        self.advance: Callable[[int], None] = lambda rows: None

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        first = n_rows = 0
        whole = self._tidy_labels
        for batch in self._picked.table.batches(self._picked.names, self.batch_size):
            self._settle(batch)
            parts = self._parse(batch, first)
            whole = whole and whole_numbers(parts[1]) is not None
            yield (parts[0], self.classes(parts[1]), *parts[2:])
            first += batch.num_rows
            n_rows += len(parts[0])
            self.advance(batch.num_rows)
        if not n_rows:
            raise TableError(
                f"Every row of {self._picked.table.path} lacks a number: there is nothing to learn."
            )
        self.n_rows, self.n_dropped, self._whole = n_rows, first - n_rows, whole

    def classes(self, y: Any) -> Any:
        """Return targets as they are, or text as numbers if a whole pass found nothing else."""
        return whole_numbers(y) if self._whole else y

    def _settle(self, batch: Any) -> None:
        """Decide by the first rows what is text, where the file itself does not tell."""
        self._picked = self._picked.settled(batch)
        if self._frames and not self._numeric:
            types, untyped = self._picked.table.types, self._picked.table.kind == "csv"
            for name in self.columns:
                text = is_text(types[name])
                self._numeric[name] = text and untyped and holds_numbers(batch.column(name))

    def _parse(self, batch: Any, first_row: int) -> tuple[Any, ...]:
        picked = self._picked
        if not self._frames:
            parts = picked.parse(batch, first_row)
        else:
            bare = replace(picked, inputs=[], limits={})
            _, y, weight = bare.parse(batch, first_row)
            parts = (self._frame(batch, first_row), y, weight)
        return parts if picked.weight is not None else parts[:2]

    def _frame(self, batch: Any, first_row: int) -> Any:
        """Return the rows as a pandas frame, gaps included."""
        pa, table = arrow(), self._picked.table
        arrays = []
        for name in self.columns:
            if self._numeric[name]:
                values: Array = numbers(table, batch, [name], first_row)[:, 0]
                arrays.append(pa.array(values))
            else:
                column = batch.column(name)
                arrays.append(tidy(column) if table.kind == "csv" else column)
        return pa.record_batch(arrays, names=self.columns).to_pandas()

    def __repr__(self) -> str:
        return f"Stream(columns={self.columns}, target={self.target})"


def stream(
    path: str | os.PathLike[str] | list[str],
    batch_size: int = BATCH_ROWS,
    *,
    columns: list[str] | None = None,
    target: str | list[str] | None = None,
    weight: str | None = None,
    frames: bool = False,
) -> Stream:
    r"""Read a table block by block, to fit a learner to more rows than fit into memory.

    The command line reads its tables in the same way: the same rows, in the same order.

    Parameters
    ----------
    path : path-like, or list of them
        Parquet (``.parquet``, ``.pq``; a folder is read in the order part.2, part.10), CSV
        (``.csv``, ``.tsv``, ``.txt``, each also with ``.gz``; commas, semicolons, tabs or bars),
        Feather, NPZ (held in memory) or Zarr (an array whose attribute ``columns`` names them).
    batch_size : int, default=65536
        Rows that are read at a time; it does not change what is learnt.
    columns : list of str, optional
        The columns of X, by default all others.
    target : str or list of str, optional
        The column of y; a list makes y two-dimensional. Text is taken for classes.
    weight : str, optional
        The column of sample weights.
    frames : bool, default=False
        Whether blocks are pandas frames, for features that pick columns by name. Text and gaps
        are allowed in them.

    Returns
    -------
    Stream
        Pass it as X to ``fit``, ``predict`` or ``transform``, without y.

    Raises
    ------
    TableError
        A ValueError that names the file, the row and the column of what cannot be read.

    Examples
    --------
    >>> import tempfile, numpy as np, zonal
    >>> x = np.linspace(-3, 3, 1000)
    >>> with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
    ...     _ = file.write("x,y\n" + "".join(f"{a},{b}\n" for a, b in zip(x, np.sin(x))))
    ...     file.flush()
    ...     rows = zonal.stream(file.name, target="y")
    ...     model = zonal.KernelRidge(budget=64, random_state=0).fit(rows)
    >>> bool(abs(model.predict([[1.0]])[0] - np.sin(1.0)) < 1e-3)
    True
    """
    check_count("batch_size", batch_size, "stream")
    table = open_tables(list(path) if isinstance(path, list | tuple) else [path])
    picked = Columns.of(table, inputs=columns, target=target, labels=None, weight=weight)
    return Stream(picked, batch_size, frames=frames)
