"""One look at all cells of a table: what every column holds, before anything is made of it."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .arrow import arrow
from .names import is_name_of_rows
from .table import Table
from .text import GAPS, kind_of, meaning, odd_words
from .values import cast, is_text, tidy

__all__ = ["ColumnSurvey", "survey_columns"]

# Different texts of a column that are remembered; with more it is words, whatever follows.
MAX_LEVELS = 50_000
# Whole numbers up to this are exact in a float64.
EXACT = 2.0**53


@dataclass
class ColumnSurvey:
    """What the cells of a column are.

    Attributes
    ----------
    name : str
    kind : object
        The column's type in the file.
    n_rows, n_missing : int
    n_whole : int
        Cells that are whole numbers.
    plain : bool
        Whether all cells are numbers or empty.
    levels : Counter
        How often each text occurs, in batches that hold more than numbers.
    first : dict of str to int
        The row (counted from 0) in which each text is first.
    infinite : int or None
        The first row with an infinite number.
    low, high : float
        Of the numbers.
    rises : bool
        Whether each number is larger than the one before.
    """

    name: str
    kind: Any
    n_rows: int = 0
    n_missing: int = 0
    n_whole: int = 0
    plain: bool = True
    levels: Counter[str] = field(default_factory=Counter)
    first: dict[str, int] = field(default_factory=dict)
    infinite: int | None = None
    low: float = np.inf
    high: float = -np.inf
    rises: bool = True

    @property
    def form(self) -> str:
        """What text means: as `meaning` says, words that are mistakes left out."""
        if self.plain:
            return "plain"
        return meaning(level for level in self.levels if level not in self.odd)

    @property
    def odd(self) -> list[str]:
        """Words in a column of numbers."""
        counts = Counter(self.levels)
        # Cells of batches that hold nothing but numbers.
        counts["0"] += self.n_rows - self.n_missing - sum(self.levels.values())
        return odd_words(counts)

    @property
    def is_number(self) -> bool:
        """Whether the column holds numbers, however they are written."""
        return kind_of(self.form) == "number"

    @property
    def names_rows(self) -> bool:
        """Whether whole numbers count the rows from zero or one on, or by their name name them."""
        counts = self.low in (0, 1) and self.high - self.low == self.n_rows - 1
        return self.whole and self.rises and (counts or is_name_of_rows(self.name))

    @property
    def whole(self) -> bool:
        """Whether all cells are whole numbers that a float64 tells apart."""
        known = self.plain and self.n_whole == self.n_rows > 0
        return known and max(abs(self.low), abs(self.high)) <= EXACT

    def add(self, column: Any) -> None:
        """Look at the cells of a batch."""
        pc = arrow().compute
        column = tidy(column)
        numbers = _numbers(column)
        if numbers is not None:
            self._add_numbers(numbers)
            self.n_rows += len(column)
            return
        self.plain = False
        self.n_missing += column.null_count
        if is_text(column.type):
            for entry in pc.value_counts(column.drop_null()).to_pylist():
                word = entry["values"]
                if word not in self.levels:
                    if len(self.levels) >= MAX_LEVELS:
                        continue
                    self.first[word] = self.n_rows + pc.index(column, word).as_py()
                self.levels[word] += entry["counts"]
                self.n_missing += entry["counts"] if word in GAPS else 0
        self.n_rows += len(column)

    def _add_numbers(self, numbers: Any) -> None:
        if len(numbers):
            self.rises &= bool(numbers[0] > self.high and (numbers[1:] > numbers[:-1]).all())
        known = numbers[~np.isnan(numbers)]
        self.n_missing += len(numbers) - len(known)
        infinite = np.isinf(numbers)
        if infinite.any() and self.infinite is None:
            self.infinite = self.n_rows + int(np.argmax(infinite))
        known = known[np.isfinite(known)]
        self.n_whole += int(np.count_nonzero(known == np.rint(known)))
        if len(known):
            self.low, self.high = min(self.low, known.min()), max(self.high, known.max())


def survey_columns(
    table: Table, names: Iterable[str], advance: Callable[[int], None] = lambda rows: None
) -> dict[str, ColumnSurvey]:
    """Look at all cells of some columns, in one pass.

    Parameters
    ----------
    table : Table
    names : iterable of str
    advance : callable
        Called with the number of rows read, after each batch.
    """
    found = {name: ColumnSurvey(name, table.types[name]) for name in names}
    for batch in table.batches(list(found)):
        for name, column in found.items():
            column.add(batch.column(name))
        advance(batch.num_rows)
    return found


def _numbers(column: Any) -> Any:
    """Return a column as float64, or None if it holds anything else."""
    pa = arrow()
    if is_text(column.type):
        found = cast(column)
        return None if found is None else found.to_numpy(zero_copy_only=False)
    kind = column.type
    if not (pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_decimal(kind)):
        return None
    return pa.compute.cast(column, pa.float64(), safe=False).to_numpy(zero_copy_only=False)
