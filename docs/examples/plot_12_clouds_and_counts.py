"""
Clouds and bicycles: probabilities and counts
=============================================

Not everything is a number with noise about it. A pixel is a cloud or it is not; a count is a whole
number, and twice as many days bring twice as many. `KernelRidgeClassifier` and `KernelGLM` have
likelihoods for both.
"""

# %%
# A satellite image of 225 × 150 pixels, of which 3,000 are known.

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import zonal

folder = next(p / "benchmarks/data" for p in Path.cwd().parents if (p / "benchmarks").exists())
with np.load(folder / "modis_cloud.npz") as image:
    pixels, cloud = image["X"], image["y"]
known = np.random.default_rng(0).permutation(len(cloud))[:3000]
model = zonal.KernelRidgeClassifier(features=None, random_state=0).fit(pixels[known], cloud[known])
chance = model.predict_proba(pixels)[:, 1]
unknown = np.setdiff1d(np.arange(len(cloud)), known)
brier = np.mean((chance[unknown] - cloud[unknown]) ** 2)
print(f"Brier score of the other pixels: {brier:.3f} (a coin: 0.25)")

# %%
# The map of probabilities, beside what was known and what is true.

figure, axes = plt.subplots(1, 3, figsize=(12, 3.2), layout="constrained")
for axis, values, title in zip(
    axes,
    (np.where(np.isin(np.arange(len(cloud)), known), cloud, np.nan), chance, cloud),
    ("3,000 pixels", "probability of a cloud", "all pixels"),
    strict=True,
):
    axis.scatter(*pixels.T, c=values, s=1, cmap="Blues_r", vmin=0, vmax=1, marker="s")
    axis.set(title=title, xticks=[], yticks=[], aspect="equal")

# %%
# Bicycles that were rented in Washington: the totals of each hour in each month, and how many days
# they are of. The days are the exposure: the model is of the rate of one day.

rented = pd.read_csv(folder / "tables/bikeshare.csv.gz")
rented["month"] = pd.factorize(rented["mnth"])[0]
table = rented.groupby(["month", "hr"])["bikers"].agg(["sum", "size"]).reset_index()
X = table[["month", "hr"]].to_numpy(float)
rates = zonal.KernelGLM("negative_binomial", random_state=0)
rates.fit(X, table["sum"], exposure=table["size"])
print(rates.likelihood_)

# %%
# The rate of an hour in July, and what one day stays between, nine times of ten: whole numbers.

hours = np.column_stack([np.full(24, 6.0), np.arange(24.0)])
lower, upper = rates.predict_interval(hours)
figure, axis = plt.subplots(figsize=(7, 3.5), layout="constrained")
axis.fill_between(hours[:, 1], lower, upper, color="#c9dfe6", label="90 % of days, by the model")
axis.plot(hours[:, 1], rates.predict(hours), color="#1f6f8b", label="rate of a day")
july = table[table["month"] == 6]
axis.plot(july["hr"], july["sum"] / july["size"], ".", color="k", label="mean of the days")
axis.set(xlabel="hour", ylabel="bicycles in an hour of July")
axis.legend()
