"""The columns of a table that a model sees: rows X, targets y, weights."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from .._typing import Array
from .arrow import arrow
from .errors import Advice, TableError, not_numbers
from .table import Table
from .values import check_complete, classes, dtype_of, holds_numbers, is_text, numbers

__all__ = ["Columns"]


@dataclass(frozen=True)
class Columns:
    """What is read of every row, checked: numbers X, targets y and weights.

    Attributes
    ----------
    table : Table
    inputs : list of str
        The columns of X.
    target : list of str
        The columns of y, if there are any.
    labels : bool or None
        Whether y are classes, which may be text, and not numbers. None: the first rows decide.
    weight : str or None
        The column of weights.
    single : bool
        Whether y has one axis, and not two.
    drop_missing : bool
        Leave out rows in which a value is missing, instead of raising an error.
    limits : dict of str to (str, float, float)
        What the values of some inputs are called, the lowest and the highest.
    advice : Advice
        The words of messages.
    """

    table: Table
    inputs: list[str]
    target: list[str] = field(default_factory=list)
    labels: bool | None = False
    weight: str | None = None
    single: bool = True
    drop_missing: bool = False
    limits: dict[str, tuple[str, float, float]] = field(default_factory=dict)
    advice: Advice = field(default_factory=Advice)

    @classmethod
    def of(
        cls,
        table: Table,
        *,
        inputs: Iterable[str] | None = None,
        ignore: Iterable[str] | None = None,
        target: str | list[str] | None = None,
        **options: Any,
    ) -> "Columns":
        """Choose columns by name; X are by default all but target, weight and `ignore`.

        Parameters
        ----------
        table : Table
        inputs, ignore : lists of str, optional
            The columns of X, or those that are not in it.
        target : str or list of str, optional
            The columns of y.
        **options
            Other attributes.
        """
        single = target is None or isinstance(target, str)
        targets = [target] if isinstance(target, str) else list(target or [])
        for name in targets:
            table.check(name, "target column")
        weight = options.get("weight")
        others = [*targets, *([] if weight is None else [table.check(weight, "weight column")])]
        left_out = [table.check(name) for name in ignore or []] + others
        asked = dict.fromkeys(inputs or (name for name in table.types if name not in left_out))
        found = cls(table, [table.check(name) for name in asked], targets, single=single, **options)
        found._check_choice()
        return found

    def _check_choice(self) -> None:
        table, advice = self.table, self.advice
        for name in self.target:
            if name in self.inputs:
                raise TableError(
                    f"The target {name!r} is among the inputs: leave it out of {advice.inputs}."
                )
        if not self.inputs:
            raise TableError(
                f"{table.path} has no column left to learn from: its columns are "
                f"{', '.join(map(repr, table.types))}."
            )
        for name in self.names:
            if not isinstance(table.types[name], arrow().DataType):
                raise not_numbers(table.path, name, table.types[name], advice)

    @property
    def names(self) -> list[str]:
        """All columns that are read."""
        extra = [] if self.weight is None else [self.weight]
        return list(dict.fromkeys([*self.inputs, *self.target, *extra]))

    @property
    def dtype(self) -> Any:
        """The type of X."""
        return dtype_of(self.table, self.inputs)

    def settled(self, batch: Any) -> "Columns":
        """Return the same columns with `labels` decided: text other than numbers is a class.

        Text in a file that has types is never taken for numbers; CSV has none, so that the first
        rows tell.
        """
        if self.labels is not None:
            return self
        text = [name for name in self.target if is_text(self.table.types[name])]
        if self.table.kind == "csv":
            text = [name for name in text if not holds_numbers(batch.column(name))]
        if text and not self.single:
            raise TableError(
                f"Column {text[0]!r} of {self.table.path} holds text, but all targets of a list "
                "must be numbers: give one name, not a list."
            )
        return replace(self, labels=bool(text))

    def parse(self, batch: Any, first_row: int = 0) -> tuple[Array, Any, Any]:
        """Return X [b, d], y [b] or [b, t] and weights [b] of a batch; None for what is not read.

        Parameters
        ----------
        batch : pyarrow.RecordBatch
            Rows with (at least) the columns `names`.
        first_row : int
            The number of rows in the table before it.
        """
        groups = [self.inputs, [] if self.labels else self.target]
        groups.append([] if self.weight is None else [self.weight])
        X, Y, weight = (
            numbers(self.table, batch, group, first_row, self.advice) for group in groups
        )
        finite = [np.isfinite(part).all(axis=1) for part in (X, Y, weight)]
        known = np.logical_and.reduce(finite)
        if not self.drop_missing and not known.all():
            together = np.column_stack([X, Y, weight])
            names = [name for group in groups for name in group]
            check_complete(self.table, batch, together, names, first_row, self.advice.missing)
        self._check_limits(X, first_row)
        y: Any = None
        if self.labels:
            y, known = self._classes(batch, known, first_row)
        elif self.target:
            y = Y[known, 0] if self.single else Y[known]
        rows = X if known.all() else X[known]
        return rows, y, None if self.weight is None else weight[known, 0]

    def _classes(self, batch: Any, known: Array, first_row: int) -> tuple[Array, Array]:
        """Return the labels of rows that have them, and which rows these are."""
        name = self.target[0]
        marks, present = classes(batch.column(name))
        if not self.drop_missing and not present.all():
            raise TableError(
                f"Row {first_row + int(np.argmin(present)) + 1} (counted from 1, without the "
                f"header) of {self.table.path} has no {name!r}. Fill it, or {self.advice.missing}."
            )
        known = known & present
        marks = marks.filter(arrow().array(known))
        if is_text(marks.type):
            return np.array(marks.to_pylist(), dtype=str), known
        return marks.to_numpy(zero_copy_only=False), known

    def _check_limits(self, X: Array, first_row: int) -> None:
        for name, (kind, low, high) in self.limits.items():
            column = X[:, self.inputs.index(name)]
            outside = np.flatnonzero((column < low) | (column > high))
            if len(outside):
                raise TableError(
                    f"Row {first_row + outside[0] + 1} (counted from 1, without the header) of "
                    f"{self.table.path} has {column[outside[0]]:g} in column {name!r}, which is "
                    f"not a {kind}: those are degrees from {low} to {high}. {self.advice.outside}"
                )
