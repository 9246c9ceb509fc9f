"""Brute-force versions of the library's formulas, one term at a time."""

import math

import numpy as np

from zonal.polynomials import gauss_gegenbauer
from zonal.theory import gegenbauer, harmonic_dimension


def gegenbauer_features(gzk, X, directions, counts):
    """The definition of the features, entry by entry."""
    n, dim = X.shape
    columns = []
    for i, count in enumerate(counts):
        for w in directions[:count]:
            column = np.zeros(n)
            for row, x in enumerate(X):
                radius = math.sqrt(sum(x * x))
                h = gzk.radial(np.array([radius]))[0]
                for ell in range(gzk.max_degree + 1 if radius > 0 else 1):
                    t = float(np.dot(x, w)) / radius if radius > 0 else 0.0
                    alpha = harmonic_dimension(ell, dim)
                    column[row] += math.sqrt(alpha) * h[ell, i] * float(gegenbauer(ell, dim, t))
            columns.append(column / math.sqrt(count))
    return np.column_stack(columns)


def paper_radial(dim, max_degree, n_radial, derivative, radii, gaussian=False):
    """The paper's [h_ℓ(t)]_i, with κ^{(j)}(0) given as a function."""
    h = np.zeros((len(radii), max_degree + 1, n_radial))
    for ell in range(max_degree + 1):
        for i in range(n_radial):
            square = (
                harmonic_dimension(ell, dim)
                / 2**ell
                * math.gamma(dim / 2)
                * derivative(ell + 2 * i)
                / (math.sqrt(math.pi) * math.factorial(2 * i))
                * math.gamma(i + 0.5)
                / math.gamma(i + ell + dim / 2)
            )
            h[:, ell, i] = math.sqrt(square) * radii ** (ell + 2 * i)
    return h * np.exp(-(radii**2) / 2)[:, None, None] if gaussian else h


def paper_features(X, directions, max_degree, n_radial, derivative, gaussian):
    """The paper's random features, entry by entry: columns by radial index, then direction."""
    m, dim = directions.shape
    Z = np.zeros((len(X), n_radial * m))
    for row, x in enumerate(X):
        radius = math.sqrt(sum(x * x))
        h = paper_radial(dim, max_degree, n_radial, derivative, np.array([radius]), gaussian)[0]
        for i in range(n_radial):
            for j, w in enumerate(directions):
                for ell in range(max_degree + 1 if radius > 0 else 1):
                    t = float(np.dot(x, w)) / radius if radius > 0 else 0.0
                    alpha = harmonic_dimension(ell, dim)
                    Z[row, i * m + j] += (
                        math.sqrt(alpha / m) * h[ell, i] * float(gegenbauer(ell, dim, t))
                    )
    return Z


def gram_variance(gzk, X, counts):
    """A bound on the variance of the entries of Z Zᵀ that belong to each radial index: [n, n, s].

    Var[φ_x(w) φ_y(w)] ≤ (E φ_x⁴ E φ_y⁴)^{1/2} by Cauchy–Schwarz, with the fourth moments exact by
    one-dimensional quadrature. (A sample deviation would be too small: α P² is heavy-tailed.)
    """
    dim = X.shape[1]
    nodes, weights = gauss_gegenbauer(2 * gzk.max_degree + 10, dim)
    h = gzk.coefficients(np.linalg.norm(X, axis=1))
    phi = sum(
        math.sqrt(harmonic_dimension(ell, dim)) * h[:, ell, :, None] * gegenbauer(ell, dim, nodes)
        for ell in range(gzk.max_degree + 1)
    )  # [row, radial, node]
    fourth = np.einsum("nit,t->ni", phi**4, weights)
    return np.sqrt(np.einsum("ai,bi,i->abi", fourth, fourth, 1 / np.asarray(counts) ** 2))
