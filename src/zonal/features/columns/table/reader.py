"""How a column is read, decided once: as numbers, dates, levels in order, or words."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...._typing import Array
from .cells import Cells, as_text
from .text import TextFormat, as_dates, as_numbers, meaning

__all__ = ["Reader"]


@dataclass(frozen=True)
class Reader:
    """How the cells of a column become values.

    Attributes
    ----------
    name : str
    kind : {"number", "date", "word"}
    form : str
        How numbers are written, where they are text; see `meaning`.
    order : tuple of str
        The levels of an ordered categorical, which are numbers then: 0 for the first.
    """

    name: str
    kind: str
    form: TextFormat = "plain"
    order: tuple[str, ...] = ()

    @classmethod
    def of(cls, name: str, cells: Cells, categorical: bool = False, numeric: bool = False) -> Any:
        """Decide how a column is read; some are told what they are."""
        if categorical:
            return cls(name, "word")
        if cells.order is not None:
            return cls(name, "number", order=cells.order)
        if cells.kind != "text":
            return cls(name, cells.kind)
        form = meaning({word for word in cells.values if word is not None})
        if form in ("words", "date"):
            kind = "number" if numeric else ("word" if form == "words" else form)
            return cls(name, kind, "plain")
        return cls(name, "number", form)

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
            numeric = self.kind == "number"
            values, wrong = as_numbers(values, self.form) if numeric else as_dates(values)
        elif cells.kind != self.kind:
            wrong = ~(np.isnat(values) if cells.kind == "date" else np.isnan(values))
            empty = np.full(len(values), np.nan)
            values = empty if self.kind == "number" else empty.astype("datetime64[us]")
        if wrong.any():
            row = int(np.argmax(wrong))
            raise ValueError(
                f"Column {self.name!r} holds {'numbers' if self.kind == 'number' else 'dates'}, but"
                f" row {row} (counted from 0) holds {cells.values[row]!r}. Correct it, or name the "
                "column in categorical=[...] (or ignore=[...]) and fit again."
            )
        if self.kind == "number" and np.isinf(values).any():
            row = int(np.argmax(np.isinf(values)))
            raise ValueError(
                f"Row {row} (counted from 0) of column {self.name!r} holds {values[row]}: numbers "
                "must be finite, or missing. Correct it, or leave the cell empty."
            )
        return values
