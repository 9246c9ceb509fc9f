"""What can go wrong between the lines: failed fits, precision, odd input."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import KFold, RepeatedKFold
from sklearn.preprocessing import FunctionTransformer, PolynomialFeatures

import zonal
from zonal.learners import kmeans
from zonal.rows.threads import ordered_map

RNG = np.random.default_rng(0)
X = RNG.standard_normal((420, 3))
y = np.sin(2 * X[:, 0]) + 0.5 * X[:, 2] + 0.1 * RNG.standard_normal(420)
LABELS = np.array(["a", "b", "c"])[np.arange(420) % 3]


def oblivious(n=40):
    return zonal.GegenbauerFeatures(
        zonal.Gaussian(2.0),
        n,
        max_degree=6,
        n_radial=2,
        radial_basis="taylor",
        center=False,
        random_state=0,
    )


@pytest.mark.parametrize(("n", "dim"), [(1000, 1), (1000, 3)])
def test_gaussian_process_in_single_precision(n, dim):
    """Rounding of the sums must not pass for a perfect fit."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, (n, dim))
    y = np.sin(2 * X[:, 0]) + 0.5 * X[:, -1] + 0.1 * rng.standard_normal(n)
    new = rng.uniform(-2, 2, (500, dim))
    truth = np.sin(2 * new[:, 0]) + 0.5 * new[:, -1]
    gp = zonal.GaussianProcess(budget=128, local=None, random_state=0)
    double = clone(gp).fit(X, y)
    single = clone(gp).fit(X.astype(np.float32), y.astype(np.float32))
    assert single.noise_ == pytest.approx(double.noise_, rel=0.05)
    mean, std = single.predict(new.astype(np.float32), return_std=True)
    assert mean.dtype == np.float32
    assert std.dtype == np.float32
    assert single.sample_y(new.astype(np.float32)).dtype == np.float32
    assert np.mean((mean - truth) ** 2) < 1.2 * np.mean((double.predict(new) - truth) ** 2) + 1e-3


def test_gaussian_process_with_huge_kernel_values():
    model = zonal.GaussianProcess(
        zonal.GegenbauerFeatures(zonal.Polynomial(3), 200, random_state=0)
    ).fit(100 * X, y)
    assert np.mean((model.predict(100 * X) - y) ** 2) < np.var(y)


def test_an_exploding_alpha_does_not_widen_the_ties():
    rng = np.random.default_rng(0)
    x = np.sort(rng.uniform(-1, 1, 120))[:, None]
    target = np.sin(3 * x[:, 0]) + 0.3 * rng.standard_normal(120)
    split = [(np.arange(90), np.arange(90, 120))]  # extrapolation
    alphas = np.r_[0.0, np.geomspace(1e-10, 1e4, 15)]
    model = zonal.KernelRidge(PolynomialFeatures(12), cv=split, alphas=alphas).fit(x, target)
    errors = model.cv_results_["mean_test_mse"]
    assert errors.max() > 1e3 * errors.min()
    assert model.alpha_ == alphas[errors.argmin()]


@pytest.mark.parametrize(
    "model",
    [
        zonal.KernelRidge(oblivious(), cv=2),
        zonal.KernelRidgeClassifier(oblivious(), cv=2, loss="squared"),
        zonal.KernelPCA(oblivious(), 2),
        zonal.KernelKMeans(oblivious(), 3, random_state=0),
        zonal.GaussianProcess(oblivious(), 0.1),
        zonal.KernelCCA(oblivious(), 1),
    ],
    ids=lambda model: type(model).__name__,
)
def test_a_failed_refit_leaves_no_model(model):
    target = LABELS if isinstance(model, zonal.KernelRidgeClassifier) else y
    model.fit(X, target)
    broken = 10 * X + 3
    broken[-1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        model.fit(pd.DataFrame(broken), target)
    with pytest.raises(NotFittedError):
        model.transform(X) if hasattr(model, "transform") else model.predict(X)


def test_a_failed_chunk_is_not_half_counted():
    model = zonal.KernelRidge(oblivious(1024), 0.1).partial_fit(X, y)
    rows = np.tile(X, (15, 1))
    bad = pd.DataFrame(rows)
    bad.iloc[-10, 0] = np.nan
    expected = model.coef_
    with pytest.raises(ValueError, match="NaN"):
        model.partial_fit(bad.to_numpy(), np.tile(y, 15))
    streaming = zonal.KernelRidge(oblivious(1024), 0.1).partial_fit(pd.DataFrame(X), y)
    with pytest.raises(ValueError, match="NaN"):
        streaming.partial_fit(bad, np.tile(y, 15))
    for same in (model, streaming):
        assert same.n_rows_ == same.moments_[0].n_rows == 420
        np.testing.assert_allclose(same.coef_, expected)


@pytest.mark.parametrize("constant", [0.3, 7.7])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_constant_view_correlates_with_nothing(constant, dtype):
    view = np.full((420, 2), constant, dtype)
    for features in (FunctionTransformer(), oblivious()):
        model = zonal.KernelCCA(features, 1).fit(X.astype(dtype), view)
        assert model.correlations_[0] < 1e-3


def test_cca_takes_sparse_views_and_small_alphas():
    Y = np.where(np.abs(X) > 1, X, 0)
    dense = zonal.KernelCCA(oblivious(), 1).fit(X, Y)
    sparse = zonal.KernelCCA(oblivious(), 1).fit(X, sp.csr_array(Y))
    np.testing.assert_allclose(sparse.correlations_, dense.correlations_, rtol=1e-8)
    tiny = zonal.KernelCCA(oblivious(), 1, alpha=1e-15).fit(X.astype(np.float32), Y)
    assert np.isfinite(tiny.correlations_).all()
    with pytest.raises(ValueError, match="Y has 2 columns, but the model was fitted to 3"):
        dense.transform(X, Y[:, :2])
    with pytest.raises(ValueError, match="inconsistent"):
        dense.transform(X, Y[:5])


def test_lloyd_labels_belong_to_the_centres(monkeypatch):
    monkeypatch.setattr(kmeans, "HELD_BYTES", 0)
    monkeypatch.setattr(kmeans, "sample_rows", lambda n: np.arange(30))
    with pytest.warns(ConvergenceWarning, match="max_iter=1"):
        model = zonal.KernelKMeans(oblivious(), 5, max_iter=1, tol=0, random_state=0).fit(X)
    np.testing.assert_array_equal(model.labels_, model.predict(X))
    assert model.inertia_ == pytest.approx(np.sum(model.transform(X).min(axis=1) ** 2))


def test_kmeans_stream_starts_from_a_fit():
    model = zonal.KernelKMeans(oblivious(), 3, random_state=0).fit(X)
    before, features = model.transform(X).min(axis=1), model.features_
    model.partial_fit(X[:40])
    assert model.features_ is features
    after = model.transform(X).min(axis=1)
    assert np.sum(after**2) < 1.2 * np.sum(before**2)


def test_probabilities_do_not_depend_on_the_scale_of_the_weights():
    alphas = np.geomspace(1e-2, 1e2, 5)
    one = zonal.KernelRidgeClassifier(oblivious(), alphas=alphas, loss="squared").fit(X, LABELS)
    scaled = zonal.KernelRidgeClassifier(oblivious(), alphas=alphas / 420, loss="squared")
    scaled.fit(X, LABELS, np.full(420, 1 / 420))
    np.testing.assert_allclose(scaled.predict_proba(X), one.predict_proba(X), atol=1e-8)


def test_chunks_of_weight_zero():
    weight = np.ones(420)
    weight[[3, 10, 11, 12]] = 0
    whole = zonal.KernelRidge(oblivious(), cv=2).fit(X, y, weight)
    parts = zonal.KernelRidge(oblivious(), cv=2)
    for row in range(420):
        parts.partial_fit(X[row : row + 1], y[row : row + 1], weight[row : row + 1])
    np.testing.assert_allclose(parts.predict(X), whole.predict(X), rtol=1e-7)
    with pytest.raises(ValueError, match="All sample weights are zero"):
        zonal.KernelRidge(oblivious()).partial_fit(X, y, np.zeros(420))


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([([0, 0, 1], [2, 3])], "training rows of split 0 of cv name a row twice"),
        ([([0, 1], [2, 500])], "test rows of split 0 of cv must be row numbers below 420"),
        ([([0, 1], [])], "test rows of split 0"),
        ([([0.5, 1], [2])], "training rows of split 0"),
    ],
)
def test_bad_index_pairs(pairs, message):
    with pytest.raises(ValueError, match=message):
        zonal.KernelRidge(oblivious(), cv=pairs).fit(X, y)


def test_parameters_changed_in_mid_stream():
    model = zonal.KernelRidge(oblivious(), 0.1).partial_fit(X, y)
    for alpha, message in (("cv", "holds 1 folds"), ("foo", "alpha='foo'"), (-1, "alpha=-1")):
        with pytest.raises(ValueError, match=message):
            model.set_params(alpha=alpha).predict(X)
    model.set_params(alpha=0.1)
    blocked = zonal.KernelRidge(oblivious(), cv=KFold(3)).fit(X, y).set_params(cv=3)
    with pytest.raises(ValueError, match="holds 1 folds of rows"):
        blocked.partial_fit(X, y)
    more = zonal.KernelRidge(oblivious(), cv=3).fit(X[:200], y[:200]).partial_fit(X[200:], y[200:])
    whole = zonal.KernelRidge(oblivious(), cv=3).fit(X, y)
    np.testing.assert_allclose(more.predict(X), whole.predict(X), rtol=1e-7)


def test_many_splits_are_not_kept():
    model = zonal.KernelRidge(
        oblivious(), cv=RepeatedKFold(n_splits=5, n_repeats=3, random_state=0)
    )
    model.fit(X, y)
    assert len(model.moments_) == 1
    assert len(model.cv_results_) == 3 + 15


def test_single_precision_keeps_directions_that_alpha_controls():
    """Below the Cholesky threshold, but with an alpha above the rounding of the sums."""
    features = oblivious(200)
    double = zonal.KernelRidge(features, 1e-3).fit(X, y).predict(X)
    single = zonal.KernelRidge(features, 1e-3).fit(X.astype(np.float32), y)
    assert np.abs(single.predict(X.astype(np.float32)) - double).max() < 5e-3


def test_components_set_after_fit_do_not_matter():
    model = zonal.KernelPCA(oblivious(), 3).fit(X).set_params(n_components=5)
    assert model.transform(X).shape == (420, 3)
    assert len(model.get_feature_names_out()) == 3
    with pytest.raises(ValueError, match="X has 2 columns; coordinates of 3 components"):
        model.inverse_transform(np.ones((4, 2)))


def test_empty_frames():
    model = zonal.KernelRidge(oblivious(), 0.1).fit(pd.DataFrame(X), y)
    with pytest.raises(ValueError, match="0 rows"):
        model.predict(pd.DataFrame(X[:0]))


def test_many_classes_take_little_memory():
    import tracemalloc

    rows = RNG.standard_normal((20_000, 2)).astype(np.float32)
    labels = np.arange(20_000) % 300
    tracemalloc.start()
    zonal.KernelRidgeClassifier(oblivious(16), 1.0).fit(rows, labels)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # One byte for each row and class, and blocks of 16 MB in each of two threads.
    assert peak < 150e6


def test_ordered_map_looks_ahead_by_a_few():
    started = []

    def items():
        for number in range(100):
            started.append(number)
            yield number

    results = ordered_map(lambda number: number**2, items(), n_threads=2)
    first = [next(results) for _ in range(3)]
    assert first == [0, 1, 4]
    assert len(started) <= 10
    assert list(results) == [number**2 for number in range(3, 100)]


@pytest.mark.parametrize("factor", [1e20, 1e-30])
def test_single_precision_with_targets_of_any_scale(factor):
    """Their squares are beyond float32; the fit only scales."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((320, 3)).astype(np.float32)
    y = np.sin(X[:, 0].astype(np.float64)) + 0.1 * rng.standard_normal(320)
    features = zonal.GegenbauerFeatures(zonal.Gaussian(1.0), 32, random_state=0)
    plain, scaled = (zonal.KernelRidge(features).fit(X, c * y) for c in (1.0, factor))
    np.testing.assert_allclose(scaled.predict(X) / factor, plain.predict(X), rtol=1e-3, atol=1e-4)


def test_single_precision_with_huge_weights():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((320, 3)).astype(np.float32)
    y = np.sin(X[:, 0])
    features = zonal.GegenbauerFeatures(zonal.Gaussian(1.0), 32, random_state=0)
    weights = (np.ones(320), np.full(320, 1e40))
    plain, heavy = (zonal.KernelRidge(features).fit(X, y, sample_weight=w) for w in weights)
    np.testing.assert_allclose(heavy.predict(X), plain.predict(X), atol=1e-3)


def test_many_targets_and_alphas_agree_with_one_target_at_a_time():
    """Alphas are taken in groups where targets are many."""
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((200, 2)), rng.standard_normal((200, 40))
    features = zonal.FourierFeatures(zonal.Gaussian(1.0), 30, random_state=0)
    alphas = np.geomspace(1e-3, 1e2, 7)
    whole = zonal.KernelRidge(features, alphas=alphas).fit(X, Y)
    single = [zonal.KernelRidge(features, alphas=alphas).fit(X, column) for column in Y.T]
    mean = np.mean([model.cv_results_["mean_test_mse"] for model in single], axis=0)
    np.testing.assert_allclose(whole.cv_results_["mean_test_mse"], mean)
