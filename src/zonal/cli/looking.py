"""A look at all columns of a table before a fit: problems in one message, and notes."""

from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from ..features.columns.sphere_encoder import DEGREES, named_like
from ..tables import Columns
from ..tables.survey import ColumnSurvey, survey_columns
from ..tables.text import kind_of
from .console import Screen
from .errors import CommandError

__all__ = ["Kinds", "Look", "are_places_and_dates", "look_at"]


@dataclass(frozen=True)
class Kinds:
    """What options say of columns.

    Attributes
    ----------
    categorical, numeric : tuple of str
        Columns that are words or numbers, whatever they look like.
    """

    categorical: tuple[str, ...] = ()
    numeric: tuple[str, ...] = ()

    def check(self, inputs: list[str]) -> None:
        """Raise an error for a column that is not among the inputs, or is both."""
        for option in ("categorical", "numeric"):
            for name in getattr(self, option):
                if name not in inputs:
                    raise CommandError(
                        f"--{option} {name!r} is not among the inputs "
                        f"{', '.join(map(repr, inputs))}."
                    )
        both = sorted(set(self.categorical) & set(self.numeric))
        if both:
            raise CommandError(f"{both[0]!r} is both --categorical and --numeric: choose one.")


@dataclass(frozen=True)
class Look:
    """What a look at a table finds.

    Attributes
    ----------
    survey : dict of str to ColumnSurvey
        Of each column that is read.
    mixed : bool
        Whether the inputs are more than numbers: words, dates or gaps, or told to be.
    suggestions : list of str
        Options that suit the target better.
    """

    survey: dict[str, ColumnSurvey]
    mixed: bool
    suggestions: list[str]


def look_at(
    columns: Columns, kinds: Kinds, screen: Screen, encodes: bool = True, suggests: bool = True
) -> Look:
    """Look at all columns of a table; all that is wrong with them comes in one error.

    Parameters
    ----------
    columns : Columns
    kinds : Kinds
    screen : Screen
        Where notes are shown.
    encodes : bool
        Whether a table of numbers may be encoded, for the sake of columns that name its rows.
    suggests : bool
        Whether options that suit the target better are told.
    """
    kinds.check(columns.inputs)
    with screen.stage("Looking at columns", columns.table.n_rows) as advance:
        survey = survey_columns(columns.table, columns.names, advance)
    problems = [*_target_problems(columns, survey), *_input_problems(columns, survey, kinds)]
    if problems:
        title = f"{columns.table.path} cannot be learnt from as it is:"
        raise CommandError("\n".join([title, *(f"- {problem}" for problem in problems)]))
    _notes(columns, survey, screen)
    suggestions = _suggestions(columns, survey) if suggests else []
    for text in suggestions:
        screen.note(text)
    told = bool(kinds.categorical or kinds.numeric)
    if encodes and len(columns.inputs) > 1:
        told |= any(survey[name].names_rows for name in columns.inputs)
    found = [survey[name] for name in columns.inputs]
    plain = all(one.plain and (columns.drop_missing or not one.n_missing) for one in found)
    return Look(survey, told or not plain, suggestions)


def are_places_and_dates(inputs: list[str], look: Look) -> bool:
    """Tell whether a table has a latitude, a longitude, by their names, and a date; no more."""
    places = [name for angle in DEGREES for name in inputs if named_like(angle, [name])]
    others = [look.survey[name] for name in inputs if name not in places]
    dated = [kind_of(one.form) == "date" or pa.types.is_temporal(one.kind) for one in others]
    return len(inputs) == 3 and len(places) == 2 and all(dated)


def _target_problems(columns: Columns, survey: dict[str, ColumnSurvey]) -> list[str]:
    if not columns.target:
        return []
    name = columns.target[0]
    column = survey[name]
    if column.n_missing == column.n_rows:
        return [f"The target {name!r} is empty in all {column.n_rows:,} rows."]
    if columns.labels:
        return []
    if _is_nested(column.kind):
        return [f"The target {name!r} holds values of type {column.kind}, not numbers."]
    if kind_of(column.form) in ("date", "time") or pa.types.is_temporal(column.kind):
        return [f"The target {name!r} holds dates: make numbers of them, such as days."]
    if not column.is_number and not pa.types.is_boolean(column.kind):
        words = ", ".join(map(repr, list(column.levels)[:3]))
        return [f"The target {name!r} holds words ({words}): add --classify to predict classes."]
    if column.odd:
        return [f"The target {name!r} holds numbers, but {_first_odd(column)}. Correct it."]
    if column.infinite is not None:
        return [f"The target {name!r} is infinite in row {column.infinite + 1}. Correct it."]
    return []


def _input_problems(columns: Columns, survey: dict[str, ColumnSurvey], kinds: Kinds) -> list[str]:
    problems = []
    for name in columns.inputs:
        column = survey[name]
        ignore = f"leave the column out with --ignore {name!r}"
        missing = f"--numeric {name!r} (such cells are missing then)"
        if _is_nested(column.kind):
            problems.append(f"Column {name!r} holds values of type {column.kind}: {ignore}.")
        elif name in kinds.numeric or name in kinds.categorical:
            continue
        elif column.is_number and column.odd:
            problems.append(
                f"Column {name!r} holds numbers, but {_first_odd(column)}. Correct it, or use "
                f"{missing}, --categorical {name!r}, or {ignore}."
            )
        elif column.infinite is not None:
            problems.append(
                f"Column {name!r} is infinite in row {column.infinite + 1}. Correct it, or use "
                f"{missing}, or {ignore}."
            )
        elif name in columns.limits:
            kind, low, high = columns.limits[name]
            if not column.is_number or column.low < low or column.high > high:
                problems.append(
                    f"Column {name!r} must be a {kind}, in degrees from {low} to {high}, but goes "
                    f"from {column.low:g} to {column.high:g}. {columns.advice.outside}"
                )
    return problems


def _first_odd(column: ColumnSurvey) -> str:
    """Name the first cell of a column of numbers that is none, and count them."""
    word = min(column.odd, key=lambda level: column.first[level])
    count = sum(column.levels[level] for level in column.odd)
    others = f", and {count - 1:,} more are no numbers" if count > 1 else ""
    return (
        f"row {column.first[word] + 1} (counted from 1, without the header) holds {word!r}{others}"
    )


def _notes(columns: Columns, survey: dict[str, ColumnSurvey], screen: Screen) -> None:
    if not columns.target:
        return
    name = columns.target[0]
    target = survey[name]
    if target.n_missing:
        screen.note(f"{target.n_missing:,} of {target.n_rows:,} rows have no {name!r}: left out.")


def _suggestions(columns: Columns, survey: dict[str, ColumnSurvey]) -> list[str]:
    """Tell what would suit a target of whole numbers better than least squares."""
    if not columns.target or columns.labels:
        return []
    name = columns.target[0]
    target = survey[name]
    whole = target.plain and target.n_whole == target.n_rows - target.n_missing
    if whole and (target.low, target.high) == (0.0, 1.0):
        return [f"{name!r} is 0 or 1 in every row: add --classify for probabilities."]
    # Counts begin at zero or one; far from there they are nearly normal anyway.
    if whole and target.low in (0.0, 1.0) and target.high > 2:
        return [
            f"{name!r} holds whole numbers from {target.low:g} to {target.high:g}: if these are "
            "counts, add --likelihood poisson (negative_binomial if they vary more), and "
            "--exposure COL if a column tells how long or large each row was."
        ]
    return []


def _is_nested(kind: Any) -> bool:
    return bool(pa.types.is_nested(kind) or pa.types.is_binary(kind))
