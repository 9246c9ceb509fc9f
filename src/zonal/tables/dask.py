"""Tables that the processes of a Dask cluster read, as Dask arrays."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .._typing import Array
from ..rows.cluster import explained, require_dask
from .arrow import arrow
from .columns import Columns
from .csv import csv_delimiter
from .errors import TableError
from .values import whole_numbers
from .zarr import zarr_array

__all__ = ["DaskTable"]

# Kinds of tables that Dask does not read, in words.
KINDS = {"npz": "an NPZ file", "feather": "a Feather file", "grid": "a grid"}
# What a task reads at a time.
BLOCK_BYTES = "32MiB"
ZARR_ROWS = 1 << 17
# What pyarrow takes for a missing value in CSV, so that both readers agree.
MISSING = (
    "", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN",
    "N/A", "NA", "NULL", "NaN", "n/a", "nan", "null",
)  # fmt: skip


class DaskTable:
    """A table in delayed pieces: the rows and checks of a `Stream`, on a cluster.

    Parameters
    ----------
    picked : Columns
        What is read. Weights are not.

    Attributes
    ----------
    columns : list of str
        The columns of X.
    n_pieces : int
        How many tasks read the table.
    """

    def __init__(self, picked: Columns) -> None:
        require_dask()
        self._picked = picked
        self._pieces = _pieces(picked)
        self._checked: list[_Checked] = []
        self.columns = picked.inputs
        self.n_pieces = len(self._pieces)

    @property
    def n_rows(self) -> int:
        """The number of rows without gaps, known after `check`."""
        return sum(piece.n_kept for piece in self._checked)

    @property
    def n_dropped(self) -> int:
        """The number of rows that are left out, known after `check`."""
        return sum(piece.n_rows - piece.n_kept for piece in self._checked)

    def check(self) -> None:
        """Read everything once: for errors, numbers of rows, and whether labels are numbers."""
        import dask

        if self._checked:
            return
        check = dask.delayed(_check, pure=False)
        with explained():
            self._checked = list(
                dask.compute(*(check(piece, self._picked) for piece in self._pieces))
            )
            first = 0
            for piece, checked in zip(self._pieces, self._checked, strict=True):
                if not checked.good:
                    # Again, now that it is known how many rows come before.
                    dask.delayed(_parse, pure=False)(piece, self._picked, first).compute()
                first += checked.n_rows
        path = self._picked.table.path
        if not first:
            raise TableError(f"{path} has columns, but no rows.")
        if not self.n_rows:
            raise TableError(f"Every row of {path} lacks a number: there is nothing to learn.")

    def arrays(self, keep: Callable[[int, int], Array] | None = None) -> tuple[Any, Any]:
        """Return Dask arrays X [n, d] and y [n] of rows that are checked.

        Parameters
        ----------
        keep : callable, optional
            Which of the rows from `start` to `stop` (counted without those that are left out)
            belong to the arrays: a mask [stop - start]. By default all.
        """
        import dask
        import dask.array as da

        self.check()
        part = dask.delayed(_part, pure=False, nout=2)
        whole = all(checked.whole for checked in self._checked if checked.n_kept)
        X, y = [], []
        first = start = 0
        for piece, checked in zip(self._pieces, self._checked, strict=True):
            stop = start + checked.n_kept
            n_rows = checked.n_kept if keep is None else int(keep(start, stop).sum())
            if n_rows:
                rows, targets = part(piece, self._picked, first, whole, keep, start)
                shape = (n_rows, len(self.columns))
                X.append(da.from_delayed(rows, shape, self._picked.dtype))
                y.append(da.from_delayed(targets, (n_rows,), object))
            first, start = first + checked.n_rows, stop
        return da.concatenate(X), da.concatenate(y)


class _Checked(NamedTuple):
    """What the first pass tells of a piece: rows, those without gaps, whether all is well."""

    n_rows: int
    n_kept: int
    whole: bool
    good: bool


def _pieces(picked: Columns) -> list[Any]:
    """Return delayed frames or arrays that hold at least the columns named."""
    import dask.array as da
    import dask.dataframe as dd

    table = picked.table
    files = [file.resolve() for file in table.files]  # workers have working folders of their own
    if table.kind == "zarr":
        array, _ = zarr_array(files[0])
        step = max(1, ZARR_ROWS // array.chunks[0]) * array.chunks[0]
        rows = da.from_zarr(str(files[0]), chunks=(step, array.shape[1]))
        return list(rows.to_delayed().ravel())
    if table.kind == "parquet":
        frame = dd.read_parquet(
            [str(file) for file in files],
            columns=picked.names,
            index=False,
            # NumPy's types would make floats of whole numbers with gaps, and round large ones.
            dtype_backend="pyarrow",
            split_row_groups="adaptive",
            blocksize=BLOCK_BYTES,
        )
    elif table.kind == "csv":
        frame = dd.read_csv(
            [str(file) for file in files],
            sep=csv_delimiter(files[0]),
            dtype=str,
            usecols=picked.names,
            keep_default_na=False,
            na_values=list(MISSING),
            blocksize=None if files[0].name.lower().endswith(".gz") else BLOCK_BYTES,
        )
    else:
        raise TableError(
            f"{table.path} is {KINDS.get(table.kind, table.kind)}, which "
            "cannot be read in pieces: read it without Dask (on the command line, leave out "
            "--engine dask), or save it as Parquet, CSV or Zarr."
        )
    return list(frame.to_delayed())


def _parse(piece: Any, picked: Columns, first_row: int) -> tuple[Array, Any]:
    """Return rows and targets of a piece, checked like those of a file that is read here."""
    pa, types = arrow(), picked.table.types
    if isinstance(piece, np.ndarray):
        places = [list(types).index(name) for name in picked.names]
        arrays = [pa.array(np.ascontiguousarray(piece[:, place])) for place in places]
        batch = pa.record_batch(arrays, names=picked.names)
    else:
        # The types of the file, where pandas has others for text.
        schema = pa.schema([(name, types[name]) for name in picked.names])
        batch = pa.RecordBatch.from_pandas(piece[picked.names], schema, preserve_index=False)
    X, y, _ = picked.parse(batch, first_row)
    return X, y


def _check(piece: Any, picked: Columns) -> _Checked:
    try:
        X, y = _parse(piece, picked, 0)
    except TableError:
        return _Checked(len(piece), 0, whole=False, good=False)
    return _Checked(len(piece), len(X), whole_numbers(y) is not None, good=True)


def _part(
    piece: Any,
    picked: Columns,
    first_row: int,
    whole: bool,
    keep: Callable[[int, int], Array] | None,
    start: int,
) -> tuple[Array, Array]:
    """Return rows and targets of a piece: those to keep, or all of them."""
    X, targets = _parse(piece, picked, first_row)
    y: Any = whole_numbers(targets) if whole else targets
    if keep is None:
        return X, y
    kept = keep(start, start + len(X))
    return X[kept], y[kept]
