"""Intervals and quantiles of regression learners, sets and probabilities of the classifier."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import binom, spearmanr
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GroupKFold, ShuffleSplit

import zonal
from tests.properties.cases import Rows
from zonal.calibration.local_variance import local_variance
from zonal.evaluation import coverage
from zonal.features.space import FeatureSpace
from zonal.model.feature_calibration import left_out_predictions
from zonal.model.ridge_posterior import RidgePosterior
from zonal.moments.ridge import solve
from zonal.rows.block import Block
from zonal.rows.hashing import LEARN_ROWS, sample_rows
from zonal.rows.reservoir import Reservoir

RNG = np.random.default_rng(0)
N = 1500


def draw(n, noise=lambda X: 0.3):
    X = RNG.uniform(-3, 3, (n, 2))
    return X, np.sin(X[:, 0]) * X[:, 1] + noise(X) * RNG.standard_normal(n)


def varying(X):
    return 0.2 * np.exp(0.5 * X[:, 0])


X, y = draw(N)
NEW, TRUE = draw(4000)
ROUGH, ROUGH_Y = draw(N, varying)
ROUGH_NEW, ROUGH_TRUE = draw(4000, varying)


def features():
    return zonal.HarmonicFeatures(zonal.Gaussian(1.5), 80)


LEARNERS = {
    "ridge": zonal.KernelRidge(features()),
    "process": zonal.GaussianProcess(features()),
    "kriging": zonal.NeighborKriging(zonal.Matern(1.5, 2.0)),
    "ridge and local part": zonal.KernelRidge(
        features(), local=zonal.NeighborKriging(zonal.Matern(1.5, 1.0), noise=1.0)
    ),
}
EACH = pytest.mark.parametrize("name", LEARNERS)


@pytest.fixture(scope="module")
def fitted():
    return {name: clone(model).fit(X, y) for name, model in LEARNERS.items()}


def slack(n_scores, n_test, share=0.9):
    """Five standard deviations of a coverage: of the quantiles, and of the test."""
    return 5 * np.sqrt(share * (1 - share) * (1 / n_scores + 1 / n_test))


@EACH
@pytest.mark.parametrize("share", [0.5, 0.9])
def test_intervals_hold(name, fitted, share):
    model = fitted[name]
    lower, upper = model.predict_interval(NEW, share)
    found = coverage(TRUE, lower, upper)
    assert abs(found - share) < slack(model.calibration_.n_scores, len(NEW), share)
    quantiles = model.predict_quantiles(NEW, [(1 - share) / 2, 0.5, (1 + share) / 2])
    np.testing.assert_allclose(quantiles[:, [0, 2]], np.column_stack([lower, upper]))
    assert (np.diff(quantiles, axis=1) >= 0).all()
    np.testing.assert_allclose(model.predict_quantiles(NEW, 0.5), quantiles[:, 1])


@EACH
def test_noise_that_varies_is_found(name):
    model = clone(LEARNERS[name]).fit(ROUGH, ROUGH_Y)
    assert model.calibration_.variance is not None
    lower, upper = model.predict_interval(ROUGH_NEW)
    width = upper - lower
    true = 2 * 1.645 * varying(ROUGH_NEW)
    assert np.corrcoef(np.log(width), np.log(true))[0, 1] > 0.9
    # On both sides, where intervals of one width hold all (more than 99 %) and too few (75 %).
    n_scores = model.calibration_.n_scores / 3  # those on one side
    for side in (ROUGH_NEW[:, 0] < -1, ROUGH_NEW[:, 0] > 1):
        held = coverage(ROUGH_TRUE[side], lower[side], upper[side])
        assert abs(held - 0.9) < slack(n_scores, side.sum())
    # The mean CRPS of N(0, s²) where N(0, σ²) is true is √(2(s² + σ²)/π) - s/√π: at least half of
    # what the true σ gains over the best constant is gained.
    true = varying(ROUGH_NEW)
    constant = np.sqrt(np.mean(true**2))
    before = np.sqrt(2 * (constant**2 + true**2) / np.pi).mean() - constant / np.sqrt(np.pi)
    best = true.mean() / np.sqrt(np.pi) / before
    assert (model.calibration_.crps < (1 + best) / 2 * model.calibration_.crps_before).all()


@EACH
def test_units_of_the_target_do_not_matter(name, fitted):
    other = clone(LEARNERS[name]).fit(X, 273 + 1000 * y)
    for part, expected in zip(
        other.predict_interval(NEW), fitted[name].predict_interval(NEW), strict=True
    ):
        np.testing.assert_allclose(part, 273 + 1000 * expected, atol=1e-6 * 1000)


def test_a_process_is_equivariant(fitted):
    model = fitted["process"]
    other = clone(model).fit(X, 273 + 1000 * y)
    mean, std = other.predict(NEW, return_std=True)
    expected_mean, expected_std = model.predict(NEW, return_std=True)
    np.testing.assert_allclose(mean, 273 + 1000 * expected_mean, atol=1e-6 * 1000)
    np.testing.assert_allclose(std, 1000 * expected_std, rtol=1e-6)
    assert other.noise_ == pytest.approx(1e6 * model.noise_, rel=1e-6)
    assert other.amplitude_ == pytest.approx(1e6 * model.amplitude_, rel=1e-5)
    assert model.noise_ == pytest.approx(0.09, rel=5 * np.sqrt(2 / N))  # five standard errors


def test_a_process_of_given_noise_warns_where_a_constant_is_better():
    with pytest.warns(UserWarning, match="less of y than a constant"):
        zonal.GaussianProcess(features(), 100.0).fit(X, 273 + y)


def test_weights_of_a_process_are_counts():
    weight = np.random.default_rng(1).integers(0, 3, N)
    weighted = zonal.GaussianProcess(features()).fit(X, y, sample_weight=weight)
    repeated = zonal.GaussianProcess(weighted.features_).fit(
        np.repeat(X, weight, axis=0), np.repeat(y, weight)
    )
    np.testing.assert_allclose(weighted.predict(NEW), repeated.predict(NEW), atol=1e-6)


@EACH
def test_several_targets(name, fitted):
    both = clone(LEARNERS[name]).fit(X, np.column_stack([y, 10 - 2 * y]))
    lower, upper = both.predict_interval(NEW)
    assert lower.shape == upper.shape == (len(NEW), 2)
    truth = np.column_stack([TRUE, 10 - 2 * TRUE])
    assert abs(coverage(truth, lower, upper) - 0.9) < slack(both.calibration_.n_scores, len(NEW))
    assert both.predict_quantiles(NEW[:7], [0.1, 0.9]).shape == (7, 2, 2)
    # The second target is the first one upside down.
    np.testing.assert_allclose(upper[:, 1], 10 - 2 * lower[:, 0], atol=1e-6)


def test_left_out_predictions_by_brute_force():
    """The closed form is what a fit without the row gives."""
    few, targets, alpha = X[:60], y[:60], 0.1
    map_ = zonal.FourierFeatures(zonal.Gaussian(1.5), 20, random_state=0)
    model = zonal.KernelRidge(map_, alpha=alpha).fit(few, targets)
    space, Z = FeatureSpace(model.features_, 20), model.features_.transform(few)
    posterior = RidgePosterior.of(model.moments_, solve(model.moments_[0], alpha, True), True)
    found = left_out_predictions(posterior, space, few, targets[:, None], np.ones(60))
    for i in range(60):
        rest = np.arange(60) != i
        other = zonal.KernelRidge(map_, alpha=alpha).fit(few[rest], targets[rest])
        assert found.mean[i, 0] == pytest.approx(other.predict(few[i : i + 1])[0], rel=1e-6)
        middle = Z[rest].mean(axis=0)
        gram = (Z[rest] - middle).T @ (Z[rest] - middle) + alpha * np.eye(20)
        leverage = 1 / 59 + (Z[i] - middle) @ np.linalg.solve(gram, Z[i] - middle)
        assert found.leverage[i] == pytest.approx(leverage, rel=1e-6)


def test_observations_at_one_place_are_left_out_one_by_one():
    """With many rows at each place an interval knows the place, and is as wide as the noise."""
    places = RNG.uniform(-3, 3, (60, 2))
    index = RNG.integers(0, 60, 3000)
    values = 5 * RNG.standard_normal(60)  # no structure between places
    target = values[index] + 0.1 * RNG.standard_normal(3000)
    model = zonal.NeighborKriging(zonal.Matern(0.5, 0.1)).fit(places[index], target)
    lower, upper = model.predict_interval(places)
    # The place is known by some 50 rows, which adds 1 %; the distance of two quantiles of 3000
    # scores at 5 and 95 % has a standard error of 2 %.
    np.testing.assert_allclose(upper - lower, 2 * 1.645 * 0.1, rtol=0.11)
    new = values + 0.1 * RNG.standard_normal((200, 60))
    held = np.mean((lower <= new) & (new <= upper))
    assert abs(held - 0.9) < slack(model.calibration_.n_scores, new.size)


@pytest.mark.parametrize("local", [None, zonal.NeighborKriging(zonal.Matern(1.5, 1.0), noise=0.1)])
def test_blocks_make_intervals_for_gaps(local):
    """Intervals that are calibrated by blocks hold in gaps."""
    rng = np.random.default_rng(3)
    line = np.sort(rng.uniform(0, 400, 4000))[:, None]
    wave = np.sin(line[:, 0]) + np.sin(0.7 * line[:, 0]) + 0.05 * rng.standard_normal(4000)
    cells = (line[:, 0] // 2).astype(int)
    gap = np.isin(cells, rng.permutation(200)[:40])
    rows, target = line[~gap], wave[~gap]
    folds = list(GroupKFold(8, shuffle=True, random_state=0).split(rows, groups=cells[~gap]))
    map_ = zonal.FourierFeatures(zonal.Gaussian(1.0), 300, random_state=0)
    model = zonal.KernelRidge(map_, cv=folds, local=local).fit(rows, target)
    lower, upper = model.predict_interval(line[gap])
    # Errors in one gap are alike: at worst there are as many of them as gaps.
    bound = 3 * np.sqrt(0.09 * (1 / 40 + 1 / 160))
    assert abs(coverage(wave[gap], lower, upper) - 0.9) < bound


def test_the_noise_in_a_gap_is_told_by_rows_around_it(monkeypatch):
    """Targets in a gap change nothing of what is known about the noise there."""
    rng = np.random.default_rng(4)
    rows = rng.uniform(0, 10, (1200, 2))
    target = np.sin(rows[:, 0]) + 0.1 * (1 + rows[:, 1]) * rng.standard_normal(1200)
    gap = (rows[:, 0] // 2).astype(int)
    folds = [(np.flatnonzero(gap != k), np.flatnonzero(gap == k)) for k in range(5)]
    other = target + np.where(gap == 2, 10 * rng.standard_normal(1200), 0.0)
    seen = []

    def remember(fields, *rest):
        seen.append(fields[2][0].values[:, 0])
        return local_variance(fields, *rest)

    monkeypatch.setattr("zonal.model.local_calibration.local_variance", remember)
    local = zonal.NeighborKriging(zonal.Matern(0.5, 5.0), noise=0.5)
    for y_known in (target, other):
        model = zonal.KernelRidge(None, cv=folds, local=local).fit(rows, y_known)
        assert model.calibration_.n_scores == 1200
    # In the same order: scale, mean and where logarithms are cut are those of all rows.
    assert spearmanr(*seen).statistic > 0.95


def test_splits_that_overlap_in_many_ways_calibrate_too():
    few, targets = X[:300], y[:300]
    splitter = ShuffleSplit(6, test_size=0.3, random_state=0)  # rows in up to 2⁶ different parts
    model = zonal.KernelRidge(features(), cv=splitter).fit(few, targets)
    # Rows are left out with the first split that tests them, and not where none does.
    first: dict[int, int] = {}
    for number, (_, test) in enumerate(splitter.split(few)):
        for row in test:
            first.setdefault(int(row), number)
    assert model.calibration_.n_scores == len(first)
    signs = 0
    for number, (train, _) in enumerate(splitter.split(few)):
        part = zonal.KernelRidge(FrozenEstimator(model.features_), alpha=model.alpha_)
        part.fit(few[train], targets[train])
        mine = [row for row, split in first.items() if split == number]
        signs += int((targets[mine] > part.predict(few[mine])).sum())
    assert int((model.calibration_.quantiles.scores > 0).sum()) == signs


def test_streams_and_dask(fitted):
    da = pytest.importorskip("dask.array")
    whole = fitted["ridge"]
    expected = whole.predict_interval(NEW)

    class Blocks:
        def __iter__(self):
            return ((X[i : i + 400], y[i : i + 400]) for i in range(0, N, 400))

    stream = zonal.KernelRidge(features(), local=None).fit(Blocks())
    parts = zonal.KernelRidge(features(), local=None)
    lazy = zonal.KernelRidge(features(), local=None).fit(
        da.from_array(X, chunks=(500, 2)), da.from_array(y, chunks=500)
    )
    for model in (stream, lazy):
        for part, other in zip(model.predict_interval(NEW), expected, strict=True):
            np.testing.assert_allclose(part, other, atol=1e-6)
    found = whole.predict_interval(da.from_array(NEW, chunks=(1000, 2)))
    for part, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(part.compute(), other)
    for i in range(0, N, 300):
        parts.partial_fit(X[i : i + 300], y[i : i + 300])
    lower, upper = parts.predict_interval(NEW)
    assert abs(coverage(TRUE, lower, upper) - 0.9) < slack(N, len(NEW))


def test_a_sample_of_many_rows_has_a_fixed_size():
    rows = np.arange(30_000.0)[:, None]
    whole = Reservoir.of(Block(rows, rows[:, 0]))
    parts = [
        Reservoir.of(Block(rows[i : i + 7000], rows[i : i + 7000, 0], None, i))
        for i in range(0, 30_000, 7000)
    ]
    merged = parts[0] + (parts[3] + parts[1]) + (parts[2] + parts[4])
    assert len(whole) == LEARN_ROWS
    np.testing.assert_array_equal(merged.numbers, whole.numbers)
    np.testing.assert_array_equal(merged.rows()[:, 0], whole.numbers)
    assert not np.isin(whole.numbers, sample_rows(30_000)).any()


@EACH
def test_saved_models_keep_their_calibration(name, fitted, tmp_path):
    model = fitted[name]
    expected = model.predict_interval(NEW[:50])
    zonal.save(model, tmp_path / "model.zonal")
    again = zonal.load(tmp_path / "model.zonal")
    for part, other in zip(again.predict_interval(NEW[:50]), expected, strict=True):
        np.testing.assert_array_equal(part, other)
    assert again.calibration_.n_scores == model.calibration_.n_scores


def test_models_without_rows_say_so(fitted):
    light = clone(LEARNERS["ridge"]).fit(X, y).without_sums()
    with pytest.raises(ValueError, match="use the model that was fitted"):
        light.predict_interval(NEW)


@EACH
def test_few_rows(name):
    for n in (2, 3, 12):
        model = clone(LEARNERS[name])
        lower, upper = model.fit(X[:n], y[:n]).predict_interval(NEW[:5])
        assert (lower <= upper).all()
        assert np.isfinite(upper).all()


def test_sparse_rows_and_single_precision():
    map_ = zonal.FourierFeatures(zonal.Gaussian(1.5), 60, random_state=0)
    model = zonal.KernelRidge(map_).fit(sp.csr_array(X.astype(np.float32)), y.astype(np.float32))
    lower, upper = model.predict_interval(sp.csr_array(NEW.astype(np.float32)))
    assert lower.dtype == upper.dtype == np.float32
    assert abs(coverage(TRUE, lower, upper) - 0.9) < slack(N, len(NEW))


@pytest.mark.parametrize("share", [0, 1, 1.2, -0.1])
def test_mistakes(share, fitted):
    with pytest.raises(ValueError, match="must be between 0 and 1"):
        fitted["ridge"].predict_interval(NEW, share)


@pytest.mark.parametrize("local", [None, zonal.NeighborKriging(zonal.Matern(0.5, 1.0), noise=1.0)])
def test_sets_of_the_classifier(local):
    rng = np.random.default_rng(5)
    labels = np.array(["a", "b", "c"])[rng.integers(0, 3, 6000)]
    rows = rng.standard_normal((6000, 2)) + 1.2 * (labels[:, None] == ["a", "b"])
    model = zonal.KernelRidgeClassifier(features(), local=local).fit(rows[:2000], labels[:2000])
    held = model.predict_set(rows[2000:], 0.9)
    for place, label in enumerate(model.classes_):
        mine = labels[2000:] == label
        assert abs(held[mine, place].mean() - 0.9) < slack(2000 / 3, mine.sum())
    chances = model.predict_proba(rows[2000:])
    error = zonal.evaluation.calibration_error(labels[2000:], chances, model.classes_)
    # Of 15 bins the binomial noise alone is up to √(2/π) ½ √(15/4000) = 0.024 on average.
    assert error < 0.04
    named = model.classes_[chances.argmax(axis=1)]
    np.testing.assert_array_equal(named, model.predict(rows[2000:]))
    right = int((named == labels[2000:]).sum())
    assert right > binom.ppf(1e-6, 4000, 0.6)


def test_single_precision_where_the_rows_are_fitted_exactly():
    """Nothing is left of the squares but rounding, which deviations are not smaller than."""
    rows = Rows(12, 4, "whole", 0, False, False, "float32", "F", 32)
    features = zonal.PolySketchFeatures(zonal.Polynomial(4, 0.25), 42, random_state=32)
    model = zonal.KernelRidge(features, 0.001, local=None, target=None, random_state=42)
    model.fit(rows.make(), rows.target().astype(np.float32))
    least = np.sqrt(np.finfo(np.float32).eps) * rows.target().std()
    lower, upper = model.predict_interval(rows.make(), coverage=0.99)
    assert (upper - lower).min() > 0.5 * least
    lower, upper = model.predict_interval(rows.make(n=30, seed=1))
    assert lower.dtype == np.float32
    assert np.isfinite([lower, upper]).all()
    assert (lower < upper).any()
