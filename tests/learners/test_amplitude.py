"""`NeighborKriging()` where a field is restless here and calm there."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import zonal


def field(n=900, seed=0):
    """A field on the plane whose standard deviation grows from e⁻¹ to e, and noise with it."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 1, (n, 2))
    root = np.linalg.cholesky(zonal.Matern(1.5, 0.2)(X) + 0.05 * np.eye(n))
    return X, 5 + np.exp(2 * X[:, 0] - 1) * (root @ rng.standard_normal(n))


@pytest.fixture(scope="module")
def fitted():
    X, y = field()
    return zonal.NeighborKriging().fit(X[:700], y[:700]), X, y


def test_deviations_hold_on_both_sides(fitted):
    model, X, y = fitted
    mean, std = model.predict(X[700:], return_std=True)
    total = np.hypot(std, np.sqrt(model.noise_ * model.scale_) * model.amplitude_at(X[700:]))
    z = (y[700:] - mean) / total
    for side in (X[700:, 0] < 0.5, X[700:, 0] >= 0.5):
        assert_allclose(np.sqrt(np.mean(z[side] ** 2)), 1, atol=4 / np.sqrt(2 * side.sum()))
    same = zonal.NeighborKriging(amplitude=None).fit(X[:700], y[:700])
    mean, std = same.predict(X[700:], return_std=True)
    z = (y[700:] - mean) / np.hypot(std, np.sqrt(same.noise_ * same.scale_))
    assert np.std(z[X[700:, 0] < 0.5]) < 0.6  # e^(2·.25 - 1) is .61, of 1 in the middle
    assert model.log_evidence_ > same.log_evidence_ + 50


def test_intervals_are_wider_where_it_is_restless(fitted):
    model, X, y = fitted
    lower, upper = model.predict_interval(X[700:], 0.9)
    inside = (lower <= y[700:]) & (y[700:] <= upper)
    assert abs(inside.mean() - 0.9) < 4 * np.sqrt(0.09 / 200)
    loud = X[700:, 0] > 0.8
    assert np.median((upper - lower)[loud]) > 2 * np.median((upper - lower)[X[700:, 0] < 0.2])


def test_draws_have_the_deviations_of_predictions(fitted):
    model, X, _ = fitted
    _, std = model.predict(X[700:720], return_std=True)
    drawn = model.sample_y(X[700:720], 4000, random_state=0)
    assert_allclose(drawn.std(axis=1), std, rtol=5 / np.sqrt(2 * 4000))


def test_left_out_rows_have_deviations_of_their_place(fitted):
    """What calibrates intervals is dimensionless: as large on either side."""
    model, _, _ = fitted
    solution = model._solution_
    from zonal.model.unseen import left_out

    observed = solution.part.observations
    found = left_out(solution.part, observed, solution.part.joint.process.features)
    z = (found.residual / found.std)[:, 0]
    place = solution.part.joint.process.rows[observed.places][:, 0]
    for side in (place < 0.5, place >= 0.5):
        assert_allclose(np.sqrt(np.mean(z[side] ** 2)), 1, atol=4 / np.sqrt(2 * side.sum()))


def test_few_rows_and_who_wants_it_stay_the_same_everywhere(fitted):
    _, X, y = fitted
    assert_allclose(zonal.NeighborKriging().fit(X[:299], y[:299]).amplitude_at(X[:5]), 1)
    same = zonal.NeighborKriging(amplitude=None).fit(X, y)
    assert_allclose(same.amplitude_at(X[:5]), 1)
    with pytest.raises(ValueError, match=r"amplitude='yes' of NeighborKriging must be \"auto\""):
        zonal.NeighborKriging(amplitude="yes").fit(X, y)


@pytest.mark.parametrize("model", [zonal.KernelRidge(None), zonal.KernelRidge(random_state=0)])
def test_kernel_ridge_has_it_too(fitted, model):
    _, X, y = fitted
    model.fit(X[:700], y[:700])
    _, std = model.predict(np.array([[0.1, 0.5], [0.9, 0.5]]), return_std=True)
    assert std[1] > 2 * std[0]


def test_classes_and_known_errors_do_not(fitted):
    _, X, y = fitted
    labels = zonal.KernelRidgeClassifier(local=zonal.NeighborKriging()).fit(X[:400], y[:400] > 5)
    assert labels._solution_.part.found.amplitude is None
    errors = zonal.KernelRidge(random_state=0)
    errors.fit(X[:700], y[:700], noise_variance=np.full(700, 0.01))
    assert errors._solution_.part.found.amplitude is None


def test_rows_at_one_place_have_the_deviation_of_that_place():
    y = np.random.default_rng(0).standard_normal(320)
    model = zonal.NeighborKriging(warp="auto").fit(np.ones((320, 2)), y)
    assert_allclose(model.predict(np.ones((1, 2))), y.mean())
    assert_allclose(model.amplitude_at(np.ones((1, 2))), 1)


def test_a_kernel_that_is_given_stays_the_same_everywhere(fitted):
    _, X, y = fitted
    given = zonal.NeighborKriging(zonal.Matern(1.5, 0.2), noise=0.05)
    assert_allclose(given.fit(X, y).amplitude_at(X[:5]), 1)
    assert_allclose(given.warped(X[:5]), X[:5])
