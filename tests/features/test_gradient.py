"""Gradients of feature maps against finite differences of what they compute."""

import numpy as np
import pytest
import scipy.sparse as sp

import zonal
from tests.finite_differences import STEP, assert_gradient
from zonal.engines.interpolation import interpolate, interpolate_derivative
from zonal.kernels.expansion.modes import GRID_TOL, ModeFunctions, OptimalRadial
from zonal.polynomials.harmonics import full_program, solid_harmonics, solid_harmonics_gradient

GAUSSIAN = zonal.Gaussian(2.0)
SUM = GAUSSIAN + 2 * zonal.Polynomial(1)
MAPS = [
    zonal.FourierFeatures(GAUSSIAN, 32, random_state=0),
    zonal.FourierFeatures(zonal.Matern(1.5, 2.0), 33, orthogonal=True, random_state=0),
    zonal.FastFoodFeatures(GAUSSIAN, 37, random_state=0),
    zonal.ModifiedFourierFeatures(GAUSSIAN, 32, random_state=0),
    zonal.NystroemFeatures(GAUSSIAN, 7, random_state=0),
    zonal.NystroemFeatures(zonal.Matern(2.5, 2.0), 7, random_state=0),
    zonal.GegenbauerFeatures(GAUSSIAN, 50, random_state=0),
    zonal.GegenbauerFeatures(GAUSSIAN, 51, max_degree=5, n_radial=3, random_state=0),
    zonal.GegenbauerFeatures(GAUSSIAN, 50, max_degree=0, n_radial=2, random_state=0),
    zonal.GegenbauerFeatures(SUM, 51, max_degree=5, n_radial=3, random_state=0),
    zonal.GegenbauerFeatures(zonal.NTK(2), 50, random_state=0),
    zonal.GegenbauerFeatures(zonal.ArcCosine(2), 50, random_state=0),
    zonal.GegenbauerFeatures(
        zonal.Matern(1.5, 2.0), 50, max_degree=5, n_radial=2, radial_basis="optimal", random_state=0
    ),
    zonal.HarmonicFeatures(GAUSSIAN, 30),
    zonal.HarmonicFeatures(zonal.RationalQuadratic(4.0), 15),
    zonal.HarmonicFeatures(zonal.Polynomial(3), 30),
    zonal.MaclaurinFeatures(zonal.Gaussian(4.0), 50, random_state=0),
    zonal.MaclaurinFeatures(SUM, 50, measure="proportional", random_state=0),
    zonal.PolySketchFeatures(zonal.Gaussian(4.0), 50, random_state=0),
    zonal.TensorSketchFeatures(zonal.Gaussian(4.0), 50, random_state=0),
]
DIMS = [1, 2, 5]


def rows(dim, n=60, seed=0):
    """Rows in a ball around a point that is not the origin."""
    return 0.3 + np.random.default_rng(seed).uniform(-1.5, 1.5, (n, dim))


def smooth_at_origin(features):
    """Whether there is no kink, and something that is linear."""
    rough = isinstance(features.kernel, zonal.NTK | zonal.ArcCosine | zonal.Matern)
    return not rough and getattr(features, "max_degree_", 1) > 0


def name(features):
    return f"{type(features).__name__}-{features.kernel!r}"


def extra_error(features):
    """What differences of features may be off by, beyond truncation and a few ulps: [D, 1].

    Tables: the values are right to GRID_TOL of the largest, and so the derivatives of neighbouring
    polynomials to that over a step. Eigenfunctions: rounding of the kernel is divided by √λ.
    """
    error = np.zeros((features.transform(np.zeros((1, features.n_features_in_))).shape[1], 1))
    functions = getattr(features, "_functions", None)
    if functions is None:
        radial = getattr(getattr(features, "expansion_", None), "radial", None)
        functions = radial.functions if isinstance(radial, OptimalRadial) else None
    if isinstance(functions, ModeFunctions):
        density = (len(functions.table) - 1) / (functions.high - functions.low)
        error += GRID_TOL * np.abs(functions.table).max() * density
    if hasattr(features, "eigenvalues_"):
        eigenvalues = features.eigenvalues_[:, None]
        error += 16 * np.finfo(float).eps / STEP / np.sqrt(eigenvalues / eigenvalues.max())
    return error


@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("features", MAPS, ids=name)
def test_gradient(features, dim):
    """At rows like those of the fit, beyond the norms that were seen, and where they are zero."""
    X = rows(dim)
    features.fit(X)
    error = extra_error(features)
    near, far = rows(dim, 5, seed=1), X.mean(axis=0) + 3 * (rows(dim, 3, seed=2) - X.mean(axis=0))
    for at in (near, far):
        assert_gradient(features.gradient(at), features.transform, at, error)
    if smooth_at_origin(features):
        at = getattr(features, "center_", np.zeros(dim))[None]
        # Differences of a table's functions of degree 3, 5, … do not vanish to the last digit.
        assert_gradient(features.gradient(at), features.transform, at, 10 * error)


@pytest.mark.parametrize("features", MAPS, ids=name)
def test_contraction_is_the_sum(features):
    X = rows(3)
    features.fit(X)
    G = features.gradient(X[:20])
    coef = np.random.default_rng(1).standard_normal((G.shape[1], 2))
    size = np.abs(G).max() * np.abs(coef).sum()
    many = features.contract_gradient(X[:20], coef)
    np.testing.assert_allclose(many, np.einsum("ncd,ct->ntd", G, coef), atol=1e-13 * size)
    one = features.contract_gradient(X[:20], coef[:, 0])
    np.testing.assert_allclose(one, many[:, 0], atol=1e-13 * size)


@pytest.mark.parametrize("features", MAPS, ids=name)
def test_precision_and_sparse_rows(features):
    X = rows(3).astype(np.float32)
    G = features.fit(X).gradient(X[:9])
    assert G.dtype == np.float32
    assert features.contract_gradient(X[:9], np.ones(G.shape[1])).dtype == np.float32
    exact = features.gradient(X[:9].astype(np.float64))
    np.testing.assert_allclose(G, exact, atol=1e-6 * np.abs(exact).max())
    sparse = features.fit(sp.csr_matrix(X)).gradient(sp.csr_matrix(X[:9]))
    np.testing.assert_allclose(sparse, features.gradient(X[:9]), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("reduce", ["pca", "jl"])
@pytest.mark.parametrize(
    "make",
    [
        lambda **kwargs: zonal.GegenbauerFeatures(GAUSSIAN, 40, **kwargs),
        lambda **kwargs: zonal.HarmonicFeatures(GAUSSIAN, 40, **kwargs),
    ],
)
def test_reduction(make, reduce):
    X = rows(6)
    features = make(reduce=reduce, reduced_dim=3, random_state=0).fit(X)
    assert_gradient(features.gradient(X[:5]), features.transform, X[:5], 10 * extra_error(features))


@pytest.mark.parametrize(
    "features", [zonal.GegenbauerFeatures(GAUSSIAN, 40), zonal.HarmonicFeatures(GAUSSIAN, 40)]
)
def test_sphere(features):
    """One norm: gradients are tangential, and those of the function that is constant on rays."""
    X = rows(3)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    features.fit(X)

    def on_rays(at):
        return features.transform(at / np.linalg.norm(at, axis=1, keepdims=True))

    G = features.gradient(X[:6])
    assert_gradient(G, on_rays, X[:6])
    np.testing.assert_allclose(np.einsum("ncd,nd->nc", G, X[:6]), 0, atol=1e-13)


def test_fibonacci_lattices():
    """Two tables of directions, one for each count."""
    X = rows(3)
    features = zonal.GegenbauerFeatures(
        GAUSSIAN, 50, n_radial=3, max_degree=6, directions="fibonacci", random_state=0
    ).fit(X)
    assert len(features._groups) == 2
    assert_gradient(features.gradient(X[:5]), features.transform, X[:5])


@pytest.mark.parametrize("dim", [2, 3, 5])
def test_solid_harmonics(dim):
    """They are harmonic and homogeneous: ⟨x, ∇Y⟩ = ℓ Y, and zero at zero beyond degree one."""
    program = full_program(6, dim)
    X = np.vstack([rows(dim, 5), np.zeros((1, dim))])
    values, gradients = solid_harmonics_gradient(program, X)
    np.testing.assert_array_equal(values, solid_harmonics(program, X))
    assert_gradient(gradients, lambda at: solid_harmonics(program, at), X)
    degrees = np.repeat(np.arange(7), program.counts)
    euler = np.einsum("ncd,nd->nc", gradients, X)
    np.testing.assert_allclose(euler, degrees * values, atol=1e-12 * np.abs(values).max())


def test_interpolation_is_differentiated_exactly():
    """Polynomials of degree five are their own interpolants, at the ends and beyond them too."""
    polynomial = np.polynomial.Polynomial([1.0, -2.0, 0.5, 0.3, -0.2, 0.1])
    table = np.column_stack([polynomial(np.linspace(1, 3, 20)), np.ones(20)])
    at = np.array([0.99, 1.0, 1.001, 2.2, 3.0, 3.01])
    slopes = interpolate_derivative(at, 1.0, 3.0, table)
    np.testing.assert_allclose(slopes[:, 0], polynomial.deriv()(at), rtol=1e-11)
    np.testing.assert_allclose(slopes[:, 1], 0, atol=1e-12)
    np.testing.assert_allclose(interpolate(at, 1.0, 3.0, table)[:, 0], polynomial(at), rtol=1e-12)


def test_what_has_no_gradient_says_so():
    X = rows(2)
    plain = zonal.NystroemFeatures(lambda A, B: A @ B.T, 2, random_state=0).fit(X)
    with pytest.raises(NotImplementedError, match="plain function"):
        plain.gradient(X)
    own = zonal.RotationInvariant(lambda r, s, cos: np.exp(-(r**2) - s**2 + r * s * cos))
    with pytest.raises(NotImplementedError, match="known by its values only"):
        zonal.NystroemFeatures(own, 5, random_state=0).fit(X).gradient(X)
    with pytest.raises(ValueError, match="one row for each column of the features"):
        zonal.FourierFeatures(n_components=8).fit(X).contract_gradient(X, np.ones(7))
