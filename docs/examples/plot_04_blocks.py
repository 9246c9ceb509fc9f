"""
Choosing by blocks
==================

Neighbours on a map resemble each other. Test places between training places ask one question,
places in a gap another, and the best model for one is not the best for the other.
"""

# %%
# Berkeley Earth's land temperature of July 2020, about 5,500 places. Three blocks of 20° × 20°
# are taken away as the gaps that we want to fill in the end.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import zonal
from zonal.grid.maps import draw_points

data = zonal.datasets.load_climate_berkeley()
july = data.data[:, 2] == 7
frame = pd.DataFrame(data.data[july, :2], columns=["lat", "lon"])
y = data.target[july]
corners = [(40, 80), (-20, 10), (45, -110)]  # Siberia, Africa, North America
gap = np.zeros(len(y), bool)
for south, west in corners:
    gap |= frame["lat"].between(south, south + 20) & frame["lon"].between(west, west + 20)
print(f"{(~gap).sum():,} places to learn from, {gap.sum()} in the gaps")

# %%
# Two models: one chosen by random rows, the default, and one by blocks. Both also say what error
# they expect of themselves.

by_rows = zonal.KernelRidge(random_state=0)
by_blocks = zonal.KernelRidge(cv=zonal.BlockKFold(5, size=20), random_state=0)
lines = []
for name, model in {"random rows": by_rows, "blocks of 20°": by_blocks}.items():
    model.fit(frame[~gap], y[~gap])
    error = np.sqrt(np.mean((model.predict(frame[gap]) - y[gap]) ** 2))
    low, high = model.predict_interval(frame[gap], coverage=0.9)
    inside = np.mean((low <= y[gap]) & (y[gap] <= high))
    lines.append((name, error, np.mean(high - low), inside))
    print(f"chosen by {name}: error in the gaps {error:.2f} °C,", end=" ")
    print(f"{inside:.0%} inside 90 % intervals of {np.mean(high - low):.1f} °C")

# %%
# Choosing by blocks asks the question that the gaps ask. Its intervals, calibrated by whole blocks
# that were left out, are meant to hold there; those of the other model hold between neighbours.

figure, panels = plt.subplots(1, 2, figsize=(11, 3.9), width_ratios=[1.7, 1], layout="constrained")
image = draw_points(panels[0], frame["lat"][~gap], frame["lon"][~gap], y[~gap], cmap="RdYlBu_r")
panels[0].set_title("July 2020, with three gaps")
figure.colorbar(image, ax=panels[0], label="°C", shrink=0.8)
names, errors, widths, shares = zip(*lines, strict=True)
bars = panels[1].bar(names, np.array(shares) * 100, color=["#b5651d", "#1f6f8b"], width=0.5)
labels = [f"error {e:.2f} °C\nwidth {w:.1f} °C" for e, w in zip(errors, widths, strict=True)]
panels[1].bar_label(bars, labels, label_type="center", color="white")
panels[1].axhline(90, color="k", lw=0.8, ls="--")
panels[1].set(ylim=(0, 100), ylabel="inside their 90 % interval, %", title="In the gaps, chosen by")
plt.show()

# %%
# What the folds look like:

folds = zonal.grid.draw_folds(
    frame[~gap], zonal.BlockKFold(5, size=20), title="Five folds of 20° cells"
)
