"""Random Gegenbauer features: the mathematics."""

import numpy as np
import pytest

import zonal
from tests.naive import gegenbauer_features, gram_variance
from zonal.features.directions import DIRECTIONS, share

DIMS = [1, 2, 3, 4, 9, 30]
KERNELS = [
    (zonal.Gaussian(2.0), 5, 3),
    (zonal.Exponential(2.0), 4, 2),
    (zonal.Polynomial(3), 3, 2),
    (zonal.DotProduct(np.cosh), 4, 3),
    (zonal.ArcCosine(0), 5, 1),
    (zonal.ArcCosine(1), 5, 1),
    (zonal.ArcCosine(2), 5, 1),
    (zonal.NTK(2), 5, 1),
    (zonal.Gaussian(2.0) + zonal.NTK(1), 4, 3),
    (zonal.Gaussian(2.0) * zonal.Polynomial(1), 4, 2),
    (zonal.Zonal(np.exp), 4, 1),
    ("own", 3, 2),
]


def own_radial(degree, order):
    """Radial functions that belong to no kernel of the library."""
    decay = 1.0 + np.arange(degree + 1)[:, None] + np.arange(order)
    return lambda radii: np.tanh(radii)[:, None, None] ** decay / decay


def points(n, dim, seed=0, radius=None):
    X = np.random.default_rng(seed).standard_normal((n, dim))
    norms = np.linalg.norm(X, axis=1, keepdims=True)
    # Bounded norms, as the heavy tails of α P² are enough for a test of means.
    return X / norms * (radius or np.minimum(norms, 2.0))


# Orthogonal directions know nothing of the kernel: three kinds of radial functions will do.
UNBIASED = [("iid", *case) for case in KERNELS]
UNBIASED += [("orthogonal", *KERNELS[place]) for place in (0, 7, 11)]


def gram_entries(features, X, n_seeds):
    """Entries of Z Zᵀ for many seeds: [n_seeds, n, n]. The expansion, the same for all, is kept."""
    features.set_params(kernel=features.fit(X).expansion_)
    grams = []
    for seed in range(n_seeds):
        Z = features.set_params(random_state=seed).fit_transform(X)
        grams.append(Z @ Z.T)
    return np.array(grams)


@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize(("directions", "kernel", "degree", "order"), UNBIASED, ids=repr)
def test_unbiased(directions, kernel, degree, order, dim):
    """The mean of Z Zᵀ over seeds is the truncated kernel, within five standard errors.

    Blocks of orthogonal directions have at most d times the variance of iid ones (all directions
    of a block perfectly correlated).
    """
    unit = isinstance(kernel, zonal.Zonal)
    X = points(5, dim, radius=1.0 if unit else None)
    # Lower degrees in high dimension keep five standard errors well below the kernel itself.
    degree = min(degree, 3 if dim >= 9 else 5, 1 if dim == 30 else 5)
    width = (3000 if dim >= 9 else 300) * order + 1  # not a multiple: counts differ
    n_seeds = 30
    if kernel == "own":
        degree = min(degree, 1) if dim == 1 else degree
        kernel = zonal.GeneralizedZonalKernel(dim, own_radial(degree, 2), degree, 2)
    features = zonal.GegenbauerFeatures(
        kernel,
        width,
        max_degree=degree,
        n_radial=order,
        radial_basis="taylor",
        directions=directions,
        center=False,
    )
    grams = gram_entries(features, X, n_seeds)
    expansion = features.expansion_
    expected = expansion(X)
    if dim == 1:
        np.testing.assert_allclose(grams, np.broadcast_to(expected, grams.shape), atol=1e-12)
        return
    counts = share(width, expansion.n_radial)
    variance = gram_variance(expansion, X, counts)  # [row, row, radial]
    block = dim if directions == "orthogonal" else 1
    # Radial indices share their directions, so their deviations, not their variances, add up.
    deviation = np.sqrt(variance * np.minimum(block, counts)).sum(axis=2)
    bound = 5 * deviation / np.sqrt(n_seeds)
    assert (np.diag(bound) < 0.5 * np.diag(expected)).all()  # or the test could not fail
    assert (np.abs(grams.mean(axis=0) - expected) <= bound + 1e-12).all()


@pytest.mark.parametrize("directions", ["sobol", "fibonacci"])
@pytest.mark.parametrize("n_components", [16, 20])
def test_quasi_random_directions_are_unbiased(directions, n_components):
    """Sample standard errors over 400 seeds, on degrees low enough to have light tails."""
    X = points(5, 3)
    features = zonal.GegenbauerFeatures(
        zonal.Gaussian(2.0),
        n_components,
        max_degree=3,
        n_radial=3,
        directions=directions,
        center=False,
    )
    grams = gram_entries(features, X, 400)
    deviation = grams.std(axis=0, ddof=1) / np.sqrt(len(grams))
    assert (np.abs(grams.mean(axis=0) - features.expansion_(X)) <= 5 * deviation + 1e-12).all()


@pytest.mark.parametrize("dim", [2, 3, 4, 9, 30])
@pytest.mark.parametrize(
    "kernel", [zonal.Gaussian(2.0), zonal.Polynomial(2), zonal.NTK(1)], ids=repr
)
def test_error_halves_with_four_times_the_width(kernel, dim):
    """Root mean square error over seeds: the ratio is 2, up to about 1/√seeds."""
    X = points(30, dim)
    error = []
    for width in (64, 256):
        features = zonal.GegenbauerFeatures(
            kernel, width, max_degree=3, n_radial=2, directions="iid", center=False
        )
        grams = gram_entries(features, X, 60)
        error.append(np.sqrt(np.mean((grams - features.expansion_(X)) ** 2)))
    assert 1.5 < error[0] / error[1] < 2.7


@pytest.mark.parametrize("dim", DIMS)
def test_definition_term_by_term(dim):
    X = np.vstack([np.zeros(dim), points(5, dim)])
    features = zonal.GegenbauerFeatures(
        zonal.Gaussian(1.5),
        11,
        max_degree=5,
        n_radial=3,
        radial_basis="taylor",
        directions="iid",
        center=False,
        random_state=3,
    ).fit(X)
    Z = features.transform(X)
    assert Z.shape == (6, 11)
    if dim == 1:  # unequal weights make it exact instead
        np.testing.assert_allclose(Z @ Z.T, features.expansion_(X), atol=1e-12)
        return
    expected = gegenbauer_features(features.expansion_, X, features.directions_, [4, 4, 3])
    np.testing.assert_allclose(Z, expected, atol=1e-12)


def test_fibonacci_has_one_lattice_per_count():
    """A prefix of a lattice would leave a hole at the pole."""
    X = points(5, 3)
    features = zonal.GegenbauerFeatures(
        zonal.Gaussian(),
        21,
        max_degree=6,
        n_radial=2,
        directions="fibonacci",
        center=False,
        random_state=0,
    ).fit(X)
    assert features.directions_.shape == (11, 3)
    # Heights at equal areas, whatever the rotation: the lattice's first axis is R e_3.
    small = features._groups[1].directions
    assert small.shape == (10, 3)
    for lattice in (features.directions_, small):
        axis = np.linalg.lstsq(lattice, 1 - (2 * np.arange(len(lattice)) + 1) / len(lattice))[0]
        np.testing.assert_allclose(np.linalg.norm(axis), 1)
    first = gegenbauer_features(features.expansion_, X, features.directions_, [11, 0])
    second = gegenbauer_features(features.expansion_, X, small, [0, 10])
    np.testing.assert_allclose(features.transform(X), np.hstack([first, second]), atol=1e-12)


@pytest.mark.parametrize("dim", [2, 5, 40])
def test_orthogonal_directions(dim):
    W = DIRECTIONS["orthogonal"](2 * dim + 1, dim, np.random.default_rng(0))
    np.testing.assert_allclose(W[:dim] @ W[:dim].T, np.eye(dim), atol=1e-13)
    np.testing.assert_allclose(W[dim : 2 * dim] @ W[dim : 2 * dim].T, np.eye(dim), atol=1e-13)
    np.testing.assert_allclose(np.linalg.norm(W, axis=1), 1)


@pytest.mark.parametrize("scheme", ["iid", "orthogonal", "sobol", "fibonacci"])
def test_directions_are_unit_vectors(scheme):
    W = DIRECTIONS[scheme](100, 3, np.random.default_rng(0))
    assert W.shape == (100, 3)
    np.testing.assert_allclose(np.linalg.norm(W, axis=1), 1)


def test_one_column_is_exact_and_not_padded():
    X = np.random.default_rng(0).standard_normal((50, 1))
    for width in (2, 5, 24, 64):
        features = zonal.GegenbauerFeatures(zonal.Gaussian(1.0), width, center=False).fit(X)
        Z = features.transform(X)
        assert Z.shape == (50, width)
        assert features.directions_.shape[1] == 1
        np.testing.assert_allclose(Z @ Z.T, features.expansion_(X), atol=1e-12)
    assert np.abs(Z @ Z.T - zonal.Gaussian(1.0)(X)).max() < 1e-3


def test_single_feature():
    X = points(4, 3)
    Z = zonal.GegenbauerFeatures(zonal.Gaussian(), 1, random_state=0).fit_transform(X)
    assert Z.shape == (4, 1)
    assert np.isfinite(Z).all()
