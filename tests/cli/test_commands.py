"""Every command, through the installed console script, on files that are as they should be."""

from pathlib import Path

import numpy as np
import pyarrow.csv
import pyarrow.parquet
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

import zonal
from zonal.datasets import load_elevation, load_magic

from .conftest import NOISE, N
from .console import as_json, files, good


def test_help_names_every_command(folder):
    text = good("--help", cwd=folder)
    for command in ("fit", "predict", "cluster", "compare", "size", "demo", "reproduce"):
        assert f"│ {command} " in text
    assert "Exit codes" in text


def test_fit_reaches_the_noise(fitted, folder):
    assert fitted["rows"] == N
    assert fitted["rows_test"] == N // 10
    assert fitted["inputs"] == ["a", "b", "c"]
    # The error is the noise and the estimation error of a few dozen effective parameters. Squared
    # noise of 150 rows has a standard error of √(2/150) = 12 %.
    assert 0.6 * NOISE**2 < fitted["test"]["mse"] < 1.6 * NOISE**2
    assert {"Reading rows", "Fitting", "Testing"} <= set(fitted["seconds"])
    assert {"m.zonal", "m.html"} <= files(folder)
    errors = [point["error"] for point in fitted["approximation"]]
    assert errors[-1] < errors[0]


def test_result_is_that_of_python(fitted, folder, table):
    model = zonal.load(folder / "m.zonal")
    assert model.table_ == {"inputs": ["a", "b", "c"], "target": "y"}
    X = np.column_stack([table[name].to_numpy() for name in "abc"])
    error = np.mean((model.predict(X) - table["y"].to_numpy()) ** 2)
    combined = 0.1 * fitted["test"]["mse"] + 0.9 * fitted["train"]["mse"]
    assert error == pytest.approx(combined, rel=1e-9)


def test_formats_agree(fitted, folder, table):
    """Predictions of one table are the same whatever holds it, and in the order of its rows."""
    X = np.column_stack([table[name].to_numpy() for name in "abc"])
    expected = zonal.load(folder / "m.zonal").predict(X)
    good("predict", "m.zonal", "t.parquet", "--out", "p.csv", "--keep", "id", cwd=folder)
    kept = pyarrow.csv.read_csv(folder / "p.csv")
    assert kept.column_names == ["id", "prediction"]
    np.testing.assert_array_equal(kept["id"], np.arange(N))
    np.testing.assert_allclose(kept["prediction"], expected, rtol=1e-12, atol=1e-12)
    result = as_json("predict", "m.zonal", "t.csv.gz", "--out", "p.parquet", cwd=folder)
    assert result["rows"] == N
    again = pyarrow.parquet.read_table(folder / "p.parquet")
    np.testing.assert_allclose(again["prediction"], expected, rtol=1e-9, atol=1e-9)


def test_std_is_that_of_a_gaussian_process(fitted, folder, table):
    """Against scikit-learn's exact process with the same kernel, noise and training rows."""
    good("predict", "m.zonal", "t.parquet", "--out", "s.parquet", "--std", cwd=folder)
    std = pyarrow.parquet.read_table(folder / "s.parquet")["std"].to_numpy()
    learner = zonal.load(folder / "m.zonal")
    X = table.select(["a", "b", "c"]).to_pandas()
    rows, y = learner.encoder_.transform(X), table["y"].to_numpy()
    # The model estimates the noise from about 1,300 degrees of freedom: to 2 % of its deviation.
    bandwidth, noise = learner.features_.kernel_.bandwidth, NOISE**2
    kernel = ConstantKernel(noise / learner.alpha_) * RBF(bandwidth) + WhiteKernel(noise)
    exact = GaussianProcessRegressor(kernel, optimizer=None, normalize_y=False)
    exact.fit(rows, y - y.mean())
    _, expected = exact.predict(rows[:200], return_std=True)
    # scikit-learn's standard deviation includes the white noise of an observation.
    latent = np.sqrt(np.maximum(expected**2 - noise, 0))
    # A tenth of the rows was not in the fit (√0.9: 5 %), and 256 features are not the kernel.
    assert np.median(std[:200] / latent) == pytest.approx(1, abs=0.15)
    assert np.corrcoef(std[:200], latent)[0, 1] > 0.9


def test_classes(folder, table):
    options = ("-i", "a", "-i", "b", "-i", "c", "--features", "gegenbauer", "--budget", 256)
    result = as_json(
        "fit", "t.csv", "--target", "kind", "--classify", *options, "--out", "c.zonal", cwd=folder
    )
    # Only rows within a boundary layer are in doubt; the commonest class has about half of all.
    assert result["test"]["accuracy"] > 0.9 > 0.6 > result["test"]["accuracy_of_commonest"]
    good("predict", "c.zonal", "t.parquet", "--out", "c.parquet", cwd=folder)
    predicted = pyarrow.parquet.read_table(folder / "c.parquet")["prediction"].to_numpy()
    right = np.mean(predicted == table["kind"].to_numpy())
    combined = 0.1 * result["test"]["accuracy"] + 0.9 * result["train"]["accuracy"]
    assert right == pytest.approx(combined, rel=1e-9)


def test_cluster_separates_rings(tmp_path):
    angle = np.linspace(0, 2 * np.pi, 200, endpoint=False)
    ring = np.column_stack([np.cos(angle), np.sin(angle)])
    np.savez(tmp_path / "rings.npz", X=np.vstack([0.1 * ring, 3 * ring]))
    options = ("--features", "harmonic", "--bandwidth", "1.0", "--budget", 64)
    result = as_json(
        "cluster", "rings.npz", "-k", 2, *options, "--out", "o.csv", "--model", "k.zonal",
        cwd=tmp_path,
    )  # fmt: skip
    assert sorted(result["sizes"]) == [200, 200]
    labels = pyarrow.csv.read_csv(tmp_path / "o.csv")["cluster"].to_numpy()
    assert len(set(labels[:200])) == len(set(labels[200:])) == 1
    good("predict", "k.zonal", "rings.npz", "--out", "again.csv", cwd=tmp_path)
    again = pyarrow.csv.read_csv(tmp_path / "again.csv")["prediction"].to_numpy()
    np.testing.assert_array_equal(again, labels)


def test_compare(folder):
    widths = ("--budget", 32, "--budget", 128, "--bandwidth", "median")
    result = as_json(
        "compare", "t.npz", "--target", "y", *widths, "--plot", "p.png", "--report", "cmp.html",
        cwd=folder,
    )  # fmt: skip
    found = {(row["map"], row["features"]): row for row in result["results"]}
    assert len(found) == 14 * 2 + 1
    exact = result["results"][-1]
    assert exact["map"] == "exact"
    # What all maps stand for: none with 32 columns comes close, and the best is not far ahead.
    assert exact["mse"] < found["gegenbauer", 32]["mse"]
    assert exact["mse"] < 2 * found["harmonic", 128]["mse"]
    # In three dimensions the optimal features are far ahead of random ones; more is better.
    assert found["harmonic", 128]["approximation"] < 0.01 * found["fourier", 128]["approximation"]
    for name in ("harmonic", "gegenbauer", "fourier", "nystroem"):
        assert found[name, 128]["approximation"] < found[name, 32]["approximation"]
        assert found[name, 128]["seconds"] > 0
    assert (folder / "p.png").read_bytes().startswith(b"\x89PNG")


def test_size(folder):
    options = ("--ignore", "kind", "--ignore", "id", "--ignore", "y", "--lam", 1)
    result = as_json("size", "t.parquet", *options, cwd=folder)
    assert result["dimensions"] == 3
    measured = {item["name"]: item["n_components"] for item in result["measured"]}
    # Optimal features need no more than random ones; the theorem's number is for all data.
    assert measured["HarmonicFeatures"] <= measured["FourierFeatures"]
    assert measured["HarmonicFeatures"] < result["theorem"]["features"]


def test_real_file_with_a_map(tmp_path):
    """Elevation as the package ships it: a table with latitude and longitude."""
    path = load_elevation().filename
    options = ("--lat", "lat", "--lon", "lon", "--features", "harmonic", "--bandwidth", "0.3")
    result = as_json(
        "fit", path, "--target", "y", *options, "--budget", 256, "--report", "e.html",
        cwd=tmp_path,
    )  # fmt: skip
    assert result["rows"] == 64_800
    # 256 = 16² features are the harmonics up to degree 15, which hold most of the variance.
    assert result["test"]["r2"] > 0.8
    assert "<h2>Map</h2>" in (tmp_path / "e.html").read_text()
    assert files(tmp_path) == {"e.html"}


def test_real_classes(tmp_path):
    path = Path(load_magic().filename).resolve()
    options = ("--features", "nystroem", "--budget", 128)
    result = as_json("fit", path, "--target", "y", "--classify", *options, cwd=tmp_path)
    # A straight line gets 0.79 right, the commonest class 0.65.
    assert result["test"]["accuracy"] > 0.82


def test_demo(tmp_path):
    text = good("demo", "--every", 9, "--budget", 64, cwd=tmp_path)
    for name in ("chosen automatically", "GegenbauerFeatures", "RBFSampler", "Nystroem"):
        assert name in text
    assert files(tmp_path) == {"elevation.png", "elevation.html"}
    assert (tmp_path / "elevation.png").stat().st_size > 10_000


def test_reproduce(tmp_path):
    """From any folder, since zonal itself runs from a checkout here."""
    good("reproduce", "figure1", "--quick", "--out", tmp_path, cwd=tmp_path)
    assert files(tmp_path) == {"figure1.json", "figure1.md", "figure1.png"}
