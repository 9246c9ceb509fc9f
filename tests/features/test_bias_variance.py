"""What "auto" means, and that an explicit map looks at nothing."""

import numpy as np
import pytest
from scipy.special import ive

import zonal
from zonal.features.bias_variance import balanced_degree
from zonal.polynomials import gauss_gegenbauer
from zonal.theory import gegenbauer, harmonic_dimension


def sphere(n, dim, seed=0):
    X = np.random.default_rng(seed).standard_normal((n, dim))
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def gaussian_tail(degree, radius_squared):
    """1 - Σ_{ℓ≤q} (2ℓ+1) √(π/2z) e^{-z} I_{ℓ+½}(z): the Gaussian's tail on the sphere S²."""
    ell = np.arange(degree + 1)
    z = radius_squared
    return 1 - np.sum((2 * ell + 1) * np.sqrt(np.pi / (2 * z)) * ive(ell + 0.5, z))


def gaussian_energies(radius_squared, n_degrees=60):
    """(2ℓ+1) √(π/2z) e^{-z} I_{ℓ+½}(z): what each degree has of the Gaussian on the sphere S²."""
    ell, z = np.arange(n_degrees), radius_squared
    return (2 * ell + 1) * np.sqrt(np.pi / (2 * z)) * ive(ell + 0.5, z)


def test_degree_on_the_sphere():
    """All degrees above rounding where their harmonics, (q+1)², fit into 1,024."""
    features = zonal.GegenbauerFeatures(zonal.Gaussian(1.0), 1024).fit(sphere(100, 3))
    q, energies = features.max_degree_, gaussian_energies(1.0)
    assert features.n_radial_ == 1
    assert energies[q + 1 :].sum() <= 1e-15 < energies[q:].sum()
    few = zonal.GegenbauerFeatures(zonal.Gaussian(1.0), 64).fit(sphere(100, 3))
    assert few.max_degree_ == 7  # 64 harmonics


def test_ridge_sees_the_degrees_that_are_left_out():
    """A target in the degrees 8 to 12 at a bandwidth where these have 1e-8 to 1e-13 of the trace.

    Degree 7, where the tail is below 1e-6 of the trace, knows nothing of it.
    """
    X = sphere(2000, 3)
    y = sum(gegenbauer(ell, 3, X[:, 2]) for ell in range(8, 13))
    features = zonal.GegenbauerFeatures(zonal.Gaussian(1.0), 400, random_state=0)
    model = zonal.KernelRidge(features, local=None, random_state=0).fit(X[:1500], y[:1500])
    assert model.score(X[1500:], y[1500:]) > 0.99


@pytest.mark.parametrize(("dim", "bandwidth"), [(3, 0.05), (9, 0.4)])
def test_degree_where_harmonics_do_not_fit(dim, bandwidth):
    """Degrees far beyond the width only add noise."""
    X, kernel = sphere(600, dim), zonal.Gaussian(bandwidth)
    K = kernel(X)

    def error(**kwargs):
        Z = zonal.GegenbauerFeatures(kernel, 1024, random_state=0, **kwargs).fit_transform(X)
        return np.linalg.norm(Z @ Z.T - K)

    chosen = zonal.GegenbauerFeatures(kernel, 1024).fit(X).max_degree_
    assert error() < error(max_degree=2 * chosen)


def test_degree_leaves_no_column_dependent():
    """Degree 25 has a tail of 1e-3 but only 676 harmonics for 1,024 columns; degree 31 has all."""
    X = sphere(2000, 3)
    features = zonal.GegenbauerFeatures(zonal.Gaussian(0.15), 1024, random_state=0).fit(X)
    assert gaussian_tail(25, 0.15**-2) <= 1e-3
    assert features.max_degree_ == 31
    assert np.linalg.matrix_rank(features.transform(X)) == 1024


def test_order_off_the_sphere():
    """Without room for more, a tail of 1e-3."""
    X = np.random.default_rng(0).standard_normal((400, 3))
    kernel, norms = zonal.Gaussian(1.5), np.linalg.norm(X, axis=1)
    features = zonal.GegenbauerFeatures(kernel, 300, center=False).fit(X)
    q, s = features.max_degree_, features.n_radial_
    # All orders of the degrees up to q, from the paper's monomials.
    degree_tail = 1 - kernel.expand(3, q, 60).diag(X).mean()
    assert degree_tail <= 1.05e-3
    # The order's own tail is below 1e-3, and one function less would not do. Quantile bins of the
    # radii move the threshold by a few percent.
    energy = np.square(features.expansion_.radial(norms)).sum(axis=1).mean(axis=0)  # by order
    assert 1 - energy.sum() - degree_tail <= 1.05e-3
    assert 1 - energy[: s - 1].sum() - degree_tail > 0.95e-3


def test_order_follows_the_width():
    """A ridge below what order 1e-3 leaves out is within reach of more columns.

    Rows in the unit disc, as in the paper's Table 1, and λ = n/10⁵: a fixed order stays above an
    error of one half at any width.
    """
    rng = np.random.default_rng(2)
    X = rng.standard_normal((300, 2))
    X *= rng.random((300, 1)) ** 0.5 / np.linalg.norm(X, axis=1, keepdims=True)
    kernel = zonal.Gaussian(1.0)
    K, lam = kernel(X), 300 / 1e5
    errors, orders = [], []
    for width in (128, 512):
        features = zonal.GegenbauerFeatures(kernel, width, random_state=0).fit(X)
        errors.append(zonal.theory.spectral_error(K, features.transform(X), lam))
        orders.append(features.n_radial_)
    assert max(errors) < 0.5
    assert orders[0] < orders[1]
    fixed = zonal.GegenbauerFeatures(
        kernel, 2048, n_radial=2, radial_basis="optimal", random_state=0
    )
    assert zonal.theory.spectral_error(K, fixed.fit_transform(X), lam) > 0.5


def test_order_is_at_most_the_width():
    X = np.random.default_rng(0).standard_normal((100, 3))
    features = zonal.GegenbauerFeatures(zonal.Gaussian(0.3), 3, center=False).fit(X)
    assert features.n_radial_ <= 3
    assert features.transform(X).shape == (100, 3)


def test_useless_maps_warn():
    rng = np.random.default_rng(0)
    with pytest.warns(zonal.TruncationWarning, match="leave out"):
        zonal.GegenbauerFeatures(zonal.Gaussian(0.02), 128, radial_basis="taylor").fit(
            rng.standard_normal((100, 3))
        )
    with pytest.warns(zonal.TruncationWarning, match="standard deviation of .* times its value"):
        zonal.GegenbauerFeatures(zonal.Gaussian(1.0), 1024, max_degree=17).fit(
            rng.standard_normal((100, 9))
        )
    with pytest.warns(zonal.TruncationWarning, match="leave out"):
        zonal.GegenbauerFeatures(zonal.Gaussian(1.0), 1024, n_radial=1, radial_basis="taylor").fit(
            rng.standard_normal((100, 9))
        )


@pytest.mark.parametrize(
    ("kernel", "dim", "degree", "balanced"),
    # (q + 1)² ≤ 1,024 harmonics in three dimensions, (q + 1)(q + 2)(2q + 3)/6 in four.
    [(zonal.NTK(2), 3, 31, 6), (zonal.ArcCosine(1), 4, 13, 2), (zonal.Matern(1.5), 3, 31, 4)],
    ids=repr,
)
def test_slow_series_keep_the_harmonics_that_their_directions_see(kernel, dim, degree, balanced):
    """The degree of least bias and variance of independent directions has twice the error."""
    X = sphere(400, dim)
    K = kernel(X)
    lam = np.trace(K) / 1000

    def error(**options):
        features = zonal.GegenbauerFeatures(kernel, 1024, random_state=0, **options).fit(X)
        Z = features.transform(X)
        return features, zonal.theory.spectral_error(K, Z, lam)

    features, found = error()
    assert features.max_degree_ == degree
    assert found < 0.5 * error(max_degree=balanced)[1]


def test_slow_series_off_the_sphere_leave_directions_to_the_orders():
    """The directions are 1,024 over the orders, and the harmonics at most so many."""
    X = np.random.default_rng(0).standard_normal((400, 3))
    features = zonal.GegenbauerFeatures(zonal.Matern(2.5, 2.0), 1024, random_state=0).fit(X)
    q, s = features.max_degree_, features.n_radial_
    assert s > 1
    assert (q + 1) ** 2 <= 1024 / s < (q + 3) ** 2  # one order more or less where it is coarse
    K = features.kernel_(X)
    assert zonal.theory.spectral_error(K, features.transform(X), len(X) / 1000) < 0.5


@pytest.mark.parametrize("dim", [12])
def test_slow_series_balance_bias_and_variance(dim):
    """Against the definition: tail² + Var[φ²]/m for every degree by direct quadrature."""
    X = sphere(50, dim)
    features = zonal.GegenbauerFeatures(zonal.NTK(2), 1024).fit(X)
    c = zonal.NTK(2).expand(dim, max_degree=30).radial(np.ones(1))[0, :, 0]
    nodes, weights = gauss_gegenbauer(300, dim)
    losses = []
    for q in range(31):
        phi = sum(
            np.sqrt(harmonic_dimension(ell, dim)) * c[ell] * gegenbauer(ell, dim, nodes)
            for ell in range(q + 1)
        )
        mean = weights @ phi**2
        losses.append((3 - mean) ** 2 + (weights @ phi**4 - mean**2) / 1024)
    assert features.max_degree_ == int(np.argmin(losses))


def test_balanced_degree_grows_with_the_number_of_directions():
    c = zonal.NTK(2).expand(3, max_degree=200).radial(np.ones(1))[0]
    degrees = [balanced_degree(c, 3.0, 3, m) for m in (10, 1000, 100_000)]
    assert degrees[0] < degrees[1] < degrees[2]


def test_oblivious_map_sees_only_the_number_of_columns():
    X, Y = np.random.default_rng(0).standard_normal((2, 50, 4))
    features = zonal.GegenbauerFeatures(
        zonal.Gaussian(2.0),
        64,
        max_degree=6,
        n_radial=3,
        radial_basis="taylor",
        center=False,
        random_state=0,
    )
    one = features.fit(X).transform(Y)
    two = features.fit(100 * X[:1] + 7).transform(Y)
    np.testing.assert_array_equal(one, two)
    assert not features.center_.any()


def test_full_coefficient_needs_equal_norms_of_two_rows():
    X = 2 * sphere(10, 3)
    kwargs = {"kernel": zonal.Gaussian(), "max_degree": 4, "n_radial": 3, "n_components": 30}
    assert zonal.GegenbauerFeatures(**kwargs).fit(X).n_radial_ == 1
    assert zonal.GegenbauerFeatures(**kwargs).fit(X[:1]).n_radial_ == 3
    assert zonal.GegenbauerFeatures(**kwargs, radial_basis="taylor").fit(X).n_radial_ == 3
    X[0] *= 1.001
    assert zonal.GegenbauerFeatures(**kwargs).fit(X).n_radial_ == 3


def test_center():
    X = np.random.default_rng(0).standard_normal((100, 3)) + 5
    fit = {"n_components": 16, "random_state": 0}
    mean = X.mean(axis=0)
    assert np.allclose(zonal.GegenbauerFeatures("gaussian", **fit).fit(X).center_, mean)
    assert not zonal.GegenbauerFeatures(zonal.NTK(), **fit).fit(X).center_.any()
    assert not zonal.GegenbauerFeatures("gaussian", **fit).fit(sphere(9, 3)).center_.any()
    assert np.allclose(
        zonal.GegenbauerFeatures(zonal.NTK(), **fit, center=True).fit(X).center_, mean
    )
    own = zonal.GegenbauerFeatures("gaussian", **fit, center=[5, 5, 5]).fit(X)
    np.testing.assert_array_equal(own.center_, [5, 5, 5])
    Z = zonal.GegenbauerFeatures(zonal.Gaussian(2.0), 4096, random_state=0).fit_transform(X)
    K = zonal.Gaussian(2.0)(X)
    assert np.linalg.norm(Z @ Z.T - K) < 0.02 * np.linalg.norm(K)


@pytest.mark.parametrize("kernel", ["gaussian", "exponential", "polynomial", "arc_cosine", "ntk"])
def test_kernels_by_name(kernel):
    X = 0.5 * np.random.default_rng(0).standard_normal((100, 3))
    features = zonal.GegenbauerFeatures(kernel, 2048, random_state=0).fit(X)
    Z = features.transform(X)
    K = features.kernel_(X - features.center_)
    assert np.linalg.norm(Z @ Z.T - K) < 0.05 * np.linalg.norm(K)


def test_weights_count_as_repeated_rows():
    rng = np.random.default_rng(0)
    X, weight = rng.standard_normal((40, 3)), rng.integers(0, 4, 40)
    features = zonal.GegenbauerFeatures(n_components=32, random_state=0)
    weighted = features.fit(X, sample_weight=weight).transform(X)
    repeated = features.fit(np.repeat(X, weight, axis=0)).transform(X)
    np.testing.assert_allclose(weighted, repeated, atol=1e-10)


def test_own_expansion_is_used_as_it_is():
    own = zonal.Gaussian(2.0).expand(3, max_degree=4, n_radial=2)
    features = zonal.GegenbauerFeatures(own, 64).fit(np.ones((3, 3)))
    assert (features.max_degree_, features.n_radial_) == (4, 2)
    with pytest.raises(ValueError, match="dim=3"):
        zonal.GegenbauerFeatures(own, 64).fit(np.ones((3, 2)))


def test_zonal_kernel():
    X = sphere(100, 3)
    kernel = zonal.Zonal(lambda t: 0.75 / (1.25 - t) ** 1.5)
    Z = zonal.GegenbauerFeatures(kernel, 4096, random_state=0).fit_transform(X)
    assert np.linalg.norm(Z @ Z.T - kernel(X)) < 1e-3 * np.linalg.norm(kernel(X))
    with pytest.raises(ValueError, match="Normalizer"):
        zonal.GegenbauerFeatures(kernel).fit(X).transform(2 * X)
