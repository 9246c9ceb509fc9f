"""Dates, times of day and durations in text, as people and programs write them."""

import datetime
import re
from collections.abc import Callable, Sequence

import numpy as np

__all__ = ["LIKELY_YEARS", "date_form", "parse_date", "parse_duration", "parse_time", "time_form"]

CLOCK = r"(?P<hour>\d{1,2}):(?P<minute>\d{2})(:(?P<second>\d{2})([.,](?P<part>\d+))?)?"
HALF = r"(\s*(?P<half>[AaPp])\.?[Mm]\.?)?"
REST = rf"([T ,]\s*{CLOCK}{HALF}\s*(?P<zone>Z|[+-]\d{{2}}:?\d{{2}})?)?Z?"
YEAR_FIRST = re.compile(
    rf"(?P<year>\d{{4}})(?P<mark>[-/.])(?P<month>\d{{1,2}})((?P=mark)(?P<day>\d{{1,2}}){REST})?"
)
YEAR_LAST = re.compile(
    rf"(?P<first>\d{{1,2}})(?P<mark>[-/.])(?P<second_>\d{{1,2}})(?P=mark)"
    rf"(?P<year>\d{{4}}|\d{{2}}){REST}"
)
NAME, YEAR = r"(?P<name>[A-Za-z]{3,9})", r"(?P<year>\d{4})"
DAY_NAMED = re.compile(rf"(?P<day>\d{{1,2}})[. -]*{NAME}[., -]*{YEAR}{REST}")
NAME_FIRST = re.compile(rf"{NAME}\.? +(?P<day>\d{{1,2}}),? +{YEAR}{REST}")
TIME = re.compile(CLOCK + HALF)
DURATION = re.compile(
    r"(?P<days>[+-]?\d+) days?,?( (?P<sign>[+-])?(?P<hour>\d+):(?P<minute>\d{2})"
    r"(:(?P<second>\d{2}(\.\d+)?))?)?"
)
ELAPSED = re.compile(r"(?P<sign>[+-])?(?P<hour>\d+):(?P<minute>\d{2})(:(?P<second>\d{2}(\.\d+)?))?")

MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september",
    "october", "november", "december",
)  # fmt: skip
# Years of two digits from this on are of the century before, as POSIX has it.
PIVOT = 69
#: Years that 1987-03 may be a month of; 1001-03 is some number.
LIKELY_YEARS = range(1500, 2500)


def date_form(levels: Sequence[str]) -> str:
    """Return how dates are written: "date", "day-first" or "month-first"; "" if they are none.

    Where 03/04/2020 may be both and no other cell tells, the day is first, unless the second
    number never changes while the first does: then that is the month, of dates with one day.

    Examples
    --------
    >>> from zonal.tables.dates import date_form
    >>> date_form(["31/12/2020", "01/02/2021"]), date_form(["12/31/2020", "02/01/2021"])
    ('day-first', 'month-first')
    >>> date_form(["2020-12-31", "1 Feb 2021"]), date_form(["31/02/2020"])
    ('date', '')
    """
    if all(_parses(parse_date, level) for level in levels):
        return "date"
    found = [YEAR_LAST.fullmatch(level) for level in levels]
    marks = {match and match["mark"] for match in found}
    if None in marks:
        return ""
    forms = [
        form
        for form in ("day-first", "month-first")
        if all(_parses(parse_date, level, form) for level in levels)
    ]
    if len(forms) == 2:
        first, second = ({match[k] for match in found if match} for k in ("first", "second_"))
        monthly = marks == {"/"} and len(second) == 1 < len(first)
        return "month-first" if monthly else "day-first"
    return forms[0] if forms else ""


def time_form(levels: Sequence[str]) -> str:
    """Return whether clock readings are of a "time" of day or a "duration"; "" if they are none.

    Examples
    --------
    >>> from zonal.tables.dates import time_form
    >>> time_form(["14:30", "9:05 am"]), time_form(["14:30", "26:10"]), time_form(["2:1"])
    ('time', 'duration', '')
    """
    if all(_parses(parse_time, level) for level in levels):
        return "time"
    return "duration" if all(_parses(parse_duration, level) for level in levels) else ""


def parse_date(text: str, form: str = "date") -> np.datetime64:
    """Return a date in microseconds, in UTC if it has a zone; ValueError for what is none."""
    patterns = (YEAR_FIRST, DAY_NAMED, NAME_FIRST) if form == "date" else (YEAR_LAST,)
    match = next(filter(None, (pattern.fullmatch(text) for pattern in patterns)), None)
    if match is None:
        raise ValueError(f"{text!r} is no date.")
    parts = match.groupdict()
    year = int(parts["year"])
    if form != "date":
        day, month = int(parts["first"]), int(parts["second_"])
        day, month = (day, month) if form == "day-first" else (month, day)
        if len(parts["year"]) == 2:
            year += 1900 if year >= PIVOT else 2000
    else:
        month = _month(parts["name"]) if "name" in parts else int(parts["month"])
        day = int(parts["day"] or 1)
        if parts["day"] is None and year not in LIKELY_YEARS:
            raise ValueError(f"{text!r} is no month of a year.")
    found = np.datetime64(datetime.date(year, month, day), "us")
    if parts["hour"] is None:
        return found
    return found + _clock(parts) - _offset(parts["zone"])


def parse_time(text: str) -> np.timedelta64:
    """Return the time since midnight of a time of day; ValueError for what is none."""
    match = TIME.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is no time of day.")
    return _clock(match.groupdict())


def parse_duration(text: str) -> float:
    """Return the seconds of a duration, as ``26:30`` or ``1 days 02:30:00``."""
    match = DURATION.fullmatch(text) or ELAPSED.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is no duration.")
    parts = match.groupdict()
    minutes = 60 * int(parts["hour"] or 0) + int(parts["minute"] or 0)
    clock = 60.0 * minutes + float(parts["second"] or 0)
    return 86_400.0 * int(parts.get("days") or 0) + (-clock if parts["sign"] == "-" else clock)


def _clock(parts: dict[str, str | None]) -> np.timedelta64:
    hour, minute, second = (int(parts[k] or 0) for k in ("hour", "minute", "second"))
    half = parts["half"]
    if hour > 23 or minute > 59 or second > 60 or (half and not 1 <= hour <= 12):
        raise ValueError(f"{hour}:{minute:02}:{second:02} is no time of day.")
    if half:
        hour = hour % 12 + (12 if half in "pP" else 0)
    micro = int(((parts["part"] or "") + "000000")[:6])
    return np.timedelta64(((hour * 60 + minute) * 60 + second) * 1_000_000 + micro, "us")


def _offset(zone: str | None) -> np.timedelta64:
    if zone is None or zone == "Z":
        return np.timedelta64(0, "us")
    digits = zone[1:].replace(":", "")
    minutes = 60 * int(digits[:2]) + int(digits[2:])
    return np.timedelta64(-minutes if zone[0] == "-" else minutes, "m")


def _month(name: str) -> int:
    for number, month in enumerate(MONTHS, 1):
        if name.lower() in (month, month[:3]) or (name.lower() == "sept" and month[:4] == "sept"):
            return number
    raise ValueError(f"{name!r} is no month.")


def _parses(parse: Callable[..., object], *arguments: str) -> bool:
    try:
        parse(*arguments)
    except ValueError:
        return False
    return True
