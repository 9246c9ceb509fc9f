"""Tables in files as streams of blocks of rows, through pyarrow."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from .._typing import Array
from .._validation import check_count

__all__ = ["Stream", "stream"]

BATCH_SIZE = 1 << 16
FORMATS = {".parquet": "parquet", ".pq": "parquet", ".csv": "csv", ".feather": "feather"}


class Stream:
    """Blocks (X, y) or (X, y, weight) of a table in files; made by `stream`.

    Every iteration reads the files anew, in the same order.

    Attributes
    ----------
    columns, target : list of str
        The columns of X and of y.
    """

    def __init__(
        self,
        dataset: Any,
        batch_size: int,
        columns: list[str],
        target: str | list[str] | None,
        weight: str | None,
        frames: bool,
    ) -> None:
        self._dataset = dataset
        self._frames = frames
        self._weight = weight
        self._single = isinstance(target, str)
        self.batch_size = batch_size
        self.columns = columns
        self.target = [target] if isinstance(target, str) else list(target or [])

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        extra = [] if self._weight is None else [self._weight]
        names = list(dict.fromkeys([*self.columns, *self.target, *extra]))
        # Little is read ahead: the default, 16 batches of 4 files, would fill the memory.
        batches = self._dataset.to_batches(
            columns=names, batch_size=self.batch_size, batch_readahead=2, fragment_readahead=1
        )
        for batch in batches:
            yield self._parts(batch)

    def _parts(self, batch: Any) -> tuple[Any, ...]:
        X = batch.select(self.columns)
        rows = X.to_pandas() if self._frames else _matrix(X)
        y = _matrix(batch.select(self.target)) if self.target else None
        y = y[:, 0] if y is not None and self._single else y
        if self._weight is None:
            return (rows, y)
        return rows, y, _values(batch.column(self._weight))

    def __repr__(self) -> str:
        return f"Stream(columns={self.columns}, target={self.target})"


def stream(
    path: str | os.PathLike[str] | list[str],
    batch_size: int = BATCH_SIZE,
    *,
    columns: list[str] | None = None,
    target: str | list[str] | None = None,
    weight: str | None = None,
    frames: bool = False,
) -> Stream:
    r"""Read a table block by block, to fit a learner to more rows than fit into memory.

    Parameters
    ----------
    path : path-like, or list of them
        Parquet, CSV or Feather files, or a folder of Parquet files.
    batch_size : int, default=65536
        Rows that are read at a time; it does not change what is learnt.
    columns : list of str, optional
        The columns of X, by default all others.
    target : str or list of str, optional
        The column of y; a list makes y two-dimensional.
    weight : str, optional
        The column of sample weights.
    frames : bool, default=False
        Whether blocks are pandas frames, for features that pick columns by name.

    Returns
    -------
    Stream
        Pass it as X to ``fit``, ``predict`` or ``transform``, without y.

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
    dataset = _open(path)
    present = list(dataset.schema.names)
    targets = [target] if isinstance(target, str) else list(target or [])
    wanted = [*(columns or []), *targets, *([weight] if weight is not None else [])]
    missing = [name for name in wanted if name not in present]
    if missing:
        raise ValueError(f"{path} has no columns {missing}; it has {present}.")
    if columns is None:
        columns = [name for name in present if name not in (*targets, weight)]
    if not columns:
        raise ValueError(f"{path} has no columns left for X besides {wanted}: name some.")
    return Stream(dataset, batch_size, list(columns), target, weight, frames)


def _open(path: Any) -> Any:
    """A pyarrow dataset of files that exist, in a known format."""
    try:
        import pyarrow.dataset as ds
    except ImportError as error:
        raise ImportError(
            "zonal.stream reads files with pyarrow: pip install 'zonal[stream]'."
        ) from error
    paths = [Path(one) for one in (path if isinstance(path, list) else [path])]
    for one in paths:
        if not one.exists():
            raise FileNotFoundError(f"There is no file {one} to stream from.")
    ending = paths[0].suffix.lower()
    if ending not in FORMATS and not paths[0].is_dir():
        raise ValueError(
            f"{paths[0]} ends in {ending!r}; files to stream from end in {', '.join(FORMATS)}."
        )
    files = [str(one) for one in paths]
    return ds.dataset(files[0] if len(files) == 1 else files, format=FORMATS.get(ending, "parquet"))


def _matrix(batch: Any) -> Array:
    """Columns side by side: float32 if all are, labels as they are, else float64."""
    values = [_values(column) for column in batch.columns]
    kinds = {value.dtype.kind for value in values}
    if kinds <= set("fiub"):
        single = all(value.dtype == np.float32 for value in values)
        dtype = np.dtype(np.float32 if single else np.float64)
        out = np.empty((batch.num_rows, len(values)), dtype)
        for number, value in enumerate(values):
            out[:, number] = value
        return out
    return np.column_stack(values)


def _values(column: Any) -> Array:
    return np.asarray(column.to_numpy(zero_copy_only=False))
