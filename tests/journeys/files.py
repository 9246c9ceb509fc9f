"""The files that documents and commands speak of, small and made anew: tables and grids."""

from pathlib import Path

import numpy as np
import pandas as pd
import rioxarray  # noqa: F401  # gives arrays their .rio
import xarray as xr

__all__ = ["houses", "make_files"]

N_ROWS = 420


def houses(n: int = N_ROWS, seed: int = 0) -> pd.DataFrame:
    """Return a table as people have them: words, dates, booleans, gaps in columns and target.

    The price is 50 + 2 size + 30 (a house) + 20 (a garden) + noise of 8.
    """
    rng = np.random.default_rng(seed)
    days = pd.to_timedelta(rng.integers(0, 11_000, n), "D")
    table = pd.DataFrame(
        {
            "id": np.arange(n),
            "size": rng.gamma(3, 30, n).round(1),
            "kind": rng.choice(["flat", "house", "loft"], n),
            "town": rng.choice([f"town {i}" for i in range(20)], n),
            "built": pd.Timestamp("1990-01-01") + days,
            "garden": rng.random(n) < 0.3,
            "rooms": rng.integers(1, 7, n).astype(float),
            "floor": rng.integers(0, 4, n),
            "lat": rng.uniform(40, 55, n).round(4),
            "lon": rng.uniform(-5, 15, n).round(4),
        }
    )
    noise = rng.standard_normal((2, n))
    price = 50 + 2 * table["size"] + 30 * (table["kind"] == "house") + 20 * table["garden"]
    table["price"] = (price + 8 * noise[0]).round(2)
    table["sold"] = np.where(price + 20 * noise[1] > 230, "yes", "no")
    table.loc[rng.random(n) < 0.1, "rooms"] = np.nan
    table.loc[rng.random(n) < 0.05, "kind"] = None
    table.loc[3, "price"] = np.nan
    return table


def make_files(folder: Path) -> None:
    """Write them all."""
    rng = np.random.default_rng(1)
    known, new = houses(), houses(120, seed=2)
    for name, part in (("houses", known), ("new_houses", new)):
        part.to_csv(folder / f"{name}.csv", index=False)
        part.to_parquet(folder / f"{name}.parquet", index=False)
    # The table of README and of the first model: any names, and a target y.
    table = known.drop(columns=["id", "sold", "lat", "lon"]).rename(columns={"price": "y"})
    table.to_csv(folder / "table.csv", index=False)
    rows = new.drop(columns=["id", "sold", "lat", "lon", "price"])
    rows.to_csv(folder / "new.csv", index=False)
    rows.to_parquet(folder / "new.parquet", index=False)
    _diamonds(rng).to_csv(folder / "diamonds.csv", index=False)
    _stations(rng).to_csv(folder / "stations.csv", index=False)
    _weather(rng).to_csv(folder / "weather.csv", index=False)
    height = _terrain()
    height.to_netcdf(folder / "terrain.nc")
    raster = height["elevation"].rename("band_1").rename(lat="y", lon="x")
    raster.rio.write_crs("EPSG:4326").rio.to_raster(folder / "terrain.tif")
    numbers = pd.DataFrame(rng.uniform(-2, 2, (2000, 2)), columns=["a", "b"])
    numbers["y"] = np.sin(numbers["a"]) + 0.1 * rng.standard_normal(2000)
    numbers.to_parquet(folder / "rows.parquet", index=False)
    (folder / "parts").mkdir()
    for part in range(2):
        numbers[part::2].to_parquet(folder / "parts" / f"{part}.parquet", index=False)
    counts = pd.DataFrame({"x": rng.uniform(0, 3, 400), "days": rng.integers(1, 9, 400)})
    counts["calls"] = rng.poisson(counts["days"] * np.exp(np.sin(counts["x"])))
    counts["answered"] = rng.binomial(counts["days"], 0.7)
    counts["level"] = np.log(counts["days"])
    counts.to_csv(folder / "counts.csv", index=False)
    sst = _temperature(np.array([0.04, 0.12])).rename({"TIME": "time"})
    sst.isel(time=0, drop=True).rename("sst").to_netcdf(folder / "sst.nc")
    _temperature(np.array([0.04, 0.12])).to_netcdf(folder / "coads_sst.nc")


def _diamonds(rng: np.random.Generator) -> pd.DataFrame:
    carat = rng.gamma(4, 0.2, N_ROWS).round(2)
    cut = rng.choice(["Fair", "Good", "Ideal"], N_ROWS)
    price = np.exp(6 + 1.7 * np.log(carat + 0.2) + 0.1 * rng.standard_normal(N_ROWS)).round()
    return pd.DataFrame({"carat": carat, "cut": cut, "price": price.astype(int)})


def _stations(rng: np.random.Generator) -> pd.DataFrame:
    places = rng.uniform([4.5e5, 5.3e6], [5.5e5, 5.4e6], (60, 2)).round()
    station = np.repeat(np.arange(60), 6)
    t = 15 - places[station, 1] / 5e5 + 0.3 * rng.standard_normal(len(station))
    return pd.DataFrame(
        {
            "station": [f"s{number}" for number in station],
            "easting": places[station, 0],
            "northing": places[station, 1],
            "t": t,
        }
    )


def _weather(rng: np.random.Generator) -> pd.DataFrame:
    """Return temperatures at stations: 20 - 6 K a kilometre, with a season and a kind of place."""
    station = np.repeat(np.arange(50), 8)
    lat, lon = rng.uniform(46, 48, 50)[station], rng.uniform(9, 12, 50)[station]
    day, elevation = rng.integers(0, 365, 400), _height(lat, lon).round()
    kind = rng.choice(["urban", "rural"], 50)[station]
    season = -8 * np.cos(2 * np.pi * day / 365)
    t = 20 - 0.006 * elevation + season + 1.5 * (kind == "urban") + 0.3 * rng.standard_normal(400)
    dates = pd.Timestamp("2020-01-01") + pd.to_timedelta(day, "D")
    columns = {"lat": lat.round(4), "lon": lon.round(4), "elevation": elevation}
    return pd.DataFrame({**columns, "date": dates, "kind": kind, "t": t.round(2)})


def _terrain() -> xr.Dataset:
    lat, lon = np.arange(48.0, 45.9, -0.25), np.arange(9.0, 12.1, 0.25)
    height = _height(lat[:, None], lon[None])
    return xr.Dataset({"elevation": (("lat", "lon"), height)}, {"lat": lat, "lon": lon})


def _height(lat: np.ndarray, lon: np.ndarray) -> np.ndarray:
    return 1000 + 600 * np.sin(3 * lat) * np.cos(2 * lon)


def _temperature(times: np.ndarray) -> xr.DataArray:
    """Return sea surface temperatures with holes, on cells of twelve degrees."""
    lat, lon = np.arange(-84.0, 88, 12), np.arange(6.0, 360, 12)
    field = 28 * np.cos(np.radians(lat))[:, None] + 3 * np.sin(np.radians(lon))
    values = field + np.sin(2 * np.pi * times)[:, None, None]
    values[:, 5:7, 12:17] = np.nan
    axes = {"TIME": ("TIME", times), "lat": lat, "lon": lon}
    grid = xr.DataArray(values, axes, ("TIME", "lat", "lon"), "SST", {"units": "degC"})
    grid["lat"].attrs["units"] = "degrees_north"
    grid["lon"].attrs["units"] = "degrees_east"
    return grid
