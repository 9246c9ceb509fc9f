"""Errors in tables, and what their messages advise."""

from dataclasses import dataclass
from typing import Any

__all__ = ["Advice", "TableError", "not_numbers"]


class TableError(ValueError):
    """A table cannot be read, or holds what it should not; the message says where."""


@dataclass(frozen=True)
class Advice:
    """What a message tells the reader to do, in the words of whoever reads the table.

    The defaults are those of `zonal.stream`; the command line names its options instead.

    Attributes
    ----------
    column : str
        How to leave a column out; ``{name!r}`` stands for its name.
    missing : str
        What to do about rows in which a value is missing, besides filling it.
    inputs : str
        What lists the columns of X.
    outside : str
        What to do about values outside of their limits.
    """

    column: str = "leave it out of columns=[...]"
    missing: str = "leave such rows out of the file"
    inputs: str = "columns"
    outside: str = "Correct or remove such rows."


def not_numbers(path: str, name: str, kind: Any, advice: Advice) -> TableError:
    """Return the error for a column of a type that cannot be read as numbers."""
    return TableError(
        f"Column {name!r} of {path} holds values of type {kind}, not numbers. Convert it, or "
        f"{advice.column.format(name=name)}."
    )
