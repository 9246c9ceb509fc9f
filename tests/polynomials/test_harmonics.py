"""Real spherical harmonics in any dimension."""

import itertools
import tracemalloc

import numpy as np
import pytest
from scipy.special import binom, eval_chebyt, eval_gegenbauer, roots_gegenbauer, sph_harm_y

from zonal.polynomials import harmonic_dimension, uniform_sphere
from zonal.polynomials.harmonics import HarmonicProgram, solid_harmonics, spherical_harmonics

CASES = [(2, 200), (3, 100), (4, 12), (9, 4), (20, 3)]


def unit_vectors(n, dim, seed=0):
    """Random ones, and the coordinate axes, which are the poles of the recurrences."""
    random = uniform_sphere(n, dim, np.random.default_rng(seed))
    return np.vstack([random, np.eye(dim), -np.eye(dim)])


def polynomial(degree, dim, t):
    """SciPy's Gegenbauer polynomial with the value 1 at 1."""
    if dim == 2:
        return eval_chebyt(degree, t)
    return eval_gegenbauer(degree, (dim - 2) / 2, t) / binom(degree + dim - 3, degree)


@pytest.mark.parametrize(("dim", "max_degree"), CASES)
def test_addition_theorem(dim, max_degree):
    """Σ_k Y_k(x) Y_k(y) = α_ℓ P_ℓ(⟨x, y⟩), for all degrees and pairs of points."""
    X, Y = unit_vectors(30, dim), unit_vectors(20, dim, seed=1)
    cosines = np.clip(X @ Y.T, -1, 1)
    at_x, at_y = spherical_harmonics(max_degree, X), spherical_harmonics(max_degree, Y)
    for degree in range(max_degree + 1):
        alpha = harmonic_dimension(degree, dim)
        assert at_x[degree].shape[1] == alpha
        np.testing.assert_allclose(
            at_x[degree] @ at_y[degree].T / alpha, polynomial(degree, dim, cosines), atol=2e-13
        )


def product_rule(dim, exact):
    """Nodes and weights on the sphere, exact for polynomials of a degree.

    Equal angles on the circle; a new coordinate z has the density (1-z²)^{(j-3)/2}.
    """
    angles = 2 * np.pi * (np.arange(exact + 1) + 0.3) / (exact + 1)
    nodes = np.column_stack([np.cos(angles), np.sin(angles)])
    weights = np.full(len(angles), 1 / len(angles))
    for j in range(3, dim + 1):
        heights, new = roots_gegenbauer(exact // 2 + 1, (j - 2) / 2)
        nodes = np.vstack(
            [np.column_stack([nodes * np.sqrt(1 - z**2), 0 * weights + z]) for z in heights]
        )
        weights = np.concatenate([weight * weights / new.sum() for weight in new])
    return nodes, weights


def symmetric_rule(dim):
    """A rule of degree 7 in any dimension: signed and permuted e_1, e_1 + e_2, e_1 + e_2 + e_3.

    The weights of the three orbits follow from the moments of 1, x_1⁴ and x_1⁶; all others of
    even powers up to 7 follow from these by Σ x_i² = 1, and odd ones vanish.
    """
    orbits = []
    for size in (1, 2, 3):
        signs = np.array(list(itertools.product([-1.0, 1.0], repeat=size))) / np.sqrt(size)
        chosen = np.array(list(itertools.combinations(range(dim), size)))
        orbit = np.zeros((len(chosen), len(signs), dim))
        for block, columns in zip(orbit, chosen, strict=True):
            block[:, columns] = signs
        orbits.append(orbit.reshape(-1, dim))
    moments = [1, 3 / (dim * (dim + 2)), 15 / (dim * (dim + 2) * (dim + 4))]
    means = [[np.mean(orbit[:, 0] ** power) for orbit in orbits] for power in (0, 4, 6)]
    shares = np.linalg.solve(means, moments)
    weights = [
        np.full(len(orbit), share / len(orbit)) for orbit, share in zip(orbits, shares, strict=True)
    ]
    return np.vstack(orbits), np.concatenate(weights)


@pytest.mark.parametrize(
    ("rule", "dim", "max_degree"),
    [
        (product_rule, 2, 40),
        (product_rule, 3, 20),
        (product_rule, 4, 8),
        (product_rule, 9, 2),
        (symmetric_rule, 4, 3),
        (symmetric_rule, 9, 3),
        (symmetric_rule, 20, 3),
    ],
)
def test_orthonormal(rule, dim, max_degree):
    """By rules that are exact for all products of two harmonics."""
    nodes, weights = rule(dim, 2 * max_degree) if rule is product_rule else rule(dim)
    Y = np.hstack(spherical_harmonics(max_degree, nodes))
    # Some columns against all are enough, where all against all would take long.
    some = np.random.default_rng(0).permutation(Y.shape[1])[:300]
    gram = Y.T @ (weights[:, None] * Y[:, some])
    np.testing.assert_allclose(gram, np.eye(Y.shape[1])[:, some], atol=1e-11)


def test_scipy_on_the_sphere():
    """√(4π) √2 (-1)^m times the real and imaginary part, from m = ℓ down to 0."""
    X = unit_vectors(200, 3)
    polar, azimuth = np.arccos(X[:, 2]), np.arctan2(X[:, 1], X[:, 0])
    for degree, columns in enumerate(spherical_harmonics(40, X)):
        expected = []
        for m in range(degree, 0, -1):
            value = (-1) ** m * np.sqrt(8 * np.pi) * sph_harm_y(degree, m, polar, azimuth)
            expected += [value.real, value.imag]
        expected.append(np.sqrt(4 * np.pi) * sph_harm_y(degree, 0, polar, azimuth).real)
        # arccos loses half of the digits at the poles, and derivatives grow with the degree.
        np.testing.assert_allclose(columns, np.column_stack(expected), atol=1e-11 * (degree + 1))


@pytest.mark.parametrize("dim", [2, 3, 4, 9])
@pytest.mark.parametrize("seed", range(5))
def test_the_first_columns_of_a_degree(dim, seed):
    """A program for a part of some degrees computes the same columns, and only a few more."""
    rng = np.random.default_rng(seed)
    max_degree = {2: 9, 3: 9, 4: 6, 9: 4}[dim]
    sizes = np.array([harmonic_dimension(ell, dim) for ell in range(max_degree + 1)])
    counts = rng.integers(0, sizes + 1)
    program = HarmonicProgram.of(dim, counts)
    X = unit_vectors(10, dim, seed)
    columns = solid_harmonics(program, X) * program.scale
    full = spherical_harmonics(max_degree, X)
    assert columns.shape[1] == program.offsets[-1] == program.counts.sum()
    used = len(program.counts)
    assert (program.counts >= counts[:used]).all()
    assert (program.counts <= sizes[:used]).all()
    assert not counts[used:].any()  # degrees that nobody wants are not run
    for degree, (first, count) in enumerate(zip(program.offsets[:-1], program.counts, strict=True)):
        np.testing.assert_allclose(
            columns[:, first : first + count], full[degree][:, :count], atol=1e-13
        )


@pytest.mark.parametrize("counts", [[0], [0, 0, 0], [1, 0]])
def test_degree_zero_is_always_there(counts):
    program = HarmonicProgram.of(3, counts)
    np.testing.assert_array_equal(solid_harmonics(program, np.ones((2, 3))), [[1], [1]])


def test_solid_harmonics_are_homogeneous():
    """Without unit vectors: ρ^ℓ times the value at the unit vector."""
    X = unit_vectors(20, 4)
    at_unit, beyond = spherical_harmonics(6, X), spherical_harmonics(6, 1.5 * X)
    for degree in range(7):
        np.testing.assert_allclose(beyond[degree], 1.5**degree * at_unit[degree], atol=1e-11)


def test_a_part_of_degree_two_in_high_dimension():
    """d = 784: 307,719 harmonics of degree 2, of which 300 are asked for, in closed form."""
    dim, count = 784, 300
    X = uniform_sphere(20, dim, np.random.default_rng(0))
    tracemalloc.start()
    program = HarmonicProgram.of(dim, [1, dim, count])
    columns = solid_harmonics(program, X) * program.scale
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert program.offsets[-1] == 1 + dim + count
    assert peak < 2e6  # all of degree 2 would be 49 MB
    np.testing.assert_allclose(columns[:, 1 : 1 + dim], np.sqrt(dim) * X, rtol=1e-12)

    root = np.sqrt(dim * (dim + 2))
    square = np.square(X)
    expected = [root / 2 * (square[:, 0] - square[:, 1]), root * X[:, 0] * X[:, 1]]
    for j in range(2, 30):
        expected += [root * X[:, j] * X[:, i] for i in range(j)]
        trace_free = j * square[:, j] - square[:, :j].sum(axis=1)
        expected.append(root / np.sqrt(2 * j * (j + 1)) * trace_free)
    np.testing.assert_allclose(
        columns[:, 1 + dim :], np.column_stack(expected)[:, :count], atol=1e-11
    )
