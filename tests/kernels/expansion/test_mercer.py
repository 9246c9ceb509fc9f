"""Mercer's eigenfunctions under uniform directions and a distribution of the radii."""

import numpy as np
import pytest
from scipy.special import roots_genlaguerre

import zonal
from zonal.kernels.expansion.distribution import Distribution
from zonal.kernels.expansion.mercer import MercerModes


def normal_radii(dim, scale=1.0, n_nodes=40):
    """The norms of normal vectors: r² / (2 scale²) has a Gamma distribution."""
    nodes, weights = roots_genlaguerre(n_nodes, dim / 2 - 1)
    used = weights > 1e-300
    return Distribution(scale * np.sqrt(2 * nodes[used]), weights[used] / weights[used].sum())


@pytest.mark.parametrize("dim", [1, 2, 3, 4, 9])
def test_gaussian_kernel_and_normal_data(dim):
    """The one Mercer expansion in closed form: Hermite functions.

    On the line λ_n = √(2a/A) (b/A)^n with a = 1/(4σ²), b = 1/(2h²), A = a + b + √(a² + 2ab). In d
    dimensions eigenvalues are products, λ_0^d (b/A)^N with N = n_1 + … + n_d, and the harmonics of
    degree ℓ with radial index i belong to N = ℓ + 2i.
    """
    bandwidth, scale = 1.5, 0.7
    a, b = 1 / (4 * scale**2), 1 / (2 * bandwidth**2)
    whole = a + b + np.sqrt(a**2 + 2 * a * b)
    modes = MercerModes(zonal.Gaussian(bandwidth), dim, normal_radii(dim, scale), 8)
    found = modes.eigenvalues[:, :3]
    total = np.arange(modes.max_degree + 1)[:, None] + 2 * np.arange(3)
    expected = np.sqrt(2 * a / whole) ** dim * (b / whole) ** total
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-13)


@pytest.mark.parametrize("dim", [2, 3, 9])
def test_homogeneous_polynomials(dim):
    """⟨x,y⟩² = r² s² (1/d + (1 - 1/d) P_2): one function each for degrees 0 and 2."""
    radii = Distribution.interval(0.5, 2.0)
    fourth = (2**5 - 0.5**5) / (5 * 1.5)  # E[r⁴]
    modes = MercerModes(zonal.Polynomial(2, 1.0, 0.0), dim, radii, 4)
    expected = np.zeros_like(modes.values)
    expected[[0, 2], 0] = fourth / dim, fourth * (dim - 1) / dim
    np.testing.assert_allclose(modes.values, expected, atol=1e-13)
    assert (modes.values > 0).sum() == 2  # all others are zero, not noise
    np.testing.assert_allclose(modes.trace, fourth)


@pytest.mark.parametrize("dim", [1, 2, 3, 9])
@pytest.mark.parametrize(
    "kernel",
    [
        zonal.Gaussian(1.0),
        zonal.Exponential(2.0),
        zonal.Polynomial(3),
        zonal.RationalQuadratic(2.0),
        zonal.Gaussian(2.0) * zonal.RationalQuadratic(2.0),
    ],
    ids=repr,
)
def test_eigenvalues_sum_to_the_trace(kernel, dim):
    radii = Distribution.interval(0.2, 1.5)
    modes = MercerModes.until(kernel, dim, radii, lambda modes: modes.tail <= 1e-9 * modes.trace)
    exact = radii.weights @ kernel.diag(np.outer(radii.nodes, np.eye(dim)[0]))
    np.testing.assert_allclose(modes.trace, exact, rtol=1e-12)
    np.testing.assert_allclose(modes.values.sum(), exact, rtol=1e-8)
    np.testing.assert_allclose(modes.values.sum() / modes.trace, 1, rtol=1e-8)
    assert (np.diff(modes.values, axis=1) <= 0).all()
    # At every node, not only on average.
    np.testing.assert_allclose(modes.by_degree.sum(axis=0), modes.diagonal, rtol=1e-6)
    everything = np.full(modes.max_degree + 1, len(radii.nodes))
    np.testing.assert_allclose(modes.residual(everything), 0, atol=1e-6 * modes.diagonal.max())


@pytest.mark.parametrize("kernel", [zonal.Gaussian(1.0), zonal.Matern(1.5)], ids=repr)
@pytest.mark.parametrize("dim", [1, 2, 3, 9])
def test_functions_at_the_nodes(kernel, dim):
    """Orthogonal with norms μ, and Σ_i h_{ℓ,i}(r) h_{ℓ,i}(s) = k_ℓ(r, s)."""
    radii = Distribution.interval(0.1, 2.0, 24)
    modes = MercerModes(kernel, dim, radii, 5)
    places = np.argwhere(modes.values > 0)
    functions = modes.functions(places[:, 0], places[:, 1], 0.1, 2.0)
    h = functions(radii.nodes)
    at_nodes = kernel.degree_kernels(dim, modes.max_degree, radii.nodes, radii.nodes)
    # Rounding of the eigenvectors is magnified by μ^{-1/2} in the smallest functions.
    size = np.sqrt(modes.trace)
    for degree in range(modes.max_degree + 1):
        mine = places[:, 0] == degree
        values = modes.values[degree][: mine.sum()]
        safe = values > 1e-9 * modes.trace
        columns = h[:, mine][:, safe]
        gram = columns.T @ (radii.weights[:, None] * columns)
        np.testing.assert_allclose(gram, np.diag(values[safe]), atol=1e-6 * size**2)
        np.testing.assert_allclose(columns @ columns.T, at_nodes[degree], atol=2e-6 * size**2)


@pytest.mark.parametrize("kernel", [zonal.Gaussian(1.0), zonal.Laplacian(1.0)], ids=repr)
@pytest.mark.parametrize("dim", [1, 3])
def test_radii_between_and_outside_are_the_nystroem_extension(kernel, dim):
    radii = Distribution.interval(1.0, 2.0, 16)
    modes = MercerModes(kernel, dim, radii, 3)
    degrees, indices = np.array([0, 1, 1]), np.array([0, 0, 1])
    functions = modes.functions(degrees, indices, 1.0, 2.0)
    assert functions.low < 1.0
    assert functions.high > 2.0
    at = np.array([0.0, 1e-9, 0.5, 0.93, 1.0, 1.4142, 2.0, 2.07, 3.0, 100.0, 1e6])
    cross = kernel.degree_kernels(dim, modes.max_degree, at, radii.nodes)
    at_nodes = kernel.degree_kernels(dim, modes.max_degree, radii.nodes, radii.nodes)
    values = functions(at)
    assert np.isfinite(values).all()
    for column, (degree, index) in enumerate(zip(degrees, indices, strict=True)):
        root = np.sqrt(radii.weights)
        mu, vectors = np.linalg.eigh(at_nodes[degree] * np.outer(root, root))
        mu, u = mu[-1 - index], vectors[:, -1 - index] / root
        expected = cross[degree] @ (radii.weights * u) / np.sqrt(mu)
        expected *= np.sign(expected @ values[:, column])
        # The table is refined to 1e-8, or as far as kinks allow at its largest size.
        tolerance = 1e-7 if isinstance(kernel, zonal.Gaussian) else 1e-3
        np.testing.assert_allclose(values[:, column], expected, atol=tolerance)


def test_signs_are_fixed():
    """The largest entry of each eigenvector is positive."""
    radii = Distribution.interval(0.0, 2.0, 20)
    modes = MercerModes(zonal.Gaussian(0.5), 3, radii, 6)
    places = np.argwhere(modes.values > 1e-9)
    h = modes.functions(places[:, 0], places[:, 1], 0.0, 2.0)(radii.nodes)
    vectors = np.sqrt(radii.weights)[:, None] * h
    peaks = np.take_along_axis(vectors, np.abs(vectors).argmax(axis=0)[None], axis=0)
    assert (peaks > 0).all()


def test_one_radius_has_one_function():
    """h_ℓ = √k_ℓ(r, r), the coefficient of the Gegenbauer series on the sphere."""
    kernel, radii = zonal.Matern(2.5), Distribution.point(1.3)
    modes = MercerModes(kernel, 4, radii, 6)
    assert modes.values.shape == (7, 1)
    radial = modes.radial(6, 1, 1.3, 1.3)
    expected = kernel.degree_kernels(4, 6, radii.nodes, radii.nodes)[:, 0, 0]
    np.testing.assert_allclose(radial(np.array([1.3]))[0, :, 0] ** 2, expected, rtol=1e-12)
    # A rounding error of the radius changes nothing; another radius is extended.
    np.testing.assert_array_equal(radial(np.array([1.3 + 1e-9])), radial(np.array([1.3])))
    assert np.abs(radial(np.array([2.0])) - radial(np.array([1.3]))).max() > 0.1


def test_no_functions_at_all():
    """Where all eigenvalues of the degrees asked for are rounding, h is zero and not an error."""
    modes = MercerModes(zonal.Polynomial(2, 1.0, 0.0), 3, Distribution.interval(1.0, 2.0, 8), 2)
    functions = modes.functions(np.empty(0, np.int64), np.empty(0, np.int64), 1.0, 2.0)
    assert functions(np.array([0.5, 1.5, 3.0])).shape == (3, 0)


def not_positive(degree):
    """Positive at every degree but one, in three dimensions."""

    def f(r, s, cos):
        legendre = np.polynomial.legendre.legval(cos, np.eye(degree + 1)[degree])
        return np.exp(-(r**2 + s**2 - 2 * r * s * cos)) - 0.3 * (r * s) ** degree * legendre

    return f


@pytest.mark.parametrize("degree", [0, 1, 2, 5])
def test_functions_that_are_not_positive_definite_are_refused(degree):
    kernel = zonal.RotationInvariant(not_positive(degree))
    radii = Distribution.interval(0.0, 1.5)
    with pytest.raises(
        ValueError,
        match=rf"(?s)not positive definite.* at degree {degree} has the eigenvalue -",
    ):
        MercerModes(kernel, 3, radii, 8)


def test_overflow_is_named():
    with pytest.raises(ValueError, match=r"overflows at norms up to .*: scale the rows down"):
        MercerModes(zonal.Exponential(1.0), 3, Distribution.interval(0.0, 100.0), 4)


def test_degrees_grow_until_it_is_enough():
    radii = Distribution.point(1.0)
    asked = []

    def never(modes):
        asked.append(modes.max_degree)
        return False

    assert MercerModes.until(zonal.Laplacian(1.0), 3, radii, never, 40).max_degree == 40
    assert asked == [8, 16, 32]
    # A finite number of degrees is noticed, and a user's expansion has as many as it has.
    assert MercerModes.until(zonal.Polynomial(3), 3, radii, never, 1000).max_degree == 8
    expansion = zonal.Gaussian(1.0).expand(3, max_degree=11, n_radial=2)
    assert MercerModes.until(expansion, 3, radii, never).max_degree == 11
    assert MercerModes.until(zonal.Laplacian(1.0), 1, radii, never).max_degree == 1


def test_distribution_of_a_sample():
    """Means over bins of equal mass keep the mean, and weights are repeated rows."""
    rng = np.random.default_rng(0)
    norms, weights = rng.gamma(3.0, size=50), rng.integers(0, 4, 50)
    sample = Distribution.sample(norms, weights.astype(float), 8)
    np.testing.assert_allclose(sample.weights, 1 / 8)
    np.testing.assert_allclose(sample.nodes.mean(), np.average(norms, weights=weights))
    assert (np.diff(sample.nodes) > 0).all()
    repeated = rng.permutation(np.repeat(norms, weights))
    again = Distribution.sample(repeated, np.ones(len(repeated)), 8)
    np.testing.assert_allclose(sample.nodes, again.nodes, rtol=1e-12)
    # Where the bins hold whole rows, they are plain means.
    whole = Distribution.sample(norms[:40], np.ones(40), 8)
    np.testing.assert_allclose(whole.nodes, np.sort(norms[:40]).reshape(8, 5).mean(axis=1))
    one = Distribution.sample(norms[:1], np.ones(1), 8)
    np.testing.assert_array_equal(one.nodes, norms[0])


def test_mixed_distribution():
    one, other = Distribution.interval(0.0, 1.0, 4), Distribution.point(3.0)
    mixed = one.mixed(other)
    np.testing.assert_allclose(mixed.weights.sum(), 1)
    np.testing.assert_allclose(mixed.weights @ mixed.nodes, (0.5 + 3.0) / 2)
