import hashlib
import shutil

import numpy as np
import pytest

import zonal
from zonal import datasets
from zonal.datasets.catalog import CATALOG

SHAPES = {
    "elevation": (64_800, 2),
    "climate": (228_420, 3),
    "climate_berkeley": (65_976, 3),
    "gaps_simulated": (150_000, 2),
    "co2": (153_648, 3),
    "co2_column": (113_388, 3),
    "protein": (45_730, 9),
    "abalone": (4_177, 8),
    "pendigits": (7_494, 16),
    "mushroom": (8_124, 21),
    "magic": (19_020, 10),
    "shuttle": (43_500, 9),
    "connect4": (67_557, 42),
}


def test_every_dataset_has_a_loader():
    assert set(SHAPES) == set(CATALOG)
    assert {f"load_{name}" for name in SHAPES} | {"height_at", "to_sphere"} == set(datasets.__all__)


@pytest.mark.parametrize("name", SHAPES)
def test_loaders(name):
    load = getattr(datasets, f"load_{name}")
    bunch = load()
    assert bunch.data.shape == SHAPES[name]
    assert bunch.data.dtype == np.float32
    assert len(bunch.target) == len(bunch.data)
    assert len(bunch.feature_names) == bunch.data.shape[1]
    assert np.isfinite(bunch.data).all()
    if np.issubdtype(bunch.target.dtype, np.integer):
        assert set(np.unique(bunch.target)) == set(range(len(bunch.target_names)))
    assert CATALOG[name].source in bunch.DESCR
    X, y = load(return_X_y=True)
    np.testing.assert_array_equal(X, bunch.data)
    np.testing.assert_array_equal(y, bunch.target)
    assert "Source:" in load.__doc__


def test_elevation_is_the_earth():
    bunch = datasets.load_elevation()
    lat, lon = bunch.data.T
    everest = np.argmax(bunch.target)
    assert 25 < lat[everest] < 40
    assert 70 < lon[everest] < 105
    land = np.average(bunch.target > 0, weights=np.cos(np.radians(lat)))
    assert 0.27 < land < 0.32  # 29 % of the Earth is land


def test_folder_of_the_caller(tmp_path, monkeypatch):
    source = datasets.load_abalone().filename
    with pytest.raises(
        FileNotFoundError, match=r"(?s)abalone.npz was not found.*benchmarks/data.*UCI"
    ):
        datasets.load_abalone(data_home=tmp_path)
    shutil.copy(source, tmp_path)
    assert datasets.load_abalone(data_home=tmp_path).filename == str(tmp_path / "abalone.npz")
    monkeypatch.setenv("ZONAL_DATA", str(tmp_path))
    assert datasets.load_abalone().filename == str(tmp_path / "abalone.npz")


def test_damaged_file(tmp_path):
    content = b"not a dataset"
    (tmp_path / "magic.npz").write_bytes(content)
    with pytest.raises(ValueError, match=hashlib.sha256(content).hexdigest()):
        datasets.load_magic(data_home=tmp_path)


def test_to_sphere():
    rng = np.random.default_rng(0)
    lat, lon = rng.uniform(-90, 90, 50), rng.uniform(-180, 360, 50)
    points = datasets.to_sphere(lat, lon)
    np.testing.assert_allclose(np.linalg.norm(points, axis=1), 1)
    np.testing.assert_allclose(np.degrees(np.arcsin(points[:, 2])), lat)
    east = np.degrees(np.arctan2(points[:, 1], points[:, 0]))
    np.testing.assert_allclose((east - lon + 180) % 360 - 180, 0, atol=1e-9)
    assert datasets.to_sphere(np.float32([1]), np.float32([2])).dtype == np.float32
    assert zonal.datasets.to_sphere(0, 0).shape == (3,)


def test_to_sphere_rejects_nonsense():
    with pytest.raises(ValueError, match=r"lat=120.*swapped"):
        datasets.to_sphere([10, 120], [0, 0])
    with pytest.raises(ValueError, match="finite"):
        datasets.to_sphere([np.nan], [0])
