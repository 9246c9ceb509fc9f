"""
A year of stations, and the days after it
=========================================

Time is not one more column: summers come back, places keep what is theirs, weather moves on within
days. Daily maxima of the temperature at stations of the United States, of which one is left out
whole, and a forecast from the others' last day.
"""

# %%
# Thirty stations, every other day of three years. Rows are places on the sphere, and the day.

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import zonal

folder = next(p / "benchmarks/data" for p in Path.cwd().parents if (p / "benchmarks").exists())
with np.load(folder / "noaa_tmax.npz") as data:
    latitude, longitude, day = data["X"].T.astype(float)
    celsius, station = (data["y"] - 32) / 1.8, data["station"]
rows = np.column_stack([zonal.datasets.to_sphere(latitude, longitude), day])
rng = np.random.default_rng(0)
chosen = rng.choice(np.unique(station), 31, replace=False)
hidden, others = chosen[0], chosen[1:]
last = 3 * 365
known = np.isin(station, others) & (day <= last) & (day % 2 == last % 2)
model = zonal.NeighborKriging(time=365.25, n_features=64).fit(rows[known], celsius[known])
print(f"{known.sum()} rows; {' '.join(str(model.kernel_).split())}")

# %%
# The station that was left out, in the last of the three years: its season is known from others of
# its latitude, its weather from those nearby.


def with_band(axis, at, label):
    """Draw the mean and the 90 % band of observations at rows, over their days."""
    mean, std = model.predict(at, return_std=True)
    noise = np.sqrt(model.noise_ * model.scale_) * model.amplitude_at(at)
    spread = 1.645 * np.hypot(std, noise)
    axis.fill_between(at[:, -1], mean - spread, mean + spread, alpha=0.3, label="90 %")
    axis.plot(at[:, -1], mean, label=label)
    return mean, spread


figure, axes = plt.subplots(2, 1, figsize=(9, 6), layout="constrained")
year = (station == hidden) & (day > last - 365) & (day <= last)
mean, spread = with_band(axes[0], rows[year], "mean")
axes[0].plot(day[year], celsius[year], "k.", ms=3, label="observed, not known to the model")
axes[0].set(title="A station that was left out", ylabel="°C", xlabel="day")
held = np.mean(np.abs(celsius[year] - mean) < spread)
rmse = np.sqrt(np.mean((celsius[year] - mean) ** 2))
print(f"Left out: RMSE {rmse:.1f} °C of {celsius[year].std():.1f}; 90 % intervals hold {held:.0%}.")

# %%
# The days after the last one: what is known of the weather fades within days, the band widens to
# that of the season, and the mean returns to it.

before = (station == others[0]) & (day > last - 60) & (day <= last)
after = (station == others[0]) & (day > last) & (day <= last + 60)
with_band(axes[1], rows[after], "forecast")
axes[1].plot(day[before], celsius[before], "k.", ms=3)
axes[1].plot(day[after], celsius[after], ".", color="0.6", ms=3, label="what came")
axes[1].axvline(last, color="k", lw=0.5)
axes[1].set(title="Sixty days ahead", ylabel="°C", xlabel="day")
axes[0].legend(loc="upper left", fontsize=8)
axes[1].legend(loc="lower left", fontsize=8)
