"""LearnedMetric: the right directions, no harm, and manners on odd data."""

import pickle
import tracemalloc

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.linalg import sqrtm, subspace_angles
from scipy.spatial.distance import cdist, pdist
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import zonal
from tests.finite_differences import assert_gradient
from zonal.features.columns.metric import distinct_sample, outer_product, regression, targets
from zonal.features.columns.metric.comparison import best_iterate
from zonal.features.columns.metric.distinct_sample import DistinctSample
from zonal.features.columns.metric.outer_product import fourth_root, outer_product_factor
from zonal.features.columns.metric.regression import Regression


def learner(**kwargs):
    return zonal.LearnedMetric(**{"n_components": 100, "random_state": 0, **kwargs})


def two_directions(n=3000, dim=20, seed=0, noise=0.1):
    """A smooth function of two of many directions, and these: X, y, [dim, 2]."""
    rng = np.random.default_rng(seed)
    U = np.linalg.qr(rng.standard_normal((dim, 2)))[0]
    X = rng.standard_normal((n, dim))
    u, v = (X @ U).T
    return X, np.sin(2 * u) + u * v + noise * rng.standard_normal(n), U


@parametrize_with_checks(
    [
        zonal.LearnedMetric(n_components=30, n_iterations=2),
        zonal.LearnedMetric(n_components=30, diagonal=True, standardize=False),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_two_of_twenty_directions():
    X, y, U = two_directions()
    metric = learner(n_components=300).fit(X[:1500], y[:1500])
    assert metric.best_iteration_ > 0
    leading = metric.components_[:2].T  # the most relevant first
    assert np.degrees(subspace_angles(leading, U)).max() < 5
    strengths = np.linalg.norm(metric.components_ * X[:1500].std(axis=0), axis=1)
    assert (np.diff(strengths) <= 0).all()
    assert strengths[1] > 3 * strengths[2]
    # It pays for a regression of its own: on new rows, beside the same without it.
    X, rows, y, targets = X[:1500], X[1500:], y[:1500], y[1500:]
    map_ = zonal.NystroemFeatures("matern", 300, sampling="uniform", random_state=0)
    plain = zonal.KernelRidge(map_).fit(X, y)
    mapped = zonal.KernelRidge(make_pipeline(metric, map_)).fit(X, y)
    errors = [np.mean((model.predict(rows) - targets) ** 2) for model in (plain, mapped)]
    assert errors[1] < 0.5 * errors[0]


def test_relevant_columns_in_mixed_units():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((800, 8))
    y = np.sin(2 * X[:, 1]) + X[:, 4]
    units = 10.0 ** np.arange(-4, 4)
    for diagonal in (False, True):
        plain = learner(diagonal=diagonal).fit(X, y)
        scaled = learner(diagonal=diagonal).fit(X * units + 1000 * units, y)
        np.testing.assert_allclose(scaled.relevance_, plain.relevance_, rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(plain.relevance_.sum(), 1)
        assert set(np.argsort(plain.relevance_)[-2:]) == {1, 4}
        assert plain.relevance_[[1, 4]].sum() > 0.75
        np.testing.assert_allclose(
            scaled.metric_ * np.outer(units, units), plain.metric_, rtol=1e-6, atol=1e-8
        )


@pytest.mark.parametrize("seed", range(5))
def test_isotropic_data_are_left_alone(seed):
    """All directions matter alike, so that only chance could choose one."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((800, 5))
    y = np.linalg.norm(X, axis=1) + 0.3 * rng.standard_normal(800)
    metric = learner(standardize=False).fit(X, y)
    assert metric.best_iteration_ == 0
    np.testing.assert_array_equal(metric.components_, np.eye(5))
    np.testing.assert_array_equal(metric.transform(X), X)
    assert len(metric.scores_) == 5


@pytest.mark.parametrize("seed", range(5))
def test_noise_is_left_alone(seed):
    rng = np.random.default_rng(seed)
    metric = learner().fit(rng.standard_normal((1000, 6)), rng.standard_normal(1000))
    assert metric.best_iteration_ == 0


def test_definition():
    """One iterate from the formulas, with kernel matrices and differences instead of gradients."""
    rng = np.random.default_rng(0)
    rows, y = rng.standard_normal((120, 3)), rng.standard_normal((120, 2))
    weights = rng.uniform(0.5, 2.0, 120)
    A = rng.standard_normal((3, 3))
    kernel = zonal.Matern(2.5, 2.0)
    pilot = DistinctSample.of(rows, y, weights)
    landmarks = np.arange(40)
    model = Regression.fit(kernel, pilot.mapped(A), landmarks)
    n = pilot.n_train
    train, test, w = pilot.rows[:n], pilot.rows[n:], pilot.weights[:n]

    def phi(points):
        return np.linalg.solve(
            np.linalg.cholesky(kernel(train[:40] @ A.T)), kernel(train[:40] @ A.T, points @ A.T)
        ).T

    # Ridge by scikit-learn on its own grid, the best alpha on the held-out rows.
    share = w / w.sum()
    centred = phi(train) - share @ phi(train)
    scale = np.sum(share[:, None] * centred**2) / 40
    fits = [
        Ridge(alpha).fit(phi(train), pilot.targets[:n], sample_weight=share)
        for alpha in scale * np.geomspace(1e-7, 1e3, 21)
    ]
    losses = [np.square(fit.predict(phi(test)) - pilot.targets[n:]).sum(axis=1) for fit in fits]
    held = pilot.weights[n:]
    best = int(np.argmin([held @ loss for loss in losses]))
    np.testing.assert_allclose(model.losses, losses[best], rtol=1e-6)
    # Gradients with respect to rows before the map, by differences.
    h = 1e-5
    G = np.stack(
        [
            (fits[best].predict(phi(train + h * e)) - fits[best].predict(phi(train - h * e)))
            / (2 * h)
            for e in np.eye(3)
        ],
        axis=-1,
    )
    M = np.einsum("n,nti,ntj->ij", share, G, G)
    root = fourth_root(model, A, False, np.random.default_rng(0))
    np.testing.assert_allclose(
        root.T @ root, sqrtm(M).real, rtol=1e-5, atol=1e-6 * np.sqrt(M.max())
    )
    diagonal = fourth_root(Regression.fit(kernel, pilot, landmarks), np.ones(3), True, rng)
    full = fourth_root(Regression.fit(kernel, pilot, landmarks), np.ones(3), False, rng)
    square = full.T @ full  # M^{1/2}
    np.testing.assert_allclose(diagonal**4, np.diag(square @ square), rtol=1e-8)


def test_median_distance_is_kept():
    X, y, _ = two_directions(800, 6)
    metric = learner().fit(X, y)
    assert metric.best_iteration_ > 0
    standardised = (X - X.mean(axis=0)) / X.std(axis=0)
    np.testing.assert_allclose(
        np.median(pdist(metric.transform(X))), np.median(pdist(standardised)), rtol=1e-5
    )


def test_metric_gives_the_distances():
    X, y, _ = two_directions(600, 5)
    X = X * [1, 10, 100, 1000, 0.1] + 7
    metric = learner().fit(X, y)
    Z = metric.transform(X)
    distances = cdist(X[:30], X[:30], "mahalanobis", VI=metric.metric_)
    np.testing.assert_allclose(cdist(Z[:30], Z[:30]), distances, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(Z - Z[0], (X - X[0]) @ metric.linear_map().T, atol=1e-9)


@pytest.mark.parametrize("diagonal", [False, True])
def test_gradients_pass_through(diagonal):
    X, y, _ = two_directions(300, 4)
    X = X * [1, 3, 0.5, 2]
    features = make_pipeline(
        learner(diagonal=diagonal), zonal.FourierFeatures(zonal.Gaussian(2.0), 64, random_state=0)
    )
    model = zonal.KernelRidge(features, 0.1).fit(X, y)
    assert_gradient(model.gradient(X[:20]), model.predict, X[:20])


def test_the_choice():
    """A paired t test, written out: gains of 1 ± s on n rows."""
    n = 50
    noise = np.tile([1.0, -1.0], n // 2)
    identity = np.full(n, 5.0)
    # The t quantile of 49 degrees is 2.0096: a gain of 1 counts below s/√49 = 0.4976.
    for spread, chosen in ((3.4, 1), (3.6, 0)):
        assert (
            best_iterate(np.array([identity, identity - 1 - spread * noise]), np.ones(n)) == chosen
        )
    # The scale of the weights does not matter, and a worse iterate never counts.
    sure = np.array([identity, identity - 1, identity + 1])
    assert best_iterate(sure, np.full(n, 1e-9)) == 1
    assert best_iterate(sure[[0, 2]], np.ones(n)) == 0


def test_labels():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 6))
    codes = np.digitize(np.sin(2 * X[:, 2]), [-0.5, 0.5])
    names = np.array(["low", "middle", "high"])[codes]
    by_name, by_code = learner().fit(X, names), learner().fit(X, codes)
    assert np.argmax(by_name.relevance_) == 2
    # The order of the classes is nothing but that of a sum.
    np.testing.assert_allclose(by_name.relevance_, by_code.relevance_, rtol=1e-6)
    as_objects = learner().fit(X, names.astype(object))
    np.testing.assert_array_equal(as_objects.components_, by_name.components_)
    # One column of numbers is another thing; indicators by hand are the same.
    numbers = learner(task="regression").fit(X, codes)
    assert not np.allclose(numbers.relevance_, by_code.relevance_, rtol=1e-6)
    told = learner(task="classification").fit(X, codes.astype(float))
    np.testing.assert_array_equal(told.components_, by_code.components_)
    # Of two classes, the indicators are one target and its negative.
    two = learner().fit(X, codes > 0), learner(task="regression").fit(X, codes > 0)
    np.testing.assert_allclose(two[0].metric_, two[1].metric_, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(two[0].scores_, two[1].scores_)


def test_many_whole_numbers_are_quantities():
    X, y, _ = two_directions(500, 4)
    counts = np.round(20 * y).astype(int)
    assert len(np.unique(counts)) > targets.MAX_CLASSES
    np.testing.assert_array_equal(
        learner().fit(X, counts).metric_, learner().fit(X, counts.astype(float)).metric_
    )


def test_several_targets():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((800, 6))
    Y = np.column_stack([np.sin(2 * X[:, 0]), 1e6 * np.cos(2 * X[:, 3])])
    metric = learner().fit(X, Y)
    assert set(np.argsort(metric.relevance_)[-2:]) == {0, 3}  # whatever their units
    same = learner().fit(X, Y * [1e-3, 10.0] + 5)
    np.testing.assert_allclose(same.relevance_, metric.relevance_, rtol=1e-6)
    np.testing.assert_allclose(same.scores_, metric.scores_, rtol=1e-8)
    single, column = learner().fit(X, Y[:, 0]), learner().fit(X, Y[:, :1])
    np.testing.assert_array_equal(single.metric_, column.metric_)


def test_scores_are_shares_of_the_variance():
    """Nothing to learn: one. All but the noise: its share, within five standard errors."""
    X, y, _ = two_directions(4000, 2, noise=0.5)
    rng = np.random.default_rng(1)
    pure = learner(n_iterations=0).fit(X, rng.standard_normal(4000))
    held_out = 4000 / distinct_sample.FOLDS
    error = np.sqrt(2 / held_out)  # the relative error of a variance of normal noise
    np.testing.assert_allclose(pure.scores_, [1], atol=5 * error)
    share = 0.25 / y.var()
    # Some hundred effective parameters on 3,200 rows add a few per cent to the noise.
    np.testing.assert_allclose(learner().fit(X, y).scores_[0], share, rtol=5 * error + 0.1)


def test_weights_are_repetitions():
    X, y, _ = two_directions(600, 8)
    weights = np.random.default_rng(0).integers(0, 4, 600)
    order = np.random.default_rng(1).permutation(weights.sum())
    weighted = learner().fit(X, y, weights)
    repeated = learner().fit(X.repeat(weights, axis=0)[order], y.repeat(weights)[order])
    assert weighted.best_iteration_ == repeated.best_iteration_ > 0
    np.testing.assert_allclose(weighted.scores_, repeated.scores_, rtol=1e-7)
    np.testing.assert_allclose(weighted.metric_, repeated.metric_, rtol=1e-5, atol=1e-7)


def test_equal_rows_with_different_targets():
    """No row is on both sides: with two copies of each, noise of its own is not predicted."""
    rng = np.random.default_rng(0)
    X = np.tile(rng.standard_normal((400, 3)), (2, 1))
    y = np.tile(rng.standard_normal(400), 2) + 0.1 * rng.standard_normal(800)
    metric = learner().fit(X, y)
    assert metric.best_iteration_ == 0
    # 80 held-out rows: five standard errors of a variance are 5 √(2/80).
    assert metric.scores_.min() > 1 - 5 * np.sqrt(2 / 80)


def test_deterministic():
    X, y, _ = two_directions(400, 5)
    one, same = learner().fit(X, y), learner().fit(X, y)
    np.testing.assert_array_equal(one.components_, same.components_)
    np.testing.assert_array_equal(one.scores_, same.scores_)
    assert not np.array_equal(one.scores_, learner(random_state=1).fit(X, y).scores_)


def test_pilot_rows():
    X, y, _ = two_directions(2000, 3)
    chosen = zonal.rows.sample_rows(2000, 300)
    part = learner(max_rows=300, standardize=False).fit(X, y)
    alone = learner(standardize=False).fit(X[chosen], y[chosen])
    np.testing.assert_allclose(part.metric_, alone.metric_, rtol=1e-6, atol=1e-8)


def test_float32():
    X, y, _ = two_directions(400, 4)
    single, double = X.astype(np.float32), X.astype(np.float32).astype(np.float64)
    metric = learner().fit(single, y.astype(np.float32))
    Z = metric.transform(single)
    assert Z.dtype == np.float32
    expected = metric.transform(double)
    assert expected.dtype == np.float64
    np.testing.assert_allclose(Z, expected, atol=1e-5 * np.abs(expected).max())


@pytest.mark.parametrize("diagonal", [False, True])
def test_sparse(diagonal):
    data = sp.random_array((400, 12), density=0.3, rng=np.random.default_rng(0), format="csr")
    X = data.toarray()
    y = np.sin(3 * X[:, 0]) + X[:, 5]
    metric = learner(standardize=False, diagonal=diagonal)
    expected = metric.fit_transform(X, y)
    assert metric.best_iteration_ > 0
    found = metric.fit(data, y).transform(data)
    assert sp.issparse(found) == diagonal  # scaled zeros are zeros
    found = found.toarray() if diagonal else found
    np.testing.assert_allclose(found, expected, atol=1e-10)
    scaled = learner(diagonal=diagonal).fit(data, y)
    assert np.argmax(scaled.relevance_) in (0, 5)
    with pytest.raises(ValueError, match="fit on sparse rows too"):
        learner().fit(X, y).transform(data)


def test_the_sketch():
    """Exact where M has less rank than there are probes; here that is 8."""
    rng = np.random.default_rng(0)
    dim = outer_product.MAX_RANK + 100
    basis = rng.standard_normal((8, dim))
    rows = rng.standard_normal((200, 8)) @ basis
    pilot = DistinctSample.of(rows, rng.standard_normal((200, 2)), np.ones(200))
    model = Regression.fit(zonal.Gaussian(50.0), pilot, np.arange(60))
    G = np.concatenate(list(model.gradients()))
    F = outer_product_factor(model, rng)
    M = G.T @ G
    np.testing.assert_allclose(F.T @ F, M, atol=1e-8 * np.abs(M).max())


def test_blocks_of_gradients(monkeypatch):
    X, y, _ = two_directions(300, 4)
    Y = np.column_stack([y, y**2, np.sin(y)])
    expected = learner().fit(X, Y).metric_
    monkeypatch.setattr(regression, "MAX_BLOCK", 100)
    monkeypatch.setattr(regression, "MAX_WIDTH", 8)
    np.testing.assert_allclose(learner().fit(X, Y).metric_, expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("diagonal", [False, True])
def test_five_thousand_columns(diagonal, monkeypatch):
    """A 5,000 × 5,000 matrix would be 200 MB; rows and gradients are 16 MB, in some copies.

    With fewer probes than usual, for the map and its copies are to be small beside that.
    """
    monkeypatch.setattr(outer_product, "MAX_RANK", 64)
    rng = np.random.default_rng(0)
    inner = rng.standard_normal((400, 5))
    X = inner.repeat(1000, axis=1) + 0.1 * rng.standard_normal((400, 5000))
    y = np.sin(2 * inner[:, 0])
    tracemalloc.start()
    metric = learner(n_iterations=2, standardize=False, diagonal=diagonal).fit(X, y)
    Z = metric.transform(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 150e6
    assert np.isfinite(Z).all()
    # Of the five groups of copies, that of the one that matters leads.
    assert np.argmax(metric.relevance_.reshape(5, 1000).sum(axis=1)) == 0
    assert metric.best_iteration_ > 0
    assert Z.shape[1] <= (5000 if diagonal else outer_product.MAX_RANK)


def test_twenty_rows():
    X, y, _ = two_directions(20, 5)
    metric = learner().fit(X, y)
    assert np.isfinite(metric.transform(X)).all()
    assert np.isfinite(metric.scores_).all()


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_hardly_any_rows(n):
    X = np.arange(2.0 * n).reshape(n, 2)
    metric = learner().fit(X, np.arange(n, dtype=float))
    assert metric.best_iteration_ == 0
    assert np.isfinite(metric.transform(X)).all()


def test_constant_columns_and_duplicates():
    X, y, _ = two_directions(600, 4)
    clean = learner().fit(X, y)
    padded = np.column_stack([X, np.full(600, 0.1), np.zeros(600)])
    metric = learner().fit(padded, y)
    np.testing.assert_array_equal(metric.relevance_[4:], 0)
    np.testing.assert_allclose(metric.relevance_[:4], clean.relevance_, rtol=1e-4)
    twice = learner().fit(np.vstack([X, X]), np.concatenate([y, y]))
    np.testing.assert_allclose(twice.metric_, clean.metric_, rtol=1e-4, atol=1e-6)
    equal = learner().fit(np.ones((50, 3)), np.arange(50.0))
    assert equal.best_iteration_ == 0
    assert np.isfinite(equal.transform(X[:, :3])).all()


@pytest.mark.parametrize(
    "y", [np.full(100, 3.3), np.full(100, "one"), np.zeros((100, 2)), np.full(100, 0.1)]
)
def test_nothing_to_learn(y):
    X = np.random.default_rng(0).standard_normal((100, 3))
    metric = learner().fit(X, y)
    assert metric.best_iteration_ == 0
    assert len(metric.scores_) == 0
    np.testing.assert_allclose(metric.relevance_, 1 / 3)


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
def test_heavy_tails(scale):
    rng = np.random.default_rng(0)
    X = rng.standard_t(1, (500, 4))  # Cauchy
    y = scale * rng.standard_t(1, 500)
    metric = learner().fit(X, y)
    assert np.isfinite(metric.transform(X)).all()
    assert np.isfinite(metric.scores_).all()
    assert np.isfinite(metric.relevance_).all()


def test_other_kernels():
    X, y, _ = two_directions(500, 5)
    for kernel in ("gaussian", "laplacian", zonal.Matern(2.5, 2.0), zonal.Polynomial(3)):
        metric = learner(kernel=kernel).fit(X, y)
        assert np.isfinite(metric.components_).all()


def test_frames_and_names():
    X, y, _ = two_directions(300, 3)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    metric = learner().fit(frame, pd.Series(y)).set_output(transform="pandas")
    out = metric.transform(frame)
    assert list(out.columns) == ["learnedmetric0", "learnedmetric1", "learnedmetric2"]
    assert list(metric.feature_names_in_) == ["a", "b", "c"]


def test_pickle_and_clone():
    X, y, _ = two_directions(300, 3)
    metric = learner().fit(X, y)
    again = pickle.loads(pickle.dumps(metric))
    np.testing.assert_array_equal(again.transform(X), metric.transform(X))
    with pytest.raises(NotFittedError):
        clone(metric).transform(X)
    with pytest.raises(NotFittedError):
        clone(metric).linear_map()


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"n_iterations": -1}, "n_iterations=-1 of LearnedMetric must be a whole number"),
        ({"n_components": 0}, "n_components=0"),
        ({"max_rows": 2.5}, r"max_rows=2\.5"),
        ({"task": "ranking"}, "task='ranking' of LearnedMetric is not one of 'auto', 'regression'"),
        ({"kernel": "cubic"}, "kernel='cubic' is unknown"),
    ],
)
def test_wrong_parameters(kwargs, message):
    with pytest.raises(ValueError, match=message):
        learner(**kwargs).fit(np.eye(4), np.arange(4.0))


def test_wrong_targets():
    X = np.eye(6)
    with pytest.raises(ValueError, match="requires y"):
        learner().fit(X, None)
    with pytest.raises(ValueError, match="inconsistent"):
        learner().fit(X, np.ones(5))
    with pytest.raises(ValueError, match="NaN"):
        learner().fit(X, [1.0, np.nan, 2, 3, 4, 5])
    with pytest.raises(ValueError, match="at least one non-zero"):
        learner().fit(X, np.arange(6.0), np.zeros(6))
