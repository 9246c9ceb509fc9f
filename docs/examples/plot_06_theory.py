"""
The theory in pictures
======================

Three pictures of the paper's ideas: series that converge fast, directions that are all about
equally important, and the number of features that is enough.
"""

# sphinx_gallery_thumbnail_number = 3

# %%
# **Figure 1.** A kernel on the sphere is a function of the cosine t. Cut at degree q, the series
# in Gegenbauer polynomials has a smaller error than Taylor's, the more so the lower the
# dimension; at d = 2 they are Chebyshev's polynomials.

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import factorial

import zonal
from zonal import theory

t = np.linspace(-1, 1, 2001)
degrees = np.arange(16)
figure, panel = plt.subplots(figsize=(7, 4), layout="constrained")
taylor = [
    np.abs(np.exp(2 * t) - sum((2 * t) ** j / factorial(j) for j in range(q + 1))).max()
    for q in degrees
]
panel.semilogy(degrees, taylor, "k--", label="Taylor")
for dim in (2, 4, 8, 32):
    series = theory.gegenbauer_series(lambda t: np.exp(2 * t), dim, 15)
    terms = [c * theory.gegenbauer(j, dim, t) for j, c in enumerate(series)]
    sums = np.cumsum(terms, axis=0)
    panel.semilogy(
        degrees, np.abs(sums - np.exp(2 * t)).max(axis=1), label=f"Gegenbauer, d = {dim}"
    )
panel.set(xlabel="degree q", ylabel="largest error", title="exp(2t) cut at degree q")
panel.legend()
plt.show()

# %%
# **Leverage scores.** How much does a random direction matter at a ridge λ? If a few mattered
# much more than the rest, uniform draws would miss them. For rows that fill the sphere all
# directions are alike; for rows in one corner those that point there matter more, and none
# exceeds the bound that the paper's lemma gives.

rng = np.random.default_rng(0)
everywhere = zonal.datasets.to_sphere(
    np.degrees(np.arcsin(rng.uniform(-1, 1, 300))), rng.uniform(-180, 180, 300)
)
corner = zonal.datasets.to_sphere(rng.uniform(20, 60, 300), rng.uniform(-30, 30, 300))
kernel = zonal.Gaussian(0.5)
lam = 1.0
figure, panel = plt.subplots(figsize=(7, 3.6), layout="constrained")
for name, X in {"rows everywhere": everywhere, "rows in a corner": corner}.items():
    gzk = kernel.expand(3, max_degree=15, radii=np.ones(1))
    W = rng.standard_normal((1500, 3))
    W /= np.linalg.norm(W, axis=1, keepdims=True)
    scores = theory.leverage_scores(gzk, X, lam, W)
    panel.hist(scores, bins=60, alpha=0.6, label=f"{name}: mean {scores.mean():.0f}")
    print(f"{name}: statistical dimension {theory.statistical_dimension(kernel(X), lam):.1f},")
    print(f"  bound on all scores {theory.leverage_bound(gzk, np.ones(300), lam):.0f}")
panel.set(
    xlabel="leverage score", ylabel="directions", title="The mean is the statistical dimension"
)
panel.legend()
plt.show()

# %%
# **How many features.** The spectral error ε of features at growing budgets, beside the best
# that any features of that number can do.

X = everywhere
K = kernel(X)
budgets = [16, 25, 36, 49, 64, 100, 144]
curves = {
    name: [] for name in ("Fourier", "Gegenbauer, independent directions", "Gegenbauer", "harmonic")
}
for n in budgets:
    made = [
        zonal.FourierFeatures(kernel, n, random_state=0),
        zonal.GegenbauerFeatures(kernel, n, directions="iid", random_state=0),
        zonal.GegenbauerFeatures(kernel, n, random_state=0),
        zonal.HarmonicFeatures(kernel, n),
    ]
    for errors, features in zip(curves.values(), made, strict=True):
        errors.append(theory.spectral_error(K, features.fit_transform(X), lam))
values = np.linalg.eigvalsh(K)[::-1]
figure, panel = plt.subplots(figsize=(7, 4), layout="constrained")
for name, errors in curves.items():
    panel.loglog(budgets, errors, "o-", ms=4, label=name)
panel.loglog(budgets, values[budgets] / lam, "k--", lw=1, label="best of any")
panel.axhline(0.5, color="k", lw=0.5)
panel.set(
    xlabel="features",
    ylabel="spectral error ε",
    title="300 rows of the sphere, λ = 1",
    ylim=(1e-7, 1e3),
)
panel.legend()
plt.show()

# %%
# `recommend` puts the theorem and a measurement side by side.

print(theory.recommend(kernel, X, lam=lam, eps=0.5, delta=0.1))
