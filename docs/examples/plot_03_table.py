"""
A table of words and numbers
============================

Prices of diamonds by carat, cut, colour and clarity: numbers beside words. The frame goes in as
it is.
"""

# %%
# 4,000 of the 53,940 rows, so that this page builds in seconds; a quarter of them is held out.

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import zonal

folder = next(p / "benchmarks/data" for p in Path.cwd().parents if (p / "benchmarks").exists())
table = pd.read_csv(folder / "tables" / "diamonds.csv.gz").sample(4000, random_state=0)
train, test = table[:3000], table[3000:]
train.head()

# %%
# A `TableEncoder` makes numbers of the words, a monotone map of skewed columns, and the target
# is learnt on the scale on which its errors are most alike.

model = zonal.KernelRidge(random_state=0).fit(train.drop(columns="price"), train["price"])
predicted = model.predict(test.drop(columns="price"))
lower, upper = model.predict_interval(test.drop(columns="price"), coverage=0.9)
error = np.sqrt(np.mean((predicted - test["price"]) ** 2))
inside = np.mean((lower <= test["price"]) & (test["price"] <= upper))
print(f"root mean squared error {error:.0f} dollars; {inside:.0%} inside their 90 % intervals")

# %%
# What matters, and what the model says of prices it has not seen.

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
shares = pd.Series(model.importances_).sort_values()
left.barh(shares.index, shares, color="#1f6f8b")
left.set(title="Shares in what predictions depend on", xlabel="share")
some = np.argsort(test["price"].to_numpy())[::10]
price = test["price"].to_numpy()[some]
spans = [predicted[some] - lower[some], upper[some] - predicted[some]]
right.errorbar(price, predicted[some], np.clip(spans, 0, None), fmt=".", ms=4, lw=0.8, alpha=0.8)
right.plot([300, 19000], [300, 19000], "k", lw=0.8)
right.set(xscale="log", yscale="log", xlabel="price, dollars", ylabel="predicted, 90 % intervals")
plt.show()
