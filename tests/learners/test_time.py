"""Times that a model recognises, or is told."""

import numpy as np
import pandas as pd
import pytest

import zonal
from zonal.features.columns.place_time_encoder import PlaceTimeEncoder
from zonal.features.columns.table.cells import columns_of
from zonal.features.columns.time_column import as_years, find_time
from zonal.kriging.effort import SPACE_TIME
from zonal.model.times import known_periods

RNG = np.random.default_rng(0)


def stations(n_places: int = 20, n_months: int = 30) -> tuple[pd.DataFrame, np.ndarray]:
    """Months at stations, whose year is a function of the latitude, with noise of variance 1/4."""
    lat, lon = RNG.uniform(-60, 60, n_places), RNG.uniform(-180, 180, n_places)
    months = pd.date_range("2018-01-01", periods=n_months, freq="MS").to_numpy()
    frame = pd.DataFrame(
        {
            "date": np.tile(months, n_places),
            "lat": np.repeat(lat, n_months),
            "lon": np.repeat(lon, n_months),
        }
    )
    return frame, year(frame) + 0.5 * RNG.standard_normal(len(frame))


def year(frame: pd.DataFrame) -> np.ndarray:
    angle = 2 * np.pi * (frame["date"].dt.month - 1) / 12
    return np.asarray(25 - frame["lat"] ** 2 / 200 - frame["lat"] / 4 * np.cos(angle))


@pytest.fixture(scope="module")
def seen() -> tuple[zonal.KernelRidge, pd.DataFrame]:
    patch = pytest.MonkeyPatch()
    with patch.context() as short:
        few = (200, 12, 25), (300, 16, 10), *SPACE_TIME[2:]
        short.setattr("zonal.kriging.space_time.SPACE_TIME", few)
        frame, y = stations()
        return zonal.KernelRidge(random_state=0, budget=64).fit(frame, y), frame


def test_dates_beside_places_are_a_time(seen) -> None:
    model, frame = seen
    assert isinstance(model.encoder_, PlaceTimeEncoder)
    assert "Periodic" in str(model.recipe_)
    later = frame.iloc[::30].assign(date=pd.Timestamp("2021-01-01"))
    error = np.sqrt(np.mean((model.predict(later) - year(later)) ** 2))
    # Half a year beyond the last row the year is known, up to a fraction of the noise.
    assert error < 0.5


def test_a_model_of_places_and_dates_is_saved(seen, tmp_path) -> None:
    model, frame = seen
    zonal.save(model, tmp_path / "model.zonal")
    again = zonal.load(tmp_path / "model.zonal")
    np.testing.assert_array_equal(again.predict(frame[:9]), model.predict(frame[:9]))
    assert again.encoder_.last_ == model.encoder_.last_


def test_intervals_widen_with_the_lead() -> None:
    """A process with short memory: from what is known up to the variance of the prior."""
    kernel = zonal.SpaceTime(zonal.Matern(0.5, 1.0), zonal.Cauchy(3.0, 1.0, 2.0))
    X = np.column_stack([np.repeat([0.0, 5.0], 40), np.tile(np.arange(40.0), 2)])
    gram = kernel(X) + 0.01 * np.eye(80)
    y = np.linalg.cholesky(gram) @ RNG.standard_normal(80)
    model = zonal.NeighborKriging(kernel, 80, noise=0.01, n_features=0).fit(X, y)
    leads = np.array([1.0, 2.0, 5.0, 20.0, 1e6])
    _, std = model.predict(np.column_stack([np.zeros(5), 39 + leads]), return_std=True)
    assert (np.diff(std) > 0).all()
    assert std[-1] ** 2 > model.scale_  # and that of the mean, which is not known either


def test_maps_say_that_they_forecast(seen) -> None:
    model, _ = seen
    asked = {"lat": [0.0], "lon": [10.0, 20.0]}
    known = zonal.predict_grid(model, time=["2019-01-01"], **asked)
    assert "forecast" not in known.attrs
    with pytest.warns(UserWarning, match="1 of 2 times lie after 2020-06-01"):
        later = zonal.predict_grid(model, time=["2019-01-01", "2021-01-01"], **asked)
    assert "1 of 2 times" in later.attrs["forecast"]


def test_grids_know_their_last_time() -> None:
    xr = pytest.importorskip("xarray")
    lat, lon = np.arange(-60.0, 61, 30), np.arange(0.0, 360, 30)
    field = xr.DataArray(
        np.sin(np.radians(lat))[None, :, None] * np.ones((3, 1, 12)),
        {"time": [2001.0, 2002.0, 2003.0], "lat": lat, "lon": lon},
    )
    model = zonal.grid.fit(field, model=zonal.NeighborKriging(zonal.Matern(1.5, 2.0), noise=0.01))
    assert model.field_["last"] == 2003.0
    with pytest.warns(UserWarning, match="forecast"):
        zonal.predict_grid(model, lat=[0.0], lon=[10.0], time=[2004.0])


MONTHS = pd.DataFrame({"lat": [0.0] * 12, "lon": [1.0] * 12, "month": np.arange(1, 13)})


@pytest.mark.parametrize(
    ("name", "values", "periods"),
    [
        ("month", np.arange(1, 13), (12.0,)),
        ("time", np.arange(1, 13), (12.0,)),
        ("time", (np.arange(12) + 0.5) / 12, (1.0,)),
        ("hour", np.arange(24), (24.0,)),
        ("year", np.arange(1990, 2020), ()),
        ("time", 1990 + np.arange(60) / 12, (1.0,)),
        ("time", np.arange(40.0), ()),
        ("date", pd.date_range("2000-01-01", periods=36, freq="MS"), (1.0,)),
        ("date", pd.date_range("2000-01-01", periods=60, freq="D"), (7 / 365.2425,)),
        ("date", pd.date_range("2000-01-01", periods=96, freq="h"), (1 / 365.2425,)),
    ],
)
def test_periods_are_guessed(name, values, periods) -> None:
    n = len(values)
    frame = pd.DataFrame({"lat": np.zeros(n), "lon": np.ones(n), name: values})
    found = find_time(columns_of(frame))
    assert found is not None
    assert found.name == name
    np.testing.assert_allclose(found.periods, periods)


def test_no_time_where_there_is_none() -> None:
    frame = pd.DataFrame({"lat": [0.0, 1.0], "lon": [0.0, 1.0], "depth": [1.0, 2.0]})
    assert known_periods(frame, None, "auto", "it") is None
    assert known_periods(frame.rename(columns={"depth": "time"}), None, None, "it") is None
    assert known_periods(frame.to_numpy(), None, "auto", "it") is None
    # Without places, an hour is a column as any other.
    assert known_periods(MONTHS[["month"]], None, "auto", "it") is None


def test_periods_are_in_units_of_the_encoded_rows() -> None:
    encoder = zonal.SphereEncoder().fit(MONTHS)
    assert known_periods(MONTHS, encoder, "auto", "it") is None  # a circle is said
    found = known_periods(MONTHS, encoder, "month", "it")
    assert found == pytest.approx((12 / np.std(np.arange(1, 13)),))
    assert known_periods(MONTHS.to_numpy(), None, 6, "it") == (6.0,)
    assert known_periods(MONTHS, None, "month", "it") == (12.0,)


@pytest.mark.parametrize(
    ("X", "time", "message"),
    [
        (MONTHS, "day", "no column of X"),
        (MONTHS.to_numpy(), "month", "an array without names"),
        (MONTHS.assign(depth=1.0), "month", "comes last"),
        (MONTHS, -1.0, "positive numbers"),
    ],
)
def test_mistakes_are_named(X, time, message) -> None:
    with pytest.raises(ValueError, match=message):
        zonal.KernelRidge(time=time).fit(X, np.arange(12.0))


def test_a_table_of_more_than_places_and_times_has_no_time() -> None:
    frame = MONTHS.assign(kind="a")
    with pytest.raises(ValueError, match="places and times alone"):
        zonal.KernelRidge(time="month").fit(frame, np.arange(12.0))


def test_few_places_and_dates_have_no_time() -> None:
    frame, y = stations(2, 30)
    with pytest.raises(ValueError, match="300 rows or more, but X has fewer"):
        zonal.KernelRidge(time="date").fit(frame, y)


def test_years_have_equal_lengths() -> None:
    dates = np.array(["1970-01-01", "1970-01-02"], "M8[us]")
    np.testing.assert_allclose(as_years(dates), [1970.0, 1970 + 1 / 365.2425])


@pytest.mark.parametrize(
    ("form", "kind"), [("%Y-%m-%d", "date"), ("%d/%m/%Y", "day-first"), ("%m/%d/%Y", "month-first")]
)
def test_dates_as_text_are_those_dates(form, kind) -> None:
    """A CSV has no dates, only text; one row alone need not show which number is the day."""
    frame, _ = stations(2, 30)
    frame = frame.assign(date=frame["date"] + pd.Timedelta(days=27))
    text = frame.assign(date=frame["date"].dt.strftime(form))
    encoder = PlaceTimeEncoder().fit(text)
    assert encoder.form_ == kind
    assert encoder.last_ == frame["date"].max()
    expected = PlaceTimeEncoder().fit_transform(frame)
    np.testing.assert_array_equal(encoder.transform(text), expected)
    np.testing.assert_array_equal(encoder.transform(frame), expected)
    early = frame.iloc[:1].assign(date=pd.Timestamp("2018-03-04"))
    np.testing.assert_array_equal(
        encoder.transform(early.assign(date=early["date"].dt.strftime(form))),
        encoder.transform(early),
    )
    columns = columns_of(text)
    assert known_periods(text, None, "date", "KernelRidge") == known_periods(
        frame, None, "date", "KernelRidge"
    )
    assert columns["date"].kind == "text"
    with pytest.raises(ValueError, match=r"row 1 \(counted from 0\) has 'soon'"):
        encoder.transform(text.assign(date=[text["date"].iloc[0], *["soon"] * (len(text) - 1)]))


def test_places_and_dates_are_checked() -> None:
    frame, _ = stations(2, 3)
    encoder = PlaceTimeEncoder().fit(frame)
    assert encoder.transform(frame).shape == (6, 4)
    np.testing.assert_allclose(
        encoder.transform(frame)[:, :3], zonal.datasets.to_sphere(frame["lat"], frame["lon"])
    )
    with pytest.raises(ValueError, match="is no latitude"):
        encoder.transform(frame.assign(lat=100.0))
    with pytest.raises(ValueError, match="no column 'date'"):
        encoder.transform(frame.drop(columns="date"))
    with pytest.raises(ValueError, match="a date in every row"):
        encoder.transform(frame.assign(date=pd.NaT))
    with pytest.raises(ValueError, match="takes a latitude"):
        PlaceTimeEncoder().fit(frame.assign(depth=1.0))
