"""
From stations to a map of one day
=================================

The task of geostatistics: values at stations, on dates, some of their heights unknown; and a
terrain model. Wanted is a map of one day, and how sure it is. The stations here are 200 places of
Europe in ERA-Interim's monthly means of the temperature at 2 m; a third of their months and a tenth
of their heights are lost.
"""

# %%
# A terrain model on a grid, and a table with a date in each row.

import numpy as np
import pandas as pd
import xarray as xr

import zonal

earth, climate = zonal.datasets.load_elevation(), zonal.datasets.load_climate()
terrain = pd.DataFrame(earth.data, columns=["lat", "lon"]).assign(height=earth.target)
terrain = terrain.set_index(["lat", "lon"]).to_xarray().sel(lat=slice(36, 60), lon=slice(-10, 30))
terrain = terrain.where(terrain["height"] > 0)  # land, with heights in metres
table = pd.DataFrame(climate.data, columns=["lat", "lon", "month"])
table["t"] = climate.target - 273.15  # °C
table = table.query("36 < lat < 60 and -10 < lon < 30").reset_index(drop=True)
table["date"] = pd.to_datetime({"year": 2014, "month": table.pop("month"), "day": 15})
near = {name: xr.DataArray(table[name]) for name in ("lat", "lon")}
table["height"] = terrain["height"].sel(near, method="nearest").to_numpy()

rng = np.random.default_rng(0)
place = table.groupby(["lat", "lon"]).ngroup()
is_station = place.isin(rng.choice(place.max() + 1, 200, replace=False))
stations = table[is_station & (rng.random(len(table)) > 1 / 3)]
stations = stations.assign(height=stations["height"].where(rng.random(len(stations)) > 0.1))
print(stations.sample(5, random_state=1))

# %%
# Dates and gaps are the model's affair. It will be asked for places between the stations, so that
# whole stations are left out where it is chosen and its intervals are calibrated. The map takes
# heights from the terrain by their name, and the day that is asked for.

model = zonal.KernelRidge(cv=zonal.BlockKFold(5, size=2), random_state=0)
model.fit(stations.drop(columns="t"), stations["t"])
july = zonal.predict_grid(model, like=terrain, time="2014-07-15")
title = "15 July: temperature (°C), and its standard deviation"
drawing = zonal.grid.draw(july, title=title, coastlines=True)

# %%
# How does one know? The other places have a value too.

others = table[~is_station & (table["date"] == "2014-07-15")].dropna()
rows, truth = others.drop(columns="t"), others["t"]
lower, upper = model.predict_interval(rows)
rmse = np.sqrt(np.mean((model.predict(rows) - truth) ** 2))
print(f"{len(others)} places: root mean squared error {rmse:.2f} °C ({truth.std():.1f} of a mean);")
print(f"{np.mean((lower <= truth) & (truth <= upper)):.0%} are inside their 90 % intervals.")

# %%
# On the command line it is two lines:
#
# .. code-block:: sh
#
#    zonal fit stations.csv --target t --cv block:2deg --out stations.zonal
#    zonal predict stations.zonal terrain.nc --time 2014-07-15 --out july.nc
