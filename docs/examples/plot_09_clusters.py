"""
Climates: clusters and components
=================================

The temperatures of twelve months at 5,498 places on land. Kernel k-means groups the places, kernel
components order them, and a map shows what was found, though neither has seen where the places are.
"""

# %%
# One row for each place, one column for each month of 2020 (Berkeley Earth).

import matplotlib.pyplot as plt
import numpy as np

import zonal
from zonal.grid.maps import draw_points

data = zonal.datasets.load_climate_berkeley()
order = np.lexsort((data.data[:, 2], data.data[:, 1], data.data[:, 0]))
months = data.target[order].reshape(-1, 12)
lat, lon = data.data[order][::12, :2].T
print(f"{len(months):,} places; from {months.min():.0f} to {months.max():.0f} °C")

# %%
# A Gaussian kernel of 25 °C: places are alike if the year is. Its features come from landmarks.

features = zonal.NystroemFeatures(zonal.Gaussian(25.0), n_components=200, random_state=0)
clusters = zonal.KernelKMeans(features, n_clusters=8, random_state=0).fit(months)
means = np.array([months[clusters.labels_ == group].mean(axis=0) for group in range(8)])
rank = np.argsort(np.argsort(means.mean(axis=1)))  # from cold to warm
group = rank[clusters.labels_]
means = means[np.argsort(rank)]

# %%
# The map, and the mean year of each group. Groups are belts, though latitude was never given, and
# mountains stand out of them.

colours = plt.colormaps["turbo"].resampled(8)
shape = {"figsize": (11, 3.9), "width_ratios": [1.8, 1], "layout": "constrained"}
figure, (left, right) = plt.subplots(1, 2, **shape)
draw_points(left, lat, lon, group.astype(float), cmap=colours, vmin=-0.5, vmax=7.5)
left.set_title("Eight groups of places with like years")
for number, year in enumerate(means):
    right.plot(range(1, 13), year, color=colours(number), lw=2)
right.set(xlabel="month", ylabel="°C", xticks=range(1, 13), title="Their mean years")
plt.show()

# %%
# Two kernel components: the first sets the north with its hard winters apart from the tropics, the
# second the far north from the middle latitudes.

components = zonal.KernelPCA(features, n_components=2).fit_transform(months)
figure, panels = plt.subplots(1, 2, figsize=(11, 3.4), layout="constrained")
for number, (panel, values) in enumerate(zip(panels, components.T, strict=True)):
    limit = np.abs(values).max()
    image = draw_points(panel, lat, lon, values, cmap="RdBu_r", vmin=-limit, vmax=limit)
    panel.set_title(f"Kernel component {number + 1}")
    figure.colorbar(image, ax=panel, shrink=0.7)
plt.show()
