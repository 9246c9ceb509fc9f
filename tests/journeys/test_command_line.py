"""The command line on one table: words, dates, booleans, gaps in columns and in the target.

Every option of `fit` and `predict` is used at least once, and what comes out is looked at.
"""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from tests.journeys.files import houses
from tests.journeys.harness import ROOT

pytestmark = pytest.mark.slow
# What is fitted quickly: the choice has journeys of its own.
QUICK = "--features harmonic --kernel matern --budget 64"


def inside(walk, name, truth):
    """Return the share of new houses whose price is in the interval."""
    path = walk.folder / name
    found = pd.read_csv(path) if path.suffix == ".csv" else pd.read_parquet(path)
    assert len(found) == len(truth)
    assert not found["prediction"].isna().any()
    return ((found["lower"] <= truth) & (truth <= found["upper"])).mean()


def test_fit_a_table_and_predict_with_intervals(walk):
    """As in README: nothing is said but the target."""
    walk.shell(
        "zonal fit houses.csv --target price --ignore sold --ignore id --out m.zonal "
        "--report m.html"
    )
    walk.shell("zonal predict m.zonal new_houses.csv --interval 0.9 --keep id --out p.csv")
    walk.shell("zonal predict m.zonal new_houses.parquet --std --interval 0.9 --out p.parquet")
    new = houses(120, seed=2)
    known = new["price"].notna()
    share = inside(walk, "p.csv", new["price"])
    # Of 119 prices: nine of ten, within three standard deviations of a binomial share.
    assert 0.81 <= share * len(new) / known.sum() <= 0.985
    assert inside(walk, "p.parquet", new["price"]) == share
    predicted = pd.read_csv(walk.folder / "p.csv")
    assert predicted["id"].tolist() == new["id"].tolist()
    assert np.corrcoef(predicted["prediction"][known], new["price"][known])[0, 1] > 0.95
    page = (walk.folder / "m.html").read_text()
    assert "price" in page
    assert "</html>" in page
    # The model in Python is the learner, and encodes rows itself.
    walk.python(
        "import pandas as pd, zonal\n"
        "model = zonal.load('m.zonal')\n"
        "rows = pd.read_csv('new_houses.csv', parse_dates=['built'])\n"
        "rows = rows.drop(columns=['id', 'price', 'sold'])\n"
        "lower, upper = model.predict_interval(rows)\n"
        "assert (lower < upper).all() and model.importances_ and len(model.selection_)\n"
    )


def test_places_groups_and_blocks(walk):
    ignored = "--ignore sold --ignore id"
    walk.shell(
        f"zonal fit houses.parquet --target price {ignored} --group town --local none "
        "--budget 64 --out group.zonal\n"
        f"zonal fit houses.csv --target price {ignored} --lat lat --lon lon --cv block:5deg "
        f"{QUICK} --out place.zonal --json > place.json\n"
        "zonal predict place.zonal new_houses.csv --interval 0.8 --out place.csv"
    )
    assert 0.6 <= inside(walk, "place.csv", houses(120, seed=2)["price"]) <= 0.95
    assert json.loads((walk.folder / "place.json").read_text())


def test_classes(walk):
    walk.shell(
        "zonal fit houses.csv --target sold --ignore price --ignore id --classify --balanced "
        "--local none --budget 64 --out c.zonal\n"
        "zonal predict c.zonal new_houses.csv --proba --out c.csv"
    )
    found = pd.read_csv(walk.folder / "c.csv")
    assert set(found["prediction"]) == {"yes", "no"}
    np.testing.assert_allclose(found["probability_yes"] + found["probability_no"], 1, atol=1e-6)
    truth = houses(120, seed=2)["sold"]
    assert (found["prediction"] == truth).mean() > 0.75


def test_all_other_options(walk):
    """What is left: columns named one by one, a model said by hand, seeds, limits, outputs."""
    walk.shell(
        f"zonal fit houses.csv --target price -i size -i rooms -i floor --input kind "
        "--categorical floor --numeric rooms --bandwidth 2.0 --alpha 0.1 --test-fraction 0.2 "
        f"--seed 7 --time-limit 20 --drop-missing {QUICK} --out o.zonal --json > o.json\n"
        "zonal fit houses.csv --target price -i size --local none --budget 32 --force "
        "--out o.zonal\n"
        "zonal predict o.zonal new_houses.csv --drop-missing --json --out o.csv > o2.json\n"
        "zonal predict o.zonal new_houses.csv --out o.csv --force\n"
        "zonal fit stations.csv --target t --lat northing --lon easting --crs EPSG:32633 "
        "--ignore station --features harmonic --kernel matern --budget 64 --height --out s.zonal\n"
        "zonal predict s.zonal --grid 0.5 --bounds 13,47,17,49 --out map.nc\n"
        "zonal predict s.zonal --grid 0.5 --bounds 13,47,17,49 --max-distance 20 --out near.nc\n"
        f"zonal fit houses.csv --target price -i rooms --noise-column size --noise-kind variance "
        f"--drop-missing {QUICK} --out n.zonal\n"
        "zonal fit houses.csv --target price -i size -i rooms --drop-missing --queries "
        f"new_houses.csv {QUICK} --out q.zonal\n"
        "zonal fit counts.csv --target calls -i x --likelihood poisson --exposure days "
        f"{QUICK} --out calls.zonal\n"
        "zonal predict calls.zonal counts.csv --interval 0.9 --out calls.csv\n"
        "zonal fit counts.csv --target calls -i x --likelihood negative_binomial --offset level "
        f"{QUICK} --out offset.zonal\n"
        "zonal fit counts.csv --target answered -i x --likelihood binomial --trials days "
        f"{QUICK} --out answered.zonal"
    )
    assert json.loads((walk.folder / "o.json").read_text())
    assert json.loads((walk.folder / "o2.json").read_text())
    assert len(pd.read_csv(walk.folder / "o.csv")) == 120
    with xr.open_dataset(walk.folder / "map.nc") as grid:
        assert np.isfinite(grid["prediction"]).all()
    with xr.open_dataset(walk.folder / "near.nc") as grid:
        assert grid["prediction"].isnull().any()
    counts = pd.read_csv(walk.folder / "counts.csv")["calls"]
    found = pd.read_csv(walk.folder / "calls.csv")
    # 90 % of counts, and more of those at the ends of intervals: three standard errors of 400 rows.
    assert ((found["lower"] <= counts) & (counts <= found["upper"])).mean() > 0.9 - 3 * 0.015
    said = walk.refused("zonal predict o.zonal new_houses.csv --out o.csv")
    assert "--force" in said


def test_on_dask(walk):
    """A cluster that runs already; docs/scale.md has one that the command starts by `--workers`."""
    walk.fresh().python(
        """
import subprocess
from zonal.distributed import local_cluster

if __name__ == "__main__":
    with local_cluster(n_workers=1) as client:
        fit = "zonal fit parts --target y --features harmonic --budget 32 --out d.zonal"
        dask = ["--engine", "dask", "--scheduler", client.scheduler.address]
        subprocess.run([*fit.split(), *dask], check=True)
"""
    )
    walk.shell("zonal predict d.zonal rows.parquet --out d.parquet")
    found, truth = (pd.read_parquet(walk.folder / f"{n}.parquet") for n in ("d", "rows"))
    assert np.corrcoef(found["prediction"], truth["y"])[0, 1] > 0.98


def test_every_option_is_used(walk):
    """So that an option that is added gets its place in a journey."""
    here = Path(__file__).parent.glob("test_*.py")
    pages = (ROOT / "docs" / name for name in ("scale.md", "maps.md"))
    used = "".join(path.read_text() for path in (*here, *pages))
    for command in ("fit", "predict"):
        told = walk.shell(f"zonal {command} --help")
        options = set(re.findall(r"--[a-z][a-z-]+", told)) - {"--help"}
        assert len(options) > 8
        missing = {name for name in options if name not in used}
        assert not missing, f"zonal {command} has options that no journey uses: {missing}"
