"""
A plan for a billion rows
=========================

A fit needs sums over rows: ZᵀZ and Zᵀy. Each block of rows contributes its own, wherever it is.
So the plan for a billion rows on a cluster can be tried on half a million rows here, and the cost
of the rest is arithmetic.
"""

# %%
# A Dask array whose chunks are made by the workers, as they would be read from files there.
# Here: 10 chunks of 50,000 rows, in threads of this process; on a cluster,
# `zonal.distributed.connect("tcp://scheduler:8786")` comes first and nothing else changes.

import time

import dask.array as da
import matplotlib.pyplot as plt
import numpy as np

import zonal


def wave(X):
    """Return what is to be learnt, without noise."""
    return np.sin(2 * X[:, 0]) * np.cos(X[:, 1]) + 0.5 * X[:, 2]


def table(n, chunk=50_000):
    """Return n rows of three columns, and targets, that exist only when they are needed."""
    X = da.random.default_rng(0).uniform(-2, 2, (n, 3), chunks=(chunk, 3)).astype("f4")
    noise = da.random.default_rng(1).normal(0, 0.1, n, chunks=chunk).astype("f4")
    return X, wave(X) + noise


# %%
# Everything that is learnt from data is learnt from a sample; then one pass sums the blocks.

features = zonal.HarmonicFeatures(zonal.Gaussian(1.0), n_components=256)
fresh = np.random.default_rng(2).uniform(-2, 2, (5000, 3)).astype("f4")
rows, seconds, excess = [50_000, 100_000, 200_000, 500_000], [], []
zonal.KernelRidge(features, alpha=1e-3).fit(*table(50_000))  # compiles
for n in rows:
    start = time.perf_counter()
    model = zonal.KernelRidge(features, alpha=1e-3).fit(*table(n))
    seconds.append(time.perf_counter() - start)
    excess.append(np.mean((model.predict(fresh) - wave(fresh)) ** 2))

# %%
# Time grows in proportion to the rows; memory does not grow. The line goes on to a billion.

per_row = np.polyfit(rows, seconds, 1)[0]
hours = per_row * 1e9 / 3600
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
left.loglog(rows, seconds, "o", label="measured here, one thread")
line = np.array([5e4, 1e9])
left.loglog(line, per_row * line, "k", lw=0.8, label=f"{per_row * 1e6:.1f} µs a row")
left.loglog(
    1e9, per_row * 1e9 / 64, "s", color="#b5651d", label="a billion, 64 cores (by arithmetic)"
)
left.set(xlabel="rows", ylabel="seconds")
left.legend()
right.loglog(rows, excess, "o-")
right.minorticks_off()
right.set_xticks(rows, [f"{n:,}" for n in rows])
right.set(xlabel="rows", ylabel="excess error", title="What more rows are good for")
plt.show()
print(f"A billion rows: {hours:.1f} core-hours, so {hours * 60 / 64:.1f} minutes on 64 cores.")

# %%
# What crosses the network is one matrix of 257 × 257 numbers from each worker, whether the rows
# are a million or a billion (:doc:`/scale`).
