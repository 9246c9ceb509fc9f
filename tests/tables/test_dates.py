"""Dates and times in text, against the parsers of Python and pandas."""

import datetime

import numpy as np
import pandas as pd
import pytest

from zonal.tables.dates import date_form, parse_date, parse_duration, parse_time, time_form
from zonal.tables.text import as_dates, as_numbers, as_times, kind_of, meaning

DAYS = pd.date_range("2019-11-05 17:42:09", periods=400, freq="31h")


@pytest.mark.parametrize(
    ("layout", "form"),
    [
        ("%Y-%m-%d", "date"),
        ("%Y/%m/%d %H:%M", "date"),
        ("%Y-%m-%dT%H:%M:%S", "date"),
        ("%Y-%m-%d %H:%M:%S.%f", "date"),
        ("%Y-%m", "date"),
        ("%d %B %Y", "date"),
        ("%d-%b-%Y", "date"),
        ("%b %d, %Y", "date"),
        ("%d/%m/%Y", "day-first"),
        ("%d.%m.%Y", "day-first"),
        ("%d.%m.%y", "day-first"),
        ("%d-%m-%Y %H:%M", "day-first"),
        ("%d/%m/%Y %I:%M %p", "day-first"),
        ("%m/%d/%Y", "month-first"),
        ("%m/%d/%y %H:%M:%S", "month-first"),
    ],
)
def test_layouts_of_dates(layout, form):
    text = DAYS.strftime(layout)
    assert meaning(set(text)) == form
    assert kind_of(form) == "date"
    found, wrong = as_dates(np.array(text, dtype=object), form)
    assert not wrong.any()
    expected = pd.to_datetime(text, format=layout).to_numpy("datetime64[us]")
    np.testing.assert_array_equal(found, expected)


def test_zones_are_taken_to_utc():
    for text in ("2020-06-01T12:00Z", "2020-06-01 14:00+02:00", "2020-06-01 06:30:00-0530"):
        expected = pd.Timestamp(text).tz_convert("UTC").tz_localize(None)
        assert parse_date(text) == expected.to_datetime64()


def test_what_is_first_where_both_may_be():
    assert date_form(["03/04/2020", "05/06/2020"]) == "day-first"
    # Firsts of months, both ways round.
    assert date_form([f"01/{m:02}/2020" for m in range(1, 13)]) == "day-first"
    assert date_form([f"{m:02}/01/2020" for m in range(1, 13)]) == "month-first"
    assert date_form([f"{m:02}.01.2020" for m in range(1, 13)]) == "day-first"


@pytest.mark.parametrize(
    "text", ["31/02/2020", "13/13/2020", "2013-13", "1001-03", "5 Foo 2020", "1/2", "31/12-2020"]
)
def test_what_is_no_date(text):
    assert date_form([text]) == ""
    assert meaning([text, "2020-01-01"]) == "words"


def test_times_of_day():
    times = [datetime.time(h, m, 5 * (h % 12)) for h in range(24) for m in (0, 7, 59)]
    seconds = np.array([t.hour * 3600 + t.minute * 60 + t.second for t in times])
    for layout, exact in (("%H:%M:%S", True), ("%H:%M", False), ("%I:%M %p", False)):
        text = np.array([t.strftime(layout) for t in times], dtype=object)
        assert meaning(set(text)) == "time"
        found, wrong = as_times(text)
        assert not wrong.any()
        expected = seconds if exact else seconds - seconds % 60
        np.testing.assert_array_equal(found / np.timedelta64(1, "s"), expected)
    assert parse_time("0:00:00.25") == np.timedelta64(250, "ms")


def test_durations():
    spans = pd.to_timedelta(np.linspace(-90_000, 400_000, 50).round(), unit="s")
    text = np.array([str(span) for span in spans], dtype=object)
    assert meaning(set(text)) == "duration"
    found, wrong = as_numbers(text, "duration")
    assert not wrong.any()
    np.testing.assert_allclose(found, spans.total_seconds())
    assert time_form(["23:10", "24:10"]) == "duration"
    assert parse_duration("24:10") == 24 * 3600 + 600
    assert time_form(["2:1"]) == time_form(["24:70x"]) == ""
