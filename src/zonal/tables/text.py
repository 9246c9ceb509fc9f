"""Text that means numbers, dates or times: 4,733 and 1.234,5 and 2013-01-31 and 14:30."""

import re
from collections.abc import Callable, Iterable, Mapping

import numpy as np

from .._typing import Array
from .dates import date_form, parse_date, parse_duration, parse_time, time_form

__all__ = [
    "GAPS",
    "TextFormat",
    "as_dates",
    "as_numbers",
    "as_times",
    "kind_of",
    "meaning",
    "odd_words",
]

#: What stands for an empty cell in a column whose other cells are numbers or dates.
GAPS = frozenset(
    {"", "-", "--", ".", "?", "#N/A", "N/A", "n/a", "NA", "na", "NaN", "nan", "NULL", "null",
     "None", "none", "missing"}
)  # fmt: skip

PLAIN = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
INFINITE = re.compile(r"[+-]?(inf|infinity)", re.IGNORECASE)
THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?")
COMMA = re.compile(r"[+-]?(\d+|\d{1,3}([. ]\d{3})+)(,\d+)?([eE][+-]?\d+)?")

# A column with at most this share of other words is one of numbers with mistakes in it.
MISTAKES = 0.02

#: What a column of text means: numbers ("plain", "thousands", "comma" or, in seconds, "duration"),
#: dates ("date", "day-first" or "month-first"), a "time" of day, or "words".
TextFormat = str
KINDS = {
    "words": "word", "time": "time", "date": "date", "day-first": "date", "month-first": "date",
}  # fmt: skip


def kind_of(form: TextFormat) -> str:
    """Return what text of a form becomes: "number", "date", "time" or "word"."""
    return KINDS.get(form, "number")


def meaning(levels: Iterable[str]) -> TextFormat:
    """Return what the distinct texts of a column mean.

    4,733 is 4733, unless another cell shows that the comma is decimal (4,7).

    Parameters
    ----------
    levels : iterable of str

    Examples
    --------
    >>> from zonal.tables.text import meaning
    >>> meaning(["326", "4,733"]), meaning(["4,733", "0,5"]), meaning(["E", "326"])
    ('thousands', 'comma', 'words')
    """
    known = [level for level in levels if level not in GAPS]
    if not known:
        return "words"

    def all_are(*patterns: re.Pattern[str]) -> bool:
        return all(any(pattern.fullmatch(level) for pattern in patterns) for level in known)

    if all_are(PLAIN, INFINITE):
        return "plain"
    if all_are(PLAIN, THOUSANDS):
        return "thousands"
    if all_are(COMMA):
        return "comma"
    return date_form(known) or time_form(known) or "words"


def odd_words(counts: Mapping[str, int]) -> list[str]:
    """Return the words in a column of numbers that are none, if it is one: at most 2 % of cells.

    Parameters
    ----------
    counts : mapping of str to int
        How often each text occurs.

    Examples
    --------
    >>> from zonal.tables.text import odd_words
    >>> odd_words({"1": 60, "2.5": 60, "five": 1}), odd_words({"1": 60, "five": 60})
    (['five'], [])
    """
    forms = (PLAIN, INFINITE, THOUSANDS, COMMA)
    known = {word: count for word, count in counts.items() if word not in GAPS}
    odd = [word for word in known if not any(form.fullmatch(word) for form in forms)]
    few = sum(known[word] for word in odd) <= MISTAKES * sum(known.values())
    return odd if few else []


def as_numbers(words: Array, form: TextFormat) -> tuple[Array, Array]:
    """Return text as numbers, NaN for gaps, and which cells are no numbers.

    Parameters
    ----------
    words : ndarray of str or None, of shape (n,)
    form : {"plain", "thousands", "comma", "duration"}
    """
    if form == "plain":
        try:
            filled = np.where(np.equal(words, None), "nan", words)  # type: ignore[call-overload]
            return filled.astype(np.float64), np.zeros(len(words), dtype=bool)
        except ValueError:  # "?" and the like: cell by cell
            pass
    return _parsed(words, lambda word: _number(word, form), np.full(len(words), np.nan))


def as_dates(words: Array, form: TextFormat = "date") -> tuple[Array, Array]:
    """Return text as dates, NaT for gaps, and which cells are no dates.

    Parameters
    ----------
    words : ndarray of str or None, of shape (n,)
    form : {"date", "day-first", "month-first"}
    """
    empty = np.full(len(words), np.datetime64("NaT"), dtype="datetime64[us]")
    return _parsed(words, lambda word: parse_date(word, form), empty)


def as_times(words: Array) -> tuple[Array, Array]:
    """Return text as times since midnight, NaT for gaps, and which cells are no times of day."""
    empty = np.full(len(words), np.timedelta64("NaT"), dtype="timedelta64[us]")
    return _parsed(words, parse_time, empty)


def _parsed(words: Array, parse: Callable[[str], object], out: Array) -> tuple[Array, Array]:
    known: dict[str, object] = {}
    wrong = np.zeros(len(words), dtype=bool)
    for row, word in enumerate(words):
        if word is None or word in GAPS:
            continue
        if word not in known:
            try:
                known[word] = parse(word)
            except ValueError:
                known[word] = None
        if known[word] is None:
            wrong[row] = True
        else:
            out[row] = known[word]
    return out, wrong


def _number(word: str, form: TextFormat) -> float:
    if form == "duration":
        return parse_duration(word)
    if form == "thousands":
        word = word.replace(",", "")
    elif form == "comma":
        word = re.sub(r"[. ](?=\d{3}(\D|$))", "", word).replace(",", ".")
    return float(word)
