"""
Filling a map with holes
========================

COADS is a climatology of the sea's surface temperature from what ships reported, on cells of 2°.
Where no ship has been there is no value. `zonal.fill` fills the holes of an xarray grid and says
how sure it is.
"""

# %%
# January, and the cells that are sea: those that were visited in some month.

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr

import zonal

folder = next(p / "benchmarks/data" for p in Path.cwd().parents if (p / "benchmarks").exists())
sst = xr.open_dataset(folder / "coads_sst.nc", decode_times=False)["SST"].load()
sea = sst.notnull().any("TIME")
january = sst.isel(TIME=0)
print(f"{int(january.notnull().sum()):,} cells of {int(sea.sum()):,} have a value.")

# %%
# The holes are wide, so that the model should be chosen, and its intervals calibrated, for gaps:
# by leaving out whole cells of 10° (`zonal.BlockKFold`) rather than single values.

model = zonal.KernelRidge(cv=zonal.BlockKFold(5, size=10), random_state=0)
filled = zonal.fill(january, where=sea, model=model)
drawing = zonal.grid.draw(filled, title="January: holes filled, and how sure that is")

# %%
# How does one know? Take values away that are known, a band of the Pacific, and fill it.

band = (january.COADSX > 200) & (january.COADSX < 230) & (abs(january.COADSY) < 25)
again = zonal.fill(january.where(~band), where=sea, model=model)
truth = january.where(band).values
inside = np.isfinite(truth)
error = (again["prediction"].values - truth)[inside]
low, high = again["lower"].values[inside], again["upper"].values[inside]
covered = np.mean((low <= truth[inside]) & (truth[inside] <= high))
print(f"root mean squared error {np.sqrt(np.mean(error**2)):.2f} °C over {inside.sum()} cells;")
print(f"{covered:.0%} of them are inside their 90 % intervals.")

# %%
# Across the band at the equator, the middle is far from everything known, and the interval is
# wide there.

figure, panel = plt.subplots(figsize=(9, 3.6), layout="constrained")
row = again.sel(COADSY=1, method="nearest").isel(COADSX=slice(60, 130))
panel.fill_between(row.COADSX, row["lower"], row["upper"], alpha=0.25, label="90 % interval")
panel.plot(row.COADSX, row["prediction"], label="filled")
panel.plot(january.COADSX[60:130], january.sel(COADSY=1, method="nearest")[60:130], "k.", ms=4)
panel.axvspan(200, 230, color="k", alpha=0.06, label="taken away")
panel.set(xlabel="degrees east", ylabel="°C", title="Along the equator; dots are the truth")
panel.legend()
plt.show()
