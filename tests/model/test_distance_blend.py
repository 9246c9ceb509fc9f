"""A weighted mean whose weights change with the distance to the nearest rows, as a model."""

import copy
from dataclasses import replace

import dask.array as da
import numpy as np
import pytest
import scipy.sparse as sp

import zonal
from zonal.model.blend import start_of
from zonal.model.blend_calibration import left_out_mixture, mixture
from zonal.model.distance_weights import DistanceWeights
from zonal.model.recipe import Share
from zonal.model.unseen import left_out
from zonal.rows import Block

NODES = np.log([0.1, 1.0])
VALUES = np.array([[1.0, 0.0], [0.2, 0.8]])


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, (500, 2))
    y = np.sin(2 * X[:, 0]) + X[:, 1] + 0.1 * rng.standard_normal(500)
    return X, y


@pytest.fixture(scope="module")
def models(data):
    """Two local parts, and the first near the rows with more and more of the second."""
    kernels = zonal.Matern(1.5, 0.5), zonal.Matern(2.5, 2.0)
    first, second = (
        zonal.KernelRidge(None, local=zonal.NeighborKriging(kernel, noise=0.01, n_features=0))
        .fit(*data) for kernel in kernels
    )  # fmt: skip
    weighing = DistanceWeights(NODES, VALUES, np.array([1.0, 0.9]))
    recipe = replace(first.recipe_, others=(Share(0.4, second.recipe_),), weighing=weighing)
    blend = zonal.KernelRidge(None).fit(*data)
    blend._start_ = start_of(recipe, blend._cells_, *data)
    blend._sums_ = blend._start_.sums(Block(*data))
    blend._solution_ = blend._start_.solved(blend._sums_)
    return first, second, blend


@pytest.fixture(scope="module")
def queries(data):
    """Rows near the known ones, and others ever farther away."""
    rng = np.random.default_rng(1)
    away = 2 + np.linspace(0, 1.5, 20)
    return np.vstack([data[0][:20] + 0.01, np.column_stack([away, away])]) + 0.01 * rng.random(2)


def shares(data, queries):
    """The weights by brute force."""
    distance = np.min(np.linalg.norm(queries[:, None] - data[0][None], axis=2), axis=1) / 0.5
    far = 0.8 * np.clip((np.log(distance) - NODES[0]) / np.diff(NODES)[0], 0, 1)
    return np.column_stack([1 - far, far])


def test_predictions_are_the_weighted_mean(data, models, queries):
    first, second, blend = models
    w = shares(data, queries)
    assert w[:, 1].min() == 0
    assert w[:, 1].max() == pytest.approx(0.8)
    a, b = first.predict(queries), second.predict(queries)
    np.testing.assert_allclose(blend.predict(queries), w[:, 0] * a + w[:, 1] * b, rtol=1e-9)
    (_, s), (_, t) = (model.predict(queries, return_std=True) for model in (first, second))
    mean = blend.predict(queries)
    squares = w[:, 0] * (s**2 + (a - mean) ** 2) + w[:, 1] * (t**2 + (b - mean) ** 2)
    np.testing.assert_allclose(blend.predict(queries, return_std=True)[1] ** 2, squares, rtol=1e-6)


def test_gradients_are_those_of_the_predictions(models, queries):
    """Against differences, weights included."""
    blend, step = models[2], 1e-6
    found = blend.gradient(queries)
    for column in range(2):
        apart = np.zeros(2)
        apart[column] = step
        slope = (blend.predict(queries + apart) - blend.predict(queries - apart)) / (2 * step)
        np.testing.assert_allclose(found[:, column], slope, rtol=1e-4, atol=1e-5)


def test_draws_and_totals_have_the_moments_of_the_mixture(models, queries):
    blend = models[2]
    mean, std = blend.predict(queries, return_std=True)
    drawn = blend._solution_.draw(queries, 4000, 0)[:, 0]
    assert np.abs(drawn.mean(axis=1) - mean).max() < 5 * std.max() / np.sqrt(4000)
    np.testing.assert_allclose(drawn.std(axis=1), std, rtol=5 / np.sqrt(2 * 4000))
    weights = sp.csr_array(np.random.default_rng(2).random((len(queries), 3)))
    total, joint = blend._solution_.totals(queries, weights)
    np.testing.assert_allclose(total[:, 0], weights.T @ mean, rtol=1e-9)
    sums = weights.T @ drawn
    sizes = np.sqrt(np.diag(joint[:, :, 0]))
    error = np.abs(np.cov(sums) - joint[:, :, 0]) / np.outer(sizes, sizes)
    assert error.max() < 5 * np.sqrt(2 / 4000)


def test_intervals_are_those_of_the_mixture(data, models, queries):
    """Deviations of both, and how far they are apart; one factor and one pair of quantiles."""
    blend, w = models[2], shares(data, queries)
    parts = blend._solution_.parts
    observed = [part.part.predict_observations(queries, None, None) for part in parts]
    mean = sum(w[:, [c]] * m for c, (m, _) in enumerate(observed))
    square = sum(w[:, [c]] * (s**2 + (m - mean) ** 2) for c, (m, s) in enumerate(observed))
    calibration = blend.calibration_
    factor = np.ones(len(queries))
    if calibration.variance is not None:
        factor *= np.exp(calibration.variance.at(queries)[:, 0] / 2)
    if calibration.distance is not None:
        distance = np.min(np.linalg.norm(queries[:, None] - data[0][None], axis=2), axis=1) / 0.5
        factor *= np.exp(calibration.distance.at(distance)[:, 0])
    ends = calibration.quantiles.at([0.05, 0.95])[:, 0]
    width = np.subtract(*blend.predict_interval(queries)[::-1])
    np.testing.assert_allclose(width, np.ptp(ends) * factor * np.sqrt(square[:, 0]), rtol=1e-6)
    assert calibration.held is not None  # at several distances


def test_the_mixture_is_calibrated_by_its_own_errors(data, models):
    """What is left out alone: errors of the weighted mean, by those of each part."""
    parts = models[2]._solution_.parts
    observed = parts[0].part.observations
    errors = []
    for part in parts:
        process = part.part.joint.process
        errors.append(left_out(part.part, observed, process.features).residual[:, 0])
    points = parts[0].part.joint.process.points
    own = np.sort(np.linalg.norm(points[observed.places][:, None] - points, axis=2), axis=1)[:, 1]
    far = 0.8 * np.clip((np.log(own) - NODES[0]) / np.diff(NODES)[0], 0, 1)
    expected = (1 - far) * errors[0] + far * errors[1]
    found = left_out_mixture(parts, models[2]._solution_._shares_at)[0]
    if len(found.found.residual) == len(expected):  # the noise does not vary
        np.testing.assert_allclose(found.found.residual[:, 0], expected, rtol=1e-6)
    else:
        last = observed.places >= len(points) - len(points) // 4
        np.testing.assert_allclose(found.found.residual[:, 0], expected[last], rtol=1e-6)


def test_models_that_differ_are_unsure():
    mean, std = mixture(
        [np.array([[1.0]]), np.array([[3.0]])], [np.zeros((1, 1))] * 2, [0.25, 0.75]
    )
    assert mean[0, 0] == 2.5
    assert std[0, 0] == pytest.approx(np.sqrt(0.25 * 1.5**2 + 0.75 * 0.5**2))


def test_saved_refitted_and_light(data, models, queries, tmp_path):
    blend = models[2]
    zonal.save(blend, tmp_path / "blend.zonal")
    loaded = zonal.load(tmp_path / "blend.zonal")
    np.testing.assert_array_equal(loaded.predict(queries), blend.predict(queries))
    np.testing.assert_allclose(loaded.predict_interval(queries), blend.predict_interval(queries))
    light = blend._solution_.light()
    np.testing.assert_array_equal(light.mean(queries), blend._solution_.mean(queries))
    again = blend.refitted(*data)
    np.testing.assert_allclose(again.predict(queries), blend.predict(queries), rtol=1e-6)
    assert "0.00 near, 0.80 far" in str(blend.recipe_)


def test_rows_that_come_later(data, models, queries):
    """`partial_fit` goes on with the members' parameters and the weights at all distances."""
    X, y = data
    first, second, blend = models
    part = copy.copy(blend)
    block = Block(X[:400], y[:400])
    part._sums_, part.n_rows_ = part._start_.sums(block), 400
    part._solution_ = part._start_.solved(part._sums_)
    part.partial_fit(X[400:], y[400:])
    np.testing.assert_allclose(part.predict(queries), blend.predict(queries), rtol=1e-9)
    w = shares(data, queries)
    expected = w[:, 0] * first.predict(queries) + w[:, 1] * second.predict(queries)
    np.testing.assert_allclose(part.predict(queries), expected, rtol=1e-9)


def test_queries_on_dask(models, queries):
    """The distance of a query counts, not which chunk it is in."""
    blend, lazy = models[2], da.from_array(queries, (7, 2))
    np.testing.assert_allclose(blend.predict(lazy).compute(), blend.predict(queries), rtol=1e-12)
    low, high = blend.predict_interval(lazy)
    expected = blend.predict_interval(queries)
    np.testing.assert_allclose([low.compute(), high.compute()], expected, rtol=1e-9)


def test_weights_that_are_no_weights_are_refused():
    damaged = DistanceWeights(NODES, VALUES[:1], np.ones(2))
    with pytest.raises(ValueError, match="values"):
        damaged._check_loaded()
