"""Tables with words, dates and gaps as streams of pandas frames."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from .._typing import Array
from .arrow import arrow
from .columns import Columns
from .errors import TableError
from .survey import ColumnSurvey
from .table import BATCH_ROWS
from .text import as_numbers
from .values import cast, classes, is_text, tidy, whole_numbers

__all__ = ["FrameStream", "frame_of"]


class FrameStream:
    """Blocks (frame, y), or (frame,) without a target, of a table that has been surveyed.

    Rows without a target are left out; gaps elsewhere stay, unless `picked.drop_missing`. A column
    of weights is a third part; rows without one are left out.

    Parameters
    ----------
    picked : Columns
        What is read of every row.
    survey : mapping of str to ColumnSurvey
        Of the columns that are read.
    categorical : collection of str
        Columns whose cells stay text even if they are numbers.
    batch_size : int
        Rows that are read at a time.

    Attributes
    ----------
    columns, target : list of str
        The columns of X and of y.
    n_rows, n_dropped : int
        Rows that were yielded and rows that were left out; known after a pass.
    kept : ndarray of bool, of shape (n_rows + n_dropped,)
        Which rows of the table were yielded; known after a pass.
    advance : callable
        Called with the number of rows read, after each batch.
    """

    def __init__(
        self,
        picked: Columns,
        survey: Mapping[str, ColumnSurvey],
        categorical: Any = (),
        batch_size: int = BATCH_ROWS,
    ) -> None:
        self._picked, self._survey = picked, survey
        self._numeric = {
            name for name in picked.inputs if survey[name].plain and name not in categorical
        }
        self._whole = {name for name in self._numeric if survey[name].whole}
        self.batch_size = batch_size
        self.columns, self.target = picked.inputs, picked.target
        self.n_rows = self.n_dropped = 0
        self.kept: Array = np.zeros(0, dtype=bool)
        self.advance: Callable[[int], None] = lambda rows: None

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        masks = []
        for batch in self._picked.table.batches(self._picked.names, self.batch_size):
            frame = frame_of(batch, self.columns, self._numeric, self._whole)
            y, known = self._targets(batch)
            if self._picked.drop_missing:
                known &= ~frame.isna().to_numpy().any(axis=1)
            weight = self._weights(batch)
            if weight is not None:
                known &= np.isfinite(weight)
            masks.append(known)
            rows = frame if known.all() else frame[known]
            extra = () if weight is None else (weight[known],)
            yield (rows, y[known], *extra) if self.target else (rows,)
            self.advance(batch.num_rows)
        kept = np.concatenate(masks) if masks else self.kept[:0]
        n_rows = int(kept.sum())
        if not n_rows:
            raise TableError(
                f"Every row of {self._picked.table.path} lacks a value: there is nothing to learn."
            )
        self.n_rows, self.n_dropped, self.kept = n_rows, len(kept) - n_rows, kept

    def _weights(self, batch: Any) -> Array | None:
        """Return the column of weights, if there is one: [b]."""
        name = self._picked.weight
        if name is None:
            return None
        column = tidy(batch.column(name))
        if is_text(column.type):
            words = np.array(column.to_pylist(), dtype=object)
            return as_numbers(words, self._survey[name].form)[0]
        return _as_floats(column)

    def _targets(self, batch: Any) -> tuple[Array, Array]:
        """Return the targets of a batch, and which rows have one; without a target all do."""
        if not self.target:
            every = np.ones(batch.num_rows, dtype=bool)
            return every, every
        name = self.target[0]
        survey, column = self._survey[name], tidy(batch.column(name))
        if self._picked.labels:
            return self._labels(column, survey)
        if is_text(column.type) and not survey.plain:
            words = np.array(column.to_pylist(), dtype=object)
            values, _ = as_numbers(words, survey.form)
        else:
            values = _as_floats(column)
        return values, np.isfinite(values)

    def _labels(self, column: Any, survey: ColumnSurvey) -> tuple[Array, Array]:
        marks, known = classes(column)
        if not is_text(marks.type):
            # A gap is filled by a label that is never used, so that whole numbers stay such.
            filled = marks.fill_null(marks.drop_null()[0]) if known.any() else marks
            return filled.to_numpy(zero_copy_only=False), known
        labels = np.array([mark or "" for mark in marks.to_pylist()], dtype=str)
        whole = survey.plain and survey.n_whole == survey.n_rows - survey.n_missing
        if whole:
            numbers = whole_numbers(np.where(known, labels, "0"))
            labels = labels if numbers is None else numbers
        return labels, known


def frame_of(batch: Any, names: list[str], numeric: Any, whole: Any = ()) -> Any:
    """Return columns of a batch as a pandas frame, gaps included.

    Parameters
    ----------
    batch : pyarrow.RecordBatch
    names : list of str
    numeric : collection of str
        Columns of text that are numbers; those that are none in this batch stay text.
    whole : collection of str
        Those of them that are whole numbers, none of which is missing.
    """
    pa = arrow()
    arrays = []
    for name in names:
        column = batch.column(name)
        if is_text(column.type) and not pa.types.is_dictionary(column.type):
            column = tidy(column)
            numbers = cast(column) if name in numeric else None
            column = column if numbers is None else numbers
            column = pa.compute.cast(column, pa.int64()) if name in whole else column
        elif pa.types.is_decimal(column.type):
            column = pa.compute.cast(column, pa.float64())
        arrays.append(column)
    return pa.record_batch(arrays, names=names).to_pandas()


def _as_floats(column: Any) -> Array:
    pa = arrow()
    if pa.types.is_boolean(column.type):
        column = pa.compute.cast(column, pa.int8())
    return np.asarray(
        pa.compute.cast(column, pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    )
