import numba
import numpy as np
import pytest

import zonal
from zonal.kriging import joint as joint_module
from zonal.kriging.joint import first_rows, fit_joint, whitened_gram
from zonal.kriging.locations import locate
from zonal.kriging.low import low_degrees
from zonal.kriging.marginal import RATIOS, Observed, _inverse_root, best_ratio, marginal
from zonal.kriging.process import LocalProcess

RNG = np.random.default_rng(0)
X, QUERIES = RNG.standard_normal((150, 2)), RNG.standard_normal((40, 2))
Y = np.column_stack([np.sin(2 * X[:, 0]) + X[:, 1], X[:, 1] ** 2])
Y += 0.1 * RNG.standard_normal(Y.shape)
WEIGHT = RNG.uniform(0.5, 2, len(X))
KERNEL, NOISE, RATIO = zonal.Matern(0.5, [0.5, 0.8]), 0.1, 2.0
PROJECTION = RNG.standard_normal((2, 6))


def features(rows):
    return np.cos(rows @ PROJECTION)


def dense(queries=QUERIES):
    """The generalized least squares and kriging of all rows, from n × n matrices."""
    Z, ones = features(X), np.ones((len(X), 1))
    local = KERNEL(X) + np.diag(NOISE / WEIGHT)
    inverse = np.linalg.inv(local)
    design = np.hstack([ones, Z])
    penalty = np.diag([0.0] + [1 / RATIO] * 6)
    covariance = np.linalg.inv(design.T @ inverse @ design + penalty)
    coef = covariance @ design.T @ inverse @ Y
    across = KERNEL(queries, X) @ inverse
    own = np.hstack([np.ones((len(queries), 1)), features(queries)])
    mean = own @ coef + across @ (Y - design @ coef)
    contrast = own - across @ design
    variance = 1 - (across * KERNEL(queries, X)).sum(axis=1)
    variance += np.einsum("ij,jk,ik->i", contrast, covariance, contrast)
    return coef, mean, variance


def fitted(n_neighbors, fit_neighbors=None):
    locations = locate(X, Y, WEIGHT)
    process = LocalProcess(locations.rows, locations.weight, KERNEL, NOISE, n_neighbors)
    return fit_joint(locations, process, features, RATIO, n_neighbors=fit_neighbors)


def test_all_neighbours_are_generalized_least_squares():
    coef, mean, variance = dense()
    model = fitted(150)
    np.testing.assert_allclose(model.found.mean, coef[0], atol=1e-8)
    np.testing.assert_allclose(model.found.coef, coef[1:], atol=1e-8)
    predicted, std = model.predict(QUERIES, features, return_std=True)
    np.testing.assert_allclose(predicted, mean, atol=1e-8)
    np.testing.assert_allclose(std**2, variance[:, None] * model.found.scale, atol=1e-8)
    assert model.predict(QUERIES, features)[1] is None


def test_a_few_neighbours_are_close():
    _, mean, variance = dense()
    predicted, _ = fitted(30).predict(QUERIES, features)
    sd = np.sqrt(variance)[:, None] * Y.std(axis=0)
    assert np.abs((predicted - mean) / sd).max() < 0.1
    other, _ = fitted(30, 15).predict(QUERIES, features)
    assert 0 < np.abs((other - predicted) / sd).max() < 0.1


def test_blocks_do_not_matter(monkeypatch):
    locations = locate(X, Y, WEIGHT)
    process = LocalProcess(locations.rows, locations.weight, KERNEL, NOISE, 10)
    whitening = process.whitening()
    columns = np.column_stack([np.ones(150), locations.targets, features(locations.rows)])
    whitened = whitening.apply(columns)
    whole = fitted(10).predict(QUERIES, features, return_std=True)
    monkeypatch.setattr(joint_module, "SUMMED_ROWS", 16)
    monkeypatch.setattr(joint_module, "PREDICTED_ROWS", 7)
    gram = whitened_gram(whitening, locations, features, process.points)
    np.testing.assert_allclose(gram, whitened.T @ whitened, atol=1e-9)
    for one, other in zip(
        fitted(10).predict(QUERIES, features, return_std=True), whole, strict=True
    ):
        np.testing.assert_allclose(one, other, atol=1e-10)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_whitening_makes_independent_rows(dtype):
    """W (K + noise) Wᵀ = I for the exact factor, by applying it twice."""
    locations = locate(X, Y, WEIGHT)
    process = LocalProcess(locations.rows, locations.weight, KERNEL, NOISE, 150)
    covariance = KERNEL(locations.rows) + np.diag(NOISE / locations.weight)
    whitening = process.whitening()
    half = whitening.apply(covariance.astype(dtype))
    assert half.dtype == dtype
    identity = whitening.apply(np.ascontiguousarray(half.T))
    tolerance = {np.float32: 1e-4, np.float64: 1e-11}[dtype]
    np.testing.assert_allclose(identity, np.eye(150), atol=tolerance)


@pytest.mark.usefixtures("two_threads")
def test_threads_do_not_matter():
    one, several = [], []
    before = numba.get_num_threads()
    for count, results in ((1, one), (before, several)):
        numba.set_num_threads(count)
        model = fitted(20)
        results.extend([model.found.coef, model.predict(QUERIES, features)[0]])
    numba.set_num_threads(before)
    for left, right in zip(one, several, strict=True):
        np.testing.assert_allclose(left, right, atol=1e-12)


def test_sums_of_features_so_large_that_rounding_hides_the_ridge():
    """The part of the targets that features explain is still their projection."""
    rng = np.random.default_rng(0)
    Z = 1e12 * rng.standard_normal((40, 3)) @ rng.standard_normal((3, 8))
    y = rng.standard_normal(40)
    with pytest.raises(np.linalg.LinAlgError):
        np.linalg.cholesky(Z.T @ Z + np.eye(8))
    root, _ = _inverse_root(Z.T @ Z, 1.0)
    basis = np.linalg.svd(Z, full_matrices=False)[0][:, :3]
    np.testing.assert_allclose(Z @ (root @ (root.T @ (Z.T @ y))), basis @ (basis.T @ y), atol=1e-6)


@pytest.mark.parametrize("n_targets", [1, 2])
def test_one_eigendecomposition_compares_all_ratios(n_targets):
    """With the evidence that `marginal` solves for at each ratio."""
    rng, Z = np.random.default_rng(1), features(X[:60])
    targets = 2 * Z @ rng.standard_normal((6, n_targets)) + rng.standard_normal((60, n_targets))
    columns = np.column_stack([np.ones(60), targets, Z])
    gram = columns.T @ columns
    observed = Observed.of(rng.uniform(0.5, 1, 60), locate(X[:60], targets).repeated, NOISE)
    ratio, value = best_ratio(gram, n_targets, observed)
    values = [marginal(gram, n_targets, observed, one).log_evidence for one in RATIOS]
    assert ratio == RATIOS[np.argmax(values)]
    assert 0 < np.argmax(values) < len(RATIOS) - 1
    np.testing.assert_allclose(value, max(values), rtol=1e-12)


def test_coefficients_of_low_degrees_come_from_the_first_rows(monkeypatch):
    """From more where noise is large, so that it adds at most a hundredth to their variance."""
    monkeypatch.setattr(joint_module, "FIRST_ROWS", 60)
    locations, kernel = locate(X, Y), zonal.Matern(1.5, [1.0, 1.0])
    low = low_degrees(kernel, 1.0, locations.rows, 4)
    for noise, expected in ((0.1, 60), (0.2, 80)):
        process = LocalProcess(locations.rows, locations.weight, kernel, noise, 20, low=low)
        judged = first_rows(process)
        np.testing.assert_array_equal(judged, np.arange(expected))
        some, head = fit_joint(locations, process, judged=judged), locations.head(expected)
        alone = fit_joint(head, process.observed_at(head.rows, head.weight))
        np.testing.assert_allclose(some.found.coef, alone.found.coef, rtol=1e-9)
        np.testing.assert_allclose(some.found.log_evidence, alone.found.log_evidence, rtol=1e-12)
        known = low.features(locations.rows) @ some.found.coef
        np.testing.assert_allclose(some.residual, locations.targets - some.found.mean - known)
    loud = LocalProcess(locations.rows, locations.weight, kernel, 10.0, 20, low=low)
    assert first_rows(loud) is None  # all 150


@pytest.mark.parametrize(("noise", "expected"), [(0.1, 100), (1.2, 120), (9.0, None)])
def test_coefficients_of_features_come_from_the_first_rows(monkeypatch, noise, expected):
    """The process is noise to features beside it: a hundred rows a column at least."""
    monkeypatch.setattr(joint_module, "FIRST_ROWS", 30)  # beside features twice as many
    locations, kernel = locate(X, Y), zonal.Matern(1.5, [1.0, 1.0])
    process = LocalProcess(locations.rows, locations.weight, kernel, noise, 20)
    judged = first_rows(process, lambda rows: rows[:, :1])
    assert (None if judged is None else len(judged)) == expected


def test_features_in_single_precision_of_rows_close_to_each_other():
    """Their differences are divided by next to nothing, and sums must not lose what is left."""
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 2, (600, 8)).astype(np.float32)
    targets = np.where(bits[:, :1] > bits[:, 1:2], 1.0, -1.0)
    locations = locate(bits + rng.standard_normal(bits.shape).astype(np.float32) / 1e3, targets)
    process = LocalProcess(
        locations.rows, locations.weight, zonal.Matern(1.5, np.full(8, 1e3)), 1e-8, 24
    )

    def both(rows):  # a constant, eight times
        return np.hstack([rows, 1 - rows]).astype(np.float32)

    whitening = process.whitening(np.arange(len(locations), dtype=np.int32), 24)
    values = np.linalg.eigvalsh(whitened_gram(whitening, locations, both, process.points))
    assert values[0] > -1e-12 * values[-1]
    found = fit_joint(locations, process, both, ratio=1e6)
    predicted = found.predict(locations.rows + 1e-4, both)[0]
    assert np.abs(predicted - locations.targets).max() < 0.5
