"""Nyström features: the mathematics of the approximation and of the three samplings."""

import math
import pickle
import tracemalloc
import warnings

import numba
import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import eigsh
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.kernel_approximation import Nystroem
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel
from sklearn.utils.estimator_checks import parametrize_with_checks

import zonal
from zonal.features import landmarks, pivoted_cholesky
from zonal.features.landmarks import (
    SAMPLING,
    distinct_rows,
    draw,
    inclusion,
    leverage_scores,
    ridge,
)
from zonal.features.nystroem import NystroemFeatures
from zonal.features.pivoted_cholesky import pivots
from zonal.rows import threads

X = np.random.default_rng(0).standard_normal((300, 4))
KERNELS = [
    zonal.Gaussian(2.0),
    zonal.Polynomial(3),
    zonal.NTK(2),
    zonal.ArcCosine(0),
    zonal.Gaussian(2.0) + zonal.Polynomial(1),
    laplacian_kernel,
]


def name(value):
    return getattr(value, "__name__", repr(value))


def gram(features, rows):
    Z = features.transform(rows)
    return Z @ Z.T


@parametrize_with_checks(
    [
        NystroemFeatures(),
        NystroemFeatures(n_components=4),
        NystroemFeatures(n_components=4, sampling="uniform"),
        NystroemFeatures(zonal.NTK(), n_components=4, sampling="rpcholesky"),
        NystroemFeatures(rbf_kernel, n_components=4),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("sampling", SAMPLING)
@pytest.mark.parametrize("kernel", KERNELS, ids=name)
def test_below_the_kernel_and_exact_at_landmarks(kernel, sampling):
    features = NystroemFeatures(kernel, 40, sampling=sampling, random_state=0).fit(X)
    K, approximation = kernel(X, X), gram(features, X)
    scale = K.diagonal().max()
    assert np.linalg.eigvalsh(K - approximation).min() >= -1e-8 * scale
    chosen = features.landmark_indices_
    np.testing.assert_array_equal(features.landmarks_, X[chosen])
    assert len(set(chosen)) == len(chosen) <= 40
    np.testing.assert_allclose(approximation[chosen], K[chosen], atol=1e-7 * scale)
    # Not the kernel by accident: some of these are of full rank.
    if not isinstance(kernel, zonal.Polynomial):
        assert np.abs(K - approximation).max() > 1e-3 * scale


@pytest.mark.parametrize("sampling", SAMPLING)
@pytest.mark.parametrize("kernel", KERNELS, ids=name)
def test_all_rows_as_landmarks_are_the_kernel(kernel, sampling):
    features = NystroemFeatures(kernel, 300, sampling=sampling, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        K = kernel(X, X)
        np.testing.assert_allclose(gram(features.fit(X), X), K, atol=1e-9 * K.max())
    with pytest.warns(UserWarning, match="n_components=301 exceeds the 300 distinct rows"):
        features.set_params(n_components=301).fit(X)
    assert features.landmarks_.shape == (300, 4)
    np.testing.assert_allclose(gram(features, X), K, atol=1e-9 * K.max())


def test_formula_as_scikit_learn():
    """The same landmarks give the same matrix, up to its larger cut-off of 1e-12."""
    features = NystroemFeatures(zonal.Gaussian(1.0), 50, sampling="uniform", random_state=0).fit(X)
    reference = Nystroem(gamma=0.5, n_components=50).fit(features.landmarks_).transform(X)
    np.testing.assert_allclose(gram(features, X), reference @ reference.T, atol=1e-10)


def test_low_rank_kernels_have_few_columns():
    """(⟨x, y⟩ + 1)² in 4 columns has 15 monomials."""
    for sampling in SAMPLING:
        features = NystroemFeatures(zonal.Polynomial(2), 60, sampling=sampling, random_state=0)
        Z = features.fit_transform(X)
        assert Z.shape == (300, 15)
        assert len(features.get_feature_names_out()) == 15
        np.testing.assert_allclose(Z @ Z.T, zonal.Polynomial(2)(X), rtol=1e-9, atol=1e-9)
    assert len(features.landmarks_) < 20  # randomly pivoted Cholesky stops, up to rounding


def clusters(seed):
    """A tight cluster of 2,000 rows, and a sparse one of 30."""
    rng = np.random.default_rng(seed)
    tight, sparse = rng.standard_normal((2000, 3)), rng.standard_normal((30, 3))
    return np.vstack([0.1 * tight, 10 + 2 * sparse])


@pytest.mark.longest
def test_recursive_beats_uniform_on_unequal_clusters():
    kernel, data = zonal.Gaussian(1.0), clusters(0)
    K = kernel(data)
    traces, norms = {}, {}
    for sampling in SAMPLING:
        for m, errors, norm in ((60, traces, np.trace), (100, norms, spectral_norm)):
            features = NystroemFeatures(kernel, m, sampling=sampling)
            fits = (features.set_params(random_state=seed).fit(data) for seed in range(5))
            errors[sampling] = np.mean([norm(K - gram(fit, data)) for fit in fits])
    # Means over five seeds. 60 landmarks, trace: uniform 26.3, recursive 0.71, rpcholesky 1.2e-4.
    # 100 landmarks, spectral norm: uniform 2.43, recursive 3.2e-8, rpcholesky 3.3e-9.
    for better in ("recursive", "rpcholesky"):
        assert traces[better] < 0.2 * traces["uniform"]
        assert norms[better] < 1e-4 * norms["uniform"]


def spectral_norm(matrix):
    return float(eigsh(matrix, k=1, return_eigenvectors=False)[0])


@pytest.mark.parametrize("weighted", [False, True])
def test_leverage_scores(weighted):
    """Against l_i = (B (B + λ)⁻¹)_ii, with the constants of the paper.

    All rows as landmarks: 3/2 of the exact scores. Half of the rows: never below, and in the mean
    at most twice the sum. An importance-weighted sample of the half, a (1/2)-approximation with
    high probability: still not below with the factor 3/2, at most 6 times the sum.
    """
    kernel, size = zonal.Gaussian(1.0), 120
    data = np.vstack([X, 0.1 * X, 5 * X[:40]])
    n = len(data)
    weights = np.random.default_rng(1).uniform(0.5, 3, n) if weighted else np.ones(n)
    root = np.sqrt(weights)
    B = root[:, None] * kernel(data) * root
    values = np.linalg.eigvalsh(B)[::-1]
    k = math.ceil(size / (4 * math.log(size)))

    def exact(lam):
        return np.linalg.solve(B + lam * np.eye(n), B).diagonal()

    lam, factor = ridge(kernel, data, root, size)
    assert lam == pytest.approx(values[k:].sum() / k)
    scores = leverage_scores(kernel, data, weights, data, factor, lam)
    np.testing.assert_allclose(scores, np.minimum(1, 1.5 * exact(lam)), rtol=1e-6)

    totals_half, totals_sample = [], []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        half = rng.permutation(n)[: n // 2]
        lam, factor = ridge(kernel, data[half], root[half], size)
        scores = leverage_scores(kernel, data, weights, data[half], factor, lam)
        expected = exact(lam)
        assert (scores >= np.minimum(1, 1.5 * expected) * (1 - 1e-6)).all()
        totals_half.append(np.minimum(1, scores / 1.5).sum() / expected.sum())

        p = inclusion(scores[half], size)
        drawn = draw(p, rng)
        sample = half[drawn]
        lam, factor = ridge(kernel, data[sample], root[sample] / np.sqrt(p[drawn]), size)
        scores = leverage_scores(kernel, data, weights, data[sample], factor, lam)
        expected = exact(lam)
        assert (scores >= expected).all()
        totals_sample.append(scores.sum() / expected.sum())
    for totals, bound in ((totals_half, 2), (totals_sample, 6)):
        assert np.mean(totals) <= bound + 3 * np.std(totals) / np.sqrt(8)


def test_inclusion_probabilities():
    rng = np.random.default_rng(0)
    for scores in (np.ones(50), rng.random(50) ** 2, np.r_[np.zeros(45), np.ones(5)], np.zeros(50)):
        for size in (1, 7, 49):
            p = inclusion(scores, size)
            assert p.sum() == pytest.approx(size)
            assert (p > 0).all()
            assert (p <= 1).all()
            free = (p < 1) & (scores > 0)
            ratio = p[free] / scores[free]
            np.testing.assert_allclose(ratio, ratio[:1].repeat(len(ratio)), rtol=1e-6)


def test_draw_has_the_probabilities():
    """4,000 draws: each frequency within five standard errors, each draw of the exact size."""
    p = inclusion(np.array([0.1, 0.2, 5.0, 1.0, 0.7, 0.0, 2.0]), 3)
    rng = np.random.default_rng(0)
    draws = np.zeros((4000, 7))
    for row in draws:
        chosen = draw(p, rng)
        assert len(chosen) == 3
        row[chosen] = 1
    np.testing.assert_array_less(
        np.abs(draws.mean(axis=0) - p), 5 * np.sqrt(p * (1 - p) / 4000) + 1e-9
    )


@pytest.mark.parametrize("proposals", [1, 20])
@pytest.mark.parametrize("weighted", [False, True])
def test_pivots_have_the_probabilities(weighted, proposals, monkeypatch):
    """All ordered pairs of pivots of a small matrix, by brute force: a χ² test at five sigma.

    With one proposal at a time every pivot is a block of its own, with many there are rejections.
    """
    monkeypatch.setattr(pivoted_cholesky, "PROPOSALS", proposals)
    rng = np.random.default_rng(0)
    root = rng.standard_normal((5, 3)) * np.array([[0.3], [1.0], [2.0], [1.0], [0.5]])
    weights = np.array([4.0, 1, 0.5, 2, 1]) if weighted else np.ones(5)
    K = root @ root.T + 0.1 * np.eye(5)
    B = np.sqrt(weights)[:, None] * K * np.sqrt(weights)
    expected = np.zeros((5, 5))
    for i in range(5):
        rest = B.diagonal() - B[i] ** 2 / B[i, i]
        rest[i] = 0
        expected[i] = B[i, i] / np.trace(B) * rest / rest.sum()
    assert expected.sum() == pytest.approx(1)

    def kernel(rows, others):
        return K[np.ix_(rows[:, 0].astype(int), others[:, 0].astype(int))]

    counts = np.zeros((5, 5))
    n_draws = 1500
    for seed in range(n_draws):
        i, j = pivots(kernel, np.arange(5.0)[:, None], weights, 2, np.random.default_rng(seed))
        counts[i, j] += 1
    off = ~np.eye(5, dtype=bool)
    assert counts[~off].sum() == 0
    chi2 = ((counts - n_draws * expected)[off] ** 2 / (n_draws * expected[off])).sum()
    assert chi2 < 19 + 5 * math.sqrt(2 * 19)


def test_pivoted_cholesky_is_nearly_the_best():
    """E trace(K - ZZᵀ) ≤ (1 + ε) (tail of rank r) from m ≥ r/ε + r log(1/(ε η)) on; here ε = 1.

    η is the tail over the trace. And, measured, at most twice the tail at m/2.
    """
    kernel = zonal.Gaussian(2.0)
    data = clusters(1)[1700:] / 4
    K = kernel(data)
    values = np.maximum(np.linalg.eigvalsh(K)[::-1], 0)

    def error(sampling, m):
        features = NystroemFeatures(kernel, m, sampling=sampling)
        fits = (features.set_params(random_state=seed).fit(data) for seed in range(8))
        return np.mean([np.trace(K - gram(fit, data)) for fit in fits])

    for r in (2, 5, 10):
        tail = values[r:].sum()
        m = r + math.ceil(r * math.log(values.sum() / tail))
        assert error("rpcholesky", m) <= 2 * tail
    for m in (10, 20):
        measured = error("rpcholesky", m)
        assert values[m:].sum() <= measured <= 2 * values[m // 2 :].sum()
        assert measured < error("uniform", m)


def test_blocks_of_proposals_do_not_matter(monkeypatch):
    """250 of 300 distinct pivots: one at a time are as good as many, to four standard errors."""
    K = zonal.Gaussian(0.7)(X)
    errors = []
    for proposals in (1, 96):
        monkeypatch.setattr(pivoted_cholesky, "PROPOSALS", proposals)
        errors.append([])
        for seed in range(6):
            rng = np.random.default_rng(seed)
            chosen = pivots(zonal.Gaussian(0.7), X, np.ones(300), 250, rng)
            assert len(set(chosen.tolist())) == 250
            projection = K[:, chosen] @ np.linalg.solve(K[np.ix_(chosen, chosen)], K[chosen])
            errors[-1].append(np.trace(K - projection))
    (one, many), sd = np.mean(errors, axis=1), np.std(errors, axis=1, ddof=1)
    assert abs(one - many) < 4 * math.hypot(*sd) / math.sqrt(6)
    assert one > 0


@pytest.mark.parametrize("sampling", SAMPLING)
def test_weights_are_repetitions_in_any_order(sampling):
    rng = np.random.default_rng(3)
    weights = rng.integers(0, 4, len(X))
    features = NystroemFeatures(n_components=20, sampling=sampling, random_state=0)
    features.fit(X, sample_weight=weights)
    assert (weights[features.landmark_indices_] > 0).all()
    expected = gram(features, X)
    repeated = rng.permutation(X.repeat(weights, axis=0))
    np.testing.assert_allclose(gram(clone(features).fit(repeated), X), expected, atol=1e-9)
    order = rng.permutation(len(X))
    again = clone(features).fit(X[order], sample_weight=weights[order])
    np.testing.assert_array_equal(
        np.sort(order[again.landmark_indices_]), np.sort(features.landmark_indices_)
    )


def test_heavy_rows_are_drawn_first():
    weights = np.where(np.arange(300) < 20, 1e6, 1.0)
    features = NystroemFeatures(zonal.Gaussian(0.1), 20, sampling="uniform", random_state=0)
    chosen = features.fit(X, sample_weight=weights).landmark_indices_
    np.testing.assert_array_equal(np.sort(chosen), np.arange(20))


def test_distinct_rows():
    data = np.array([[1.0, 2], [2, 1], [0, 0], [1, 2], [-0.0, 0], [3, 3], [0, 2], [2, 0]])
    weights = np.array([1.0, 1, 2, 3, 4, 0, 1, 1])
    indices, totals = distinct_rows(data, weights)
    found = dict(zip(indices.tolist(), totals.tolist(), strict=True))
    assert found == {0: 4, 1: 1, 2: 6, 6: 1, 7: 1}
    for other in (sp.csr_array(data), data.astype(np.float32)):
        np.testing.assert_array_equal(distinct_rows(other, weights)[0], indices)
    many = np.random.default_rng(0).integers(0, 6, (5000, 4)).astype(float)
    indices, totals = distinct_rows(many, np.ones(5000))
    expected, counts = np.unique(many, axis=0, return_counts=True)
    order = np.lexsort(many[indices].T[::-1])
    np.testing.assert_array_equal(many[indices][order], expected)
    np.testing.assert_array_equal(totals[order], counts)


@pytest.mark.parametrize("sampling", SAMPLING)
def test_duplicates_constant_rows_and_single_ones(sampling):
    features = NystroemFeatures(zonal.Gaussian(1.0), 10, sampling=sampling, random_state=0)
    Z = features.fit_transform(np.vstack([X[:12]] * 5))
    assert len(np.unique(features.landmarks_, axis=0)) == len(features.landmarks_) == 10
    np.testing.assert_array_equal(Z[:12], Z[12:24])
    for data in (np.ones((6, 3)), X[:1]):
        with pytest.warns(UserWarning, match="exceeds the 1 distinct rows"):
            Z = features.fit_transform(data)
        np.testing.assert_allclose(Z, np.ones((len(data), 1)))
    Z = features.set_params(n_components=1).fit_transform(X)
    assert Z.shape == (300, 1)
    assert Z.max() == pytest.approx(1)
    # Rows where the kernel vanishes do not disturb.
    data = np.vstack([np.zeros((1, 4)), X[:50]])
    features = NystroemFeatures(zonal.Polynomial(1, coef0=0), 10, sampling=sampling)
    np.testing.assert_allclose(gram(features.fit(data), data), data @ data.T, atol=1e-9)


@pytest.mark.parametrize("sampling", SAMPLING)
@pytest.mark.parametrize(
    "kernel", [zonal.Gaussian("median"), zonal.NTK(1), laplacian_kernel], ids=name
)
def test_sparse_equals_dense(kernel, sampling):
    data = sp.random_array((90, 50), density=0.1, rng=np.random.default_rng(0), format="csr")
    dense = data.toarray()
    features = NystroemFeatures(kernel, 20, sampling=sampling, random_state=0)
    expected = features.fit(dense).transform(dense)
    chosen = features.landmark_indices_
    np.testing.assert_allclose(features.transform(data), expected, atol=1e-10)
    features.fit(data)
    assert sp.issparse(features.landmarks_)
    assert features.landmarks_.format == "csr"
    np.testing.assert_array_equal(features.landmark_indices_, chosen)
    np.testing.assert_allclose(
        features.transform(dense) @ expected.T, expected @ expected.T, atol=1e-10
    )


def test_sparse_is_never_filled():
    """A dense copy of 1,000 rows and 200,000 columns would be 1.6 GB."""
    data = sp.random_array(
        (1000, 200_000), density=1e-4, rng=np.random.default_rng(0), format="csr"
    )
    for sampling in SAMPLING:
        tracemalloc.start()
        NystroemFeatures(zonal.Gaussian(4.0), 64, sampling=sampling).fit_transform(data)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 100e6


@pytest.mark.parametrize("sampling", ["recursive", "uniform"])
def test_memory_and_rows_beyond_the_learning_sample(sampling):
    """60,000 rows: landmarks from all of them, and nothing near n × n (29 GB) or n × m (61 MB)."""
    data = np.random.default_rng(0).standard_normal((60_000, 2))
    features = NystroemFeatures(zonal.Gaussian(1.0), 128, sampling=sampling, random_state=0)
    tracemalloc.start()
    features.fit(data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 55e6
    assert features.landmarks_.shape == (128, 2)
    assert len(np.unique(features.landmark_indices_ // 6000)) > 8


def test_large_factors_use_a_sample(monkeypatch):
    """Beyond the limit the pivots come from limit / m rows, chosen by their contents."""
    shapes = []
    plain = landmarks.pivots

    def spy(kernel, rows, *args):
        shapes.append(rows.shape)
        return plain(kernel, rows, *args)

    monkeypatch.setattr(landmarks, "pivots", spy)
    features = NystroemFeatures(zonal.Gaussian(1.0), 10, sampling="rpcholesky", random_state=0)
    features.fit(X)
    monkeypatch.setattr(landmarks, "MAX_FACTOR", 1000)
    features.fit(X)
    assert shapes == [(300, 4), (100, 4)]
    chosen = features.landmark_indices_
    order = np.random.default_rng(0).permutation(300)
    features.fit(X[order])
    np.testing.assert_array_equal(np.sort(order[features.landmark_indices_]), np.sort(chosen))


@pytest.mark.parametrize("kernel", [*KERNELS, zonal.Gaussian(20.0)], ids=name)
@pytest.mark.parametrize("dim", [1, 3, 9])
def test_float32(kernel, dim):
    """Wide kernels have tiny eigenvalues, which must not amplify the errors of float32."""
    data = np.random.default_rng(1).standard_normal((400, dim)).astype(np.float32)
    features = NystroemFeatures(kernel, 100, random_state=0).fit(data)
    single, double = features.transform(data), features.transform(data.astype(np.float64))
    assert (single.dtype, double.dtype) == (np.float32, np.float64)
    np.testing.assert_allclose(single, double, atol=1e-4 * np.abs(double).max())
    K = np.asarray(kernel(data.astype(float), data.astype(float)))
    error = np.linalg.norm(single.astype(float) @ single.T.astype(float) - K)
    assert error <= 1.01 * np.linalg.norm(double @ double.T - K) + 1e-5 * np.linalg.norm(K)


def test_callable_kernels():
    def kernel(rows, others):
        return np.exp(-np.abs(rows[:, None] - others).sum(axis=2) / 4)

    for sampling in SAMPLING:
        ours = NystroemFeatures(kernel, 30, sampling=sampling, random_state=0).fit(X)
        theirs = NystroemFeatures(laplacian_kernel, 30, sampling=sampling, random_state=0).fit(X)
        np.testing.assert_array_equal(ours.landmark_indices_, theirs.landmark_indices_)
        np.testing.assert_allclose(gram(ours, X), gram(theirs, X), atol=1e-10)
        assert ours.kernel_ is kernel
    np.testing.assert_allclose(ours.kernel_diag(X), 1)
    assert ours.kernel_diag(X.astype(np.float32)).dtype == np.float32
    # One that only computes in float32: its noise of 1e-7 is found and cut off.
    noisy = NystroemFeatures(
        lambda a, b: zonal.Gaussian(3.0)(a, b).astype(np.float32), 200, random_state=0
    )
    Z = noisy.fit_transform(X)
    assert Z.shape[1] < 200
    np.testing.assert_allclose(Z @ Z.T, zonal.Gaussian(3.0)(X), atol=1e-3)


def test_learners_take_them():
    y = np.sin(X[:, 0]) + X[:, 1]
    model = zonal.KernelRidge(NystroemFeatures(n_components=100, random_state=0))
    assert model.fit(X, y, sample_weight=np.ones(300)).score(X, y) > 0.95


@pytest.mark.usefixtures("two_threads")
@pytest.mark.parametrize("sampling", SAMPLING)
def test_seeds_threads_and_blocks(sampling, monkeypatch):
    data = np.random.default_rng(2).standard_normal((3000, 3))
    features = NystroemFeatures(zonal.Gaussian(2.0), 100, sampling=sampling, random_state=1)
    expected, chosen = features.fit_transform(data), features.landmark_indices_
    np.testing.assert_array_equal(clone(features).fit_transform(data), expected)
    before = numba.get_num_threads()
    try:
        numba.set_num_threads(1)
        np.testing.assert_array_equal(features.transform(data), expected)
        np.testing.assert_array_equal(clone(features).fit(data).landmark_indices_, chosen)
    finally:
        numba.set_num_threads(before)
    monkeypatch.setattr(threads, "BLOCK_SIZE", 7777)
    np.testing.assert_allclose(features.transform(data), expected, atol=1e-6)
    other = clone(features).set_params(random_state=2).fit(data)
    assert set(other.landmark_indices_) != set(chosen)
    restored = pickle.loads(pickle.dumps(features))
    np.testing.assert_array_equal(restored.transform(data), features.transform(data))
    features.set_params(n_components=7)  # after fit, without effect
    assert features.transform(data[:5]).shape == (5, expected.shape[1])


@pytest.mark.parametrize(
    ("kwargs", "data", "message"),
    [
        ({}, [[np.nan, 1.0]], "NaN"),
        ({"kernel": zonal.Gaussian(-2.0)}, X, "bandwidth=-2.0"),
        ({"kernel": "gausian"}, X, "'gausian' is unknown: use one of 'gaussian'"),
        ({"kernel": zonal.Zonal(np.exp)}, X, "Normalizer"),
        ({"n_components": 0}, X, "n_components=0"),
        ({"n_components": 2.5}, X, "n_components=2.5"),
        ({"sampling": "leverage"}, X, "sampling='leverage'.*'recursive', 'uniform', 'rpcholesky'"),
        ({"kernel": lambda a, b: -a @ b.T}, X[:9], "eigenvalues from .* positive definite"),
        ({"kernel": lambda a, b: np.ones(len(a))}, X, r"shape \(300,\).*must be vectorised"),
        ({"kernel": zonal.Polynomial(1, coef0=0)}, np.zeros((3, 2)), "not zero at all rows"),
    ],
)
@pytest.mark.filterwarnings("ignore:n_components")
def test_clear_errors(kwargs, data, message):
    features = NystroemFeatures(**kwargs)
    with pytest.raises(ValueError, match=message):
        features.fit(data)
    with pytest.raises(NotFittedError):
        features.transform(X)


def test_other_errors():
    with pytest.raises(TypeError, match="neither a kernel object"):
        NystroemFeatures(kernel=3.0).fit(X)
    with pytest.raises(TypeError, match="neither a kernel object"):
        NystroemFeatures(kernel=zonal.Gaussian).fit(X)
    with pytest.raises(ValueError, match=r"(?i)sample weights.*zero"):
        NystroemFeatures().fit(X, sample_weight=np.zeros(300))
    with pytest.raises(ValueError, match=r"(?i)negative"):
        NystroemFeatures().fit(X, sample_weight=-np.ones(300))
    with pytest.raises(ValueError, match="3 features, but NystroemFeatures is expecting 4"):
        NystroemFeatures(n_components=4).fit(X).transform(X[:, :3])
