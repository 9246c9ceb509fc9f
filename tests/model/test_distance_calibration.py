"""Intervals near the rows of a fit and in holes, where balls were emptied to find out."""

import numpy as np
import pytest

import zonal
from zonal.evaluation import coverage
from zonal.kriging.joint import explained
from zonal.model.distance_calibration import LeftOut, at_distances
from zonal.model.held_out import hold_out, nearest_distance
from zonal.model.split_fits import SplitFits
from zonal.model.unseen import left_out, predicted

RNG = np.random.default_rng(0)
GRID = np.stack(np.meshgrid(np.arange(36.0), np.arange(36.0)), axis=-1).reshape(-1, 2)
CENTERS = np.array([[8.0, 8.0], [26.0, 9.0], [17.0, 26.0]])
HOLE = (np.linalg.norm(GRID[:, None] - CENTERS, axis=2) <= 4).any(axis=1)


def field(kernel, noise=0.1, seed=0):
    """A draw of a Gaussian process on the grid, with noise."""
    rng = np.random.default_rng(seed)
    root = np.linalg.cholesky(kernel(GRID) + 1e-8 * np.eye(len(GRID)))
    return root @ rng.standard_normal(len(GRID)) + noise * rng.standard_normal(len(GRID))


def kriging(kernel, noise):
    return zonal.NeighborKriging(kernel, 16, noise=noise, n_features=0)


@pytest.fixture(scope="module")
def smooth():
    """A smooth field, and a model that takes it for a rough one: too sure of nothing in holes."""
    y = field(zonal.Matern(2.5, 8.0))
    return y, kriging(zonal.Matern(0.5, 8.0), 0.001).fit(GRID[~HOLE], y[~HOLE])


def test_deviations_in_holes_follow_the_errors_there(smooth):
    y, model = smooth
    calibration = model.calibration_
    assert calibration.distance is not None
    lower, upper = model.predict_interval(GRID[HOLE])
    mean = model.predict(GRID[HOLE])
    error = np.sqrt(np.mean((y[HOLE] - mean) ** 2))
    # 147 rows in three holes are few draws: the half width is that of a normal distribution of the
    # true error but for a factor of two; without the factor it is farther off.
    ratio = np.mean(upper - lower) / (2 * 1.645 * error)
    factor = np.exp(calibration.distance.at(nearest_distance(GRID[~HOLE], GRID[HOLE]) / 8))
    plain = np.mean((upper - lower) / factor[:, 0]) / (2 * 1.645 * error)
    assert abs(np.log(ratio)) < abs(np.log(plain))
    assert abs(np.log(ratio)) < np.log(2)


def test_held_says_what_holds_by_distance(smooth):
    held = smooth[1].calibration_.held
    assert (np.diff(held[:, 0]) > 0).all()
    near, deep = held[0], held[-1]
    assert near[0] == 0.0
    assert near[3] == pytest.approx(0.9, abs=0.02)
    # A fifth of 1,150 rows has three of the largest holes, which are believed in part: intervals
    # hold 58 % of the deepest rows where next to nothing of it is taken.
    assert deep[3] > 0.6


def test_a_model_that_is_right_stays_right():
    kernel = zonal.Matern(1.5, 6.0)
    shares, factors = [], []
    for seed in range(4):
        y = field(kernel, seed=seed)
        model = kriging(kernel, 0.01).fit(GRID[~HOLE], y[~HOLE])
        shares.append(coverage(y[HOLE], *model.predict_interval(GRID[HOLE])))
        scale = model.calibration_.distance
        factors.append(0.0 if scale is None else float(np.abs(scale.values).max()))
    # Four fields of three holes, each of about two ranges across: some 24 draws.
    assert abs(np.mean(shares) - 0.9) < 3 * np.sqrt(0.09 / 24)
    assert np.median(factors) < 0.3


def test_rows_in_balls_are_predicted_from_all_others_by_brute_force():
    """With all rows as neighbours it is the dense process without the rows of the balls."""
    X, noise, kernel = RNG.uniform(0, 5, (330, 2)), 0.05, zonal.Matern(1.5, 1.0)
    y = np.sin(2 * X[:, 0]) + X[:, 1] + 0.2 * RNG.standard_normal(330)
    model = zonal.NeighborKriging(kernel, 330, noise=noise, n_features=0).fit(X, y)
    solution = model._solution.part
    process = solution.joint.process
    fits = SplitFits.of(solution.joint, process.features, solution.found.ratio)
    part = hold_out(process.points, scattered=False)[1]
    queries = process.rows[part.test]
    fitted, near = fits.without(np.flatnonzero(part.train), queries)
    truth = fits.targets[part.test]
    found = predicted(solution, fitted, process.features, queries, truth, np.ones(len(truth)), near)
    known, targets = process.rows[part.train], fits.targets[part.train][:, 0]
    system = kernel(known) + noise * np.eye(len(known))
    solved = np.linalg.solve(system, np.column_stack([targets, np.ones(len(known))]))
    mean = solved[:, 0].sum() / solved[:, 1].sum()
    expected = mean + kernel(queries, known) @ np.linalg.solve(system, targets - mean)
    # The mean is estimated from whitened rows with 24 neighbours each.
    np.testing.assert_allclose(truth[:, 0] - found.residual[:, 0], expected, atol=0.02)
    assert explained(process.features, queries, solution.joint.found.coef).shape == truth.shape


def test_queries_decide_which_rows_count():
    y = field(zonal.Matern(2.5, 8.0))
    given = kriging(zonal.Matern(0.5, 8.0), 0.001)
    model = given.fit(GRID[~HOLE], y[~HOLE], queries=GRID[HOLE])
    observed = model._solution.part.observations
    wanted = nearest_distance(GRID[~HOLE], GRID[HOLE]) / 8
    np.testing.assert_allclose(np.sort(observed.wanted), np.sort(wanted), rtol=1e-6)
    calibration = model.calibration_
    assert calibration.n_scores > len(observed.places) // 4
    held = coverage(y[HOLE], *model.predict_interval(GRID[HOLE]))
    assert 0.75 <= held <= 1.0


def test_queries_of_other_columns_are_an_error():
    y = field(zonal.Matern(1.5, 6.0))
    with pytest.raises(ValueError, match="queries must be rows with the columns of X"):
        kriging(zonal.Matern(1.5, 6.0), 0.01).fit(GRID, y, queries=GRID[:, :1])


def test_rows_of_many_columns_are_no_places():
    X = RNG.standard_normal((400, 8))
    model = kriging(zonal.Matern(1.5, 3.0), 0.1).fit(X, X[:, 0])
    assert model.calibration_.held is None


def test_without_holes_the_calibration_is_that_of_rows_left_out():
    X = np.array([[0.0, 0.0], [1.0, 1.0]])
    model = kriging(zonal.Matern(1.5, 1.0), 0.1).fit(X, np.array([0.0, 1.0]))
    solution = model._solution.part
    map_ = solution.joint.process.features
    near = LeftOut(solution.observations.places, left_out(solution, solution.observations, map_))
    assert at_distances(solution, map_, near, None).held is None


def test_what_new_holes_need_is_not_taken_away_where_queries_are_known():
    """The factor has an allowance for holes that were not seen; quantiles are of rows alone."""
    y = field(zonal.Matern(2.5, 8.0))
    model = kriging(zonal.Matern(0.5, 8.0), 0.001)
    found = model.fit(GRID[~HOLE], y[~HOLE], queries=GRID[HOLE]).calibration_
    assert found.distance is not None
    assert found.n_scores == np.sum(~HOLE)
