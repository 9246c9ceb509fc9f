"""TableEncoder: dates, times and durations as people have them; columns that name rows."""

import datetime
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

import zonal


@pytest.mark.parametrize(
    "column",
    [
        lambda days: days.strftime("%d/%m/%Y"),
        lambda days: days.to_period("D"),
        lambda days: pd.Series(list(days.to_period("D")), dtype=object),
        lambda days: [day.date() for day in days],
    ],
)
def test_dates_as_people_have_them(column):
    days = pd.date_range("2019-01-01", periods=730, freq="D")
    expected = zonal.TableEncoder().fit_transform(pd.DataFrame({"when": days}))
    encoder = zonal.TableEncoder()
    found = encoder.fit_transform(pd.DataFrame({"when": column(days)}))
    assert encoder.kinds_ == {"when": "date"}
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_times_of_day_are_a_circle(tmp_path):
    hours = np.linspace(0, 24, 97)[:-1]
    times = [datetime.time(int(h), round(h % 1 * 60)) for h in hours]
    text = [time.strftime("%H:%M") for time in times]
    expected = np.column_stack([np.cos(hours * np.pi / 12), np.sin(hours * np.pi / 12)])
    for library in (pd.DataFrame, pl.DataFrame):
        for cells in (times, text):
            encoder = zonal.TableEncoder().fit(library({"t": cells}))
            assert encoder.kinds_ == {"t": "time"}
            assert encoder.columns_[0]["encoding"] == "time of day"
            rows = encoder.transform(library({"t": cells}))
            np.testing.assert_allclose(rows, expected, atol=1e-12)
    gaps = pd.DataFrame({"t": [None, *text[1:]]})
    rows = zonal.TableEncoder().fit(gaps).transform(gaps)
    assert rows.shape == (96, 3)
    zonal.save(zonal.TableEncoder().fit(gaps), tmp_path / "encoder.zonal")
    loaded = zonal.load(tmp_path / "encoder.zonal")
    np.testing.assert_array_equal(loaded.transform(gaps), rows)
    np.testing.assert_array_equal(rows[0, :2], 0.0)
    with pytest.raises(ValueError, match=r"'t' holds times of day, but row 0 .* holds '25:00'"):
        zonal.TableEncoder().fit(gaps).transform(pd.DataFrame({"t": ["25:00"]}))
    words = zonal.TableEncoder(categorical=["t"]).fit(pd.DataFrame({"t": times * 6}))
    assert words.kinds_ == {"t": "word"}


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
def test_durations_are_seconds(library):
    spans = [datetime.timedelta(minutes=int(m)) for m in np.arange(80) ** 2]
    frame = library({"took": spans, "x": np.arange(80.0)})
    encoder = zonal.TableEncoder(numbers="plain").fit(frame)
    assert encoder.kinds_["took"] == "number"
    seconds = np.array([span.total_seconds() for span in spans])
    expected = (seconds - seconds.mean()) / seconds.std()
    np.testing.assert_allclose(encoder.transform(frame)[:, 0], expected)
    objects = pd.DataFrame({"took": pd.Series(spans, dtype=object), "x": np.arange(80.0)})
    model = zonal.KernelRidge(budget=16, local=None, random_state=0)
    assert model.fit(objects, np.sqrt(seconds)).score(objects, np.sqrt(seconds)) > 0.9


def left_out(frame, **options):
    """Return the columns that are left out, and what is said of them."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        encoder = zonal.TableEncoder(**options).fit(frame)
    names = [c["column"] for c in encoder.columns_ if c["encoding"] == "left out"]
    said = [str(w.message) for w in caught if w.category is zonal.LeftOutWarning]
    return names, "".join(said)


def test_numbers_of_rows_are_left_out_and_said_to_be():
    rng = np.random.default_rng(0)
    x = rng.standard_normal(300)
    frame = pd.DataFrame({"sample": np.arange(300), "x": x})
    assert left_out(frame)[0] == ["sample"]
    said = left_out(frame)[1]
    assert "'sample' (an identifier: it counts the rows)" in said
    assert "TableEncoder(numeric=['sample'])" in said
    assert left_out(frame, numeric=["sample"]) == ([], "")
    assert left_out(frame, ignore=["sample"]) == (["sample"], "")
    # Some rows are left out of the table; the order is the other way round.
    assert left_out(frame[rng.random(300) < 0.7])[0] == ["sample"]
    assert left_out(frame.assign(sample=np.arange(300, 0, -1)))[0] == ["sample"]
    # In another order only the name tells.
    shuffled = rng.permutation(300)
    for name, expected in {"id": True, "siteID": True, "Unnamed: 0": True, "rank": False}.items():
        found = left_out(pd.DataFrame({name: 7000 + 3 * shuffled, "x": x}))[0]
        assert found == ([name] if expected else [])


@pytest.mark.parametrize(
    "frame",
    [
        {"year": np.arange(1700, 2000), "x": 0.5 * np.arange(300)},
        {"seconds": 1_700_000_000 + 60 * np.arange(300), "x": np.arange(300.0)},
        {"count": np.arange(300) // 2, "x": np.arange(300.0)},
        {"hour": np.arange(300)},
        {"dose": np.arange(300.0), "x": np.arange(300) % 7},
        {"few": np.arange(49), "x": np.arange(49) % 7},
    ],
    ids=lambda frame: next(iter(frame)),
)
def test_numbers_that_mean_something_stay(frame):
    assert left_out(pd.DataFrame(frame)) == ([], "")


def test_what_is_left_out_is_said():
    frame = pd.DataFrame(
        {"who": [f"p{j}" for j in range(60)], "one": 1.0, "x": np.arange(60) % 7, "no": None}
    )
    names, said = left_out(frame)
    assert names == ["who", "one", "no"]
    for words in ("'who' (an identifier: 60 different words)", "'one' (always 1.0)", "'no' ("):
        assert words in said
    assert "numeric" not in said


def test_rows_that_are_sorted_by_class_are_not_told_by_their_numbers():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"row": np.arange(400), "x": rng.standard_normal(400)})
    labels = np.repeat(["a", "b"], 200)
    model = zonal.KernelRidgeClassifier(budget=32, local=None, random_state=0)
    with pytest.warns(zonal.LeftOutWarning, match="'row'"):
        model.fit(frame, labels)
    assert list(model.importances_) == ["x"]
    assert model.score(frame, labels) < 0.7
    kept = zonal.KernelRidgeClassifier(
        budget=32, local=None, encoder=zonal.TableEncoder(numeric=["row"]), random_state=0
    )
    assert kept.fit(frame, labels).score(frame, labels) > 0.95
