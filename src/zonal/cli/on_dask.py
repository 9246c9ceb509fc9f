"""Rows that the processes of a Dask cluster read, parted for training and test."""

import logging
import operator
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker
from typing import Any, NamedTuple

import dask
import dask.array as da
import numpy as np
import pyarrow as pa
from distributed import KilledWorker

from .._typing import Array
from ..rows.cluster import connect, explained, local_cluster
from ..rows.dask import DaskSource
from .console import Screen
from .errors import CommandError
from .read import Columns
from .split import Split
from .tables import csv_delimiter, parquet_files, zarr_array
from .values import whole_numbers

__all__ = ["DaskRows", "cluster"]

# What a task reads at a time.
BLOCK_BYTES = "32MiB"
ZARR_ROWS = 1 << 17
# What pyarrow takes for a missing value in CSV, for the engines to agree.
MISSING = (
    "", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN",
    "N/A", "NA", "NULL", "NaN", "n/a", "nan", "null",
)  # fmt: skip


@contextmanager
def cluster(scheduler: str | None, workers: int | None, screen: Screen) -> Iterator[None]:
    """A cluster that Dask uses: a running one by its address, or worker processes of our own."""
    # Work that is stopped half-way is logged at length, here and by the workers.
    for name in ("distributed", "asyncio"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    os.environ.setdefault("DASK_LOGGING__DISTRIBUTED", "critical")
    if scheduler is not None:
        with screen.stage("Connecting"):
            client = connect(scheduler)
    else:
        with screen.stage("Starting workers"), uninterrupted():
            client = local_cluster(workers or os.cpu_count() or 1)
    try:
        yield
    except RuntimeError as error:
        if isinstance(error.__cause__, KilledWorker):
            raise CommandError(str(error)) from error
        raise
    finally:
        with uninterrupted():
            client.close()


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Let Ctrl-C take effect only afterwards, and never in processes that are started meanwhile.

    A cluster that is stopped half-way leaves processes behind; and the terminal sends Ctrl-C to
    all of them, where nobody but the command itself should act on it.
    """
    # Its start would let Ctrl-C through again in the thread that starts it.
    resource_tracker.ensure_running()
    seen: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: seen.append(number))
    # Unlike a handler, a mask is inherited by threads, and by the processes that they start.
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        signal.signal(signal.SIGINT, before)
    if seen:
        raise KeyboardInterrupt


class _Checked(NamedTuple):
    """What the first pass tells of a piece: rows, those without gaps, whether all is well."""

    n_rows: int
    n_kept: int
    whole: bool
    good: bool


class DaskRows:
    """Rows of the engine "dask": delayed pieces of a table.

    Parameters
    ----------
    columns : Columns
    split : Split
    """

    def __init__(self, columns: Columns, split: Split) -> None:
        self._columns = columns
        self._pieces = _pieces(columns)
        self._checked: list[_Checked] = []
        self.split = split
        self.inputs = columns.inputs

    @property
    def n_rows(self) -> int:
        """All rows, known after a pass over them."""
        return sum(piece.n_kept for piece in self._checked)

    @property
    def n_dropped(self) -> int:
        """Rows that were left out, known after a pass."""
        return sum(piece.n_rows - piece.n_kept for piece in self._checked)

    def sample(self) -> Array:
        """Check all rows, and return the training rows that a map learns from."""
        self._check()
        return np.asarray(DaskSource(*self.train()).survey().sample.X)

    def train(self, encode: Callable[[Any], Any] = lambda X: X) -> tuple[Any, ...]:
        """What `fit` takes: the training rows, mapped by a function, and their targets."""
        X, y = self._arrays(self.split)
        return encode(X), y

    def reduce(self, function: Callable[[Any], Any]) -> Any:
        """Add up what a function makes of blocks of all rows."""
        return DaskSource(*self._arrays(None)).reduce(function, operator.add, 0)

    def _check(self) -> None:
        """Read everything once: for errors, numbers of rows, and whether labels are numbers."""
        check = dask.delayed(_check, pure=False)
        with explained():
            self._checked = list(
                dask.compute(*(check(piece, self._columns) for piece in self._pieces))
            )
            first = 0
            for piece, checked in zip(self._pieces, self._checked, strict=True):
                if not checked.good:
                    # Again, now that it is known how many rows come before.
                    dask.delayed(_parse, pure=False)(piece, self._columns, first).compute()
                first += checked.n_rows
        path = self._columns.table.path
        if not first:
            raise CommandError(f"{path} has columns, but no rows.")
        if not self.n_rows:
            raise CommandError(f"Every row of {path} lacks a number: there is nothing to learn.")

    def _arrays(self, split: Split | None) -> tuple[Any, Any]:
        """Dask arrays X [n, d] and y [n] of the training rows of a split, or of all rows."""
        part = dask.delayed(_part, pure=False, nout=2)
        whole = all(checked.whole for checked in self._checked if checked.n_kept)
        dtype, width = self._columns.dtype, len(self.inputs)
        X, y = [], []
        first = start = n_train = 0
        for piece, checked in zip(self._pieces, self._checked, strict=True):
            stop = start + checked.n_kept
            n_rows = checked.n_kept
            if split is not None:
                n_rows -= int(split.is_test(start, stop).sum())
            if n_rows:
                rows, targets = part(piece, self._columns, first, whole, split, start)
                X.append(da.from_delayed(rows, (n_rows, width), dtype))
                y.append(da.from_delayed(targets, (n_rows,), object))
            first, start, n_train = first + checked.n_rows, stop, n_train + n_rows
        if split is not None:
            split.check(n_train, start - n_train)
        return da.concatenate(X), da.concatenate(y)


def _pieces(columns: Columns) -> list[Any]:
    """Delayed frames or arrays that hold at least the columns named."""
    import dask.dataframe as dd

    path = columns.table.path.resolve()  # workers have working folders of their own
    name = path.name.lower()
    if name.endswith(".npz"):
        raise CommandError(
            f"{columns.table.path} is an NPZ file, which can not be read in pieces: leave out "
            "--engine dask, or save it as Parquet, CSV or Zarr."
        )
    if name.endswith(".zarr"):
        array, _ = zarr_array(path)
        step = max(1, ZARR_ROWS // array.chunks[0]) * array.chunks[0]
        rows = da.from_zarr(str(path), chunks=(step, array.shape[1]))
        return list(rows.to_delayed().ravel())
    if path.is_dir() or name.endswith((".parquet", ".pq")):
        frame = dd.read_parquet(
            [str(file) for file in parquet_files(path)],
            columns=columns.names,
            index=False,
            # NumPy's types would make floats of whole numbers with gaps, and round large ones.
            dtype_backend="pyarrow",
            split_row_groups="adaptive",
            blocksize=BLOCK_BYTES,
        )
    else:
        frame = dd.read_csv(
            str(path),
            sep=csv_delimiter(path),
            dtype=str,
            usecols=columns.names,
            keep_default_na=False,
            na_values=list(MISSING),
            blocksize=None if name.endswith(".gz") else BLOCK_BYTES,
        )
    return list(frame.to_delayed())


def _parse(piece: Any, columns: Columns, first_row: int) -> tuple[Array, Any]:
    """Rows and targets of a piece, checked as those of a file that is read here."""
    types = columns.table.types
    if isinstance(piece, np.ndarray):
        places = [list(types).index(name) for name in columns.names]
        arrays = [pa.array(np.ascontiguousarray(piece[:, place])) for place in places]
        return columns.parse(pa.record_batch(arrays, names=columns.names), first_row)
    schema = pa.schema([(name, types[name]) for name in columns.names])
    # The types of the file, where pandas has others for text.
    batch = pa.RecordBatch.from_pandas(piece[columns.names], schema, preserve_index=False)
    return columns.parse(batch, first_row)


def _check(piece: Any, columns: Columns) -> _Checked:
    try:
        X, y = _parse(piece, columns, 0)
    except CommandError:
        return _Checked(len(piece), 0, whole=False, good=False)
    return _Checked(len(piece), len(X), whole_numbers(y) is not None, good=True)


def _part(
    piece: Any, columns: Columns, first_row: int, whole: bool, split: Split | None, start: int
) -> tuple[Array, Array]:
    """Rows and targets of a piece: the training rows of a split, or all of them."""
    X, targets = _parse(piece, columns, first_row)
    y: Any = whole_numbers(targets) if whole else targets
    if split is None:
        return X, y
    kept = ~split.is_test(start, start + len(X))
    return X[kept], y[kept]
