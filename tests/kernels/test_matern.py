"""Matérn kernels against scikit-learn, finite sums and integrals."""

import math

import numpy as np
import pytest
import scipy.sparse as sp
from scipy import stats
from scipy.integrate import quad
from scipy.special import gamma, gammaln, kve, logsumexp
from sklearn.gaussian_process.kernels import Matern as Reference

import zonal
from zonal.kernels.shift_invariant import accurate_distances

RNG = np.random.default_rng(0)
X, Y = RNG.standard_normal((30, 4)), RNG.standard_normal((9, 4))
DISTANCES = np.r_[0.0, np.geomspace(1e-9, 40, 80)]


def of_distance(kernel, distances):
    """k at given distances, between points of a line."""
    return kernel([[0.0]], np.asarray(distances, dtype=float)[:, None])[0]


@pytest.mark.parametrize("nu", [0.05, 0.5, 0.7, 1.0, 1.5, 2.2, 2.5, 7.3, 20.0, 45.0, np.inf])
@pytest.mark.parametrize("length_scale", [0.4, 3.0])
def test_scikit_learn(nu, length_scale):
    kernel, reference = zonal.Matern(nu, length_scale), Reference(length_scale, nu=nu)
    # It adds eps to the distance, of which the power 2ν is seen by a rough kernel.
    far = np.linalg.norm(X[:, None] - Y, axis=2).min()
    assert far > 0.1
    np.testing.assert_allclose(kernel(X, Y), reference(X, Y), rtol=1e-11, atol=1e-300)


def half_integer(p, distances):
    """ν = p + 1/2: e^{-t} p!/(2p)! Σ_i (p+i)!/(i!(p-i)!) (2t)^{p-i}, a sum of positive terms."""
    t = math.sqrt(2 * p + 1) * np.asarray(distances)[:, None]
    i = np.arange(p + 1)
    logs = gammaln(p + i + 1) - gammaln(i + 1) - gammaln(p - i + 1) + (p - i) * np.log(2 * t)
    return np.exp(logsumexp(logs, axis=1) - t[:, 0] + gammaln(p + 1) - gammaln(2 * p + 1))


@pytest.mark.parametrize("p", [0, 1, 2, 3, 10, 29, 30, 31, 100, 400])
def test_half_integers(p):
    distances = DISTANCES[1:]
    values = of_distance(zonal.Matern(p + 0.5), distances)
    # Logarithms of factorials up to (2p)! are rounded to 2p log(2p) eps, here and there.
    np.testing.assert_allclose(values, half_integer(p, distances), rtol=1e-12 * (1 + p / 10))


@pytest.mark.parametrize("nu", [0.8, 3.3, 29.9, 30.1, 77.7, 250.0])
@pytest.mark.parametrize("distance", [0.01, 0.3, 1.0, 2.5])
def test_mixture_of_gaussians(nu, distance):
    """k = E exp(-u²/(2s)) with s of the Gamma distribution of mean 1 and shape ν."""
    density = stats.gamma(nu, scale=1 / nu)

    def integrand(log_s):
        s = math.exp(log_s)
        return math.exp(-(distance**2) / (2 * s)) * density.pdf(s) * s

    end = 20 / math.sqrt(nu)  # twenty standard deviations of log s
    expected, error = quad(integrand, -end, end, points=[0], epsabs=0, epsrel=1e-12, limit=200)
    assert error < 1e-11
    assert of_distance(zonal.Matern(nu), [distance])[0] == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("nu", [0.1, 0.4, 0.9])
def test_rough_kernels_near_zero(nu):
    """1 - k = Γ(1-ν)/Γ(1+ν) (t/2)^{2ν} - (t/2)²/(1-ν) + O(t^{2+2ν})."""
    distances = np.geomspace(1e-12, 1e-5, 20)
    half = math.sqrt(2 * nu) * distances / 2
    expected = gamma(1 - nu) / gamma(1 + nu) * half ** (2 * nu) - half**2 / (1 - nu)
    gap = 1 - of_distance(zonal.Matern(nu), distances)
    # The logarithms of which k is made are of size 25, so k is known to 25 eps = 6e-15.
    np.testing.assert_allclose(gap, expected, rtol=1e-9, atol=1e-14)


@pytest.mark.parametrize("nu", [2.0, 5.0, 29.0, 31.0, 300.0])
def test_smooth_kernels_near_zero(nu):
    """1 - k = ν u²/(2(ν-1)) + O(u⁴ log u)."""
    distances = np.geomspace(1e-5, 1e-4, 10)
    expected = nu * distances**2 / (2 * (nu - 1))
    gap = 1 - of_distance(zonal.Matern(nu), distances)
    np.testing.assert_allclose(gap, expected, rtol=2e-6, atol=2e-13)


@pytest.mark.parametrize("nu", [1e-3, 0.3, 0.5, 1.0, 2.5, 30.0, 31.0, 1e3, 1e8, 1e300, np.inf])
def test_range_at_all_distances(nu):
    """From 1 down to 0, without a warning, from the smallest to the largest distances."""
    distances = np.r_[0.0, np.geomspace(1e-200, 1e100, 400)]
    values = of_distance(zonal.Matern(nu), distances)
    assert values[0] == 1
    assert values[-1] == 0
    assert (np.diff(values) <= 1e-13).all()
    assert ((values >= 0) & (values <= 1)).all()


def test_large_nu_tends_to_the_gaussian():
    """The first correction is of the order u⁴/ν."""
    distances = np.linspace(0, 3, 50)
    gaussian = of_distance(zonal.Gaussian(), distances)
    for nu in (1e3, 1e6, 1e9):
        gap = np.abs(of_distance(zonal.Matern(nu), distances) - gaussian).max()
        assert gap < 1 / nu + 1e-15
    np.testing.assert_allclose(of_distance(zonal.Matern(np.inf), distances), gaussian, atol=1e-15)


def test_laplacian_is_the_roughest_closed_form():
    kernel = zonal.Laplacian(1.7)
    expected = np.exp(-np.linalg.norm(X[:, None] - Y, axis=2) / 1.7)
    np.testing.assert_allclose(kernel(X, Y), expected, rtol=1e-12)
    assert kernel.get_params() == {"length_scale": 1.7}
    assert repr(kernel) == "Laplacian(length_scale=1.7)"
    assert kernel.shift_invariant
    np.testing.assert_array_equal(zonal.Matern(0.5, 1.7)(X, Y), kernel(X, Y))


def test_equal_rows_are_at_distance_zero_wherever_they_lie():
    """1 - k of ν = 0.1 is a quarter at the distance 1e-7 that the squares would leave."""
    far = X + 1e3
    for rows in (far, far.astype(np.float32), sp.csr_array(far)):
        kernel = zonal.Matern(0.1)
        np.testing.assert_array_equal(np.diag(kernel(rows, rows.copy())), 1)
        np.testing.assert_array_equal(np.diag(kernel(rows)), 1)


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_distances_of_near_rows(container):
    near = X + 1e-9 * RNG.standard_normal(X.shape)
    distances = accurate_distances(container(X), container(near))
    expected = np.linalg.norm(X[:, None] - near, axis=2)
    # A difference of numbers of size one is known to 1e-16, a distance of 1e-9 thus to 1e-7; here
    # both sides subtract the same numbers.
    np.testing.assert_allclose(distances, expected, rtol=1e-9)


def test_terms():
    (term,) = zonal.Matern(1.2, 2.0).terms()
    assert term.slow
    np.testing.assert_array_equal(term.total(np.array([0.0, 3.0])), 1)
    np.testing.assert_array_equal(term.scaled(2.5).total(np.array([0.0, 3.0])), 2.5)
    with pytest.raises(ValueError, match=r'Matern\(.*no Taylor series.*radial_basis="optimal"'):
        term.radial(3, 4, 2)
    radii = np.array([0.0, 0.5, 2.0])
    for left, right in zip(
        zonal.Matern(np.inf, 2.0).terms(), zonal.Gaussian(2.0).terms(), strict=True
    ):
        np.testing.assert_array_equal(left.radial(3, 5, 3)(radii), right.radial(3, 5, 3)(radii))


def test_bessel_functions_are_tabulated(monkeypatch):
    """Quadratures ask for millions of values; a table of K_ν takes some hundreds."""
    asked = []

    def counted(nu, t):
        asked.append(np.size(t))
        return kve(nu, t)

    monkeypatch.setattr("zonal.kernels.matern.kve", counted)
    nu, distances = 0.8123, np.geomspace(1e-7, 30, 20_000)
    values = of_distance(zonal.Matern(nu), distances)
    assert 0 < sum(asked) < len(distances) / 10
    t = math.sqrt(2 * nu) * distances
    expected = 2 ** (1 - nu) / gamma(nu) * t**nu * kve(nu, t) * np.exp(-t)
    # Logarithms as large as 25 or t, and a Chebyshev series that ends at 1e-15.
    np.testing.assert_allclose(values, expected, rtol=1e-13, atol=0)
