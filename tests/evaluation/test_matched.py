"""Folds whose gaps are those of the queries."""

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist
from scipy.stats import wasserstein_distance
from sklearn.model_selection import KFold, cross_val_score
from sklearn.neighbors import KNeighborsRegressor

import zonal


@pytest.fixture(scope="module")
def field():
    rng = np.random.default_rng(0)
    return rng.uniform(0, 1, (600, 2)), rng


def gaps(cv, X):
    """The distance of each test row to its training rows, by brute force."""
    found = [cdist(X[test], X[train]).min(axis=1) for train, test in cv.split(X)]
    return np.concatenate(found)


def test_every_row_is_tested_once(field):
    X, rng = field
    folds = zonal.DistanceMatchedKFold(rng.uniform(0, 2, (50, 2)), 4).folds(X)
    assert set(folds) == {0, 1, 2, 3}
    counts = np.bincount(folds)
    assert counts.min() > 0


def test_queries_among_the_rows_give_random_folds(field):
    X, rng = field
    queries = rng.uniform(0, 1, (400, 2))
    wanted = cdist(queries, X).min(axis=1)
    matched = gaps(zonal.DistanceMatchedKFold(queries), X)
    random = gaps(KFold(5, shuffle=True, random_state=0), X)
    # The distance to the nearest of n rows is about n^(-1/2): folds hold back a fifth of them.
    assert wasserstein_distance(wanted, matched) < 1.5 * wasserstein_distance(wanted, random)


@pytest.mark.parametrize("far", [0.05, 0.15])
def test_far_queries_give_folds_with_holes(field, far):
    X, rng = field
    queries = np.column_stack([1 + rng.uniform(0, 2 * far, 400), rng.uniform(0, 1, 400)])
    wanted = cdist(queries, X).min(axis=1)
    matched = gaps(zonal.DistanceMatchedKFold(queries), X)
    random = gaps(KFold(5, shuffle=True, random_state=0), X)
    assert wasserstein_distance(wanted, matched) < 0.5 * wasserstein_distance(wanted, random)


def test_the_error_is_that_of_the_queries(field):
    """A smooth field, asked in holes: random folds promise far too much."""
    X, _ = field
    centers = np.array([[0.3, 0.3], [0.7, 0.7]])
    hole = cdist(X, centers).min(axis=1) < 0.17
    y = np.sin(8 * X[:, 0]) * np.cos(8 * X[:, 1])
    known, asked = X[~hole], X[hole]
    model = KNeighborsRegressor(3).fit(known, y[~hole])
    truth = np.mean((model.predict(asked) - y[hole]) ** 2)

    def estimate(cv):
        scores = cross_val_score(model, known, y[~hole], cv=cv, scoring="neg_mean_squared_error")
        return -scores.mean()

    matched = estimate(zonal.DistanceMatchedKFold(asked))
    random = estimate(KFold(5, shuffle=True, random_state=0))
    assert random < 0.2 * truth
    assert 0.4 * truth < matched < 2.5 * truth


def test_places_of_a_frame_are_on_the_globe():
    rng = np.random.default_rng(1)
    lat = np.degrees(np.arcsin(rng.uniform(-1, 1, 500)))
    rows = pd.DataFrame({"latitude": lat, "longitude": rng.uniform(-180, 180, 500)})
    # Queries across the date line are near rows on its other side.
    queries = pd.DataFrame({"latitude": lat[:100], "longitude": rng.uniform(170, 190, 100)})
    cv = zonal.DistanceMatchedKFold(queries, 3)
    model = zonal.KernelRidge(zonal.HarmonicFeatures(n_components=36), cv=cv)
    sphere = zonal.datasets.to_sphere(rows["latitude"], rows["longitude"])
    assert np.bincount(cv.folds(rows)).min() > 50
    own = zonal.DistanceMatchedKFold(
        zonal.datasets.to_sphere(queries["latitude"], queries["longitude"]), 3
    )
    np.testing.assert_array_equal(cv.folds(rows), own.folds(sphere))
    model.set_params(cv=own).fit(sphere, np.sin(np.radians(lat)))


def test_mistakes_are_named(field):
    X, _ = field
    with pytest.raises(ValueError, match="have 3 columns, but the rows have 2"):
        zonal.DistanceMatchedKFold(np.zeros((4, 3))).folds(X)
    with pytest.raises(ValueError, match="n_splits=1"):
        list(zonal.DistanceMatchedKFold(X, 1).split(X))
    with pytest.raises(ValueError, match="X has 3"):
        zonal.DistanceMatchedKFold(X, 5).folds(X[:3])
