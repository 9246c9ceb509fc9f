"""
A field that moves
==================

Clouds drift: what lies upstream now is here an hour later. A kernel of places and times that stand
still knows that a field changes, not that it comes from somewhere. One that travels does, and the
evidence tells how the wind blows.
"""

# %%
# A field that moves by (0.6, 0.25) each hour and changes slowly on its way, seen by forty stations
# every half hour, with some noise. Rows are x, y and the hour.

import matplotlib.pyplot as plt
import numpy as np

import zonal

rng = np.random.default_rng(0)
WIND = np.array([0.6, 0.25])
waves = rng.standard_normal((200, 2)) / 0.35
drift, phase = 0.25 * rng.standard_normal(200), rng.uniform(0, 2 * np.pi, 200)


def truth(rows):
    """Return the field at rows (x, y, hour)."""
    along = (rows[:, :2] - rows[:, 2:] * WIND) @ waves.T + rows[:, 2:] * drift + phase
    return np.sqrt(2 / 200) * np.cos(along).sum(axis=1)


stations = rng.uniform(0, 2, (40, 2))
hours = np.arange(0, 6, 0.5)
rows = np.column_stack([np.tile(stations, (len(hours), 1)), np.repeat(hours, len(stations))])
y = truth(rows) + 0.05 * rng.standard_normal(len(rows))

# %%
# `time=()` says that the last column is a time without a period. What changes with it gets a
# velocity, if the evidence gains by it.

model = zonal.NeighborKriging(time=()).fit(rows, y)
kernel = model.kernel_
found = kernel.velocity
print(f"The wind is {WIND}, the velocity that was found {np.round(found, 2)}.")

# %%
# The log evidence of the same kernel with other velocities, its noise as it was found.


def model_of(velocity):
    """Fit with a velocity that is given."""
    travels = zonal.SpaceTime(kernel.space, kernel.time, kernel.interaction, velocity=velocity)
    return zonal.NeighborKriging(travels, noise=model.noise_, n_features=0, time=()).fit(rows, y)


steps = np.linspace(-0.25, 1.0, 11)
evidence = np.array([[model_of((u, v)).log_evidence_ for u in steps] for v in steps])

# %%
# An hour after the last look: by the same kernel at rest, and travelling with the wind.

side = np.linspace(0, 2, 60)
grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
asked = np.column_stack([grid, np.full(len(grid), hours[-1] + 1)])
figure, axes = plt.subplots(1, 4, figsize=(13, 3.4), layout="constrained")
picture = axes[0].contourf(steps, steps, evidence, 20)
axes[0].plot(*WIND, "r+", ms=12)
axes[0].plot(*found, "wx", ms=8)
axes[0].set(title="log evidence of a wind", xlabel="east", ylabel="north", aspect="equal")
figure.colorbar(picture, ax=axes[0], shrink=0.8)
maps = {"the truth, an hour later": truth(asked), "the same at rest": model_of(None).predict(asked)}
maps["travelling with the wind"] = model.predict(asked)
for axis, (title, values) in zip(axes[1:], maps.items(), strict=True):
    rmse = np.sqrt(np.mean((values - truth(asked)) ** 2))
    axis.imshow(values.reshape(60, 60), origin="lower", extent=(0, 2, 0, 2), vmin=-2.5, vmax=2.5)
    axis.plot(*stations.T, "k.", ms=2)
    axis.set(title=title if values is maps["the truth, an hour later"] else f"{title}: {rmse:.2f}")
    print(f"{title}: RMSE {rmse:.2f}")
