"""Kernels of space and time against closed forms, other libraries and finite differences."""

import math

import numpy as np
import pytest
from scipy.special import ive
from sklearn.gaussian_process.kernels import ExpSineSquared

import zonal

RNG = np.random.default_rng(0)
PLANE = np.column_stack([RNG.uniform(0, 3, (60, 2)), RNG.uniform(0, 5, 60)])
GLOBE = np.column_stack(
    [
        zonal.datasets.to_sphere(RNG.uniform(-90, 90, 60), RNG.uniform(0, 360, 60)),
        RNG.uniform(0, 5, 60),
    ]
)
TIMES = [
    zonal.Cauchy(0.7, power=1.3, decay=0.4),
    zonal.Cauchy(0.7),
    zonal.RationalQuadratic(0.8, alpha=0.3),
    zonal.Matern(0.5, 1.0),
    zonal.Matern(1.5, 0.4),
    zonal.Matern(2.5, 2.0),
    zonal.Matern(0.8, 2.0),
    zonal.Gaussian(0.9),
    zonal.Periodic(2.0, 0.5),
    zonal.Periodic(2.0, 1.5, nu=1.5),
    zonal.Matern(1.5, 3.0) * zonal.Periodic(1.0, 0.8),
]


def gneiting(h, u, nu_kernel, a, alpha, beta, tau, dim):
    """Gneiting (2002), equation (14) with any mixture φ: σ² = 1, ψ = (a |u|^{2α} + 1)^β."""
    growth = a * np.abs(u) ** (2 * alpha) + 1
    wide = growth ** (beta / 2)
    return growth ** (-tau - beta * dim / 2) * nu_kernel(h / wide)


def test_gneiting_class_is_that_of_the_paper() -> None:
    a, alpha, beta, tau, scale = 1.7, 0.35, 0.6, 0.8, 0.5
    time = zonal.Cauchy(a ** (-1 / (2 * alpha)), power=2 * alpha, decay=tau)
    kernel = zonal.SpaceTime(zonal.Matern(0.5, scale), time, beta)
    h = np.linalg.norm(PLANE[:, None, :2] - PLANE[None, :, :2], axis=-1)
    u = PLANE[:, None, 2] - PLANE[None, :, 2]
    expected = gneiting(h, u, lambda r: np.exp(-r / scale), a, alpha, beta, tau, 2)
    np.testing.assert_allclose(kernel(PLANE), expected, rtol=1e-12)


def test_separable_is_the_product() -> None:
    space, time = zonal.Matern(1.5, [0.5, 2.0]), zonal.Periodic(2.0, 0.6)
    kernel = zonal.SpaceTime(space, time)
    expected = space(PLANE[:, :2]) * time(PLANE[:, 2:])
    np.testing.assert_allclose(kernel(PLANE), expected, rtol=1e-12)
    almost = zonal.SpaceTime(space, time, 1e-9)
    np.testing.assert_allclose(almost(PLANE), expected, rtol=1e-6)


@pytest.mark.parametrize("time", TIMES, ids=repr)
@pytest.mark.parametrize("beta", [0.0, 0.4, 1.0])
@pytest.mark.parametrize("rows", [PLANE, GLOBE], ids=["plane", "globe"])
def test_positive_definite(time, beta, rows) -> None:
    for space in (zonal.Matern(0.5, 0.8), zonal.Gaussian(0.8), zonal.Cauchy(0.5, 1.0)):
        matrix = zonal.SpaceTime(space, time, beta)(rows)
        np.testing.assert_allclose(np.diag(matrix), 1.0)
        assert np.linalg.eigvalsh(matrix).min() > -1e-12 * len(matrix)


@pytest.mark.parametrize("time", TIMES, ids=repr)
@pytest.mark.parametrize("beta", [0.0, 0.7])
def test_gradients_are_finite_differences(time, beta) -> None:
    kernel = zonal.SpaceTime(zonal.Matern(1.5, 0.9), time, beta)
    for one in (kernel, 2.0 * kernel + zonal.Matern(2.5, [1.0, 2.0, 3.0])):
        gradient = one.gradient(PLANE[:8], PLANE[8:20])
        for column in range(3):
            step = np.zeros(3)
            step[column] = 1e-6
            change = one(PLANE[:8] + step, PLANE[8:20]) - one(PLANE[:8] - step, PLANE[8:20])
            np.testing.assert_allclose(gradient[..., column], change / 2e-6, atol=2e-8)
        coef = RNG.standard_normal((12, 2))
        contracted = one.contract_gradient(PLANE[:8], PLANE[8:20], coef)
        np.testing.assert_allclose(contracted, np.einsum("nmd,mt->ntd", gradient, coef), atol=1e-12)


def test_periodic_is_scikit_learns() -> None:
    times = RNG.uniform(-30, 30, (20, 1))
    theirs = ExpSineSquared(length_scale=0.7, periodicity=3.0)(times)
    np.testing.assert_allclose(zonal.Periodic(3.0, 0.7)(times), theirs, rtol=1e-9)
    as_matern = zonal.Periodic(3.0, 0.7, nu=1.5)(times)
    angle = 2 * np.pi * times / 3.0
    circle = np.hstack([np.cos(angle), np.sin(angle)])
    np.testing.assert_allclose(as_matern, zonal.Matern(1.5, 0.7)(circle), rtol=1e-9)


def test_gradient_of_a_periodic_kernel() -> None:
    times = RNG.uniform(0, 3, (10, 1))
    for kernel in (zonal.Periodic(3.0, 0.7), zonal.Periodic(3.0, 0.7, nu=1.5)):
        gradient = kernel.gradient(times, times[:4] + 0.3)[..., 0]
        change = kernel(times + 1e-6, times[:4] + 0.3) - kernel(times - 1e-6, times[:4] + 0.3)
        np.testing.assert_allclose(gradient, change / 2e-6, atol=2e-9)


def test_the_same_at_all_times() -> None:
    space = zonal.Matern(1.5, 0.7)
    kernel = zonal.SpaceTime(space, None)
    np.testing.assert_allclose(kernel(PLANE), space(PLANE[:, :2]), rtol=1e-12)
    gradient = kernel.gradient(PLANE[:5], PLANE[5:9])
    np.testing.assert_allclose(gradient[..., :2], space.gradient(PLANE[:5, :2], PLANE[5:9, :2]))
    assert not gradient[..., 2].any()


@pytest.mark.parametrize("time", [zonal.Cauchy(0.7), zonal.Periodic(2.0, 0.5), None], ids=repr)
@pytest.mark.parametrize("beta", [0.0, 0.7])
def test_a_field_that_travels_is_at_rest_between_places_that_are_moved_back(time, beta) -> None:
    beta = 0.0 if time is None else beta
    velocity = [0.4, -1.1]
    still = zonal.SpaceTime(zonal.Matern(1.5, [0.5, 0.9]), time, beta)
    travels = zonal.SpaceTime(zonal.Matern(1.5, [0.5, 0.9]), time, beta, velocity=velocity)
    moved = PLANE.copy()
    moved[:, :2] -= moved[:, 2:] * velocity
    np.testing.assert_allclose(travels(PLANE), still(moved), rtol=1e-12)
    gradient = travels.gradient(PLANE[:8], PLANE[8:20])
    for column in range(3):
        step = 1e-6 * np.eye(3)[column]
        change = travels(PLANE[:8] + step, PLANE[8:20]) - travels(PLANE[:8] - step, PLANE[8:20])
        np.testing.assert_allclose(gradient[..., column], change / 2e-6, atol=2e-8)
    assert travels.resolve(PLANE).velocity == velocity


def test_features_of_a_field_that_travels() -> None:
    kernel = zonal.SpaceTime(zonal.Gaussian(1.0), zonal.Gaussian(2.0), velocity=(0.1, 0.0, 0.2))
    with pytest.raises(ValueError, match="Subtract velocity times time"):
        zonal.HarmonicFeatures(2.0 * kernel).fit(GLOBE)
    with pytest.raises(ValueError, match="no velocity"):
        zonal.ProductFeatures(kernel).fit(GLOBE)
    Z = zonal.NystroemFeatures(kernel, 60, random_state=0).fit_transform(GLOBE)
    np.testing.assert_allclose(Z @ Z.T, kernel(GLOBE), atol=1e-6)


def test_december_lies_beside_january() -> None:
    kernel = zonal.Periodic(12.0)
    assert kernel([[12.0]], [[1.0]]) == pytest.approx(kernel([[1.0]], [[2.0]]).item())
    large = 12.0 * 2**30
    assert kernel([[large + 1.0]], [[0.0]]) == pytest.approx(kernel([[1.0]], [[0.0]]).item())


def test_harmonics_of_the_circle_are_exact() -> None:
    times, scale = RNG.uniform(0, 50, (40, 1)), 0.6
    features = zonal.HarmonicFeatures(zonal.Periodic(7.0, scale), 41).fit(times)
    Z = features.transform(times)
    np.testing.assert_allclose(Z @ Z.T, zonal.Periodic(7.0, scale)(times), atol=1e-12)
    order = np.sort(np.concatenate([[0], np.repeat(np.arange(1, 21), 2)]))
    expected = ive(order, scale**-2)[: features.n_columns]
    np.testing.assert_allclose(features.eigenvalues_, expected, atol=1e-14)
    step = 1e-6
    change = features.transform(times + step) - features.transform(times - step)
    np.testing.assert_allclose(features.gradient(times)[..., 0], change / (2 * step), atol=1e-6)
    np.testing.assert_allclose(features.kernel_diag(times), 1.0)


def test_features_of_a_separable_kernel() -> None:
    kernel = zonal.SpaceTime(zonal.Gaussian(1.0), zonal.Periodic(5.0, 1.0))
    Z = zonal.ProductFeatures(kernel, n_components=600).fit_transform(GLOBE)
    np.testing.assert_allclose(Z @ Z.T, kernel(GLOBE), atol=1e-5)
    with pytest.raises(ValueError, match=r"interaction=0.*HarmonicFeatures take it"):
        zonal.ProductFeatures(zonal.SpaceTime(zonal.Matern(), zonal.Matern(), 0.5)).fit(GLOBE)


def test_features_of_a_season_that_changes() -> None:
    """A product of kernels of time: each factor has its harmonics."""
    rng = np.random.default_rng(3)
    X = np.column_stack([rng.uniform(0, 1, (200, 2)), rng.uniform(0, 36, 200)])
    time = zonal.Periodic(12.0, 1.0) * zonal.Gaussian(24.0)
    kernel = zonal.SpaceTime(zonal.Gaussian(0.5), time)
    Z = zonal.ProductFeatures(kernel, 1500).fit_transform(X)
    np.testing.assert_allclose(Z @ Z.T, kernel(X), atol=0.01)


def test_exact_solutions_take_them() -> None:
    kernel = zonal.SpaceTime(zonal.Matern(1.5, 1.0), zonal.Cauchy(1.0), 0.5)
    y = np.sin(PLANE).sum(axis=1)
    model = zonal.ExactKernelRidge(kernel, 1e-3, fit_intercept=False).fit(PLANE, y)
    weights = np.linalg.solve(kernel(PLANE) + 1e-3 * np.eye(len(y)), y)
    np.testing.assert_allclose(model.predict(GLOBE[:, 1:]), kernel(GLOBE[:, 1:], PLANE) @ weights,
                               rtol=1e-4)  # fmt: skip


def test_cauchy_is_rational_quadratic_where_it_is_smooth() -> None:
    cauchy = zonal.Cauchy(1.3, power=2.0, decay=0.4)
    other = zonal.RationalQuadratic(1.3 / math.sqrt(0.8), alpha=0.4)
    np.testing.assert_allclose(cauchy(PLANE), other(PLANE), rtol=1e-12)
    np.testing.assert_allclose(cauchy.gradient(PLANE), other.gradient(PLANE), atol=1e-12)


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (zonal.SpaceTime(zonal.Polynomial(), zonal.Matern()), "space=Polynomial"),
        (zonal.SpaceTime(zonal.Matern(), "month"), "time='month'"),
        (zonal.SpaceTime(zonal.Matern(), zonal.Matern(), 1.5), "from 0 to 1"),
        (zonal.SpaceTime(zonal.Matern(), zonal.Matern() + zonal.Matern(), 0.5), "product of these"),
        (zonal.SpaceTime(zonal.Matern() * zonal.Matern(), zonal.Matern(), 0.5), "space=Product"),
        (zonal.SpaceTime(zonal.Matern(), None, velocity="east"), "velocity='east'"),
        (zonal.SpaceTime(zonal.Matern(), None, velocity=[1.0, np.nan]), "a finite number for each"),
        (
            zonal.SpaceTime(zonal.Matern(), None, velocity=[[1.0], [2.0, 3.0]]),
            "a finite number for",
        ),
        (zonal.SpaceTime(zonal.Matern(), None, velocity=[1.0]), "each of the 2 columns"),
        (zonal.SpaceTime(zonal.Matern(), None, velocity=1.0), "each of the 2 columns"),
        (zonal.Periodic(0.0), "period=0.0"),
        (zonal.Cauchy(power=2.5), "at most 2"),
    ],
)
def test_bad_parameters_are_named(kernel, message) -> None:
    with pytest.raises(ValueError, match=message):
        kernel(PLANE)


def test_columns_are_checked() -> None:
    with pytest.raises(ValueError, match="one column, a time, but the rows have 3"):
        zonal.Periodic(1.0)(PLANE)
    with pytest.raises(ValueError, match="the rows have 1 column"):
        zonal.SpaceTime(zonal.Matern(), zonal.Matern())(PLANE[:, :1])
    with pytest.raises(ValueError, match="no expansion in harmonics: HarmonicFeatures"):
        zonal.GegenbauerFeatures(zonal.SpaceTime(zonal.Matern(), zonal.Matern())).fit(PLANE)


def test_precision_stays() -> None:
    kernel = zonal.SpaceTime(zonal.Matern(1.5, "median"), zonal.Periodic(1.0), 0.3)
    resolved = kernel.resolve(PLANE)
    assert resolved.space.length_scale > 0
    single = resolved(PLANE.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, resolved(PLANE), atol=1e-5)
