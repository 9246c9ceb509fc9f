"""Draw docs/local.png: the Earth by features alone, and by both parts of a model."""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import zonal

data = zonal.datasets.load_elevation()
place, y = data.data.astype(float), data.target.astype(float) / 1000
X = zonal.datasets.to_sphere(*place.T)
test = np.random.default_rng(0).random(len(X)) < 0.5
alone = zonal.KernelRidge(zonal.HarmonicFeatures(zonal.Matern(1.5, 0.3), 1024))
features = zonal.HarmonicFeatures(zonal.Matern(1.5, 1.0), 256)
both = zonal.KernelRidge(features, local=zonal.NeighborKriging())
alone.fit(X[~test], y[~test])
both.fit(X[~test], y[~test])
local = both.local_.predict(X)
prediction = both.predict(X)


def error(values: np.ndarray) -> str:
    """The test error, for a title."""
    return f"{np.mean((values - y)[test] ** 2):.3f} km²"


plain = alone.predict(X)
panels = [
    ("The Earth", y, 6),
    (f"1,024 features alone: {error(plain)}", plain, 6),
    ("256 features of a model with a local part", prediction - local, 6),
    ("... its local part", local, 3),
    (f"... their sum: {error(prediction)}", prediction, 6),
]
figure = Figure(figsize=(10, 8.2), layout="constrained")
grid = figure.add_gridspec(3, 2)
spots = [grid[0, 0], grid[0, 1], grid[1, 0], grid[1, 1], grid[2, :]]
order = np.lexsort((place[:, 1], place[:, 0]))
for spot, (title, values, limit) in zip(spots, panels, strict=True):
    axes = figure.add_subplot(spot)
    image = axes.imshow(
        values[order].reshape(180, 360)[::-1],
        extent=(-180, 180, -90, 90),
        cmap="terrain" if limit == 6 else "RdBu_r",
        vmin=-limit,
        vmax=limit,
    )
    axes.set(title=title, xticks=[], yticks=[])
    figure.colorbar(image, ax=axes, label="km", shrink=0.8)
figure.suptitle("Half of the one-degree cells are for training, half for the test")
figure.savefig(Path(__file__).with_name("local.png"), dpi=100)
