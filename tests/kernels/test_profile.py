"""Kernels as functions of both norms and the cosine, against their exact matrices."""

import math

import numpy as np
import pytest

import zonal
from zonal.kernels import Kernel

RNG = np.random.default_rng(0)
ROWS = np.vstack([np.zeros(4), RNG.standard_normal((20, 4)), [[0, 0, 3.0, 0], [0, 0, -2.0, 0]]])
OTHERS = np.vstack([RNG.standard_normal((7, 4)), np.zeros(4)])

KERNELS = [
    zonal.Gaussian(1.3),
    zonal.Exponential(2.0),
    zonal.Polynomial(3, 0.5, 2.0),
    zonal.Polynomial(2, 1.0, 0.0),
    zonal.DotProduct(np.cosh),
    zonal.DotProduct(lambda t: 2.0),
    zonal.ArcCosine(0),
    zonal.ArcCosine(1),
    zonal.ArcCosine(2),
    zonal.NTK(2),
    zonal.Matern(0.3, 2.0),
    zonal.Matern(1.5, 2.0),
    zonal.Matern(60.0, 2.0),
    zonal.Matern(np.inf, 2.0),
    zonal.Laplacian(2.0),
    zonal.RationalQuadratic(2.0, 0.7),
    zonal.RotationInvariant(lambda r, s, cos: 1 / (1 + r**2 + s**2 - 2 * r * s * cos)),
    zonal.Gaussian(2.0).expand(4, 6, 3),
    zonal.NTK(1).expand(4, 9),
    zonal.Matern(1.5) + 2 * zonal.Polynomial(2),
    zonal.Gaussian(2.0) * zonal.NTK(1),
]


def arguments(rows, others):
    """Norms and cosines; a row of zeros has cosine zero with everything."""
    r, s = np.linalg.norm(rows, axis=1)[:, None], np.linalg.norm(others, axis=1)
    sizes = r * s
    return r, s, np.divide(rows @ others.T, sizes, out=np.zeros_like(sizes), where=sizes > 0)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_profile_is_the_exact_matrix(kernel):
    K = kernel(ROWS, OTHERS)
    values = kernel.profile(*arguments(ROWS, OTHERS))
    assert values.shape == K.shape
    assert values.dtype == np.float64
    np.testing.assert_allclose(values, K, atol=1e-12 * np.abs(K).max())


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_profile_broadcasts(kernel):
    r, s = np.linspace(0.1, 2, 3)[:, None, None], np.linspace(0.2, 3, 4)[:, None]
    cos = np.linspace(-1, 1, 5)
    values = kernel.profile(r, s, cos)
    assert values.shape == (3, 4, 5)
    one_by_one = [
        kernel.profile(np.array([a]), np.array([b]), np.array([c]))[0]
        for a in r.ravel()
        for b in s.ravel()
        for c in cos
    ]
    np.testing.assert_allclose(values.ravel(), one_by_one, rtol=1e-12, atol=1e-14)


def test_profile_on_the_unit_sphere():
    units = ROWS[1:] / np.linalg.norm(ROWS[1:], axis=1, keepdims=True)
    kernel = zonal.Zonal(lambda t: 0.75 / (1.25 - t) ** 1.5)
    np.testing.assert_allclose(kernel.profile(*arguments(units, units)), kernel(units), rtol=1e-9)


@pytest.mark.parametrize(
    ("kernel", "of_distance"),
    [
        (zonal.Gaussian(1e-3), lambda u: np.exp(-(u**2) / 2)),
        (zonal.Laplacian(1e-3), lambda u: np.exp(-u)),
        (zonal.RationalQuadratic(1e-3, 1.0), lambda u: 1 / (1 + u**2 / 2)),
    ],
    ids=repr,
)
def test_near_points_far_out(kernel, of_distance):
    """At r = s = 1,024 the angle 2⁻²⁰ is a distance of 2⁻¹⁰; r² + s² - 2rs cos has none left."""
    r = np.array([1024.0])
    cos = np.array([1 - 2.0**-41])  # 1 - θ²/2, exactly a float
    apart = 2.0**-10
    value = kernel.profile(r, r, cos)
    np.testing.assert_allclose(value, of_distance(apart / 1e-3), rtol=1e-12)
    value = kernel.profile(r, r + apart, np.ones(1))
    np.testing.assert_allclose(value, of_distance(apart / 1e-3), rtol=1e-12)
    both = kernel.profile(r, r + apart, cos)
    np.testing.assert_allclose(both, of_distance(math.sqrt(2) * apart / 1e-3), rtol=1e-6)


def test_cosines_above_one_and_huge_norms():
    kernel = zonal.Laplacian(1.0)
    assert kernel.profile(np.ones(1), np.ones(1), np.array([1 + 1e-15]))[0] == 1
    huge = np.array([1e200])
    assert kernel.profile(huge, huge, np.ones(1))[0] == 1
    assert kernel.profile(huge, huge, -np.ones(1))[0] == 0


@pytest.mark.parametrize(
    "kernel",
    [zonal.Gaussian("median"), zonal.Matern(-1.0), -1 * zonal.Exponential(), zonal.NTK(0)],
    ids=repr,
)
def test_bad_parameters(kernel):
    with pytest.raises(ValueError, match=r"median|nu=|factor=|depth="):
        kernel.profile(np.ones(1), np.ones(1), np.ones(1))


def test_a_kernel_without_a_profile_says_so():
    class Own(Kernel):
        def terms(self):
            return []

        def matrix(self, rows, others):
            return np.ones((1, 1))

    with pytest.raises(NotImplementedError, match="Own does not define profile"):
        Own().profile(np.ones(1), np.ones(1), np.ones(1))
