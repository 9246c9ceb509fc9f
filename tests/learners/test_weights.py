"""Weights are relative precisions: constant ones change nothing, and copies are one row."""

import numpy as np
import pytest
from scipy.stats import chi2

import zonal

NOISE = 0.1
RNG = np.random.default_rng(0)
X = RNG.uniform(-2, 2, (60, 2))
Y = np.sin(2 * X[:, 0]) + 0.5 * X[:, 1] + NOISE * RNG.standard_normal(60)
NEW = RNG.uniform(-2, 2, (1000, 2))
TRUTH = np.sin(2 * NEW[:, 0]) + 0.5 * NEW[:, 1] + NOISE * RNG.standard_normal(1000)
INTEGERS = np.random.default_rng(1).integers(0, 3, 60)


def features():
    return zonal.GegenbauerFeatures(zonal.Gaussian(1.0), n_components=100, random_state=0)


LEARNERS = {
    "process": zonal.GaussianProcess(budget=64, random_state=0),
    "process on features": zonal.GaussianProcess(features()),
    "process of given noise": zonal.GaussianProcess(features(), noise=NOISE**2),
    "process with a local part": zonal.GaussianProcess(None, local=zonal.NeighborKriging()),
    "ridge": zonal.KernelRidge(budget=64, random_state=0),
    "ridge with a local part": zonal.KernelRidge(features(), local=zonal.NeighborKriging()),
    "kriging": zonal.NeighborKriging(),
    "kriging of given noise": zonal.NeighborKriging(noise=0.01),
}
ARGUMENTS = {
    "weight 0.01": (X, Y, np.full(60, 0.01)),
    "weight 2": (X, Y, np.full(60, 2.0)),
    "weight 100": (X, Y, np.full(60, 100.0)),
    "given twice": (np.concatenate([X, X]), np.concatenate([Y, Y])),
}


def answers(model, *arguments):
    model.fit(*arguments)
    return [*model.predict(NEW, return_std=True), *model.predict_interval(NEW)]


@pytest.mark.parametrize("name", LEARNERS)
def test_constant_weights_and_copies_change_nothing(name):
    mean, std, lower, upper = answers(LEARNERS[name], X, Y)
    # Rows at random places are as new ones are, but 60 of them give a level of 0.9 only roughly.
    assert 0.6 < np.mean((lower <= TRUTH) & (upper >= TRUTH)) < 0.999
    for case, arguments in ARGUMENTS.items():
        others = answers(LEARNERS[name], *arguments)
        for found, expected in zip(others, (mean, std, lower, upper), strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-4, err_msg=case)


@pytest.mark.parametrize("name", LEARNERS)
def test_integer_weights_are_repeated_rows(name):
    weighted = answers(LEARNERS[name], X, Y, INTEGERS)
    rows = np.repeat(X, INTEGERS, axis=0), np.repeat(Y, INTEGERS)
    repeated = answers(LEARNERS[name], *rows)
    for found, expected in zip(repeated, weighted, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("name", ["process", "process on features", "process with a local part"])
@pytest.mark.parametrize("case", ARGUMENTS)
def test_noise_by_evidence(name, case):
    """Of 60 rows at least 30 are left to tell the noise: χ² of as many degrees of freedom."""
    found = LEARNERS[name].fit(*ARGUMENTS[case]).noise_ / NOISE**2
    assert chi2.ppf(1e-4, 30) / 60 < found < chi2.ppf(1 - 1e-4, 60) / 30


def test_precisions_of_rows():
    """Rows of a tenth of the noise, given as such, are worth more than if all were alike."""
    rng = np.random.default_rng(2)
    precise = rng.random(400) < 0.5
    X = rng.uniform(-2, 2, (400, 2))
    errors = np.where(precise, 0.05, 0.5) * rng.standard_normal(400)
    y, truth = np.sin(2 * X[:, 0]) + errors, np.sin(2 * NEW[:, 0])
    for model in (zonal.GaussianProcess(features()), zonal.NeighborKriging()):
        weighted = model.fit(X, y, np.where(precise, 100.0, 1.0)).predict(NEW)
        alike = model.fit(X, y).predict(NEW)
        assert np.mean((weighted - truth) ** 2) < 0.5 * np.mean((alike - truth) ** 2)


def test_equal_rows_with_other_targets_are_observations():
    """Ratings at whole ages: many agree by chance, and none of them is a copy."""
    rng = np.random.default_rng(3)
    ages = rng.integers(20, 60, 1000)[:, None] / 10
    ratings = np.clip(np.rint(3 + np.sin(ages[:, 0]) + rng.standard_normal(1000)), 1, 5)
    new = rng.integers(20, 60, 2000)[:, None] / 10
    truth = np.clip(np.rint(3 + np.sin(new[:, 0]) + rng.standard_normal(2000)), 1, 5)
    for model in (zonal.GaussianProcess(features()), zonal.NeighborKriging()):
        lower, upper = model.fit(ages, ratings).predict_interval(new, 0.9)
        # Whole numbers jump over the level; a third of the scale is far too narrow or wide.
        assert 0.85 < np.mean((lower <= truth) & (truth <= upper)) < 0.99
        assert np.mean(upper - lower) < 4


def test_alpha_of_exact_regression_does_not_move():
    kernel = zonal.Gaussian(1.0)
    models = [
        zonal.ExactKernelRidge(kernel, "cv", random_state=0).fit(X, Y, weight)
        for weight in (None, np.full(60, 100.0))
    ]
    assert models[1].alpha_ == pytest.approx(100 * models[0].alpha_, rel=1e-9)
    np.testing.assert_allclose(models[1].predict(NEW), models[0].predict(NEW), atol=1e-3)


@pytest.mark.parametrize("n_rows", [20, 60])
def test_the_order_of_few_rows_does_not_matter(n_rows):
    model = zonal.KernelRidge(budget=64, random_state=0)
    expected = model.fit(X[:n_rows], Y[:n_rows]).predict(NEW)
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(n_rows)
        found = model.fit(X[order], Y[order]).predict(NEW)
        # Rounding moves the end of the search for a length scale a little.
        np.testing.assert_allclose(found, expected, atol=1e-4)
    fixed = zonal.FourierFeatures(zonal.Gaussian(1.0), 100, random_state=0)
    chunks = zonal.KernelRidge(fixed)
    for rows in np.array_split(np.arange(n_rows), 3):
        chunks.partial_fit(X[rows], Y[rows])
    whole = zonal.KernelRidge(fixed).fit(X[:n_rows], Y[:n_rows])
    assert chunks.alpha_ == pytest.approx(whole.alpha_)
    errors = whole.cv_results_
    assert errors["split0_test_mse"].shape == errors["mean_test_mse"].shape


@pytest.mark.parametrize("n_rows", [60, 150])
@pytest.mark.parametrize("steep", [2.0, 4.0])
def test_deviations_of_few_rows_hold_the_function_between_them(n_rows, steep):
    """±1.645 deviations are for 0.9; one function is one draw, whose errors go together."""
    rng = np.random.default_rng(0)
    rows = rng.uniform(-2, 2, (n_rows, 2))
    truth = [np.sin(steep * part[:, 0]) * np.cos(part[:, 1]) for part in (rows, NEW)]
    model = zonal.KernelRidge(local=None, random_state=0)
    model.fit(rows, truth[0] + NOISE * rng.standard_normal(n_rows))
    mean, std = model.predict(NEW, return_std=True)
    assert 0.75 < np.mean(np.abs(mean - truth[1]) < 1.645 * std) <= 1
    if n_rows == 150:  # 60 rows are too few to follow the steeper function
        assert np.mean((mean - truth[1]) ** 2) < 0.25 * np.var(truth[1])


@pytest.mark.parametrize("light", [1e-3, 0.1, 0.5])
@pytest.mark.parametrize("name", ["features", "local"])
def test_one_row_of_less_weight_does_not_make_all_others_copies(name, light):
    """Intervals stay as wide, but for what one of 150 rows tells."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, (150, 2))
    y = np.sin(4 * X[:, 0]) * np.cos(3 * X[:, 1]) + 0.2 * rng.standard_normal(150)
    model = (
        zonal.KernelRidge(zonal.HarmonicFeatures(zonal.Gaussian(0.6), 128))
        if name == "features"
        else zonal.NeighborKriging(random_state=0)
    )
    weight = np.ones(150)
    weight[0] = light
    alike, lighter = (
        np.subtract(*model.fit(X, y, w).predict_interval(NEW)) for w in (None, weight)
    )
    assert np.mean(lighter) == pytest.approx(np.mean(alike), rel=0.05)
