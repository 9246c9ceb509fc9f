"""Draw docs/seam.png: a hole in a smooth field, by the nearest rows and by a split kernel."""

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import zonal

rng = np.random.default_rng(1)
lat, lon = np.meshgrid(np.arange(-89, 90, 2.0), np.arange(1, 360, 2.0), indexing="ij")
X = zonal.datasets.to_sphere(lat.ravel(), lon.ravel())
Z = zonal.HarmonicFeatures(zonal.Matern(2.5, 0.9), 2025).fit_transform(X)
truth = 10 * Z @ rng.standard_normal(Z.shape[1])
center = zonal.datasets.to_sphere(np.array([10.0]), np.array([180.0]))[0]
hole = X @ center > np.cos(np.radians(30))
y = truth + 0.1 * rng.standard_normal(len(truth))
alone = zonal.NeighborKriging(n_features=0).fit(X[~hole], y[~hole])
split = zonal.NeighborKriging().fit(X[~hole], y[~hole])
rows, columns = (slice(*np.flatnonzero(part)[[0, -1]]) for part in (
    np.abs(lat[:, 0] - 10) < 45, np.abs(lon[0] - 180) < 45))  # fmt: skip


def step(values: np.ndarray) -> float:
    """The largest step between two cells of the hole side by side."""
    cells, inside = values.reshape(lat.shape), hole.reshape(lat.shape)
    found = []
    for axis in (0, 1):
        both = inside & np.roll(inside, -1, axis=axis)
        found.append(np.abs(np.roll(cells, -1, axis=axis) - cells)[both].max())
    return max(found)


panels = [("The truth", truth, None)]
for name, model in (("The nearest 32 rows", alone), ("Split: 256 features and 32 rows", split)):
    mean, std = model.predict(X, return_std=True)
    panels.append((name, mean, std))
figure = Figure(figsize=(11, 6.4), layout="constrained")
axes = figure.subplots(2, 3)
limits = {"vmin": np.quantile(truth[hole], 0.01), "vmax": np.quantile(truth[hole], 0.99)}
extent = (lon[0, columns][0], lon[0, columns][-1], lat[rows, 0][0], lat[rows, 0][-1])


def draw(ax: Axes, values: np.ndarray, cmap: str, label: str, **options: float) -> None:
    """Draw the cells about the hole."""
    cells = values.reshape(lat.shape)[rows, columns]
    image = ax.imshow(cells, origin="lower", extent=extent, cmap=cmap, **options)
    ax.contour(hole.reshape(lat.shape)[rows, columns], [0.5], extent=extent, colors="black",
               linewidths=0.8)  # fmt: skip
    ax.set(xticks=[], yticks=[])
    figure.colorbar(image, ax=ax, shrink=0.8, label=label)


for column, (name, values, std) in enumerate(panels):
    draw(axes[0, column], values, "RdBu_r", "", **limits)
    axes[0, column].set_title(f"{name}\nlargest step {step(values):.2f}")
    if std is not None:
        error = np.sqrt(np.mean((values - truth)[hole] ** 2))
        draw(axes[1, column], std, "viridis", "standard deviation", vmin=0)
        axes[1, column].set_title(f"error in the hole {error:.2f}")
axes[1, 0].axis("off")
figure.savefig(Path(__file__).with_name("seam.png"), dpi=100)
