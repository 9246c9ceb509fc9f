"""Random Fourier features, plain, orthogonal and modified."""

import pickle
import tracemalloc

import numba
import numpy as np
import pytest
import scipy.sparse as sp
from scipy import stats
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.kernel_approximation import RBFSampler
from sklearn.utils.estimator_checks import parametrize_with_checks

import zonal
from zonal.engines.trigonometric import cosines_and_sines
from zonal.features.baselines.modified_fourier import ModifiedFourierFeatures
from zonal.features.fourier import FourierFeatures, spectral_norms
from zonal.rows import threads

DIMS = [1, 2, 3, 9, 30]


def points(n, dim, seed=0):
    """Rows and a Gaussian for them, whose entries are mostly between 0.1 and 0.9."""
    X = np.random.default_rng(seed).standard_normal((n, dim))
    return X, zonal.Gaussian(np.sqrt(dim))


def gram_entries(features, X, n_seeds):
    """Entries of Z Zᵀ for many seeds: [n_seeds, n, n]."""
    grams = []
    for seed in range(n_seeds):
        Z = features.set_params(random_state=seed).fit_transform(X)
        grams.append(Z @ Z.T)
    return np.array(grams)


def assert_unbiased(grams, expected, largest=0.1):
    """The mean over seeds is the kernel, within five standard errors that are small."""
    bound = 5 * grams.std(axis=0, ddof=1) / np.sqrt(len(grams))
    assert bound.max() < largest * expected.max()  # or the test could not fail
    assert (np.abs(grams.mean(axis=0) - expected) <= bound + 1e-12).all()


def relative_error(features, X, kernel, n_seeds):
    """Root mean square over seeds of the relative Frobenius error."""
    K = kernel(X)
    error = gram_entries(features, X, n_seeds) - K
    return np.sqrt((error**2).sum(axis=(1, 2)).mean()) / np.linalg.norm(K)


@parametrize_with_checks(
    [
        FourierFeatures(n_components=16),
        FourierFeatures(n_components=7, orthogonal=True),
        ModifiedFourierFeatures(n_components=16),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("orthogonal", [False, True])
@pytest.mark.parametrize("width", [128, 33])
def test_unbiased(dim, orthogonal, width):
    X, kernel = points(6, dim)
    features = FourierFeatures(kernel, width, orthogonal=orthogonal)
    assert_unbiased(gram_entries(features, X, 100), kernel(X), 0.2)


@pytest.mark.parametrize(
    "kernel",
    [
        2.5 * zonal.Gaussian(1.5),
        zonal.Gaussian(1.0) + 3 * zonal.Gaussian(4.0),
        zonal.Gaussian(1.5) * zonal.Gaussian(3.0),
        2 * (zonal.Gaussian(1.0) + zonal.Gaussian(4.0)) * zonal.Gaussian(3.0),
    ],
    ids=repr,
)
@pytest.mark.parametrize(("dim", "orthogonal"), [(1, False), (3, False), (3, True)])
def test_multiples_sums_and_products(kernel, dim, orthogonal):
    X, _ = points(6, dim)
    grams = gram_entries(FourierFeatures(kernel, 128, orthogonal=orthogonal), X, 150)
    assert_unbiased(grams, kernel(X))
    diagonal = np.einsum("sii->si", grams)
    np.testing.assert_allclose(diagonal, np.broadcast_to(kernel.diag(X), diagonal.shape))


OF_DISTANCE = [
    zonal.Matern(0.3, 2.0),
    zonal.Matern(1.5, 2.0),
    zonal.Matern(7.2, 1.0),
    zonal.Matern(np.inf, 1.5),
    zonal.Laplacian(3.0),
    zonal.RationalQuadratic(1.5, 0.4),
]


@pytest.mark.parametrize("kernel", OF_DISTANCE, ids=repr)
@pytest.mark.parametrize(
    ("features", "dim"),
    [
        (FourierFeatures(n_components=128), 1),
        (FourierFeatures(n_components=128, orthogonal=True), 3),
        (zonal.FastFoodFeatures(n_components=128), 3),
    ],
    ids=repr,
)
def test_kernels_of_the_distance_are_unbiased(kernel, features, dim):
    X, _ = points(6, dim)
    grams = gram_entries(clone(features).set_params(kernel=kernel), X, 100)
    K = kernel(X)
    # Heavy tails of the frequencies: rare ones carry the variance of cos⟨w, x-y⟩ between near
    # rows, and the sample may miss them. It is (1 + k(2x, 2y))/2 - k² in theory, of independent
    # frequencies; those of a block are not, and the sample tells of that.
    theory = np.sqrt(np.maximum((1 + kernel(2 * X)) / 2 - K**2, 0) / 64)
    bound = 5 * np.maximum(theory, grams.std(axis=0, ddof=1)) / np.sqrt(len(grams))
    assert bound.max() < 0.1
    assert (np.abs(grams.mean(axis=0) - K) <= bound + 1e-12).all()


@pytest.mark.parametrize(
    ("kernel", "spectrum"),
    [
        (zonal.Matern(0.3, 2.0), stats.t(0.6)),
        (zonal.Matern(1.5, 2.0), stats.t(3)),
        (zonal.Matern(np.inf, 2.0), stats.norm()),
        (zonal.Laplacian(2.0), stats.cauchy()),
        # The transform of 1 / (1 + u²/2) is Laplace's density, of scale 1/√2.
        (zonal.RationalQuadratic(2.0, 1.0), stats.laplace(scale=1 / np.sqrt(2))),
    ],
    ids=repr,
)
def test_one_coordinate_of_the_frequencies(kernel, spectrum):
    features = FourierFeatures(kernel, 400_000, random_state=0).fit(np.zeros((2, 4)))
    # The right distribution fails for one seed in a million, one that is 1.1 times as wide always.
    assert stats.kstest(2.0 * features.frequencies_[:, 0], spectrum.cdf).pvalue > 1e-6


def test_the_roughest_kernels_have_finite_features():
    """χ² of 0.004 degrees of freedom underflows to zero in every fourth draw."""
    X, _ = points(10, 3)
    for rows in (X, X.astype(np.float32)):
        Z = FourierFeatures(zonal.Matern(0.002), 400, random_state=0).fit_transform(rows)
        assert np.isfinite(Z).all()


@pytest.mark.parametrize("dim", DIMS)
def test_variance_of_pairs(dim):
    """Var = (1 - k²)² / D for iid frequencies, from E cos² = (1 + k⁴)/2."""
    X, kernel = points(8, dim)
    grams = gram_entries(FourierFeatures(kernel, 32), X, 400)
    upper = np.triu_indices(8, 1)
    expected = (1 - kernel(X)[upper] ** 2) ** 2 / 32
    # The entries of one seed are dependent: at worst one of them with kurtosis 3, √(2/400) = 7 %.
    assert grams.var(axis=0)[upper].sum() == pytest.approx(expected.sum(), rel=0.3)


@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("orthogonal", [False, True])
def test_diagonal_is_exact(dim, orthogonal):
    X = 100 * points(50, dim)[0]
    Z = FourierFeatures(zonal.Gaussian(1.0), 40, orthogonal=orthogonal).fit_transform(X)
    np.testing.assert_allclose(np.square(Z).sum(axis=1), 1, atol=1e-13)


@pytest.mark.parametrize("dim", [1, 3, 30])
@pytest.mark.parametrize("orthogonal", [False, True])
def test_error_halves_with_four_times_the_width(dim, orthogonal):
    """Widths of many blocks; the ratio is 2, up to about 1/√seeds."""
    X, kernel = points(20, dim)
    error = [
        relative_error(FourierFeatures(kernel, width, orthogonal=orthogonal), X, kernel, 40)
        for width in (240, 960)
    ]
    assert 1.5 < error[0] / error[1] < 2.7


@pytest.mark.parametrize("dim", [1, 3, 9, 30])
def test_error_is_below_that_of_offsets(dim):
    """(1 - k²)² / D against (1/2 (1 - k²)² + 1/2) / D: less, whatever the rows."""
    X, kernel = points(60, dim)
    sampler = RBFSampler(gamma=1 / (2 * kernel.bandwidth**2), n_components=128)
    ours = relative_error(FourierFeatures(kernel, 128), X, kernel, 40)
    assert ours < 0.95 * relative_error(sampler, X, kernel, 40)


def test_orthogonal_is_better():
    X, kernel = points(60, 9)
    iid, orthogonal = (
        relative_error(FourierFeatures(kernel, 256, orthogonal=choice), X, kernel, 40)
        for choice in (False, True)
    )
    assert orthogonal < 0.9 * iid


def test_orthogonal_frequencies():
    dim, n = 5, 4000
    X = np.zeros((2, dim))
    features = FourierFeatures(zonal.Gaussian(2.0), 2 * n, orthogonal=True, random_state=0).fit(X)
    W = features.frequencies_
    assert W.shape == (n, dim)
    inner = W[:dim] @ W[:dim].T
    np.testing.assert_allclose(inner, np.diag(np.diag(inner)), atol=1e-13)
    # ‖σ w‖² is χ²: mean d, variance 2d.
    squares = np.square(2.0 * W).sum(axis=1)
    assert abs(squares.mean() - dim) < 5 * np.sqrt(2 * dim / n)
    assert abs(squares.var() / (2 * dim) - 1) < 0.25


def test_formula():
    X, kernel = points(20, 4)
    features = FourierFeatures(kernel, 12, random_state=0).fit(X)
    phases = X @ features.frequencies_.T
    expected = np.hstack([np.cos(phases), np.sin(phases)]) / np.sqrt(6)
    np.testing.assert_allclose(features.transform(X), expected, atol=1e-14)


@pytest.mark.parametrize(("dtype", "atol"), [(np.float32, 2e-6), (np.float64, 3e-15)])
@pytest.mark.parametrize("n_sines", [0, 7, 8])
def test_cosines_and_sines_against_numpy(dtype, atol, n_sines):
    n_frequencies = max(n_sines, 8) if n_sines else 1
    turns = np.random.default_rng(0).uniform(-2, 2, (500, n_frequencies)).astype(dtype)
    turns[:9, 0] = np.arange(-4, 5) / 4
    amplitudes = np.linspace(0.5, 1.5, n_frequencies).astype(dtype)
    out = np.full((500, n_frequencies + n_sines), np.nan, dtype)
    cosines_and_sines(turns, amplitudes, out)
    phases = 2 * np.pi * turns.astype(np.float64)
    np.testing.assert_allclose(out[:, :n_frequencies], amplitudes * np.cos(phases), atol=atol)
    sines = (amplitudes * np.sin(phases))[:, :n_sines]
    np.testing.assert_allclose(out[:, n_frequencies:], sines, atol=atol)


@pytest.mark.parametrize("dim", [1, 2, 3, 9, 30])
def test_modified_is_unbiased(dim):
    X, kernel = points(6, dim)
    grams = gram_entries(ModifiedFourierFeatures(kernel, 513), X, 100)
    assert_unbiased(grams, kernel(X))


@pytest.mark.parametrize(("dim", "width"), [(1, 2000), (2, 20_000)])
def test_literal_density_is_unbiased(dim, width):
    """The box leaves out nothing that a float64 could tell."""
    X, kernel = points(6, dim)
    features = ModifiedFourierFeatures(kernel, width, mixture=0)
    assert_unbiased(gram_entries(features, X, 100), kernel(X))
    assert (np.abs(features.frequencies_) * kernel.bandwidth <= features.half_width_).all()


@pytest.mark.parametrize("dim", [1, 2])
def test_narrow_box_truncates(dim):
    """With mixture=0 the mean is the integral over the box, known in one column at a time."""
    n_over_lam = np.exp(0.01)  # B = 1
    X, kernel = np.zeros((1, dim)), zonal.Gaussian(1.0)
    features = ModifiedFourierFeatures(kernel, 400, mixture=0, n_over_lam=n_over_lam)
    grams = gram_entries(features, X, 100)
    assert features.half_width_ == pytest.approx(1)
    assert_unbiased(grams, np.array([[0.682689492137**dim]]))


@pytest.mark.parametrize("mixture", [0.05, 0.5, 1.0])
@pytest.mark.parametrize("dim", [1, 2, 9, 400])
def test_weights(mixture, dim):
    X = np.zeros((2, dim))
    features = ModifiedFourierFeatures(zonal.Gaussian(3.0), 4000, mixture=mixture, random_state=0)
    weights = features.fit(X).weights_
    assert weights.shape == (2000,)
    assert features.half_width_ == pytest.approx(10 * np.sqrt(np.log(1000)))
    assert (weights >= 0).all()
    assert weights.max() <= 1 / mixture * (1 + 1e-12)
    # E_q[p/q] = 1, and the variance is at most 1/ρ - 1.
    assert abs(weights.mean() - 1) <= 5 * np.sqrt((1 / mixture - 1) / 2000) + 1e-12


def test_weights_by_the_formula():
    X = np.zeros((2, 2))
    features = ModifiedFourierFeatures(zonal.Gaussian(3.0), 1000, mixture=0.3, random_state=0)
    w = 3.0 * features.fit(X).frequencies_
    p = np.exp(-(w**2).sum(axis=1) / 2) / (2 * np.pi)
    q = 0.3 * p + 0.7 / (2 * features.half_width_) ** 2
    np.testing.assert_allclose(features.weights_, p / q, rtol=1e-10)


MAPS = [
    FourierFeatures(zonal.Gaussian(2.0), 65, random_state=0),
    FourierFeatures(zonal.Gaussian(2.0), 64, orthogonal=True, random_state=0),
    ModifiedFourierFeatures(zonal.Gaussian(2.0), 64, random_state=0),
]


@pytest.mark.parametrize("features", MAPS, ids=repr)
@pytest.mark.parametrize("dim", [1, 3, 9])
def test_float32(features, dim):
    X, _ = points(200, dim)
    features = clone(features).fit(X)
    double, single = features.transform(X), features.transform(X.astype(np.float32))
    assert double.dtype == np.float64
    assert single.dtype == np.float32
    assert single.shape == (200, features.n_components)
    np.testing.assert_allclose(single, double, atol=3e-5)


@pytest.mark.parametrize("features", MAPS, ids=repr)
@pytest.mark.parametrize("container", [sp.csr_array, sp.csr_matrix])
def test_sparse_equals_dense(features, container):
    dense = sp.random_array((80, 50), density=0.1, rng=np.random.default_rng(0)).toarray()
    dense[3] = 0
    features = clone(features)
    expected = features.fit(dense).transform(dense)
    np.testing.assert_allclose(features.transform(container(dense)), expected, atol=1e-12)
    fitted = features.fit(container(dense))
    np.testing.assert_allclose(fitted.transform(dense), expected, atol=1e-12)


def test_sparse_is_never_filled():
    """100,000 columns and 2,000 rows would be 1.6 GB; the frequencies are 26 MB."""
    X = sp.random_array((2000, 100_000), density=1e-4, rng=np.random.default_rng(0), format="csr")
    features = FourierFeatures(zonal.Gaussian(3.0), 64, random_state=0)
    tracemalloc.start()
    Z = features.fit_transform(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert Z.shape == (2000, 64)
    assert peak < 300e6


@pytest.mark.usefixtures("two_threads")
@pytest.mark.parametrize("features", MAPS, ids=repr)
def test_blocks_threads_and_parameters_set_later_do_not_matter(features, monkeypatch):
    X, _ = points(3000, 5)
    features = clone(features).fit(X)
    expected = features.transform(X)
    before = numba.get_num_threads()
    try:
        numba.set_num_threads(1)
        np.testing.assert_array_equal(features.transform(X), expected)
    finally:
        numba.set_num_threads(before)
    for size in (777, 10**7):
        monkeypatch.setattr(threads, "BLOCK_SIZE", size)
        np.testing.assert_allclose(features.transform(X), expected, atol=1e-13)
    for width in (16, 129):
        features.set_params(n_components=width)
        np.testing.assert_allclose(features.transform(X), expected, atol=1e-13)


@pytest.mark.parametrize("features", MAPS, ids=repr)
def test_seeds_clone_and_pickle(features):
    X, _ = points(30, 3)
    expected = clone(features).fit_transform(X)
    np.testing.assert_array_equal(clone(features).fit_transform(X), expected)
    other = clone(features).set_params(random_state=1).fit_transform(X)
    assert np.abs(other - expected).max() > 0.01
    restored = pickle.loads(pickle.dumps(clone(features).fit(X)))
    np.testing.assert_array_equal(restored.transform(X), expected)


def test_transform_into_a_part_of_a_matrix():
    X, _ = points(30, 3)
    features = clone(MAPS[0]).fit(X)
    wide = np.zeros((30, 67))
    features.transform_into(X, wide[:, 1:66])
    np.testing.assert_allclose(wide[:, 1:66], features.transform(X), atol=1e-14)
    np.testing.assert_array_equal(wide[:, [0, 66]], 0)


def test_single_column():
    X, kernel = points(4, 3)
    Z = FourierFeatures(kernel, 1, random_state=0).fit_transform(X)
    assert Z.shape == (4, 1)
    assert np.isfinite(Z).all()
    assert_unbiased(gram_entries(FourierFeatures(kernel, 1), X, 1000), kernel(X), 0.2)


@pytest.mark.parametrize(
    "kernel",
    ["ntk", zonal.Exponential(), 2 * zonal.ArcCosine(1), zonal.Gaussian() * zonal.Polynomial(2)],
    ids=repr,
)
def test_kernels_without_a_spectral_distribution(kernel):
    X, _ = points(10, 3)
    features = FourierFeatures(kernel, 16)
    with pytest.raises(ValueError, match=r"GegenbauerFeatures.*Maclaurin.*Nystroem"):
        features.fit(X)
    with pytest.raises(NotFittedError):
        features.transform(X)


def test_a_new_kernel_registers_its_distribution():
    """exp(-‖x - y‖): the norms are those of Cauchy's distribution in d dimensions."""

    class Laplace(zonal.Gaussian):
        def matrix(self, rows, others):
            others = rows if others is None else others
            return np.exp(-np.linalg.norm(rows[:, None] - others, axis=2))

    @spectral_norms.register(Laplace)
    def _(kernel, n_frequencies, dim, rng):
        return np.sqrt(rng.chisquare(dim, n_frequencies) / rng.chisquare(1, n_frequencies))

    X, _ = points(6, 3)
    for orthogonal in (False, True):
        features = FourierFeatures(Laplace(), 128, orthogonal=orthogonal)
        assert_unbiased(gram_entries(features, X, 100), Laplace()(X))


@pytest.mark.parametrize(
    ("features", "message"),
    [
        (FourierFeatures(n_components=0), "n_components=0 of FourierFeatures"),
        (FourierFeatures(orthogonal="yes"), "orthogonal='yes' of FourierFeatures"),
        (ModifiedFourierFeatures(mixture=1.5), "mixture=1.5 of .* between 0 and 1"),
        (ModifiedFourierFeatures(mixture="half"), "mixture='half'"),
        (ModifiedFourierFeatures(n_over_lam=1.0), "n_over_lam=1.0 .* above 1"),
        (ModifiedFourierFeatures(n_over_lam=-3), "n_over_lam=-3 .* positive"),
        (ModifiedFourierFeatures("ntk"), "must be a Gaussian.*NystroemFeatures"),
        (ModifiedFourierFeatures(2 * zonal.Gaussian()), "must be a Gaussian"),
        (ModifiedFourierFeatures("matern"), r"Matern\(.*must be a Gaussian.*FourierFeatures"),
    ],
)
def test_errors(features, message):
    with pytest.raises(ValueError, match=message):
        features.fit(points(10, 3)[0])


@pytest.mark.parametrize("scale", [1.0, 1e3, 1e6])
@pytest.mark.parametrize("kind", [zonal.FourierFeatures, zonal.FastFoodFeatures])
@pytest.mark.parametrize("kernel", [zonal.RationalQuadratic(), zonal.Laplacian()], ids=repr)
def test_phases_of_many_turns(kernel, kind, scale):
    """Neither type nor memory order of rows matters: phases are reduced in float64."""
    rows = (scale * np.random.default_rng(0).standard_normal((50, 4))).astype(np.float32)
    features = kind(kernel, 65, random_state=0).fit(rows)
    single, double = features.transform(rows), features.transform(rows.astype(np.float64))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, double, atol=1e-4)
    for other in (np.asfortranarray(rows), np.repeat(rows, 2, axis=0)[::2], sp.csr_array(rows)):
        np.testing.assert_allclose(features.transform(other), single, atol=1e-4)
    alone = np.concatenate([features.transform(rows[i : i + 1]) for i in range(50)])
    np.testing.assert_allclose(alone, single, atol=1e-4)
