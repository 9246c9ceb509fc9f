"""Times as years, against cftime and by hand."""

import cftime
import numpy as np
import pytest
import xarray as xr

from zonal.grid.times import as_years, is_time


def coordinate(values, **attrs):
    return xr.DataArray(values, dims="t", name="t", attrs=attrs)


def test_dates():
    dates = np.array(["2019-01-01", "2020-01-01", "2020-07-02", "1969-12-31T12"], "M8[ns]")
    days = [0, 0, (31 + 29 + 31 + 30 + 31 + 30 + 1) / 366, 364.5 / 365]
    np.testing.assert_allclose(as_years(coordinate(dates)), np.add([2019, 2020, 2020, 1969], days))


@pytest.mark.parametrize("calendar", ["noleap", "360_day", "standard", "all_leap"])
def test_dates_of_cftime(calendar):
    date = cftime.datetime(1999, 7, 1, calendar=calendar)
    lengths = {"noleap": 181 / 365, "360_day": 0.5, "standard": 181 / 365, "all_leap": 182 / 366}
    found = as_years(coordinate(np.array([date], dtype=object)))
    np.testing.assert_allclose(found, 1999 + lengths[calendar])


@pytest.mark.parametrize(
    ("units", "numbers", "years"),
    [
        ("hours since 1900-01-01 00:00:00", [24 * 365.2425], [1901]),
        ("hour since 0000-01-01 00:00:00", [366.0], [366 / 8765.82]),
        ("days since 2000-07-01", [0.0], [2000.5]),
        ("months since 2000-01-15", [6], [2000.5 + 14 / 365.2425]),
        ("", [7.0], [7.0]),
    ],
)
def test_numbers(units, numbers, years):
    attrs = {"units": units} if units else {}
    np.testing.assert_allclose(as_years(coordinate(numbers, **attrs)), years)


def test_what_is_a_time():
    assert is_time(coordinate(np.array(["2019-01-01"], "M8[ns]")))
    assert is_time(coordinate([1.0], units="days since 2000-01-01"))
    assert is_time(xr.DataArray([1.0], dims="Time", name="Time"))
    assert not is_time(xr.DataArray([1.0], dims="depth", name="depth"))


def test_mistakes():
    with pytest.raises(ValueError, match="'fortnights' is unknown"):
        as_years(coordinate([1.0], units="fortnights since 2000-01-01"))
    with pytest.raises(ValueError, match="neither dates nor numbers"):
        as_years(coordinate(["a"]))
