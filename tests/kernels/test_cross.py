"""The kernel of the radii that belongs to each degree."""

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import binom, eval_chebyt, eval_gegenbauer

import zonal
from tests.naive import paper_radial
from zonal.polynomials import harmonic_dimension
from zonal.theory import gegenbauer


def bell(radii):
    """Radial functions of a user's own expansion in three dimensions."""
    return np.exp(-np.square(radii))[:, None, None] / (1.0 + np.arange(3)[:, None] + np.arange(2))


KERNELS = [
    zonal.Gaussian(1.3),
    zonal.Exponential(1.5),
    zonal.Polynomial(4, 0.5, 1.0),
    zonal.DotProduct(np.cosh),
    zonal.NTK(1),
    zonal.Matern(0.5),
    zonal.Matern(1.5, 0.7),
    zonal.Matern(0.8),
    zonal.RationalQuadratic(0.8, 1.5),
    zonal.Gaussian(2.0) * zonal.NTK(1),
    zonal.Matern(2.5) * zonal.Polynomial(2),
    2 * zonal.Gaussian(1.0) + 0.5 * zonal.RationalQuadratic(),
    zonal.RotationInvariant(lambda r, s, cos: 1 / (1 + r**2 + s**2 - 2 * r * s * cos)),
]


def integral(kernel, dim, degree, r, s):
    """α_ℓ E[k(r, s, t) P_ℓ(t)] by adaptive quadrature in the angle, where kernels are smooth."""

    def polynomial(t):
        if dim == 2:
            return eval_chebyt(degree, t)
        return eval_gegenbauer(degree, dim / 2 - 1, t) / binom(degree + dim - 3, degree)

    def integrand(angle):
        cos = math.cos(angle)
        value = kernel.profile(np.array(r), np.array(s), np.array(cos))
        return float(value) * polynomial(cos) * math.sin(angle) ** (dim - 2)

    total = math.sqrt(math.pi) * math.gamma((dim - 1) / 2) / math.gamma(dim / 2)
    value = quad(integrand, 0, math.pi, epsabs=1e-13, epsrel=1e-12, limit=500)[0]
    return harmonic_dimension(degree, dim) * value / total


@pytest.mark.parametrize("dim", [2, 3, 4, 9])
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_adaptive_quadrature(kernel, dim):
    """Equal radii, where Matérn kernels are not smooth, small ones and large ones."""
    radii, others = np.array([0.3, 1.0]), np.array([1.0, 2.5])
    values = kernel.degree_kernels(dim, 7, radii, others)
    assert values.shape == (8, 2, 2)
    for degree in (0, 1, 4, 7):
        expected = [[integral(kernel, dim, degree, r, s) for s in others] for r in radii]
        size = math.sqrt(harmonic_dimension(degree, dim))  # what magnifies rounding
        if isinstance(kernel, zonal.ArcCosine | zonal.NTK):
            size *= 1e5  # their series are integrals over the cosine, where √(1-t) is not smooth
        np.testing.assert_allclose(values[degree], expected, rtol=1e-9, atol=1e-11 * size)


def test_users_own_expansion():
    kernel = zonal.GeneralizedZonalKernel(3, bell, max_degree=2, n_radial=2)
    radii, others = np.array([0.0, 0.5]), np.array([1.0, 2.0])
    values = kernel.degree_kernels(3, 4, radii, others)
    h_r, h_s = kernel.coefficients(radii), kernel.coefficients(others)
    for degree in range(3):
        np.testing.assert_allclose(values[degree], h_r[:, degree] @ h_s[:, degree].T)
    np.testing.assert_array_equal(values[3:], 0)
    np.testing.assert_array_equal(values[1:, 0], 0)  # at the origin only degree 0 is left


@pytest.mark.parametrize("dim", [2, 3, 4, 9, 30])
def test_bessel_functions_are_the_sum_of_the_taylor_series(dim):
    """The paper's monomials, all that matter of them."""
    radii = np.array([0.0, 0.1, 1.0, 2.5])
    h = paper_radial(dim, 12, 40, lambda j: 1.0, radii, gaussian=True)
    expected = np.einsum("nli,mli->lnm", h, h)
    np.testing.assert_allclose(
        zonal.Gaussian(1.0).degree_kernels(dim, 12, radii, radii), expected, rtol=1e-11, atol=1e-200
    )


@pytest.mark.parametrize("dim", [1, 2, 3, 9])
@pytest.mark.parametrize(
    "kernel", [kernel for kernel in KERNELS if "NTK" not in repr(kernel)], ids=repr
)
def test_the_degrees_add_up_to_the_kernel(kernel, dim):
    """Σ_ℓ k_ℓ(r, s) P_ℓ(cos), at radii that differ, where the series converge quickly.

    Not so those of the Neural Tangent kernel, which depend on the angle only.
    """
    radii, others, cosines = np.array([0.2, 0.5]), np.array([1.0, 2.0]), [-1.0, 1.0]
    max_degree = 1 if dim == 1 else 40
    values = kernel.degree_kernels(dim, max_degree, radii, others)
    for cos in cosines if dim == 1 else [*cosines, 0.3]:
        total = sum(values[ell] * float(gegenbauer(ell, dim, cos)) for ell in range(max_degree + 1))
        exact = kernel.profile(radii[:, None], others, np.array(cos))
        np.testing.assert_allclose(total, exact, rtol=1e-7, atol=1e-12)


def test_the_line_has_an_even_and_an_odd_part():
    """Cosh and sinh for the Gaussian; halves of sum and difference for any other."""
    radii, others = np.array([0.0, 0.4, 3.0]), np.array([0.5, 2.0])
    outer = np.outer(radii, others)
    decay = np.exp(-np.add.outer(radii**2, others**2) / 2)
    values = zonal.Gaussian(1.0).degree_kernels(1, 1, radii, others)
    np.testing.assert_allclose(values[0], np.cosh(outer) * decay, rtol=1e-13)
    np.testing.assert_allclose(values[1], np.sinh(outer) * decay, rtol=1e-13, atol=1e-150)
    near = np.exp(-np.abs(radii[:, None] - others))
    far = np.exp(-np.abs(radii[:, None] + others))
    values = zonal.Laplacian(1.0).degree_kernels(1, 1, radii, others)
    np.testing.assert_allclose(values, [(near + far) / 2, (near - far) / 2], rtol=1e-12, atol=1e-16)


@pytest.mark.parametrize("bandwidth", [0.05, 1.0, 20.0])
@pytest.mark.parametrize("dim", [1, 2, 3, 400, 5000])
def test_no_overflow(bandwidth, dim):
    """(2/z)^{d/2-1} overflows and I_ν underflows at d = 400, not their product."""
    radii = np.array([0.0, 1e-160, 1e-8, 1.0, 20.0, 1e3])
    values = zonal.Gaussian(bandwidth).degree_kernels(dim, 1 if dim == 1 else 60, radii, radii)
    assert np.isfinite(values).all()
    assert (values >= 0).all()
    # All degrees together are k(x, x) = 1, so that none is above.
    assert (np.einsum("lnn->n", values) <= 1 + 1e-9).all()
    np.testing.assert_allclose(values[0, 0], np.exp(-((radii / bandwidth) ** 2) / 2), rtol=1e-9)
    assert (values[1:, 0] <= 1e-150).all()


@pytest.mark.parametrize("dim", [400, 784])
def test_high_dimension(dim):
    """The degrees add up to the kernel at cos = 1, for norms like those of standardised rows."""
    radii = np.sqrt(dim) * np.array([0.8, 1.0, 1.2])
    bandwidth = np.sqrt(dim)
    values = zonal.Gaussian(bandwidth).degree_kernels(dim, 60, radii, radii)
    exact = np.exp(-(np.subtract.outer(radii, radii) ** 2) / (2 * bandwidth**2))
    np.testing.assert_allclose(values.sum(axis=0), exact, rtol=1e-10)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_the_same_radii_twice(kernel, monkeypatch):
    """Kernels are symmetric, and half of the values tells the other; derivatives are not."""
    monkeypatch.setattr("zonal.kernels.cross.BLOCK", 2000)  # a few radii at a time
    radii = np.linspace(0.2, 2.0, 12)
    for values in (kernel.degree_kernels, kernel.degree_slopes):
        if values == kernel.degree_slopes and isinstance(kernel, zonal.RotationInvariant):
            continue  # known by its values only
        once, twice = values(3, 5, radii, radii), values(3, 5, radii, radii.copy())
        np.testing.assert_allclose(once, twice, rtol=1e-12, atol=1e-14)
