"""Harmonic features of kernels of space and time, against brute force."""

import numpy as np
import pytest
from scipy.special import roots_legendre
from sklearn.base import clone

import zonal
from zonal.kernels.cross import cross
from zonal.kernels.radial_space_time import RadialSpaceTime

RNG = np.random.default_rng(0)
N = 180
HEIGHT, TURN = RNG.uniform(-1, 1, N), RNG.uniform(0, 2 * np.pi, N)
WIDTH = np.sqrt(1 - HEIGHT**2)
PLACE = np.column_stack([WIDTH * np.cos(TURN), WIDTH * np.sin(TURN), HEIGHT])
GLOBE = np.column_stack([PLACE, RNG.uniform(0, 5, N)])
PLANE = np.column_stack([RNG.uniform(0, 2, (N, 2)), RNG.uniform(0, 5, N)])
LINE = PLANE[:, 1:]
MOVING = zonal.SpaceTime(zonal.Gaussian(1.0), zonal.Gaussian(2.0), 0.6)
KERNELS = [
    MOVING,
    zonal.SpaceTime(zonal.Gaussian(1.0), zonal.Matern(2.5, 3.0)),
    zonal.SpaceTime(zonal.Gaussian(1.0), zonal.Cauchy(6.0), 1.0),
    zonal.SpaceTime(zonal.Matern(2.5, 2.0), zonal.Periodic(4.0, 1.0), 0.6),
    zonal.SpaceTime(zonal.Gaussian(1.0), zonal.Periodic(5.0, 2.0) * zonal.Gaussian(5.0)),
    zonal.SpaceTime(zonal.Cauchy(4.0), None),
]


def relative(found, exact):
    return np.linalg.norm(found - exact) / np.linalg.norm(exact)


# Of 120 columns; the largest errors that were measured are 0.0014, 4.2e-4 and 5.6e-6.
@pytest.mark.parametrize(("rows", "bound"), [(GLOBE, 0.002), (PLANE, 6e-4), (LINE, 1e-5)])
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_products_are_the_kernel(rows, bound, kernel):
    Z = zonal.HarmonicFeatures(kernel, 120).fit_transform(rows)
    assert relative(Z @ Z.T, kernel(rows)) < bound


def on_product(radii, times, mass, dim):
    """Return rows of a quadrature on spheres times radii and times, and their weights."""
    if dim == 2:
        angle = np.arange(48) * (2 * np.pi / 48)
        points, weights = np.column_stack([np.cos(angle), np.sin(angle)]), np.full(48, 1 / 48)
    else:
        height, weights = roots_legendre(12)
        angle = np.arange(24) * (2 * np.pi / 24)
        z, a = (grid.ravel() for grid in np.meshgrid(height, angle, indexing="ij"))
        s = np.sqrt(1 - z**2)
        points = np.column_stack([s * np.cos(a), s * np.sin(a), z])
        weights = np.repeat(weights / 2, 24) / 24
    rows = [
        np.column_stack([r * points, np.full(len(points), t)])
        for r, t in zip(radii, times, strict=True)
    ]
    return np.concatenate(rows), np.concatenate([m * weights for m in mass])


@pytest.mark.parametrize("beta", [0.0, 0.7])
@pytest.mark.parametrize(
    ("dim", "radii", "times", "mass"),
    [
        (3, [1.0, 1.0, 1.0, 1.0], [0.0, 1.0, 1.5, 4.0], [0.4, 0.1, 0.3, 0.2]),
        (2, [0.3, 0.3, 0.8, 1.5, 1.5], [0.0, 2.0, 1.0, 0.0, 2.0], [0.1, 0.2, 0.4, 0.2, 0.1]),
    ],
)
def test_eigenvalues_are_those_of_a_dense_problem(dim, radii, times, mass, beta):
    """Few radii and times, not independent: the joint distribution is known exactly."""
    kernel = zonal.SpaceTime(zonal.Gaussian(0.9), zonal.Matern(1.5, 2.0), beta)
    rows, weights = on_product(radii, times, mass, dim)
    features = zonal.HarmonicFeatures(kernel, 60, center=False).fit(rows, sample_weight=weights)
    roots = np.sqrt(weights)
    dense = np.linalg.eigvalsh(kernel(rows) * roots[:, None] * roots)[::-1]
    np.testing.assert_allclose(features.eigenvalues_, dense[:60], rtol=1e-8, atol=1e-12)
    # And the features are eigenvectors, interpolated to 1e-6: their products are diagonal.
    Z = features.transform(rows)
    products = Z.T @ (weights[:, None] * Z)
    np.testing.assert_allclose(products, np.diag(features.eigenvalues_), atol=1e-6)


def test_separable_is_the_tensor_product():
    """Eigenvalues on the sphere times those of the times."""
    months = np.tile(np.arange(12.0), N // 12)
    time, space = zonal.Periodic(12.0, 0.8), zonal.Matern(1.5, 0.8)
    kernel = zonal.SpaceTime(space, time)
    features = zonal.HarmonicFeatures(kernel, 200).fit(np.column_stack([PLACE, months]))
    on_sphere = zonal.HarmonicFeatures(space, 300).fit(PLACE).eigenvalues_
    in_time = np.linalg.eigvalsh(time(np.arange(12.0)[:, None])) / 12
    products = np.sort(np.multiply.outer(on_sphere, in_time).ravel())[::-1]
    np.testing.assert_allclose(features.eigenvalues_, products[:200], rtol=1e-9)
    grouped = zonal.ProductFeatures(kernel, 200).fit(np.column_stack([PLACE, months]))
    # On the whole circle; of twelve months, high frequencies count as low ones.
    np.testing.assert_allclose(features.eigenvalues_, grouped.eigenvalues_, rtol=1e-3)


@pytest.mark.parametrize(
    ("rows", "kernel"),
    [
        (GLOBE, MOVING),
        (GLOBE, zonal.SpaceTime(zonal.Gaussian(1.0), zonal.Matern(0.5, 9.0), 0.5)),
        (PLANE, zonal.SpaceTime(zonal.Gaussian(1.0), zonal.Matern(0.5, 9.0))),
        (LINE, MOVING),
    ],
)
def test_times_that_were_not_seen(rows, kernel):
    """Nyström's extension: towards rows that were seen, features are still the kernel."""
    features = zonal.HarmonicFeatures(kernel, 200).fit(rows)
    Z = features.transform(rows)
    for lead in (0.3, 2.0, 50.0, 1e6, -1e6):
        later = rows[:40].copy()
        later[:, -1] = lead if lead < 0 else 5 + lead
        new = features.transform(later)
        exact = kernel(later, rows)
        assert np.abs(new @ Z.T - exact).max() < 0.025
        assert features.residual_variance(later, np.square(new).sum(axis=1)).min() >= 0
    # Table and extension agree where they meet.
    edge = features._functions.high[1] * np.array([1 - 1e-9, 1 + 1e-9])
    both = features.transform(np.column_stack([np.repeat(rows[:1, :-1], 2, axis=0), edge]))
    np.testing.assert_allclose(*both, atol=1e-4)


def test_a_season_comes_back():
    kernel = zonal.SpaceTime(zonal.Gaussian(1.0), zonal.Periodic(4.0, 1.0), 0.3)
    features = zonal.HarmonicFeatures(kernel, 100).fit(GLOBE)
    later = GLOBE + np.array([0, 0, 0, 4000.0])
    np.testing.assert_allclose(features.transform(later), features.transform(GLOBE), atol=1e-9)


def test_the_same_at_all_times():
    features = zonal.HarmonicFeatures(zonal.SpaceTime(zonal.Matern(1.5, 1.0), None), 100)
    Z = features.fit_transform(PLANE)
    later = PLANE + np.array([0, 0, 1e9])
    np.testing.assert_array_equal(features.transform(later), Z)
    assert not features.gradient(PLANE[:9])[..., -1].any()


def test_sums_of_such_kernels():
    """What changes, what stays, and a season."""
    stays = zonal.SpaceTime(zonal.Gaussian(2.0), None)
    season = 0.5 * zonal.SpaceTime(zonal.Gaussian(1.5), zonal.Periodic(4.0, 1.0))
    kernel = 2.0 * MOVING + stays + season
    features = zonal.HarmonicFeatures(kernel, 150).fit(GLOBE)
    Z = features.transform(GLOBE)
    assert relative(Z @ Z.T, kernel(GLOBE)) < 3e-4
    np.testing.assert_allclose(features.kernel_diag(GLOBE), 3.5)


@pytest.mark.parametrize("dim", [1, 2, 3])
@pytest.mark.parametrize("space", [zonal.Gaussian(0.5), zonal.Matern(0.5, 0.7)], ids=repr)
@pytest.mark.parametrize("time", [zonal.Matern(1.5, 1.0), zonal.Cauchy(0.3, 1.0, 0.3)], ids=repr)
def test_few_radii_are_the_quadrature(dim, space, time):
    """Chebyshev's polynomials of the widening against quadrature of every pair."""
    times, radii = RNG.uniform(0, 40, 25), np.array([0.05, 0.7, 2.0])
    pairs = np.stack(np.meshgrid(radii, times, indexing="ij"), axis=-1).reshape(-1, 2)
    kernel = RadialSpaceTime(zonal.SpaceTime(space, time, 0.9), dim)
    found = kernel.degree_kernels(dim, 1 if dim == 1 else 9, pairs, pairs)
    exact = cross(kernel.terms()[0], dim, 1 if dim == 1 else 9, pairs, pairs)
    np.testing.assert_allclose(found, exact, atol=1e-12)


@pytest.mark.parametrize(
    ("rows", "center"), [(PLANE, "auto"), (LINE, "auto"), (GLOBE, "auto"), (GLOBE, True)]
)
def test_gradients_are_finite_differences(rows, center):
    kernel = 0.5 * MOVING + zonal.SpaceTime(zonal.Gaussian(1.0), zonal.Gaussian(3.0))
    features = zonal.HarmonicFeatures(kernel, 60, center=center).fit(rows)
    at = np.concatenate([rows[:8], rows[:8]])
    at[8:, -1] += 4.0  # some of them beyond the table
    gradient = features.gradient(at)
    steps = np.eye(rows.shape[1])[None].repeat(len(at), axis=0)
    if rows is GLOBE and center == "auto":  # along the sphere
        steps[:, :3, :3] -= at[:, :3, None] * at[:, None, :3]
    for column in range(rows.shape[1]):
        step = 1e-5 * steps[:, column]
        change = (features.transform(at + step) - features.transform(at - step)) / 2e-5
        expected = np.einsum("ndc,nc->nd", gradient, steps[:, column])
        np.testing.assert_allclose(expected, change, atol=2e-7)


def test_centre_is_of_the_places():
    assert not zonal.HarmonicFeatures(MOVING, 9).fit(GLOBE).center_.any()
    for rows, center in ((PLANE, "auto"), (GLOBE, True)):
        found = zonal.HarmonicFeatures(MOVING, 9, center=center).fit(rows).center_
        np.testing.assert_allclose(found, [*rows[:, :-1].mean(axis=0), 0.0])


def test_weights_are_repeated_rows_and_order_does_not_matter():
    counts = RNG.integers(0, 3, N)
    features = zonal.HarmonicFeatures(zonal.SpaceTime(zonal.Gaussian(1.0), zonal.Gaussian(2.0)), 40)
    weighted = clone(features).fit(PLANE, sample_weight=counts).eigenvalues_
    repeated = clone(features).fit(np.repeat(PLANE, counts, axis=0)).eigenvalues_
    np.testing.assert_allclose(weighted, repeated, rtol=1e-9)
    mixed = clone(features).fit(PLANE[RNG.permutation(N)]).eigenvalues_
    np.testing.assert_allclose(mixed, clone(features).fit(PLANE).eigenvalues_, rtol=1e-9)


def test_a_tolerance_instead_of_a_number():
    features = zonal.HarmonicFeatures(MOVING, tol=0.01, center=False).fit(GLOBE)
    Z = features.transform(GLOBE)
    assert 50 < features.n_columns < 250
    assert (1 - np.square(Z).sum(axis=1)).max() < 0.012


def test_an_interval_of_radii():
    features = zonal.HarmonicFeatures(MOVING, 60, radii=(0.0, 2.0), center=False).fit(LINE)
    Z = features.transform(LINE)
    assert relative(Z @ Z.T, MOVING(LINE)) < 1e-4


def test_one_time_and_one_place():
    still = np.column_stack([PLACE, np.full(N, 7.0)])
    Z = zonal.HarmonicFeatures(MOVING, 200).fit_transform(still)
    np.testing.assert_allclose(Z @ Z.T, MOVING(still), atol=1e-5)
    here = np.column_stack([np.ones((N, 2)), np.linspace(0, 5, N)])
    Z = zonal.HarmonicFeatures(MOVING, 60).fit_transform(here)
    np.testing.assert_allclose(Z @ Z.T, MOVING(here), atol=1e-5)
    Z = zonal.HarmonicFeatures(MOVING, 60).fit_transform(here[:1])
    np.testing.assert_allclose(Z @ Z.T, [[1.0]], atol=1e-6)


def test_a_few_rows_far_away_do_not_spoil_the_table():
    rows = GLOBE.copy()
    rows[0, -1] = -20_000.0
    features = zonal.HarmonicFeatures(MOVING, 200).fit(rows)
    Z = features.transform(rows[1:])
    assert relative(Z @ Z.T, MOVING(rows[1:])) < 0.02


def test_precision_stays():
    features = zonal.HarmonicFeatures(MOVING, 100).fit(GLOBE)
    single = features.transform(GLOBE.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, features.transform(GLOBE), atol=2e-6)


def test_clones_and_parameters():
    features = zonal.HarmonicFeatures(MOVING, 50)
    assert features.get_params()["kernel__time__bandwidth"] == 2.0
    other = clone(features).set_params(kernel__interaction=0.0).fit(GLOBE)
    assert other.kernel_.interaction == 0.0
    np.testing.assert_array_equal(
        clone(features).fit(GLOBE).eigenvalues_, features.fit(GLOBE).eigenvalues_
    )


def test_a_group_of_a_product():
    """Space and time, and a column beside them."""
    X = np.column_stack([GLOBE, RNG.uniform(0, 1, N)])
    other = zonal.Gaussian(1.0)
    groups = [([0, 1, 2, 3], zonal.HarmonicFeatures(MOVING)), ([4], zonal.HarmonicFeatures(other))]
    Z = zonal.ProductFeatures(groups, 600).fit_transform(X)
    assert relative(Z @ Z.T, MOVING(GLOBE) * other(X[:, 4:])) < 0.005


def test_a_process_is_the_exact_one():
    y = np.sin(2 * PLANE).sum(axis=1)
    model = zonal.GaussianProcess(zonal.HarmonicFeatures(MOVING, 150), noise=0.01, local=None)
    later = PLANE[:30] + np.array([0.05, 0.05, 1.0])
    mean, std = model.fit(PLANE, y).predict(later, return_std=True)
    system = MOVING(PLANE) + 0.01 * np.eye(N)
    k = MOVING(later, PLANE)
    np.testing.assert_allclose(mean, k @ np.linalg.solve(system, y), atol=0.02)
    exact = np.sqrt(1 - np.einsum("nm,mn->n", k, np.linalg.solve(system, k.T)))
    np.testing.assert_allclose(std, exact, atol=0.02)


@pytest.mark.parametrize(
    ("kernel", "options", "message"),
    [
        (zonal.SpaceTime(zonal.Matern(1.5, [1.0, 2.0, 1.0]), None), {}, "divide the columns"),
        (zonal.SpaceTime(zonal.Gaussian(), zonal.Gaussian(), 2.0), {}, "from 0 to 1"),
        (MOVING, {"reduce": "pca"}, "reduce the columns of the place before"),
        (MOVING + zonal.Gaussian(), {}, "HarmonicFeatures take it"),
    ],
)
def test_what_is_not_possible_says_what_is(kernel, options, message):
    with pytest.raises(ValueError, match=message):
        zonal.HarmonicFeatures(kernel, 20, **options).fit(GLOBE)


def test_a_column_of_times_alone_has_no_place():
    with pytest.raises(ValueError, match="add the columns of the place"):
        zonal.HarmonicFeatures(MOVING, 20).fit(GLOBE[:, :1])
