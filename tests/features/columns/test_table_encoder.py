"""TableEncoder: cells of all libraries, distances of what they become, means without leaks."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.stats
from scipy.spatial.distance import pdist
from sklearn.linear_model import LinearRegression
from sklearn.preprocessing import TargetEncoder
from sklearn.utils.estimator_checks import parametrize_with_checks

import zonal
from zonal.features.columns.table.monotone import NormalScores
from zonal.features.columns.table.numbers import edge_factor
from zonal.tables.text import as_numbers, meaning

RNG = np.random.default_rng(0)
N = 400
CITIES = [f"city{j}" for j in range(30)]


@parametrize_with_checks([zonal.TableEncoder()])
def test_sklearn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def table():
    size = np.where(RNG.random(N) < 0.1, np.nan, RNG.gamma(2.0, 3.0, N))
    return pd.DataFrame(
        {
            "size": size,
            "cut": RNG.choice(["fair", "good", "ideal"], N, p=[0.2, 0.3, 0.5]),
            "city": RNG.choice(CITIES, N),
            "sold": RNG.random(N) < 0.3,
            "when": pd.Timestamp("2011-01-01") + pd.to_timedelta(np.arange(N) * 50, unit="h"),
            "id": [f"row {j}" for j in range(N)],
            "same": "always",
        }
    )


@pytest.fixture(scope="module")
def target(table):
    return table["city"].str[4:].astype(float).to_numpy() + RNG.standard_normal(N)


def encoded(table, y=None, **options):
    encoder = zonal.TableEncoder(**options)
    rows = encoder.fit(table, y).transform(table)
    return pd.DataFrame(rows, columns=encoder.get_feature_names_out()), encoder


def test_every_kind_of_column(table, target):
    rows, encoder = encoded(table, target)
    assert list(rows) == [
        "size", "size_missing", "cut_fair", "cut_good", "cut_ideal", "city_mean", "sold_True",
        "when", "when_day_cos", "when_day_sin", "when_week_cos", "when_week_sin", "when_year_cos",
        "when_year_sin",
    ]  # fmt: skip
    assert np.isfinite(rows.to_numpy()).all()
    treated = {record["column"]: record for record in encoder.columns_}
    assert treated["id"]["note"] == "an identifier: 400 different words"
    assert treated["same"]["note"] == "always 'always'"
    assert treated["cut"]["encoding"] == "3 levels"
    assert "30 levels" in treated["city"]["encoding"]
    assert encoder.groups_ == [name.split("_")[0] for name in rows]


def test_every_library_gives_the_same(table, target):
    frames = [table, pl.from_pandas(table), pa.Table.from_pandas(table, preserve_index=False)]
    ours = [zonal.TableEncoder().fit(frame, target).transform(frame) for frame in frames]
    for rows in ours[1:]:
        np.testing.assert_allclose(rows, ours[0], atol=1e-12)


def test_numbers_are_standardised_and_gaps_are_the_mean(table):
    rows, _ = encoded(table[["size"]])
    known = table["size"].notna().to_numpy()
    assert abs(rows["size"][known].mean()) < 1e-12
    assert abs(rows["size"][known].std(ddof=0) - 1) < 1e-12
    assert (rows["size"][~known] == 0).all()
    assert abs(np.ptp(rows["size_missing"]) - 2) < 1e-12  # the longest edge: a gap is rare here


def test_levels_are_as_far_from_each_other_as_two_numbers():
    """The mean squared distance of two rows is 2, as of a standardised number."""
    words = pd.DataFrame({"a": np.repeat(["x", "y", "z", "w"], 50)})
    rows, _ = encoded(words)
    assert abs(np.square(pdist(rows.to_numpy())).sum() * 2 / 200**2 - 2) < 1e-9
    corners = np.unique(rows.round(9), axis=0)
    np.testing.assert_allclose(pdist(corners), np.sqrt(2 / 0.75))
    assert edge_factor(np.array([0.999, 0.001])) == pytest.approx(2**0.5)


def test_rare_levels_share_one_and_unseen_ones_are_in_the_middle():
    words = pd.DataFrame({"a": ["x"] * 50 + ["y"] * 50 + ["rare"] * 2 + ["seldom"] * 2})
    rows, encoder = encoded(words)
    assert (rows.iloc[100] == rows.iloc[103]).all()
    new = encoder.transform(pd.DataFrame({"a": ["never seen", "rare"]}))
    np.testing.assert_array_equal(new[0], new[1])
    _, encoder = encoded(words[:100])
    assert not encoder.transform(pd.DataFrame({"a": ["never seen", None]})).any()


def test_ordered_categories_keep_their_order():
    cut = pd.Categorical(["good", "fair", "ideal"] * 4, ["fair", "good", "ideal"], ordered=True)
    rows, _ = encoded(pd.DataFrame({"cut": cut}))
    assert rows["cut"][1] < rows["cut"][0] < rows["cut"][2]


def test_means_of_targets_against_scikit_learn(table, target):
    """The same empirical Bayes as TargetEncoder, but for its variance of levels."""
    rows, _ = encoded(table[["city"]], target)
    theirs = TargetEncoder(smooth="auto").fit(table[["city"]], target).transform(table[["city"]])
    assert np.corrcoef(rows["city_mean"], theirs[:, 0])[0, 1] > 0.9999
    raw = pd.Series(target).groupby(table["city"].to_numpy()).transform("mean")
    assert abs(np.polyfit(raw, theirs[:, 0], 1)[0] - 1) < 0.05  # hardly shrunk: levels differ


def test_training_rows_do_not_see_their_own_targets():
    """With targets of pure noise, the means of other folds know nothing of a row's target.

    Plain means of 100 levels with 5 rows each have correlation √(1/5) with the targets.
    """
    words = pd.DataFrame({"a": np.repeat([f"level {j}" for j in range(100)], 5)})
    noise = np.random.default_rng(1).standard_normal(500)
    encoder = zonal.TableEncoder()
    honest = encoder.fit_transform(words, noise)[:, 0]
    plain = encoder.transform(words)[:, 0]
    assert np.corrcoef(plain, noise)[0, 1] > 0.3
    # A row's own fold is left out, whose other rows make the rest slightly negative.
    assert np.corrcoef(honest, noise)[0, 1] < 3 / np.sqrt(500)


def test_training_means_by_brute_force(table, target):
    numbers = np.arange(1000, 1000 + N)
    encoder = zonal.TableEncoder().fit(table[["city"]], target, row_numbers=numbers)
    rows = encoder.transform_training(table[["city"]], numbers)[:, 0]
    folds = zonal.rows.row_hash(numbers) % np.uint64(5)
    place = 7
    others = (table["city"] == table["city"][place]).to_numpy() & (folds != folds[place])
    part = encoder._parts["city"]
    centred = (target - target.mean()) / target.std()
    expected = centred[others].sum() / (others.sum() + part.shrink[0]) / part.scale[0]
    assert rows[place] == pytest.approx(expected)


@pytest.fixture(scope="module")
def long_table():
    """Rows of which no sample of 10,000 has all levels, with means of the target by level."""
    rng = np.random.default_rng(5)
    n_rows = 24_000
    town = rng.integers(0, 3_000, n_rows)  # eight rows each: all are levels, but not of a sample
    frame = pd.DataFrame({"town": [f"t{j}" for j in town], "kind": rng.choice(["a", "b"], n_rows)})
    return frame, np.sin(town) + rng.standard_normal(n_rows)


class Blocks:
    """Blocks of rows with targets, which can be walked over again."""

    def __init__(self, frame, y, size=7_000):
        cuts = range(0, len(frame), size)
        self.blocks = [(frame.iloc[a : a + size], y[a : a + size]) for a in cuts]

    def __iter__(self):
        return iter(self.blocks)


@pytest.mark.parametrize("dask", [False, True])
def test_levels_of_a_stream_are_those_of_all_rows(long_table, dask):
    """The same parts from blocks as from the whole table, but for the centre of the targets."""
    frame, y = long_table
    whole = zonal.TableEncoder().fit(frame, y)
    if dask:
        dd = pytest.importorskip("dask.dataframe")
        rows, targets = (dd.from_pandas(p, chunksize=7_000) for p in (frame, pd.Series(y)))
        found = zonal.TableEncoder().fit(rows, targets)
    else:
        found = zonal.TableEncoder().fit(Blocks(frame, y))
    part, expected = found._parts["town"], whole._parts["town"]
    assert part.levels.levels.tolist() == expected.levels.levels.tolist()
    np.testing.assert_array_equal(part.weights, expected.weights)
    one, other = found.transform(frame), whole.transform(frame)
    assert np.corrcoef(one[:, 0], other[:, 0])[0, 1] > 0.9999
    np.testing.assert_allclose(one[:, 1], other[:, 1])


def test_an_iterator_learns_words_from_its_first_rows(long_table):
    frame, y = long_table
    found = zonal.TableEncoder().fit(iter([(frame, y)]))
    assert len(found._parts["town"].levels.levels) < frame["town"].nunique() / 2


def test_a_learner_of_a_stream_knows_all_levels(long_table):
    frame, y = long_table
    features = zonal.FourierFeatures(zonal.Gaussian(1.0), 32, random_state=0)
    model = zonal.KernelRidge(features, local=None, encoder=zonal.TableEncoder())
    model.fit(Blocks(frame, y))
    assert model.encoder_._parts["town"].weights.sum() == len(frame)
    # Eight rows tell much of a level's mean: noise of variance 1, signal of 1/2.
    assert model.score(frame, y) > 0.2


def test_circles_of_dates():
    days = pd.date_range("2012-01-01", periods=1000, freq="12h")
    rows, _ = encoded(pd.DataFrame({"t": days}))
    assert list(rows) == ["t", "t_day_cos", "t_day_sin", "t_week_cos", "t_week_sin", "t_year_cos",
                          "t_year_sin"]  # fmt: skip
    week = rows[["t_week_cos", "t_week_sin"]].to_numpy()
    np.testing.assert_allclose(week[0], week[14], atol=1e-9)
    np.testing.assert_allclose(np.hypot(*week.T), 1)
    only_days, _ = encoded(pd.DataFrame({"t": days[::2][:10]}))
    assert list(only_days) == ["t"]


def test_dates_as_text_objects_and_with_time_zones():
    text = pd.DataFrame({"t": ["2013-01-01T06:00:00Z", "2013-01-02 06:00", "2013-02-01", None]})
    objects = pd.DataFrame(
        {
            "t": [
                datetime.datetime(
                    2013, 1, 1, 7, tzinfo=datetime.timezone(datetime.timedelta(hours=1))
                ),
                datetime.datetime(2013, 1, 2, 6),
                datetime.date(2013, 2, 1),
                None,
            ]
        },
        dtype=object,
    )
    left, _ = encoded(text)
    right, _ = encoded(objects)
    np.testing.assert_allclose(left, right)


def test_text_that_means_numbers():
    assert meaning(["326", "4,733"]) == "thousands"
    assert meaning(["1.234,5", "7"]) == meaning(["4,733", "0,5"]) == "comma"
    assert meaning(["1e3", "-.5", "NA", "?"]) == "plain"
    assert meaning(["2013-02-31"]) == meaning(["12a"]) == meaning([]) == "words"
    words = np.array(["1.234,5", "-", None, "7"], dtype=object)
    values, wrong = as_numbers(words, "comma")
    np.testing.assert_array_equal(values, [1234.5, np.nan, np.nan, 7])
    assert not wrong.any()
    rows, _ = encoded(pd.DataFrame({"price": ["326", "4,733", "1,000,000", "?"]}))
    assert rows["price"][2] > rows["price"][1] > rows["price"][0]


def test_normal_scores():
    """Monotone and smooth, normal where the column is log-normal, and on its way outside."""
    x = np.exp(np.random.default_rng(0).standard_normal(20_000))
    scores = NormalScores.of(x, np.ones(len(x)))
    grid = np.geomspace(0.05, 20, 200)
    z = scores(grid)
    assert (np.diff(z) > 0).all()
    inside = np.abs(np.log(grid)) < 2
    assert np.abs(z - np.log(grid))[inside].max() < 0.1
    beyond = scores(np.array([x.max() * 2, x.max() * 3]))
    assert np.diff(beyond) > 0
    assert scores(np.array([x.min() - 1]))[0] < z.min()
    assert scipy.stats.kstest(scores(x), "norm").statistic < 0.02
    weights = np.random.default_rng(1).integers(0, 3, 300)
    twice = NormalScores.of(np.repeat(x[:300], weights), np.ones(weights.sum()))
    once = NormalScores.of(x[:300][weights > 0], weights[weights > 0].astype(float))
    np.testing.assert_allclose(once(grid), twice(grid))


def test_the_pilot_maps_numbers_where_that_helps():
    rng = np.random.default_rng(2)
    z = rng.standard_normal((2000, 2))
    skewed = np.exp(2 * z)
    y = np.sin(2 * z[:, 0]) + z[:, 1]
    encoder = zonal.TableEncoder().fit(skewed, y)
    assert all("normal" in record["encoding"] for record in encoder.columns_)
    even = rng.uniform(-1, 1, (2000, 2))
    encoder = zonal.TableEncoder().fit(even, even @ [1.0, -1.0])
    assert all(record["encoding"] == "number" for record in encoder.columns_)
    assert "normal" in zonal.TableEncoder(numbers="normal").fit(even).columns_[0]["encoding"]


def test_places_become_points_of_the_sphere():
    rng = np.random.default_rng(3)
    places = pd.DataFrame(
        {
            "kind": rng.choice(["a", "b"], 50),
            "lat": rng.uniform(-90, 90, 50),
            "lon": rng.uniform(-180, 180, 50),
        }
    )
    rows, _ = encoded(places)
    assert list(rows)[:3] == ["sphere_x", "sphere_y", "sphere_z"]
    np.testing.assert_allclose(
        rows.to_numpy()[:, :3], zonal.datasets.to_sphere(places["lat"], places["lon"])
    )
    rows, _ = encoded(places, latitude=None)
    assert list(rows) == ["kind_b", "lat", "lon"]


def test_categorical_numeric_and_ignore():
    frame = pd.DataFrame({"code": [1, 2, 3] * 5, "x": ["1", "2", "b"] * 5, "y": range(15)})
    rows, encoder = encoded(frame, categorical=["code"], ignore=["y"])
    assert list(rows)[:3] == ["code_1", "code_2", "code_3"]
    assert encoder.columns_[2]["note"] == "as asked for"
    rows, _ = encoded(frame, numeric=["x"])
    assert list(rows)[1:3] == ["x", "x_missing"]  # what is no number is missing
    with pytest.raises(ValueError, match=r"'z', which is not a column"):
        encoded(frame, ignore=["z"])
    with pytest.raises(ValueError, match="both in categorical and in numeric"):
        encoded(frame, categorical=["x"], numeric=["x"])


def test_new_rows_with_words_gaps_and_mistakes(table, target):
    _, encoder = encoded(table, target)
    new = table.iloc[:3].copy()
    new["city"] = ["nowhere", None, "city1"]
    new.loc[:, "when"] = pd.NaT
    assert np.isfinite(encoder.transform(new)).all()
    new["size"] = [1.0, np.inf, 2.0]
    with pytest.raises(ValueError, match=r"'size' holds finite numbers, but row 1 .* holds .*inf"):
        encoder.transform(new)
    new["size"] = ["1", "2", "large"]
    with pytest.raises(ValueError, match=r"'size' holds numbers, but row 2 .* holds 'large'"):
        encoder.transform(new)
    with pytest.raises(TypeError, match="must be a string or a number"):
        zonal.TableEncoder().fit(pd.DataFrame({"a": [{}, {}]}))


def test_mistakes_in_all_columns_come_together():
    numbers = [str(number) for number in range(200)]
    frame = pd.DataFrame({"a": [*numbers, "oops"], "b": [*numbers, "inf"], "c": range(201)})
    with pytest.raises(ValueError, match=r"(?s)'a' holds numbers, but row 200.*'b' holds finite"):
        zonal.TableEncoder().fit(frame)


def test_a_copy_of_the_target_is_named(table, target):
    leaky = table.assign(leak=3 * target - 1)
    with pytest.warns(UserWarning, match="'leak' tells the target exactly"):
        _, encoder = encoded(leaky, target)
    assert encoder.columns_[-1]["note"] == "tells the target exactly"
    labels = table["cut"].str.upper()
    with pytest.warns(UserWarning, match="'cut' tells the target exactly"):
        encoded(table, labels)


def test_nothing_left():
    with pytest.raises(ValueError, match="No column is left to learn from"):
        zonal.TableEncoder().fit(pd.DataFrame({"id": [f"r{j}" for j in range(60)], "one": 1}))


def test_saved_and_loaded(table, target, tmp_path):
    _, encoder = encoded(table, target, numbers="normal")
    zonal.save(encoder, tmp_path / "encoder.zonal")
    again = zonal.load(tmp_path / "encoder.zonal")
    np.testing.assert_array_equal(again.transform(table), encoder.transform(table))


def test_gaps_are_filled_by_regression_where_that_helps():
    rng = np.random.default_rng(0)
    others = rng.standard_normal((1500, 4))
    whole = others.sum(axis=1)
    y = np.sin(1.5 * whole) + 0.05 * rng.standard_normal(1500)
    gaps = rng.random(1500) < 0.3
    frame = pd.DataFrame(others, columns=list("bcde"))
    frame.insert(0, "sum", np.where(gaps, np.nan, whole))
    encoder = zonal.TableEncoder().fit(frame, y)
    assert encoder.columns_[0]["encoding"].endswith("missing, filled by regression")
    rows = encoder.transform(frame)
    exact = LinearRegression().fit(rows[~gaps, 2:], rows[~gaps, 0]).predict(rows[gaps, 2:])
    np.testing.assert_allclose(rows[gaps, 0], exact, atol=0.01)  # of a ridge
    # What the others do not tell keeps its mean.
    alone = frame.assign(**dict(zip("bcde", rng.standard_normal((4, 1500)), strict=True)))
    kept = zonal.TableEncoder().fit(alone, y).transform(alone)
    np.testing.assert_array_equal(kept[gaps, 0], 0.0)
