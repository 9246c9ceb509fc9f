"""Intervals from the command line."""

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

from .conftest import NOISE
from .console import as_json, zonal


def read(path):
    found = pa.csv.read_csv(path)
    return {name: found[name].to_numpy() for name in found.column_names}


def test_predict_writes_intervals(fitted, folder, table):
    as_json("predict", "m.zonal", "t.csv", "--out", "i.csv", "--interval", 0.9, "--std", cwd=folder)
    found = read(folder / "i.csv")
    assert list(found) == ["prediction", "std", "lower", "upper"]
    y = table["y"].to_numpy()
    held = np.mean((found["lower"] <= y) & (y <= found["upper"]))
    assert 0.87 < held < 0.96  # nine tenths of the rows are those of the fit
    width = np.mean(found["upper"] - found["lower"])
    assert width == pytest.approx(2 * 1.645 * NOISE, rel=0.2)


def test_fit_tells_how_sure_it_is(fitted, folder):
    found = fitted["intervals"]
    # 150 test rows: five standard errors.
    assert abs(found["coverage_90"] - 0.9) < 5 * 0.3 / np.sqrt(150)
    assert found["coverage_50"] < found["coverage_80"] < found["coverage_95"]
    assert found["crps"] < 0.2 * found["crps_of_constant"]
    assert found["left_out_crps"] == pytest.approx(found["left_out_crps_without_calibration"], 0.1)
    page = (folder / "m.html").read_text()
    assert "An interval is where a new observation of y is expected" in page


@pytest.mark.parametrize("share", [0, 1.5])
def test_mistakes(fitted, folder, share):
    done = zonal("predict", "m.zonal", "t.csv", "--out", "x.csv", "--interval", share, cwd=folder)
    assert done.returncode
    assert "must be between 0 and 1" in done.stderr


def test_points_of_the_globe_with_automatic_features(tmp_path):
    """A model of one step, whose columns the features encode themselves."""
    rng = np.random.default_rng(0)
    lat, lon = np.degrees(np.arcsin(rng.uniform(-1, 1, 700))), rng.uniform(-180, 180, 700)
    height = 1000 * np.sin(np.radians(lat)) + 10 * rng.standard_normal(700)
    pa.csv.write_csv(pa.table({"lat": lat, "lon": lon, "height": height}), tmp_path / "g.csv")
    place = ("--lat", "lat", "--lon", "lon")
    outputs = ("--out", "g.zonal", "--report", "g.html")
    as_json("fit", "g.csv", "--target", "height", *place, "--budget", 64, *outputs, cwd=tmp_path)
    asked = ("--std", "--interval", 0.9)
    as_json("predict", "g.zonal", "g.csv", "--out", "p.csv", *asked, cwd=tmp_path)
    found = read(tmp_path / "p.csv")
    assert (found["lower"] < found["upper"]).all()
    assert found["std"].max() < height.std()
    page = (tmp_path / "g.html").read_text()
    assert "The width of 90 % intervals." in page
    assert "60 to 90° S" in page  # what they hold by latitude


def test_classes_have_a_calibration_error(folder):
    options = ("--target", "kind", "--classify", "-i", "a", "-i", "b", "--features", "harmonic")
    found = as_json("fit", "t.csv", *options, "--budget", 64, "--report", "k.html", cwd=folder)
    assert 0 <= found["calibration_error"] < 0.1
    assert "expected calibration" in (folder / "k.html").read_text()
