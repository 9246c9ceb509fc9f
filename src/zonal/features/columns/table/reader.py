"""How a column is read, decided once: as numbers, dates, levels in order, or words."""

from collections import Counter
from dataclasses import dataclass

import numpy as np

from ...._typing import Array
from ....tables.text import TextFormat, as_dates, as_numbers, as_times, kind_of, meaning, odd_words
from .cells import Cells, as_text, gaps_of

__all__ = ["CellError", "Reader"]

DTYPES = {"number": "float64", "date": "datetime64[us]", "time": "timedelta64[us]"}
WORDS = {"number": "numbers", "date": "dates", "time": "times of day"}


class CellError(ValueError):
    """A cell holds what its column does not.

    Attributes
    ----------
    column : str
    row : int
        Counted from 0.
    value : object
    count : int
        How many such cells there are.
    kind : str
        What the column holds.
    """

    def __init__(self, column: str, values: Array, wrong: Array, kind: str) -> None:
        self.column, self.kind = column, kind
        self.row, self.count = int(np.argmax(wrong)), int(np.count_nonzero(wrong))
        self.value = values[self.row]
        super().__init__(
            f"Column {column!r} holds {kind}, but row {self.row} (counted from 0) holds "
            f"{self.value!r} ({self.count:,} such cells). Correct it, or name the column in "
            "numeric=[...] (what is no number is missing then), categorical=[...] or ignore=[...]."
        )


@dataclass(frozen=True)
class Reader:
    """How the cells of a column become values.

    Attributes
    ----------
    name : str
    kind : {"number", "date", "time", "word"}
    form : str
        How cells are written, where they are text; see `meaning`.
    order : tuple of str
        The levels of an ordered categorical, which are numbers then: 0 for the first.
    lenient : bool
        Whether what is no number is a gap, and not an error.
    """

    name: str
    kind: str
    form: TextFormat = "plain"
    order: tuple[str, ...] = ()
    lenient: bool = False

    @classmethod
    def of(
        cls, name: str, cells: Cells, categorical: bool = False, numeric: bool = False
    ) -> "Reader":
        """Decide how a column is read; some are told what they are."""
        if categorical:
            return cls(name, "word")
        if cells.order is not None:
            return cls(name, "number", order=cells.order)
        if cells.kind != "text":
            return cls(name, cells.kind)
        counts = Counter(word for word in cells.values if word is not None)
        odd = odd_words(counts)
        form = meaning(word for word in counts if word not in odd)
        if numeric:
            return cls(name, "number", form if kind_of(form) == "number" else "plain", lenient=True)
        if kind_of(form) == "number" and odd:
            raise CellError(name, cells.values, np.isin(cells.values, odd), "numbers")
        return cls(name, kind_of(form), form)

    def read(self, cells: Cells) -> Array:
        """Return numbers, dates or words; what is neither is an error that names row and column."""
        if self.order:
            places = {level: float(place) for place, level in enumerate(self.order)}
            found = [places.get(word, np.nan) for word in as_text(cells)]
            return np.array(found, dtype=np.float64)
        if self.kind == "word":
            return as_text(cells)
        values, wrong = cells.values, np.zeros(len(cells.values), dtype=bool)
        if cells.kind == "text":
            values, wrong = self._of_text(values)
        elif cells.kind != self.kind:
            wrong = ~gaps_of(values)
            values = np.full(len(values), np.nan).astype(DTYPES[self.kind])
        if self.lenient:
            return np.where(np.isinf(values), np.nan, values)
        infinite = np.isinf(values) if self.kind == "number" else np.zeros_like(wrong)
        wrong = wrong | infinite
        if wrong.any():
            kind = "finite numbers" if infinite.any() else WORDS[self.kind]
            raise CellError(self.name, cells.values, wrong, kind)
        return values

    def _of_text(self, words: Array) -> tuple[Array, Array]:
        """Return the values of text, and which cells are none."""
        if self.kind == "date":
            return as_dates(words, self.form if kind_of(self.form) == "date" else "date")
        return as_times(words) if self.kind == "time" else as_numbers(words, self.form)
