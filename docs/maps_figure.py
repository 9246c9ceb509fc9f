"""python docs/maps_figure.py: the figures of maps.md, from the COADS grid."""

from pathlib import Path

import xarray as xr

import zonal

HERE = Path(__file__).parent
DATA = HERE.parent / "benchmarks" / "data" / "coads_sst.nc"


def main() -> None:
    """Fill January, draw it, and draw the folds."""
    with xr.open_dataset(DATA, decode_times=False) as file:
        sst = file["SST"].load()
    sea = sst.notnull().any("TIME")  # seen by a ship in some month
    january = sst.isel(TIME=0)
    model = zonal.KernelRidge(cv=zonal.BlockKFold(5, 10), random_state=0)
    filled = zonal.fill(january, where=sea, model=model)
    zonal.grid.draw(filled, title="Sea surface temperature, January: holes filled").savefig(
        HERE / "maps.png", dpi=110
    )
    cells = january.stack(cell=("COADSY", "COADSX")).dropna("cell")
    places = cells["cell"].to_dataframe()[[]].reset_index()
    places.columns = ["lat", "lon"]
    places["lon"] = (places["lon"] + 180) % 360 - 180
    folds = zonal.grid.draw_folds(places, zonal.BlockKFold(5, 10), title="Five folds of 10° cells")
    folds.savefig(HERE / "folds.png", dpi=110)


if __name__ == "__main__":
    main()
