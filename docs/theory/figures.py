"""The figures of docs/theory, one function each.

Run: python docs/theory/figures.py [name ...]
"""

# ruff: noqa: D103 - the page that shows a figure says what it is
import itertools
import math
import sys
from collections.abc import Callable
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

import zonal
from zonal import theory
from zonal.polynomials import uniform_sphere
from zonal.theory.leverage import feature_columns

FOLDER = Path(__file__).parent / "figures"
FIGURES: dict[str, Callable[[Axes], None]] = {}


def figure(function: Callable[[Axes], None]) -> Callable[[Axes], None]:
    FIGURES[function.__name__] = function
    return function


def small_case() -> tuple[np.ndarray, zonal.GeneralizedZonalKernel]:
    """The running example: 60 points in three dimensions, Gaussian kernel, q = 8, s = 3."""
    X = 0.5 * np.random.default_rng(0).standard_normal((60, 3))
    return X, zonal.Gaussian().expand(3, max_degree=8, n_radial=3)


def features(gzk: zonal.GeneralizedZonalKernel, X: np.ndarray, m: int, seed: int) -> np.ndarray:
    """The paper's features: m independent directions."""
    W = uniform_sphere(m, X.shape[1], np.random.default_rng(seed))
    return feature_columns(gzk, X, W) / math.sqrt(m)


def labels(axes: Axes, x: str, y: str) -> None:
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.legend(fontsize=8)


@figure
def reproducing(axes: Axes) -> None:
    dim, degree, n = 4, 3, 4000
    W = uniform_sphere(n, dim, np.random.default_rng(0))
    t = np.linspace(-1, 1, 200)
    axes.plot(t, theory.gegenbauer(degree, dim, t), label="$P_4^3(\\langle x, y\\rangle)$")
    cosines = np.linspace(-1, 1, 17)
    y = np.column_stack([cosines, np.sqrt(1 - cosines**2), 0 * cosines, 0 * cosines])
    products = theory.harmonic_dimension(degree, dim) * (
        theory.gegenbauer(degree, dim, W[:, :1]) * theory.gegenbauer(degree, dim, W @ y.T)
    )
    error = products.std(axis=0) / math.sqrt(n)
    name = "mean of $\\alpha\\, P(\\langle x,w\\rangle) P(\\langle y,w\\rangle)$, 4,000 w"
    axes.errorbar(cosines, products.mean(axis=0), 2 * error, fmt=".", label=name)
    labels(axes, "$\\langle x, y\\rangle$", "")


@figure
def zonal_feature_map(axes: Axes) -> None:
    gzk = zonal.Zonal(lambda t: np.exp(2 * t)).expand(3, max_degree=10)
    angles = np.linspace(0, np.pi, 60)
    y = np.column_stack([np.cos(angles), np.sin(angles), 0 * angles])
    axes.plot(np.cos(angles), np.exp(2 * np.cos(angles)), "k", label="$\\kappa(t) = e^{2t}$")
    for m in (100, 1000):
        Z = features(gzk, y, m, 0)
        axes.plot(np.cos(angles), Z @ Z[0], ".", ms=4, label=f"m = {m:,} directions")
    labels(axes, "$t = \\langle x, y\\rangle$", "")


@figure
def gzk(axes: Axes) -> None:
    kernel, radii = zonal.Gaussian(), np.linspace(0.01, 4, 200)
    x, y = np.array([[2.0, 0, 0]]), np.column_stack([radii, 0 * radii, 0 * radii])
    axes.plot(radii, kernel(x, y)[0], "k", label="Gaussian")
    for order in (1, 2, 4, 8):
        expansion = kernel.expand(3, max_degree=20, n_radial=order)
        axes.plot(radii, expansion(x, y)[0], label=f"order s = {order}")
    labels(axes, "‖y‖, along x with ‖x‖ = 2", "k(x, y)")


@figure
def dot_product_gzk(axes: Axes) -> None:
    expansion = zonal.Exponential().expand(4, max_degree=14, n_radial=7)
    share = np.square(expansion.radial(np.array([1.5]))[0]) / math.exp(1.5**2)
    image = axes.imshow(np.log10(share).T, origin="lower", aspect="auto", vmin=-12, vmax=0)
    plt.colorbar(image, ax=axes, label="$\\log_{10}$ share of k(x, x)")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel("degree $\\ell$")
    axes.set_ylabel("index i")


@figure
def gzk_feature_map(axes: Axes) -> None:
    X, expansion = small_case()
    widths = 2 ** np.arange(4, 14)
    K = expansion(X)
    errors = [
        [np.abs((Z := features(expansion, X, m, seed)) @ Z.T - K).max() for seed in range(10)]
        for m in widths
    ]
    axes.loglog(widths, np.mean(errors, axis=1), "o-", ms=4, label="mean of 10 seeds")
    axes.loglog(widths, errors[0][0] * np.sqrt(widths[0] / widths), "k:", label="$m^{-1/2}$")
    labels(axes, "directions m", "max |Z Zᵀ − K|")


@figure
def gaussian_gzk(axes: Axes) -> None:
    degrees = np.arange(31)
    for radius in (1, 2, 3):
        expansion = zonal.Gaussian().expand(3, max_degree=30, n_radial=40)
        share = np.square(expansion.radial(np.array([float(radius)]))[0]).sum(axis=1)
        tail = np.maximum(1 - np.cumsum(share), 1e-16)
        axes.semilogy(degrees, tail, "o-", ms=3, label=f"‖x‖ = {radius}")
    labels(axes, "degree q", "share of k(x, x) left out")


@figure
def ntk_gzk(axes: Axes) -> None:
    for depth in (1, 2, 4):
        expansion = zonal.NTK(depth).expand(3, max_degree=40)
        share = np.square(expansion.radial(np.array([1.0]))[0, :, 0])
        kept = share > 1e-10 * share.sum()
        degrees = np.arange(41)[kept]
        axes.loglog(degrees + 1, share[kept] / (depth + 1), ".", label=f"depth {depth}")
    labels(axes, "degree $\\ell$ + 1", "$|h_\\ell(1)|^2$ / k(x, x)")


@figure
def leverage_scores(axes: Axes) -> None:
    X, expansion = small_case()
    lam = 0.01
    W = uniform_sphere(20_000, 3, np.random.default_rng(1))
    scores = theory.leverage_scores(expansion, X, lam, W)
    dimension = theory.statistical_dimension(expansion(X), lam)
    axes.hist(scores, 60, color="0.75", label="20,000 directions")
    axes.axvline(scores.mean(), color="C0", label="their mean")
    axes.axvline(dimension, color="C1", ls="--", label="$s_\\lambda$")
    labels(axes, "$\\tau_\\lambda(w)$, λ = 0.01", "count")


@figure
def least_squares(axes: Axes) -> None:
    X, expansion = small_case()
    K = expansion(X)
    phi = feature_columns(expansion, X, np.array([[0.0, 0.0, 1.0]]))[:, 0]
    factors = np.linspace(0, 2, 101)
    for lam, color in ((1.0, "C0"), (10.0, "C1"), (100.0, "C2")):
        solved = np.linalg.solve(K + lam * np.eye(60), phi)
        norm, image = solved @ K @ solved, K @ solved
        misfit = ((factors[:, None] * image - phi) ** 2).sum(axis=1)
        axes.semilogy(factors, factors**2 * norm + misfit / lam, color, label=f"λ = {lam:g}")
        axes.axhline(phi @ solved, color=color, ls=":")
    labels(axes, "c, for the trial function c g*", "objective (dots: $\\tau_\\lambda$, i = 0)")


@figure
def leverage_bound(axes: Axes) -> None:
    X, expansion = small_case()
    W = np.vstack([uniform_sphere(4000, 3, np.random.default_rng(1))])
    lams = np.geomspace(1e-6, 30, 25)
    scores = np.array([theory.leverage_scores(expansion, X, lam, W) for lam in lams])
    radii = np.linalg.norm(X, axis=1)
    axes.loglog(
        lams, [theory.leverage_bound(expansion, radii, lam) for lam in lams], "k", label="bound"
    )
    axes.loglog(lams, scores.max(axis=1), label="largest of 4,000")
    axes.loglog(lams, scores.mean(axis=1), label="mean, $s_\\lambda$")
    labels(axes, "λ", "$\\tau_\\lambda(w)$")


@figure
def random_features(axes: Axes) -> None:
    X = np.random.default_rng(0).standard_normal((300, 3))
    kernel = zonal.Gaussian(1.5)
    K = kernel(X)
    widths = 2 ** np.arange(4, 13)
    for order in (1, 2, 4, 8):
        expansion = kernel.expand(3, max_degree=16, n_radial=order)
        errors = [
            np.mean(
                [
                    np.linalg.norm((Z := features(expansion, X, D // order, seed)) @ Z.T - K)
                    for seed in range(5)
                ]
            )
            for D in widths
        ]
        axes.loglog(widths, errors / np.linalg.norm(K), "o-", ms=3, label=f"s = {order}")
    labels(axes, "width D = m s", "‖Z Zᵀ − K‖ / ‖K‖")


@figure
def spectral_theorem(axes: Axes) -> None:
    X, expansion = small_case()
    K = expansion(X)
    promised = np.array([0.9, 0.5, 0.3, 0.2, 0.12])
    counts = [theory.n_directions(expansion, X, 1.0, eps, 0.1) for eps in promised]
    axes.loglog(counts, promised, "k-", label="theorem, δ = 0.1")
    widths = 2 ** np.arange(6, 16)
    errors = np.array(
        [
            [theory.spectral_error(K, features(expansion, X, m, s), 1.0) for s in range(5)]
            for m in widths
        ]
    )
    axes.loglog(widths, errors, "C0.", ms=4)
    axes.loglog(widths, errors.mean(axis=1), "C0", label="measured, 5 seeds")
    labels(axes, "directions m", "ε at λ = 1")


@figure
def projection_theorem(axes: Axes) -> None:
    X, expansion = small_case()
    K = expansion(X)
    ranks = np.arange(1, 16)
    for m in (100, 1000, 10_000):
        Z = features(expansion, X, m, 0)
        errors = [theory.projection_cost_error(K, Z, int(rank)) for rank in ranks]
        axes.semilogy(ranks, errors, "o-", ms=3, label=f"m = {m:,}")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    labels(axes, "rank r", "ε of the worst projection")


def excess(kernel: zonal.Gaussian | zonal.Exponential, dim: int, radius: float) -> float:
    """What the truncation leaves out at x = y, ‖x‖ = r, in units of what it may."""
    eps, ratio = 0.9, 1e4
    q, s = theory.degree_and_order(kernel, dim, radius, 10_000, 10_000 / ratio, eps)
    x = np.zeros((1, dim))
    x[0, 0] = radius
    gap = kernel.diag(x)[0] - kernel.expand(dim, max_degree=q, n_radial=s).diag(x)[0]
    return max(float(gap), 1e-17) / (eps / (10 * ratio))


def truncation(axes: Axes, kernel: zonal.Gaussian | zonal.Exponential) -> None:
    radii = np.linspace(0.3, 2.5, 45)
    for dim in (3, 5, 10, 20):
        axes.semilogy(radii, [excess(kernel, dim, r) for r in radii], label=f"d = {dim}")
    axes.axhline(1, color="k", ls=":")
    labels(axes, "radius r (n/λ = 10⁴, ε = 0.9)", "$|k_{q,s} - k|$ / allowed")


@figure
def dot_product_theorem(axes: Axes) -> None:
    truncation(axes, zonal.Exponential())


@figure
def gaussian_theorem(axes: Axes) -> None:
    truncation(axes, zonal.Gaussian())


@figure
def risk(axes: Axes) -> None:
    X = np.random.default_rng(0).standard_normal((200, 3))
    kernel = zonal.Gaussian(1.5)
    Z = zonal.GegenbauerFeatures(
        kernel, 256, max_degree=12, n_radial=4, radial_basis="taylor", random_state=0
    ).fit_transform(X)
    K, truth = kernel(X), np.sin(2 * X[:, 0])
    lams = np.geomspace(0.03, 100, 25)
    risks = [theory.ridge_risk_bound(K, Z, lam, truth, 0.3) for lam in lams]
    for name, style in (
        ("bound", "k-"),
        ("stated", "k:"),
        ("feature_risk", "C0-"),
        ("kernel_risk", "C1--"),
    ):
        axes.loglog(lams, [getattr(item, name) for item in risks], style, label=name)
    labels(axes, "λ", "risk")


@figure
def kmeans(axes: Axes) -> None:
    X = np.random.default_rng(4).standard_normal((8, 2))
    kernel = zonal.Gaussian()
    K = kernel(X)
    partitions = [p for p in itertools.product((0, 1), repeat=8) if p[0] == 0 and 1 in p]
    costs = np.array([theory.kmeans_cost(K, p) for p in partitions])
    widths, ratios, bounds = 2 ** np.arange(3, 13), [], []
    for width in widths:
        Z = zonal.FourierFeatures(kernel, int(width), random_state=0).fit_transform(X)
        chosen = int(np.argmin([theory.kmeans_cost(Z @ Z.T, p) for p in partitions]))
        ratios.append(costs[chosen] / costs.min())
        eps = theory.projection_cost_error(K, Z, 2)
        bounds.append(theory.kmeans_bound(eps) if eps < 1 else np.inf)
    axes.loglog(widths, bounds, "k", label="$(1+\\varepsilon)/(1-\\varepsilon)$")
    axes.loglog(widths, ratios, "o-", ms=4, label="cost of the features' best / best")
    labels(axes, "Fourier features D (8 points, all clusterings in two)", "")


def main(names: list[str]) -> None:
    FOLDER.mkdir(exist_ok=True)
    for name in names or FIGURES:
        shown, axes = plt.subplots(figsize=(4.6, 3.0), layout="constrained")
        FIGURES[name](axes)
        shown.savefig(FOLDER / f"{name}.png", dpi=90)
        plt.close(shown)


if __name__ == "__main__":
    main(sys.argv[1:])
