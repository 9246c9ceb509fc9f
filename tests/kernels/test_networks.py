"""Kernels of wide networks against expectations, closed forms and finite networks."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

import zonal
from zonal.kernels.network import dual_series

COSINES = np.array([-0.9, -0.3, 0.0, 0.4, 0.8, 0.99])
PAIRS = np.column_stack([COSINES, np.sqrt(1 - COSINES**2)])
FIRST = np.array([[1.0, 0.0]])


def relu_products(t):
    """2 E[relu(u) relu(v)] and 2 P(u > 0, v > 0) for standard normals of correlation t."""
    deviation = np.sqrt(1 - t * t)

    def integrand(u):
        mean = t * u  # of v, given u
        given = mean * norm.cdf(mean / deviation) + deviation * norm.pdf(mean / deviation)
        return u * norm.pdf(u) * given

    value = quad(integrand, 0, 12, epsabs=1e-13, limit=200)[0]
    return 2 * value, 2 * (0.25 + np.arcsin(t) / (2 * np.pi))


@pytest.mark.parametrize("depth", [1, 3, 5])
def test_relu_networks_layer_by_layer(depth):
    """NNGP and NTK off the diagonal, each layer an expectation by quadrature."""
    ntk, nngp = [], []
    for t in COSINES:
        sigma = tangent = t
        for _ in range(depth):
            value, slope = relu_products(sigma)
            tangent, sigma = tangent * slope + value, value
        ntk.append(tangent)
        nngp.append(sigma)
    np.testing.assert_allclose(zonal.NTK(depth)(PAIRS, FIRST)[:, 0], ntk, atol=1e-9)
    np.testing.assert_allclose(zonal.NNGP(depth)(PAIRS, FIRST)[:, 0], nngp, atol=1e-9)


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_finite_networks(depth):
    """The mean tangent kernel of random networks of width 600, within four standard errors.

    Their bias is of the order depth/width, below a standard error of 24 networks.
    """
    width, n_networks = 600, 24
    X = np.vstack([FIRST, PAIRS])
    found = []
    for seed in range(n_networks):
        rng = np.random.default_rng(seed)
        layers, active, inputs = [], [], [X]
        for _ in range(depth):
            W = rng.standard_normal((inputs[-1].shape[1], width))
            hidden = inputs[-1] @ W
            layers.append(W)
            active.append(hidden > 0)
            inputs.append(np.sqrt(2 / width) * np.maximum(hidden, 0))
        # From the output back: the product of inputs and of derivatives, layer by layer.
        back = np.broadcast_to(rng.standard_normal(width), (len(X), width))
        kernel = inputs[-1] @ inputs[-1].T
        for layer in range(depth - 1, -1, -1):
            back = back * active[layer] * np.sqrt(2 / width)
            kernel = kernel + (back @ back.T) * (inputs[layer] @ inputs[layer].T)
            back = back @ layers[layer].T
        found.append(kernel[0, 1:])
    error = np.std(found, axis=0, ddof=1) / np.sqrt(n_networks)
    difference = np.mean(found, axis=0) - zonal.NTK(depth)(PAIRS, FIRST)[:, 0]
    assert (np.abs(difference) < 4 * error).all()
    assert error.max() < 0.05 * (depth + 1)  # a share of the diagonal


def test_nngp_of_one_layer_is_arc_cosine():
    X = np.random.default_rng(0).standard_normal((10, 5))
    np.testing.assert_allclose(zonal.NNGP(1)(X), zonal.ArcCosine(1)(X), atol=1e-12)
    np.testing.assert_allclose(zonal.NNGP(4).diag(X), np.square(X).sum(axis=1))


@pytest.mark.parametrize(
    ("activation", "exact"),
    [
        ("erf", lambda t: np.arcsin(2 * t / 3) / np.arcsin(2 / 3)),
        ("sin", lambda t: np.sinh(t) / np.sinh(1)),
        (np.cos, lambda t: np.cosh(t) / np.cosh(1)),
    ],
    ids=["erf", "sin", "own"],
)
def test_closed_forms_of_activations(activation, exact):
    """Two layers, and the tangent kernel with the slope by central differences."""
    gaussian = zonal.NetworkKernel(activation, depth=2)(PAIRS, FIRST)[:, 0]
    np.testing.assert_allclose(gaussian, exact(exact(COSINES)), atol=1e-12)

    def slope(t):
        return (exact(t + 1e-5) - exact(t - 1e-5)) / 2e-5

    first = COSINES * slope(COSINES) + exact(COSINES)
    second = first * slope(exact(COSINES)) + exact(exact(COSINES))
    tangent = zonal.NetworkKernel(activation, depth=2, tangent=True)(PAIRS, FIRST)[:, 0]
    np.testing.assert_allclose(tangent, second, atol=1e-7)


@pytest.mark.parametrize("activation", ["gelu", "silu", "tanh"])
def test_activations_by_two_dimensional_quadrature(activation):
    functions = {
        "gelu": lambda u: u * norm.cdf(u),
        "silu": lambda u: u / (1 + np.exp(-u)),
        "tanh": np.tanh,
    }
    nodes, weights = np.polynomial.hermite_e.hermegauss(150)
    weights = weights / weights.sum()
    sigma = functions[activation]
    values = [
        weights
        @ (sigma(nodes)[:, None] * sigma(t * nodes[:, None] + np.sqrt(1 - t**2) * nodes))
        @ weights
        for t in COSINES
    ]
    kernel = zonal.NetworkKernel(activation, depth=1)(PAIRS, FIRST)[:, 0]
    np.testing.assert_allclose(kernel, values / (weights @ sigma(nodes) ** 2), atol=1e-7)


@pytest.mark.parametrize("kernel", [zonal.NNGP(2), zonal.NetworkKernel("gelu", 2, True)], ids=repr)
def test_features_of_networks(kernel):
    """Harmonic features of the sphere hold the kernel but for a small tail."""
    X = np.random.default_rng(0).standard_normal((60, 3))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    Z = zonal.HarmonicFeatures(kernel, 2500).fit_transform(X)
    K = kernel(X)
    assert np.abs(Z @ Z.T - K).max() < 1e-3 * K.max()


def test_bad_networks():
    X = FIRST
    with pytest.raises(ValueError, match="kink"):
        zonal.NetworkKernel(np.sign)(X)
    with pytest.raises(ValueError, match=r"activation='step'.*gelu"):
        zonal.NetworkKernel("step")(X)
    with pytest.raises(ValueError, match="depth=0"):
        zonal.NNGP(0)(X)
    with pytest.raises(ValueError, match="NetworkKernel is a kernel on the unit sphere"):
        zonal.NetworkKernel("gelu")(2 * X)
    with pytest.raises(ValueError, match="finite"):
        dual_series(lambda u: np.full_like(u, np.inf))
