"""
A kernel of your own
====================

Any function of two norms and an angle that is positive definite has exact harmonic features.
Here is one made for a wind rose: direction matters at two scales, and speed less.
"""

# sphinx_gallery_thumbnail_number = 2

# %%
# The kernel is a function of ‖x‖, ‖y‖ and the cosine of the angle between them.

import matplotlib.pyplot as plt
import numpy as np

import zonal


def rose(norm_x, norm_y, cosine):
    """Return a sharp and a broad bell of the direction, times a bell of the speed."""
    direction = 0.5 * np.exp(12 * (cosine - 1)) + 0.5 * np.exp(2 * (cosine - 1))
    return direction * np.exp(-0.5 * ((norm_x - norm_y) / 1.5) ** 2)


kernel = zonal.RotationInvariant(rose)

# %%
# How well do D features stand for it? The values of the kernel around one point, exact and from
# features.

rng = np.random.default_rng(0)
X = rng.standard_normal((800, 2)) * 2
angles = np.linspace(-np.pi, np.pi, 181)
circle = 3 * np.column_stack([np.cos(angles), np.sin(angles)])
point = np.array([[3.0, 0.0]])
figure, panel = plt.subplots(figsize=(7, 3.6), layout="constrained")
panel.plot(np.degrees(angles), kernel(circle, point), "k", lw=2, label="the kernel")
for budget in (20, 60, 200):
    features = zonal.HarmonicFeatures(kernel, n_components=budget).fit(X)
    Z = features.transform(circle)
    panel.plot(
        np.degrees(angles), Z @ features.transform(point).T, lw=1, label=f"{budget} features"
    )
panel.set(xlabel="angle, degrees", title="k(x, y) for a point of norm 3 and a circle of radius 3")
panel.legend()
plt.show()

# %%
# And a use: hourly winds at the three airports of New York in 2013 (speeds in m/s, as vectors),
# and how much the dew point differs from the temperature with them. 3,000 hours, drawn at
# random.

from pathlib import Path

import pandas as pd
from scipy.spatial import cKDTree

folder = next(p / "benchmarks/data" for p in Path.cwd().parents if (p / "benchmarks").exists())
hours = pd.read_csv(folder / "tables" / "weather.csv.gz")
hours = hours.dropna(subset=["wind_dir", "wind_speed", "temp", "dewp"])
hours = hours[hours["wind_speed"] > 0].sample(3000, random_state=0)
angle, speed = np.radians(hours["wind_dir"]), hours["wind_speed"] * 0.447
wind = np.column_stack([speed * np.sin(angle), speed * np.cos(angle)])  # where it comes from
spread = (hours["temp"] - hours["dewp"]).to_numpy() / 1.8
model = zonal.KernelRidge(zonal.HarmonicFeatures(kernel, n_components=200)).fit(wind, spread)

grid = np.linspace(-14, 14, 121)
east, north = np.meshgrid(grid, grid)
cells = np.column_stack([east.ravel(), north.ravel()])
inside = (cKDTree(wind).query(cells)[0] < 1.5).reshape(east.shape)  # where there are data
values = np.full(east.shape, np.nan)
values[inside] = model.predict(cells[inside.ravel()])
figure, panel = plt.subplots(figsize=(5.6, 4.8), layout="constrained")
image = panel.pcolormesh(east, north, values, cmap="BrBG_r", rasterized=True)
panel.plot(*wind.T, "k.", ms=0.8, alpha=0.3)
panel.set(
    aspect="equal",
    xlabel="from the east, m/s",
    ylabel="from the north, m/s",
    xlim=(-14, 14),
    ylim=(-14, 14),
)
panel.set_title("Dry winds come from the west and north-west")
figure.colorbar(image, ax=panel, label="temperature minus dew point, °C")
plt.show()
