"""Features and a local part together."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.model_selection import GroupKFold
from sklearn.neighbors import KNeighborsRegressor

import zonal
from tests.finite_differences import assert_gradient
from zonal.partitions import FromParts

RNG = np.random.default_rng(0)
X = RNG.uniform(-2, 2, (200, 2))
Y = np.column_stack([np.sin(3 * X[:, 0]) + X[:, 1], X[:, 0] * X[:, 1]])
Y += 0.1 * RNG.standard_normal(Y.shape)
NEW = RNG.uniform(-2, 2, (50, 2))
KERNEL, NOISE, ALPHA = zonal.Matern(0.5, [0.5, 0.8]), 0.1, 0.5


def features():
    return zonal.FourierFeatures(zonal.Gaussian(2.0), 10, random_state=0)


def local(n_neighbors=200):
    return zonal.NeighborKriging(KERNEL, n_neighbors, noise=NOISE)


def model(n_neighbors=200):
    return zonal.KernelRidge(features(), ALPHA, local=local(n_neighbors))


def dense(weight=None):
    """Generalized least squares and kriging on all rows, by n × n matrices."""
    weight = np.ones(len(X)) if weight is None else weight / weight.mean()
    map_ = features().fit(X, sample_weight=weight)
    design = np.column_stack([np.ones(len(X)), map_.transform(X)])
    own = np.column_stack([np.ones(len(NEW)), map_.transform(NEW)])
    inverse = np.linalg.inv(KERNEL(X) + np.diag(NOISE / weight))
    penalty = np.diag([0.0] + [ALPHA] * map_.transform(X).shape[1])
    covariance = np.linalg.inv(design.T @ inverse @ design + penalty)
    coef = covariance @ design.T @ inverse @ Y
    across = KERNEL(NEW, X) @ inverse
    mean = own @ coef + across @ (Y - design @ coef)
    contrast = own - across @ design
    variance = 1 - (across * KERNEL(NEW, X)).sum(axis=1)
    variance += np.einsum("ij,jk,ik->i", contrast, covariance, contrast)
    left = Y - design @ coef
    squares = np.einsum("it,ij,jt->t", left, inverse, left) + ALPHA * (coef[1:] ** 2).sum(axis=0)
    return coef, mean, np.sqrt(variance[:, None] * squares / len(X))


@pytest.mark.parametrize("weighted", [False, True])
def test_the_joint_solve_is_generalized_least_squares(weighted):
    weight = RNG.uniform(0.5, 2, len(X)) if weighted else None
    fitted = model().fit(X, Y, weight)
    coef, mean, std = dense(weight)
    np.testing.assert_allclose(fitted.intercept_, coef[0], rtol=1e-8)
    np.testing.assert_allclose(fitted.coef_, coef[1:].T, rtol=0, atol=1e-8)
    found = fitted.predict(NEW, return_std=True)
    np.testing.assert_allclose(found[0], mean, rtol=0, atol=1e-8)
    np.testing.assert_allclose(found[1], std, rtol=1e-8)
    assert fitted.alpha_ == pytest.approx(ALPHA)


def test_the_local_part_is_of_what_the_features_leave():
    fitted = model().fit(X, Y[:, 0])
    trend = fitted.features_.transform(NEW) @ fitted.coef_ + fitted.intercept_
    np.testing.assert_allclose(trend + fitted.local_.predict(NEW), fitted.predict(NEW), atol=1e-10)
    assert fitted.local_.noise_ == pytest.approx(NOISE, rel=1e-12)
    assert fitted.moments_ == []
    assert zonal.KernelRidge(features(), 1.0).fit(X, Y).local_ is None


def test_without_features_it_is_kriging():
    alone = zonal.NeighborKriging(KERNEL, 20, noise=NOISE)
    expected = alone.fit(X, Y[:, 0]).predict(NEW, return_std=True)
    found = zonal.KernelRidge(None, local=alone).fit(X, Y[:, 0]).predict(NEW, return_std=True)
    np.testing.assert_allclose(found, expected, rtol=1e-10)


def chunks():
    for first in range(0, len(X), 60):
        rows = slice(first, first + 60)
        yield X[rows], Y[rows]


def test_streams_chunks_dask_and_checkpoints_are_the_same(tmp_path):
    da = pytest.importorskip("dask.array")
    expected = model(20).fit(X, Y).predict(NEW, return_std=True)
    parts = (da.from_array(X, chunks=(70, 2)), da.from_array(Y, chunks=(70, 2)))
    # Features that learn nothing but the number of columns are the same for every first chunk.
    for fitted in (
        model(20).fit(chunks()),
        model(20).fit(*parts),
        model(20).fit(X, Y, checkpoint=tmp_path / "rows"),
    ):
        found = fitted.predict(NEW, return_std=True)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    added = model(20)
    for rows, targets in chunks():
        added.partial_fit(rows, targets)
    np.testing.assert_allclose(added.predict(NEW), expected[0], rtol=1e-9, atol=1e-12)
    lazy = fitted.predict(da.from_array(NEW, chunks=(20, 2)), return_std=True)
    np.testing.assert_allclose(lazy[1].compute(), expected[1], rtol=1e-9)


def test_parameters_stay_when_rows_are_added():
    added = zonal.KernelRidge(None, local=zonal.NeighborKriging(n_neighbors=10))
    added.partial_fit(X[:100], Y[:100, 0])
    kernel = added.local_.kernel_
    added.partial_fit(X[100:], Y[100:, 0])
    assert added.n_rows_ == 200
    np.testing.assert_array_equal(added.local_.kernel_.length_scale, kernel.length_scale)
    near = added.predict(X[100:]) - Y[100:, 0]
    assert np.square(near).mean() < 0.3 * Y[:, 0].var()


def test_saving_keeps_every_bit(tmp_path):
    pytest.importorskip("skops")
    fitted = model(20).fit(X, Y[:, 0])
    zonal.save(fitted, tmp_path / "model.zonal")
    again = zonal.load(tmp_path / "model.zonal")
    for one, other in zip(
        again.predict(NEW, return_std=True), fitted.predict(NEW, return_std=True), strict=True
    ):
        np.testing.assert_array_equal(one, other)
    light = fitted.without_sums()
    np.testing.assert_array_equal(light.predict(NEW), fitted.predict(NEW))


def test_float32_stays():
    # All rows are neighbours: their order, which depends on the last digits, does not matter.
    single = model().fit(X.astype(np.float32), Y[:, 0].astype(np.float32))
    mean, std = single.predict(NEW.astype(np.float32), return_std=True)
    assert mean.dtype == std.dtype == np.float32
    np.testing.assert_allclose(mean, model().fit(X, Y[:, 0]).predict(NEW), atol=1e-3)


def rough(n_rows=900, dim=2):
    """A field that is rough at small scales, on top of a trend."""
    rows = RNG.uniform(0, 1, (n_rows, dim))
    centres = np.random.default_rng(1).uniform(0, 1, (400, dim))
    heights = np.random.default_rng(2).standard_normal((400, 1))
    near = KNeighborsRegressor(1).fit(centres, heights).predict(rows)[:, 0]
    return rows, near + 2 * rows[:, 0]


@pytest.fixture(scope="module")
def chosen():
    rows, y = rough(1500)
    return rows, y, zonal.KernelRidge(budget=32, random_state=0).fit(rows[:1200], y[:1200])


def test_the_choice_finds_the_local_part(chosen):
    rows, y, fitted = chosen
    table = fitted.selection_
    assert fitted.local_ is not None
    assert (table["local"] != "none").any()
    assert table["chosen"].sum() == 1
    error = np.square(fitted.predict(rows[1200:]) - y[1200:]).mean()
    plain = zonal.KernelRidge(budget=32, random_state=0, local=None).fit(rows[:1200], y[:1200])
    assert error < 0.7 * np.square(plain.predict(rows[1200:]) - y[1200:]).mean()
    assert plain.local_ is None


def test_units_do_not_matter(chosen):
    """Powers of two, which change no digit: the order of the rows depends on these."""
    rows, y, fitted = chosen
    other = clone(fitted).fit(rows[:1200] * 128, 1024 * y[:1200])
    expected = 1024 * fitted.predict(rows[1200:])
    found = other.predict(rows[1200:] * 128)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6 * expected.std())


def test_no_local_part_where_there_is_only_noise():
    rows = np.random.default_rng(5).uniform(-2, 2, (1000, 2))
    y = np.sin(rows[:, 0]) + 2 * np.random.default_rng(6).standard_normal(1000)
    fitted = zonal.KernelRidge(budget=32, random_state=0).fit(rows[:800], y[:800])
    plain = zonal.KernelRidge(budget=32, random_state=0, local=None).fit(rows[:800], y[:800])
    truth = np.sin(rows[800:, 0])
    errors = [np.square(one.predict(rows[800:]) - truth).mean() for one in (fitted, plain)]
    # Beside the noise variance of 4, which every error on new rows contains.
    assert errors[0] + 4 < 1.01 * (errors[1] + 4)


def test_blocks_as_cv_choose_for_gaps():
    rows, y = rough(1200)
    groups = (rows * 4).astype(int) @ [4, 1]
    gap = groups == 5  # a cell in the middle
    known = ~gap

    def error(cv):
        model = zonal.KernelRidge(budget=32, random_state=0, cv=cv).fit(rows[known], y[known])
        return np.square(model.predict(rows[gap]) - y[gap]).mean(), model

    def promised(model):
        table = model.selection_
        return table["weight"] @ table["error"].fillna(0) * y[known].var()

    pairs = list(GroupKFold(4).split(rows[known], y[known], groups[known]))
    by_blocks, for_gaps = error(pairs)
    at_random, for_rows = error(2)
    assert by_blocks <= 1.1 * at_random
    # The error that the choice promises is that of gaps (twice that of rows between others).
    assert 0.5 * by_blocks < promised(for_gaps) < 2 * by_blocks
    assert promised(for_gaps) > 1.5 * promised(for_rows)


@pytest.mark.longest
def test_rows_beyond_memory_are_not_kept(monkeypatch):
    """A classifier keeps all rows or none; a regressor has them in parts."""
    rows, y = rough(700)
    monkeypatch.setattr("zonal.partitions.staying.KEPT_BYTES", 100)
    monkeypatch.setattr("zonal.selection.choose.KEPT_BYTES", 100)
    labels = np.where(y > np.median(y), "high", "low")
    fitted = zonal.KernelRidgeClassifier(budget=32, random_state=0).fit(rows, labels)
    assert fitted.local_ is None
    assert "not tried" in fitted.selection_["local"].iloc[0]
    monkeypatch.setattr("zonal.selection.choose.KEPT_BYTES", 1 << 30)
    part = zonal.KernelRidge(budget=32, random_state=0).fit(rows, y)
    assert isinstance(part._solution_, FromParts)
    monkeypatch.undo()
    whole = zonal.KernelRidge(budget=32, random_state=0).fit(rows, y)
    np.testing.assert_allclose(part.predict(rows), whole.predict(rows), atol=1e-9)


@pytest.mark.parametrize("kind", ["classes", "errors"])
def test_rows_beyond_memory_are_not_gathered_by_surprise(monkeypatch, kind):
    """Where a local part must be, and cannot be one of parts, the rows are refused."""
    rows, y = rough(300)
    monkeypatch.setattr("zonal.partitions.staying.KEPT_BYTES", 100)
    columns, model, options = (rows, y > 0), zonal.KernelRidgeClassifier(None), {}
    if kind == "errors":
        columns, model = (rows, y, np.ones(300)), zonal.KernelRidge(None)
        options = {"noise_variance": True}
    blocks = (tuple(one[start : start + 100] for one in columns) for start in (0, 100, 200))
    with pytest.raises(ValueError, match="keeps all rows in memory, but they take more than"):
        model.fit(blocks, **options)


def test_classes():
    rows = np.random.default_rng(3).uniform(0, 1, (1500, 2))
    labels = np.array(["a", "b"])[((rows * 7).astype(int).sum(axis=1) % 2)]
    fitted = zonal.KernelRidgeClassifier(budget=32, random_state=0).fit(rows[:1200], labels[:1200])
    chances = fitted.predict_proba(rows[1200:])
    np.testing.assert_allclose(chances.sum(axis=1), 1)
    assert (chances > 0).all()
    plain = clone(fitted).set_params(local=None).fit(rows[:1200], labels[:1200])
    assert fitted.local_ is not None
    assert fitted.score(rows[1200:], labels[1200:]) > plain.score(rows[1200:], labels[1200:])


def test_classes_at_one_place():
    """All that is known of a row is how often each class was seen."""
    labels = np.repeat(["a", "b", "c"], [140, 40, 20])
    part = zonal.NeighborKriging(zonal.Matern(1.5, 1.0), 8, noise=0.1, random_state=0)
    for features in (None, zonal.FourierFeatures(zonal.Gaussian(1.0), 4, random_state=0)):
        model = zonal.KernelRidgeClassifier(features, local=part).fit(np.ones((200, 2)), labels)
        chances = model.predict_proba(np.ones((1, 2)))[0]
        # The two parameters of the calibration are found to a part in a hundred.
        np.testing.assert_allclose(chances, [0.7, 0.2, 0.1], atol=0.02)


def test_gaussian_process_with_a_local_part():
    gp = zonal.GaussianProcess(features(), local=local(200)).fit(X, Y[:, 0])
    ridge = zonal.KernelRidge(features(), local=local(200)).fit(X, Y[:, 0])
    for one, other in zip(
        gp.predict(NEW, return_std=True), ridge.predict(NEW, return_std=True), strict=True
    ):
        np.testing.assert_allclose(one, other, rtol=1e-8)
    assert gp.noise_ == pytest.approx(NOISE * gp.local_.scale_)
    assert np.isfinite(gp.log_evidence_)


@pytest.mark.parametrize(
    ("options", "rows", "message"),
    [
        ({"local": 5}, X, "local=5 must be 'auto', None or a zonal.NeighborKriging"),
        ({"local": None, "features": None}, X, "features=None leaves a constant"),
        ({"local": local(), "features": features()}, sp.csr_array(X), "dense rows"),
    ],
)
def test_mistakes(options, rows, message):
    with pytest.raises(ValueError, match=message):
        zonal.KernelRidge(**options).fit(rows, Y[:, 0])


@pytest.mark.parametrize("kernel", [zonal.Laplacian(1.0), zonal.Matern(1.5, [0.5, 2.0])], ids=repr)
@pytest.mark.parametrize("given", [features(), None], ids=["features", "constant"])
def test_gradient(kernel, given):
    """Differences of predictions, at rows whose neighbours are all rows."""
    part = zonal.NeighborKriging(kernel, n_neighbors=len(X), noise=NOISE)
    fitted = zonal.KernelRidge(given, local=part).fit(X, Y)
    assert_gradient(fitted.gradient(NEW), fitted.predict, NEW)


def test_choice_of_a_local_part_in_a_learned_metric():
    """The metric has the target's rounding in it, by which rows must not be shuffled anew."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (600, 6))
    y = np.sin(2 * (X[:, 0] + X[:, 1] - X[:, 2])) + 0.01 * rng.standard_normal(600)
    model = zonal.KernelRidge(budget=34, random_state=78, target=None)
    whole = clone(model).fit(X, y)
    recipe = whole.recipe_
    assert "metric" in recipe.columns.named_steps
    assert whole.local_ is not None
    # Climbs of the evidence end a little apart, as the processor rounds, for five of six length
    # scales tell nothing: by less than predictions are known to (test_locations has the order).
    mean, deviation = whole.predict(X, return_std=True)
    other = (clone(model).fit(X, 2 * y - 3).predict(X) + 3) / 2
    assert np.square(other - mean).mean() < np.square(deviation).mean()
