"""
The Earth at three budgets
==========================

How much of the Earth's surface do 64, 256 and 1,024 functions follow, and what does a local part
add? Elevation is smooth over thousands of kilometres and rough over tens: a hard case for any
finite number of functions.
"""

# %%
# The data are one-degree cells of ETOPO. Every second cell of every second row is for learning,
# which is a quarter of all, and the rest tells how good the map is.

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import LinearSegmentedColormap

import zonal
from zonal.grid.maps import draw_cells

earth = zonal.datasets.load_elevation()
lat, lon = np.unique(earth.data[:, 0]), np.unique(earth.data[:, 1])
places = zonal.datasets.to_sphere(earth.data[:, 0], earth.data[:, 1])
height = earth.target / 1000  # km
rows, columns = np.divmod(np.arange(len(height)), len(lon))
known = (rows % 2 == 0) & (columns % 2 == 0)

# %%
# Features alone: exact spherical harmonics, weighted by a Matérn kernel. A budget of 1,024 means
# all harmonics up to degree 31, that is, waves of about 12°. Then the same call without any
# setting, which finds that the nearest rows know more than any of these functions.

models = {
    f"{budget:,} harmonics": zonal.KernelRidge(
        zonal.HarmonicFeatures(zonal.Matern(1.5, 0.2), n_components=budget), local=None
    )
    for budget in (64, 256, 1024)
}
models["KernelRidge(): local part"] = zonal.KernelRidge(random_state=0)
maps, errors = {}, {}
for name, model in models.items():
    model.fit(places[known], height[known])
    maps[name] = model.predict(places)
    errors[name] = np.mean((maps[name] - height)[~known] ** 2)
    print(f"{name}: mean squared error {errors[name]:.3f} km²")

# %%
# The four maps, blue below the sea and from green to white above it.

terrain = plt.colormaps["terrain"](np.r_[0:0.17:128j, 0.25:1:128j])
style = {"cmap": LinearSegmentedColormap.from_list("earth", terrain), "vmin": -6, "vmax": 6}
figure, panels = plt.subplots(2, 2, figsize=(10, 6), layout="constrained")
for panel, (name, values) in zip(panels.flat, maps.items(), strict=True):
    image = draw_cells(panel, lat, lon, values.reshape(len(lat), -1), **style)
    panel.set_title(f"{name}\n{errors[name]:.3f} km²", fontsize=11)
figure.colorbar(image, ax=panels, label="km", shrink=0.6)
plt.show()

# %%
# Where the last model is wrong: at the edges of what is known of trenches, ranges and coasts.

figure, panel = plt.subplots(figsize=(9, 4.6), layout="constrained")
error = (maps["KernelRidge(): local part"] - height).reshape(len(lat), -1)
image = draw_cells(panel, lat, lon, error, cmap="RdBu_r", vmin=-1.5, vmax=1.5)
panel.set_title("Prediction minus elevation, with the local part")
figure.colorbar(image, ax=panel, label="km", shrink=0.7)
plt.show()
