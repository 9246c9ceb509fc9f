"""Folds of blocks in space and time."""

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neighbors import KNeighborsRegressor

import zonal
from zonal.polynomials.cells import EqualAreaCells


@pytest.fixture(scope="module")
def places():
    rng = np.random.default_rng(0)
    lat = np.degrees(np.arcsin(rng.uniform(-1, 1, 3000)))
    return np.column_stack([lat, rng.uniform(-180, 180, 3000)])


def folds_of(cv, X):
    """The fold of each row; every row is in exactly one test part."""
    folds = np.full(len(X), -1)
    for number, (train, test) in enumerate(cv.split(X)):
        assert (folds[test] == -1).all()
        folds[test] = number
        np.testing.assert_array_equal(np.sort(np.r_[train, test]), np.arange(len(X)))
    assert (folds >= 0).all()
    return folds


def test_cells_stay_together_and_folds_have_one_size(places):
    cv = zonal.BlockKFold(n_splits=4, size=15)
    folds = folds_of(cv, places)
    assert cv.get_n_splits() == 4
    cells = EqualAreaCells(15.0).number(*places.T)
    assert (pd.Series(folds).groupby(cells).nunique() == 1).all()
    assert np.ptp(np.bincount(folds)) <= 2
    # Cells of a fold are scattered, not a strip.
    assert all(np.ptp(places[folds == fold, 0]) > 100 for fold in range(4))


def test_all_kinds_of_rows_agree(places):
    frame = pd.DataFrame({"name": "x", "lon": places[:, 1], "Latitude": places[:, 0]})
    cv = zonal.BlockKFold(size=20)
    wanted = folds_of(cv, places)
    np.testing.assert_array_equal(folds_of(cv, frame), wanted)
    points = zonal.datasets.to_sphere(*places.T)
    np.testing.assert_array_equal(folds_of(cv, np.column_stack([places[:, 0], points])), wanted)
    by_number = zonal.BlockKFold(size=20, latitude=-1, longitude=0)
    np.testing.assert_array_equal(folds_of(by_number, places[:, ::-1]), wanted)
    by_name = zonal.BlockKFold(size=20, latitude="Latitude", longitude="lon")
    np.testing.assert_array_equal(folds_of(by_name, frame), wanted)
    eastern = np.column_stack([places[:, 0], places[:, 1] % 360])
    np.testing.assert_array_equal(folds_of(cv, eastern), wanted)


def test_kilometres(places):
    degree = np.pi * 6371.0088 / 180
    in_km = zonal.BlockKFold(size=1000, unit="km")
    in_degrees = zonal.BlockKFold(size=1000 / degree)
    np.testing.assert_array_equal(in_km.blocks(places), in_degrees.blocks(places))


def test_seeds(places):
    first, again, other = (zonal.BlockKFold(random_state=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(folds_of(first, places), folds_of(again, places))
    assert (folds_of(first, places) != folds_of(other, places)).mean() > 0.5


def test_blocks_do_not_depend_on_other_rows(places):
    cv = zonal.BlockKFold()
    np.testing.assert_array_equal(cv.blocks(places)[100:200], cv.blocks(places[100:200]))


def test_blocks_in_time(places):
    time = np.random.default_rng(1).uniform(-4, 16, len(places))
    rows = np.column_stack([places, time])
    years = zonal.BlockKFold(size=None, time=2, time_size=2.0)
    spans = pd.Series(folds_of(years, rows)).groupby(np.floor(time / 2))
    assert spans.ngroups == 10
    assert (spans.nunique() == 1).all()
    both = zonal.BlockKFold(size=30, time="year", time_size=5.0)
    frame = pd.DataFrame({"lat": places[:, 0], "lon": places[:, 1], "year": time})
    cells = EqualAreaCells(30.0).number(*places.T)
    blocks = pd.Series(folds_of(both, frame)).groupby([cells, np.floor(time / 5)])
    assert (blocks.nunique() == 1).all()
    assert len(np.unique(both.blocks(frame))) == blocks.ngroups


def test_as_a_splitter_of_scikit_learn_and_of_zonal(places):
    y = np.sin(np.radians(3 * places[:, 0]))
    cv = zonal.BlockKFold(3, 20)
    assert cross_val_score(KNeighborsRegressor(), places, y, cv=cv).shape == (3,)
    GridSearchCV(KNeighborsRegressor(), {"n_neighbors": [2, 5]}, cv=cv).fit(places, y)
    points = zonal.datasets.to_sphere(*places.T)
    features = zonal.HarmonicFeatures(zonal.Gaussian(0.5), 64)
    model = zonal.KernelRidge(features, cv=cv).fit(points, y)
    given = zonal.KernelRidge(features, cv=list(cv.split(points))).fit(points, y)
    assert model.alpha_ == given.alpha_
    assert len([name for name in model.cv_results_ if name.startswith("split")]) == 3


def test_a_model_with_it_is_saved(places, tmp_path):
    points = zonal.datasets.to_sphere(*places[:400].T)
    cv = zonal.BlockKFold(3, 500, unit="km", random_state=3)
    features = zonal.HarmonicFeatures(zonal.Gaussian(0.5), 16)
    zonal.save(zonal.KernelRidge(features, cv=cv).fit(points, points[:, 2]), tmp_path / "m.zonal")
    again = zonal.load(tmp_path / "m.zonal").cv
    assert repr(again) == repr(cv)
    np.testing.assert_array_equal(again.blocks(points), cv.blocks(points))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n_splits": 1}, "n_splits=1"),
        ({"size": -2}, "size=-2"),
        ({"size": 181}, "half of the globe"),
        ({"unit": "miles"}, "'miles'"),
        ({"size": None}, "time=None"),
        ({"time": 0}, "time_size"),
        ({"time": 0, "time_size": 0}, "time_size=0"),
        ({"n_splits": 50, "size": 90}, "fewer than n_splits=50"),
        ({"random_state": "a"}, "random_state='a'"),
    ],
)
def test_mistakes(places, options, words):
    with pytest.raises(ValueError, match=words):
        list(zonal.BlockKFold(**options).split(places))


def test_swapped_columns_are_noticed(places):
    with pytest.raises(ValueError, match="swapped"):
        list(zonal.BlockKFold().split(places[:, ::-1]))
