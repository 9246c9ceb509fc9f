"""The demo, on a small part of the data."""

import numpy as np
import pytest

from zonal import demo
from zonal.datasets import load_elevation


@pytest.fixture
def coarse_grid(monkeypatch):
    data = load_elevation()
    keep = (np.floor(data.data[:, 0]) % 4 == 0) & (np.floor(data.data[:, 1]) % 4 == 0)
    data.data, data.target = data.data[keep], data.target[keep]
    monkeypatch.setattr(demo, "load_elevation", lambda: data)
    monkeypatch.setattr(demo, "WIDTH", 128)
    monkeypatch.setattr(demo, "BANDWIDTH", 0.5)


def test_demo(coarse_grid, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    demo.main()
    printed = capsys.readouterr().out
    for name in ("GegenbauerFeatures", "RBFSampler", "Nystroem", "test MSE", "Map: elevation.png"):
        assert name in printed
    assert (tmp_path / "elevation.png").stat().st_size > 10_000
