"""Stations with dates in a CSV, where dates are text: fitted and predicted by the command line."""

import numpy as np
import pandas as pd

import zonal as library
from zonal.features.columns.place_time_encoder import PlaceTimeEncoder

from .console import good


def test_a_date_of_a_csv_is_a_time(tmp_path):
    rng = np.random.default_rng(0)
    days = pd.date_range("2020-01-01", periods=26, freq="7D")
    lat, lon = rng.uniform(30, 50, 12), rng.uniform(-5, 20, 12)
    table = pd.DataFrame(
        {"lat": np.repeat(lat, 26), "lon": np.repeat(lon, 26), "date": np.tile(days, 12)}
    )
    week = np.tile(np.arange(26.0), 12)
    table["t"] = table["lat"] / 10 + np.sin(week / 4) + 0.05 * rng.standard_normal(len(table))
    table.to_csv(tmp_path / "rows.csv", index=False)
    table.drop(columns="t")[::9].to_csv(tmp_path / "asked.csv", index=False)
    good("fit", "rows.csv", "--target", "t", "--time", "date", "--test-fraction", 0,
         "--out", "m.zonal", cwd=tmp_path)  # fmt: skip
    assert isinstance(library.load(tmp_path / "m.zonal").encoder_, PlaceTimeEncoder)
    good("predict", "m.zonal", "asked.csv", "--out", "p.csv", cwd=tmp_path)
    found = pd.read_csv(tmp_path / "p.csv")["prediction"]
    # Rows of the fit, with noise of 0.05: five deviations of it.
    assert np.abs(found - table["t"].to_numpy()[::9]).max() < 0.25
