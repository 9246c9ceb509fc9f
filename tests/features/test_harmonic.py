"""Harmonic features: the largest Mercer eigenfunctions."""

import pickle
import warnings

import numba
import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import eigsh
from scipy.special import eval_gegenbauer, roots_legendre
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

import zonal
from zonal.polynomials import harmonic_dimension
from zonal.rows import threads

X = np.random.default_rng(0).standard_normal((200, 3))
SPHERE = X / np.linalg.norm(X, axis=1, keepdims=True)


def on_sphere(n, dim, seed=0):
    rows = np.random.default_rng(seed).standard_normal((n, dim))
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def whitened_error(K, Z, lam=0.01):
    """‖(K+λ)^{-1/2} (Z Zᵀ - K) (K+λ)^{-1/2}‖, and the least that any Z of this width has."""
    values, vectors = np.linalg.eigh(K)
    root = vectors / np.sqrt(values.clip(0) + lam)
    error = np.abs(np.linalg.eigvalsh(root.T @ (Z @ Z.T - K) @ root)).max()
    first_left_out = values[-Z.shape[1] - 1]
    return error, first_left_out / (first_left_out + lam)


def relative_error(K, Z):
    return np.linalg.norm(Z @ Z.T - K) / np.linalg.norm(K)


def inverse_multiquadric(r, s, cos):
    return 1 / np.sqrt(1 + r**2 + s**2 - 2 * r * s * cos)


def bell(radii):
    """Radial functions of a user's own expansion."""
    return np.exp(-np.square(radii))[:, None, None] / (1.0 + np.arange(4)[:, None] + np.arange(2))


KERNELS = [
    zonal.Gaussian(1.5),
    zonal.Exponential(2.0),
    zonal.Polynomial(3),
    zonal.DotProduct(np.cosh),
    zonal.ArcCosine(0),
    zonal.ArcCosine(1),
    zonal.ArcCosine(2),
    zonal.NTK(2),
    zonal.Matern(1.5),
    zonal.Laplacian(1.0),
    zonal.RationalQuadratic(),
    zonal.Zonal(np.exp),
    zonal.RotationInvariant(inverse_multiquadric),
    zonal.Gaussian(1.0) + zonal.NTK(1),
    zonal.Gaussian(2.0) * zonal.ArcCosine(1),
    2 * zonal.Gaussian(1.0) * zonal.Polynomial(1),
    zonal.GeneralizedZonalKernel(3, bell, max_degree=3, n_radial=2),
    zonal.Gaussian(1.0).expand(3, max_degree=5, n_radial=2),
]


@parametrize_with_checks(
    [
        zonal.HarmonicFeatures(n_components=16),
        zonal.HarmonicFeatures(zonal.NTK(), n_components=8),
        zonal.HarmonicFeatures(zonal.Gaussian(2.0), n_components=6, reduce="pca", reduced_dim=2),
    ]
)
@pytest.mark.filterwarnings("ignore::zonal.TruncationWarning")  # one column for three dimensions
def test_scikit_learn_checks(estimator, check):
    check(estimator)


# ---- accuracy ----------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(("gamma", "width", "bound"), [(10, 1024, 1e-6), (2, 256, 1e-5)])
def test_the_sphere(gamma, width, bound):
    """Kernel exp(-γ‖x-y‖²) on 1,300 uniform points of S²."""
    rows, kernel = on_sphere(1300, 3), zonal.Gaussian(np.sqrt(1 / (2 * gamma)))
    features = zonal.HarmonicFeatures(kernel, width)
    error, best = whitened_error(kernel(rows), features.fit_transform(rows))
    assert 0.99 * best <= error <= bound


@pytest.mark.slow
def test_fibonacci_directions_on_the_sphere():
    rows, kernel = on_sphere(1300, 3), zonal.Gaussian(np.sqrt(1 / 20))
    Z = zonal.GegenbauerFeatures(
        kernel, 1024, directions="fibonacci", random_state=0
    ).fit_transform(rows)
    assert whitened_error(kernel(rows), Z)[0] <= 0.1


@pytest.mark.parametrize(("dim", "scale", "bound"), [(4, 1.0, 0.003), (9, 0.5, 0.012)])
def test_normal_data(dim, scale, bound):
    """Relative Frobenius error at 1,024 columns, and less than a tenth of that of Fourier."""
    rows = scale * np.random.default_rng(0).standard_normal((2000, dim))
    kernel = zonal.Gaussian(1.0)
    K = kernel(rows)
    error = relative_error(K, zonal.HarmonicFeatures(kernel, 1024).fit_transform(rows))
    fourier = zonal.FourierFeatures(kernel, 1024, random_state=0).fit_transform(rows)
    assert error <= bound
    assert error <= relative_error(K, fourier) / 10


@pytest.mark.parametrize("kernel", [zonal.Matern(1.5), zonal.Laplacian(1.0)], ids=repr)
@pytest.mark.parametrize("space", ["sphere", "normal"])
@pytest.mark.parametrize("width", [256, 1024])
def test_rough_kernels_against_fourier(kernel, space, width):
    """Better than Fourier features by a factor of 2.5 at least, of 15 on the sphere."""
    rng = np.random.default_rng(0)
    rows = on_sphere(1000, 3) if space == "sphere" else rng.standard_normal((1000, 4))
    K = kernel(rows)
    harmonic = relative_error(K, zonal.HarmonicFeatures(kernel, width).fit_transform(rows))
    fourier = relative_error(
        K, zonal.FourierFeatures(kernel, width, random_state=0).fit_transform(rows)
    )
    assert harmonic < fourier / (15 if space == "sphere" else 2.5)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("unit", [False, True], ids=["space", "sphere"])
def test_every_kernel(kernel, unit):
    """What is left out is positive definite, so that its diagonal bounds its entries."""
    rows = SPHERE if unit or isinstance(kernel, zonal.Zonal) else X
    features = zonal.HarmonicFeatures(kernel, 400).fit(rows)
    Z = features.transform(rows)
    assert Z.shape == (200, len(features.degrees_))
    centred = rows - features.center_
    K = kernel(centred)
    rest = K - Z @ Z.T
    # Homogeneous kernels grow with the norms; the table of the functions is good to 1e-8.
    slack = 1e-6 * np.diag(K).max()
    assert np.linalg.eigvalsh(rest)[0] >= -len(rows) * slack
    bound = np.sqrt(np.outer(np.diag(rest).clip(0), np.diag(rest).clip(0)))
    assert (np.abs(rest) <= bound + 10 * slack).all()
    np.testing.assert_allclose(features.kernel_diag(rows), np.diag(K), rtol=1e-9)
    rough = "order=0" in repr(kernel) or "Laplacian" in repr(kernel)
    assert relative_error(K, Z) < (0.08 if rough else 0.03)


@pytest.mark.parametrize("dim", [2, 3, 4, 9])
@pytest.mark.parametrize("kernel", [zonal.Gaussian(1.0), zonal.Matern(1.5), zonal.NTK(1)], ids=repr)
def test_eigenvalues_on_the_sphere(kernel, dim):
    """E[z²] = μ_ℓ/α_ℓ, which is ∫ k(t) P_ℓ(t): by quadrature in the angle."""
    features = zonal.HarmonicFeatures(kernel, 60).fit(on_sphere(30, dim))
    nodes, weights = roots_legendre(500)
    angles = np.pi / 2 * (1 + nodes)
    weights = weights * np.sin(angles) ** (dim - 2)
    values = kernel.profile(np.ones(1), np.ones(1), np.cos(angles))
    for degree in np.unique(features.degrees_):
        polynomial = (
            np.cos(degree * angles)
            if dim == 2
            else eval_gegenbauer(degree, dim / 2 - 1, np.cos(angles))
            / eval_gegenbauer(degree, dim / 2 - 1, 1.0)
        )
        expected = (weights * values * polynomial).sum() / weights.sum()
        found = features.eigenvalues_[features.degrees_ == degree]
        # Series of the Neural Tangent kernel are integrals over the cosine, where it has kinks.
        tolerance = 1e-7 if isinstance(kernel, zonal.NTK) else 1e-14
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=tolerance)


def test_eigenvalues_are_those_of_the_kernel_matrix():
    """For many points of a distribution, K/n has the eigenvalues of the kernel.

    For normal data they are also known: λ_0² ρ^N, N + 1 times for N = 0, 1, …, with ρ = b/A,
    λ_0² = 2a/A, a = 1/4, b = 1/2 and A = a + b + √(a² + 2ab).
    """
    rows = np.random.default_rng(0).standard_normal((3000, 2))
    kernel = zonal.Gaussian(1.0)
    features = zonal.HarmonicFeatures(kernel, 15, center=False).fit(rows)
    start = np.ones(len(rows))
    empirical = eigsh(kernel(rows) / len(rows), 15, v0=start, return_eigenvectors=False)[::-1]
    level = np.repeat(np.arange(5), np.arange(1, 6))
    whole = 0.75 + np.sqrt(0.25**2 + 0.25)
    means = [
        np.bincount(level, values) / np.arange(1, 6)
        for values in (features.eigenvalues_, empirical)
    ]
    exact = 0.5 / whole * (0.5 / whole) ** np.arange(5)
    # Equal eigenvalues repel each other in a sample, their mean stays: λ √(2/n) is 2.6 %, and the
    # fourth moments of the higher functions are larger.
    np.testing.assert_allclose(means[0], exact, rtol=0.05)
    np.testing.assert_allclose(means[1], exact, rtol=0.08)


# ---- which columns -----------------------------------------------------------------------------


@pytest.mark.parametrize("width", [1, 2, 3, 5, 17, 100, 333])
@pytest.mark.parametrize("kernel", [zonal.Gaussian(1.0), zonal.Laplacian(1.0)], ids=repr)
def test_the_budget_is_filled_exactly(kernel, width):
    """With the largest eigenvalues; the last degree may be used in part."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", zonal.TruncationWarning)
        features = zonal.HarmonicFeatures(kernel, width).fit(X)
        wider = zonal.HarmonicFeatures(kernel, width + 200).fit(X)
    Z = features.transform(X)
    assert Z.shape == (200, width)
    assert len(features.get_feature_names_out()) == width
    assert (np.diff(features.eigenvalues_) <= 0).all()
    np.testing.assert_allclose(features.eigenvalues_, wider.eigenvalues_[:width], rtol=1e-9)
    np.testing.assert_array_equal(features.degrees_, wider.degrees_[:width])
    np.testing.assert_allclose(Z, wider.transform(X)[:, :width], atol=1e-7)
    pairs = np.column_stack([wider.degrees_, wider.radial_indices_])
    for (degree, index), count in zip(*np.unique(pairs, axis=0, return_counts=True), strict=True):
        is_last = (pairs[-1] == (degree, index)).all()
        assert is_last or count == harmonic_dimension(int(degree), 3)


def test_columns_of_a_whole_degree_do_not_change_with_rotations():
    rotation = np.linalg.qr(np.random.default_rng(1).standard_normal((3, 3)))[0]
    features = zonal.HarmonicFeatures(zonal.Gaussian(1.0), 49).fit(SPHERE)
    assert features.degrees_[-1] == 6  # 49 = 1 + 3 + … + 13
    Z, rotated = features.transform(SPHERE), features.transform(SPHERE @ rotation)
    np.testing.assert_allclose(Z @ Z.T, rotated @ rotated.T, atol=1e-12)


@pytest.mark.parametrize("center", [False, True])
def test_one_column_is_exact_and_not_padded(center):
    """The line has even and odd functions only: one column each."""
    rows = np.random.default_rng(0).standard_normal((300, 1))
    kernel = zonal.Gaussian(0.7)
    features = zonal.HarmonicFeatures(kernel, 40, center=center).fit(rows)
    Z = features.transform(rows)
    assert set(features.degrees_) == {0, 1}
    assert Z.shape[1] <= 40
    assert np.abs(Z @ Z.T - kernel(rows)).max() < 1e-6
    # As good as any features of this number: the eigenvalues alternate even, odd, even, …
    few = zonal.HarmonicFeatures(kernel, 8, center=False).fit(rows)
    np.testing.assert_array_equal(few.degrees_, [0, 1] * 4)
    mirrored = few.transform(-rows)
    np.testing.assert_allclose(mirrored, few.transform(rows) * np.tile([1, -1], 4), atol=1e-12)


def test_rough_kernels_on_the_line():
    """exp(-|x-y|) with 200 columns: near the best rank-200 approximation of the matrix.

    The functions are found on 200 bins of the 500 rows, which costs a factor.
    """
    rows = np.random.default_rng(0).standard_normal((500, 1))
    kernel = zonal.Laplacian(1.0)
    K = kernel(rows)
    Z = zonal.HarmonicFeatures(kernel, 200, center=False).fit_transform(rows)
    best = np.linalg.norm(np.linalg.eigvalsh(K)[:-200]) / np.linalg.norm(K)
    assert relative_error(K, Z) < 10 * best


@pytest.mark.parametrize(
    ("kernel", "dim", "rank"),
    [
        (zonal.Polynomial(1, 1.0, 0.0), 3, 3),
        (zonal.Polynomial(1), 4, 5),
        (zonal.Polynomial(2, 1.0, 0.0), 3, 6),
        (zonal.Polynomial(3), 3, 20),
        (zonal.Polynomial(3), 2, 10),
        (zonal.Polynomial(3), 1, 4),
        (zonal.GeneralizedZonalKernel(3, bell, max_degree=3, n_radial=2), 3, None),
    ],
    ids=repr,
)
def test_finite_rank(kernel, dim, rank):
    """A polynomial of degree p in d variables has C(d + p, p) monomials."""
    rows = np.random.default_rng(0).standard_normal((100, dim))
    Z = zonal.HarmonicFeatures(kernel, 300).fit_transform(rows)
    if rank is None:  # here the two functions of a degree are multiples of each other
        rank = 16
    assert Z.shape[1] == rank
    np.testing.assert_allclose(Z @ Z.T, kernel(rows), atol=1e-7 * np.abs(kernel(rows)).max())


def test_kernel_that_vanishes():
    """Nothing to explain: no columns, or none that is not zero."""
    Z = zonal.HarmonicFeatures(zonal.Polynomial(2, 1.0, 0.0), 8).fit_transform(np.zeros((4, 3)))
    np.testing.assert_array_equal(Z, np.zeros((4, Z.shape[1])))


@pytest.mark.parametrize("tol", [1e-2, 1e-4, 1e-6])
@pytest.mark.parametrize("unit", [False, True], ids=["space", "sphere"])
def test_tolerance_instead_of_a_number_of_columns(tol, unit):
    rows = SPHERE if unit else X
    kernel = zonal.Gaussian(1.0)
    features = zonal.HarmonicFeatures(kernel, tol=tol, center=False).fit(rows)
    Z = features.transform(rows)
    # The bound is for the nodes, which are means over bins of radii: off the sphere a row between
    # the last of them and the end may have a little more.
    assert np.abs(Z @ Z.T - kernel(rows)).max() <= (tol if unit else 2 * tol)
    assert np.mean(1 - np.square(Z).sum(axis=1)) <= tol
    # One mode less would not do.
    last = (features.degrees_ == features.degrees_[-1]) & (
        features.radial_indices_ == features.radial_indices_[-1]
    )
    assert (1 - np.square(Z[:, ~last]).sum(axis=1)).max() > tol


def test_tolerance_of_an_interval_holds_in_all_of_it():
    kernel = zonal.Gaussian(1.0)
    features = zonal.HarmonicFeatures(kernel, tol=1e-4, radii=(0.0, 2.0), center=False).fit(X)
    rows = SPHERE * np.linspace(0, 2, 200)[:, None]
    Z = features.transform(rows)
    # Gauss–Legendre nodes reach within 1e-3 of the ends.
    assert np.abs(Z @ Z.T - kernel(rows)).max() <= 1.1e-4


# ---- what is learnt from the data --------------------------------------------------------------


def test_unit_vectors_learn_nothing_from_the_data():
    kernel = zonal.Gaussian(0.5)
    one = zonal.HarmonicFeatures(kernel, 100).fit(on_sphere(50, 3, seed=1))
    other = zonal.HarmonicFeatures(kernel, 100).fit(on_sphere(80, 3, seed=2))
    np.testing.assert_array_equal(one.transform(SPHERE), other.transform(SPHERE))
    np.testing.assert_array_equal(one.eigenvalues_, other.eigenvalues_)
    single = zonal.HarmonicFeatures(kernel, 100).fit(on_sphere(50, 3, seed=1).astype(np.float32))
    np.testing.assert_array_equal(one.transform(SPHERE), single.transform(SPHERE))


def test_an_interval_learns_nothing_from_the_data():
    kernel = zonal.Gaussian(2.0)
    features = zonal.HarmonicFeatures(kernel, 200, radii=(0, 3), center=False)
    expected = features.fit(X).transform(X)
    np.testing.assert_array_equal(features.fit(5 * X[:7]).transform(X), expected)
    inside = np.linalg.norm(X, axis=1) <= 3
    assert np.abs(expected @ expected.T - kernel(X))[np.ix_(inside, inside)].max() < 1e-3
    point = zonal.HarmonicFeatures(kernel, 49, radii=(1, 1), center=False).fit(X)
    on_the_sphere = zonal.HarmonicFeatures(kernel, 49).fit(SPHERE)
    np.testing.assert_array_equal(point.transform(SPHERE), on_the_sphere.transform(SPHERE))


def test_deterministic():
    features = zonal.HarmonicFeatures(n_components=64)
    np.testing.assert_array_equal(features.fit_transform(X), clone(features).fit_transform(X))
    seeded = zonal.HarmonicFeatures(n_components=64, random_state=7).fit_transform(X)
    np.testing.assert_array_equal(seeded, features.fit_transform(X))


@pytest.mark.parametrize("kernel", ["gaussian", zonal.Matern(1.5), zonal.Polynomial(2)], ids=repr)
@pytest.mark.parametrize("dim", [1, 3])
def test_weights_are_repeated_rows(kernel, dim):
    rows = X[:, :dim]
    weights = np.random.default_rng(0).integers(0, 4, 200)
    features = zonal.HarmonicFeatures(kernel, 24)
    weighted = features.fit(rows, sample_weight=weights).transform(rows)
    repeated = features.fit(np.repeat(rows, weights, axis=0)).transform(rows)
    # Rounding of the centre and the bandwidth turns an eigenfunction by ε μ_0/μ.
    turned = 64 * np.finfo(float).eps * (1 + features.eigenvalues_[0] / features.eigenvalues_)
    assert (np.abs(weighted - repeated) <= turned * np.abs(weighted).max(axis=0)).all()


def test_rows_far_from_those_seen():
    """Zero rows have degree 0 only; beyond the radii no feature explodes."""
    features = zonal.HarmonicFeatures(zonal.Gaussian(1.0), 200, center=False).fit(X[:50])
    rows = np.vstack([np.zeros(3), 1e-300 * X[:1], 1e-6 * X[:3], 10 * X[:3], 1e6 * X[:3]])
    Z = features.transform(rows)
    assert np.isfinite(Z).all()
    assert (np.square(Z).sum(axis=1) <= 1 + 1e-6).all()
    np.testing.assert_array_equal(Z[0, features.degrees_ > 0], 0)
    np.testing.assert_allclose(Z[-1], 0, atol=1e-12)


# ---- containers and precision ------------------------------------------------------------------


@pytest.mark.parametrize(
    "kernel", [zonal.Gaussian(1.5), zonal.Polynomial(3), zonal.NTK(2), zonal.Matern()], ids=repr
)
@pytest.mark.parametrize("dim", [1, 2, 3, 9])
def test_float32(kernel, dim):
    rows = np.random.default_rng(1).standard_normal((300, dim))
    features = zonal.HarmonicFeatures(kernel, 256).fit(rows)
    double, single = features.transform(rows), features.transform(rows.astype(np.float32))
    assert double.dtype == np.float64
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, double, atol=2e-5 * np.abs(double).max())


@pytest.mark.parametrize("container", [sp.csr_array, sp.csr_matrix])
def test_sparse_equals_dense(container):
    data = sp.random_array((80, 9), density=0.4, rng=np.random.default_rng(0)).toarray()
    data[3] = 0
    features = zonal.HarmonicFeatures(zonal.Gaussian(1.0), 100, center=False)
    expected = features.fit(data).transform(data)
    np.testing.assert_allclose(features.transform(container(data)), expected, atol=1e-12)
    again = features.fit(container(data)).transform(data)
    np.testing.assert_allclose(again, expected, atol=1e-8)


@pytest.mark.usefixtures("two_threads")
def test_threads_and_blocks_do_not_matter(monkeypatch):
    rows = np.random.default_rng(2).standard_normal((3000, 4))
    features = zonal.HarmonicFeatures(zonal.Gaussian(2.0), 100).fit(rows)
    expected = features.transform(rows)
    before = numba.get_num_threads()
    try:
        numba.set_num_threads(1)
        np.testing.assert_array_equal(features.transform(rows), expected)
    finally:
        numba.set_num_threads(before)
    for size in (1, 777, 10**7):
        monkeypatch.setattr(threads, "BLOCK_SIZE", size)
        np.testing.assert_array_equal(features.transform(rows), expected)
    np.testing.assert_array_equal(features.transform(rows[1:2]), expected[1:2])


def test_parameters_set_after_fit_do_not_matter():
    features = zonal.HarmonicFeatures(zonal.Gaussian(2.0), 64).fit(X)
    expected = features.transform(X)
    for width in (16, 128):
        features.set_params(n_components=width)
        np.testing.assert_array_equal(features.transform(X), expected)


def test_transform_into():
    features = zonal.HarmonicFeatures(zonal.Gaussian(2.0), 9).fit(X)
    wide = np.zeros((200, 11))
    features.transform_into(X, wide[:, 1:10])
    np.testing.assert_array_equal(wide[:, 1:10], features.transform(X))
    np.testing.assert_array_equal(wide[:, [0, 10]], 0)


# ---- errors and warnings -----------------------------------------------------------------------


@pytest.mark.parametrize("dim", [30, 784])
def test_high_dimension_warns_and_is_still_a_map(dim):
    rows = np.random.default_rng(0).standard_normal((50, dim))
    kernel = zonal.Gaussian(np.sqrt(dim))
    with pytest.warns(
        zonal.TruncationWarning, match=rf"n_components=20 is less than 1 \+ {dim}.*NystroemFeatures"
    ):
        features = zonal.HarmonicFeatures(kernel, 20, radii=(1, dim)).fit(rows)
    Z = features.transform(rows)
    assert Z.shape == (50, 20)
    assert set(features.degrees_) == {0, 1}
    centred = kernel(rows) - Z @ Z.T
    assert np.linalg.eigvalsh(centred)[0] > -1e-6  # a part of the kernel, never more


def test_enough_columns_do_not_warn():
    rows = np.random.default_rng(0).standard_normal((50, 30))
    zonal.HarmonicFeatures(zonal.Gaussian(6.0), 64).fit(rows)
    zonal.HarmonicFeatures(zonal.Gaussian(6.0), tol=0.1).fit(rows)


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"kernel": zonal.Gaussian(0.0)}, "bandwidth=0.0"),
        ({"n_components": 0}, "n_components=0"),
        ({"n_components": 2.5}, "n_components=2.5"),
        ({"kernel": "gausian"}, "'gausian' is unknown"),
        ({"tol": 0.0}, "tol=0.0 of HarmonicFeatures must be a positive"),
        ({"tol": "small"}, "tol='small'"),
        ({"radii": "all"}, "radii='all' of HarmonicFeatures must be 'data' or two finite"),
        ({"radii": (2, 1)}, r"radii=\(2, 1\)"),
        ({"radii": (-1, 1)}, r"radii=\(-1, 1\)"),
        ({"radii": (0, np.inf)}, r"radii=\(0, inf\)"),
        ({"radii": 3.0}, r"radii=3.0"),
        ({"center": "median"}, "center='median'"),
        ({"kernel": zonal.Gaussian(0.05), "tol": 1e-6}, "tol=1e-06 (needs|is out of reach)"),
        ({"kernel": zonal.Laplacian(1.0), "tol": 1e-9}, "tol=1e-09 (needs|is out of reach)"),
        ({"kernel": zonal.Zonal(np.exp)}, "Normalizer"),
        (
            {"kernel": zonal.RotationInvariant(lambda r, s, cos: 1 - r * s * cos)},
            "not positive definite in dimension 3: its kernel of the radii at degree 1 ",
        ),
        (
            {"kernel": zonal.GeneralizedZonalKernel(4, bell, max_degree=3, n_radial=2)},
            "dim=4",
        ),
    ],
)
def test_clear_errors(kwargs, message):
    with pytest.raises(ValueError, match=message):
        zonal.HarmonicFeatures(**kwargs).fit(X)


def test_one_row_and_equal_rows_with_every_default():
    for data in (X[:1], np.ones((5, 3))):
        with pytest.warns(UserWarning, match="All rows are equal"):
            Z = zonal.HarmonicFeatures().fit_transform(data)
        np.testing.assert_allclose(Z @ Z.T, np.ones((len(data), len(data))), atol=1e-6)


# ---- on top of it ------------------------------------------------------------------------------


def test_ridge_is_the_exact_kernel_machine():
    """With features that are exact to 1e-6 the predictions are those of the kernel matrix."""
    y = np.sin(2 * SPHERE[:, 0]) + SPHERE[:, 1] * SPHERE[:, 2]
    kernel, new = zonal.Gaussian(0.7), on_sphere(50, 3, seed=5)
    model = zonal.KernelRidge(
        zonal.HarmonicFeatures(kernel, 400), alpha=0.01, fit_intercept=False
    ).fit(SPHERE, y)
    dual = np.linalg.solve(kernel(SPHERE) + 0.01 * np.eye(200), y)
    np.testing.assert_allclose(model.predict(new), kernel(new, SPHERE) @ dual, atol=1e-6)


def test_gaussian_process_is_the_exact_one():
    y = np.sin(2 * SPHERE[:, 0]) + SPHERE[:, 1] * SPHERE[:, 2]
    kernel, new = zonal.Gaussian(0.7), on_sphere(50, 3, seed=5)
    model = zonal.GaussianProcess(zonal.HarmonicFeatures(kernel, 400), noise=0.01).fit(SPHERE, y)
    mean, deviation = model.predict(new, return_std=True)
    inverse = np.linalg.inv(kernel(SPHERE) + 0.01 * np.eye(200))
    cross = kernel(new, SPHERE)
    np.testing.assert_allclose(mean, cross @ inverse @ y, atol=1e-6)
    variance = 1 - np.einsum("ij,jk,ik->i", cross, inverse, cross)
    np.testing.assert_allclose(deviation, np.sqrt(variance), atol=1e-5)


def test_kernel_pca_is_the_exact_one():
    kernel = zonal.Gaussian(0.7)
    model = zonal.KernelPCA(zonal.HarmonicFeatures(kernel, 400), 4).fit(SPHERE)
    centring = np.eye(200) - 1 / 200
    values = np.linalg.eigvalsh(centring @ kernel(SPHERE) @ centring)[::-1][:4]
    scores = model.transform(SPHERE)
    np.testing.assert_allclose(np.square(scores).sum(axis=0), values, rtol=1e-6)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_saved_and_pickled(kernel, tmp_path):
    rows = SPHERE if isinstance(kernel, zonal.Zonal) else X
    features = zonal.HarmonicFeatures(kernel, 50).fit(rows)
    path = tmp_path / "features.zonal"
    functions = {
        name: function
        for name, function in (("bell", bell), ("inverse_multiquadric", inverse_multiquadric))
        if name in repr(kernel)
    }
    if functions:
        with pytest.warns(UserWarning, match=f"not saved: {next(iter(functions))}"):
            zonal.save(features, path)
        with pytest.raises(ValueError, match="needs the functions"):
            zonal.load(path)
    else:
        zonal.save(features, path)
    loaded = zonal.load(path, functions=functions or None)
    far = rows if isinstance(kernel, zonal.Zonal) else 3 * rows  # where the kernel itself is used
    for again in (loaded, pickle.loads(pickle.dumps(features))):
        for data in (rows, rows.astype(np.float32), far):
            np.testing.assert_array_equal(again.transform(data), features.transform(data))
        np.testing.assert_array_equal(again.eigenvalues_, features.eigenvalues_)
        np.testing.assert_array_equal(again.degrees_, features.degrees_)
