"""``-`` is standard input and output where a table is meant, in processes of their own."""

import io
import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from .console import ENVIRONMENT, good, message, zonal


def piped(*arguments, content, cwd):
    """Run ``python -m zonal ...`` with bytes as its standard input."""
    return subprocess.run([sys.executable, "-m", "zonal", *map(str, arguments)], input=content,
                          cwd=cwd, capture_output=True, env=ENVIRONMENT, check=False)  # fmt: skip


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, (300, 2))
    return pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": np.sin(X[:, 0]) + X[:, 1]})


def test_fit_and_predict_in_pipes(table, tmp_path, monkeypatch):
    fit = ("fit", "-", "--target", "y", "--out", "m.zonal", "--budget", 64, "--local", "none",
           "--json")  # fmt: skip
    text = table.to_csv(index=False).encode()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
    assert json.loads(good(*fit, cwd=tmp_path))["data"] == "standard input"
    content = io.BytesIO()
    table.to_parquet(content)
    done = piped("predict", "m.zonal", "-", "--out", "-", content=content.getvalue(), cwd=tmp_path)
    assert done.returncode == 0, done.stderr.decode()
    found = pd.read_csv(io.BytesIO(done.stdout))
    assert len(found) == 300
    assert np.corrcoef(found["prediction"], table["y"])[0, 1] > 0.99
    assert [item.name for item in tmp_path.iterdir()] == ["m.zonal"]
    wrong = table.assign(a="x").to_csv(index=False).encode()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(wrong)))
    said = message("predict", "m.zonal", "-", "--out", "-", cwd=tmp_path)
    assert "of standard input" in said
    assert "both write to standard output" in message(
        "predict", "m.zonal", "-", "--out", "-", "--json", cwd=tmp_path
    )


def test_help_names_what_is_taken(tmp_path):
    for word in ("NetCDF", "GeoTIFF", "standard input"):
        said = " ".join(zonal("fit", "--help", cwd=tmp_path).stdout.replace("│", " ").split())
        assert word in said
