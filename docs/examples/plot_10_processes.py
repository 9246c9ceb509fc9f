"""
Gaussian processes beside scikit-learn's
========================================

The same prior and posterior, by a matrix of all pairs and by features: the answers agree, and
the times part as rows are added.
"""

# %%
# Two weeks of hourly temperatures at Newark in 2013, every third hour, with a day and a half
# left out.

import time
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel

import zonal

folder = next(p / "benchmarks/data" for p in Path.cwd().parents if (p / "benchmarks").exists())
hours = pd.read_csv(folder / "tables" / "weather.csv.gz").query("origin == 'EWR'")["temp"]
celsius = ((hours.to_numpy() - 32) / 1.8)[2000:2336]
days = np.arange(len(celsius)) / 24
known = (np.arange(len(days)) % 3 == 0) & ~((days > 6) & (days < 7.5)) & np.isfinite(celsius)
mean, scale = celsius[known].mean(), celsius[known].std()
X, y = days[known, None], (celsius[known] - mean) / scale

# %%
# A given prior: a Gaussian kernel of a quarter of a day and noise of variance 0.02. With 200
# features nothing is lost in one dimension.

noise = 0.02
theirs = GaussianProcessRegressor(RBF(0.25) + WhiteKernel(noise), optimizer=None).fit(X, y)
ours = zonal.GaussianProcess(
    zonal.HarmonicFeatures(zonal.Gaussian(0.25), n_components=200), noise=noise, local=None
).fit(X, y)
f, s = ours.predict(days[:, None], return_std=True)
g, r = theirs.predict(days[:, None], return_std=True)
r = np.sqrt(np.maximum(r**2 - noise, 0))  # theirs has the noise in it
print(f"largest differences: mean {np.abs(f - g).max():.1e}, deviation {np.abs(s - r).max():.1e}")

# %%
# The two posteriors lie on each other.

figure, panel = plt.subplots(figsize=(10, 3.8), layout="constrained")
panel.fill_between(
    days,
    mean + scale * (f - 2 * s),
    mean + scale * (f + 2 * s),
    alpha=0.25,
    label="zonal, ± 2 deviations",
)
panel.plot(days, mean + scale * f, lw=2, label="zonal")
panel.plot(days, mean + scale * g, "k--", lw=1, label="scikit-learn")
panel.plot(days[known], celsius[known], ".", color="#b5651d", ms=5, label="known")
panel.set(xlabel="days", ylabel="°C", title="Temperature at Newark", ylim=(None, 27))
panel.legend(ncols=4, fontsize=8)
plt.show()

# %%
# More rows: the matrix of all pairs takes the cube of their number, features a multiple.

rng = np.random.default_rng(0)
counts, times = [250, 500, 1000, 2000], {"scikit-learn": [], "zonal, 200 features": []}
for n in counts:
    x = np.sort(rng.uniform(0, 14, n))[:, None]
    t = np.sin(3 * x[:, 0]) + 0.1 * rng.standard_normal(n)
    models = [
        GaussianProcessRegressor(RBF(0.25) + WhiteKernel(noise), optimizer=None),
        zonal.GaussianProcess(
            zonal.HarmonicFeatures(zonal.Gaussian(0.25), 200), noise=noise, local=None
        ),
    ]
    for model, seconds in zip(models, times.values(), strict=True):
        start = time.perf_counter()
        model.fit(x, t).predict(x[:100], return_std=True)
        seconds.append(time.perf_counter() - start)
figure, panel = plt.subplots(figsize=(6, 3.4), layout="constrained")
for name, seconds in times.items():
    panel.loglog(counts, seconds, "o-", label=name)
panel.set(xlabel="rows", ylabel="seconds to fit and predict")
panel.legend()
plt.show()
