"""Comparisons: scores against closed forms, cells that are kept, and the example of the page."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.linear_model import BayesianRidge

from benchmarks.gp_suite.data import task
from benchmarks.suite import cells, methods, page
from benchmarks.suite.scores import LEVELS, Forecast, _log_density, scores
from benchmarks.tables.__main__ import page as tables_page

ROOT = Path(__file__).parents[2]


def test_scores_of_a_normal_law_are_those_of_closed_forms():
    rng = np.random.default_rng(0)
    mean, std = rng.standard_normal(40_000), rng.uniform(0.5, 2, 40_000)
    truth = mean + std * rng.standard_normal(40_000)
    z = (truth - mean) / std
    crps = std * (z * (2 * norm.cdf(z) - 1) + 2 * norm.pdf(z) - np.pi**-0.5)
    found = scores(truth, Forecast(mean, std))
    # 23 levels integrate to within half a percent.
    assert found["crps"] == pytest.approx(np.mean(crps), rel=5e-3)
    assert found["nlpd"] == pytest.approx(-np.mean(norm.logpdf(truth, mean, std)), rel=1e-12)
    assert abs(found["coverage"] - 0.95) < 5 * (0.95 * 0.05 / 40_000) ** 0.5
    # E[width + 2 / 0.05 · excess] is 4 σ φ(q) / 0.05, q = Φ⁻¹(0.975), with a standard
    # deviation of 4.5 σ; five standard errors of the mean are 2.5 % here, of the RMSE 2.1 %.
    expected = 4 / 0.05 * norm.pdf(norm.ppf(0.975)) * np.mean(std)
    assert found["interval"] == pytest.approx(expected, rel=0.025)
    assert found["rmse"] == pytest.approx(np.sqrt(np.mean(std**2)), rel=0.021)
    # A density that is constant between quantiles loses about h²/24 of its curvature: 0.01 in all.
    by_levels = scores(truth, Forecast(mean, None, mean[:, None] + std[:, None] * norm.ppf(LEVELS)))
    assert 0 < by_levels["nlpd"] - found["nlpd"] < 0.02
    assert by_levels["nlpd_normal"] == pytest.approx(found["nlpd"], rel=1e-12)
    assert by_levels["crps"] == pytest.approx(found["crps"], rel=1e-12)


def test_the_density_of_quantiles_integrates_to_one():
    quantiles = np.array([norm.ppf(LEVELS)])
    grid = np.linspace(-40, 40, 400_001)
    many = np.broadcast_to(quantiles, (len(grid), len(LEVELS)))
    assert np.trapezoid(np.exp(_log_density(grid, many)), grid) == pytest.approx(1, abs=1e-3)


def test_the_method_of_the_page_has_a_cell(tmp_path, monkeypatch):
    text = (ROOT / "benchmarks" / "README.md").read_text()
    code = next(c for c in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "Forecast" in c)
    mine = tmp_path / "mine.py"
    mine.write_text(code)
    monkeypatch.setattr(cells, "RESULTS", tmp_path)
    method = cells.Method(lambda task: None, "scikit-learn")
    wanted = [("elevators", "0", "Bayesian ridge")]
    module = "benchmarks.gp_suite.cases"
    for _ in range(2):  # the second time there is nothing to do
        cells.run_cells("test", module, wanted, {"Bayesian ridge": method}, file=str(mine))
    (line,) = (tmp_path / "test.jsonl").read_text().splitlines()
    cell = json.loads(line)
    given = task("elevators", "0")
    error = given.y_test - BayesianRidge().fit(given.X, given.y).predict(given.X_test)
    assert cell["rmse"] == pytest.approx(np.sqrt(np.mean(error**2)), rel=1e-6)
    assert {"version", "date", "cpu", "clock", "memory", "threads"} <= set(cell)


@pytest.mark.longest
def test_a_cell_without_scores_says_why(tmp_path, monkeypatch):
    monkeypatch.setattr(cells, "RESULTS", tmp_path)
    bad = tmp_path / "bad.py"
    bad.write_text(
        "from benchmarks.suite.cells import Method\n"
        "def fails(task):\n    raise ValueError('no such luck')\n"
        "def lasts(task):\n    while True: pass\n"
        "def killed(task):\n    import os, signal\n    os.kill(os.getpid(), signal.SIGKILL)\n"
        "METHODS = {'bad': Method(fails, 'numpy'), 'slow': Method(lasts, 'numpy'),\n"
        "           'killed': Method(killed, 'numpy')}\n"
    )
    added = {name: cells.Method(lambda task: None, "numpy") for name in ("bad", "slow", "killed")}
    added["elsewhere"] = cells.Method(lambda task: None, "numpy", "NO_SUCH_VARIABLE")
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    for name in added:
        limit = 3 if name == "slow" else 900  # imports alone may take as long
        wanted = [("elevators", "0", name)]
        module = "benchmarks.gp_suite.cases"
        cells.run_cells("test", module, wanted, added, limit=limit, file=str(bad))
    found = cells.known_cells("test")
    assert found["elevators", "0", "bad"]["reason"] == "failed: ValueError: no such luck"
    assert found["elevators", "0", "slow"]["reason"] == "not done in 0.05 min"
    assert found["elevators", "0", "killed"]["reason"] == "failed: killed"  # not for its time
    assert "NO_SUCH_VARIABLE" in found["elevators", "0", "elsewhere"]["reason"]
    data, lines = {"elevators": ["0"], "pol": ["0"]}, ["bad", "slow", "elsewhere", "other"]
    (text,) = page.pages(found, data, lines)
    assert "| slow | not done in 0.05 min |" in text
    assert "other" not in text
    absent = page.missing(found, data, lines).splitlines()
    assert "- slow: pol" in absent
    assert "- other: elevators; pol" in absent


def cell(data, split, method, score, **more):
    named = ("rmse", "crps", "nlpd", "nlpd_normal", "coverage", "interval", "memory", "clock")
    return (data, split, method), {
        **dict.fromkeys(named, score), "cpu": 2.0, "rows": [9, 1], "note": "", "version": "1",
        "date": "today", **more,
    }  # fmt: skip


def test_methods_are_compared_on_the_splits_that_all_have():
    ours, peer = "**zonal** ours", "peer"
    known = dict(
        [
            cell("a", "0", ours, 1.0),
            cell("a", "1", ours, 9.0),
            cell("a", "0", peer, 2.0, cpu=8.0),
            cell("b", "0", ours, 1.009),
            cell("b", "0", peer, 1.0),
            cell("c", "0", ours, -1.0),
            cell("c", "0", peer, -1.02),
            cell("d", "0", ours, 1.0),
            cell("a", "0", "as good", 2.01, cpu=4.0),
            cell("a", "0", "quick and worse", 2.1, cpu=0.5),
        ]
    )
    data = {title: ["0", "1"] for title in "abcd"}
    a, more, *_ = page.pages(known, data, [ours, peer])
    assert f"| {ours} | **1** |" in a
    assert f"- {ours} on 2 splits: 5, 5, 5.000, 5.000" in more
    text = page.standing(known, data, ours, "crps")
    assert text.startswith("First or within 1 % on 2 of 3, on 0 of them with at most a fifth of")
    assert "| a | 1 | peer | 2 | first | 0.25 | 0.5 |" in text
    assert "| b | 1.009 | peer | 1 | within 1 % | 1 | 1 |" in text
    assert "| c | -1 | peer | -1.02 | behind | 1 | 1 |" in text
    assert "| d |" not in text  # nothing to compare with


def test_gpboost_has_one_scale_for_places_and_one_for_times():
    rng = np.random.default_rng(0)
    points = rng.standard_normal((50, 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    month = rng.integers(0, 12, 50).astype(float)
    both = np.column_stack([points, month])

    def found(X, **told):
        return methods.covariance(cells.Task(X, None, X[:5], None, told))

    kind, X, X_test = found(points)
    assert kind == "matern"
    np.testing.assert_array_equal(X, points)
    kind, X, X_test = found(both, time=())
    assert kind == "matern_space_time"
    np.testing.assert_allclose(X[:, 0] / X[0, 0], month / month[0])  # the time comes first
    ratio = X[:, 1:] / points
    np.testing.assert_allclose(ratio, ratio[0, 0])
    np.testing.assert_array_equal(X_test, X[:5])
    years = np.column_stack([points, np.linspace(0, 48, 50)])
    kind, X, _ = found(years, time=12.0)
    assert kind == "matern_space_time"
    trend = methods._trend(X, years, 12.0)
    assert trend.shape == (50, 1 + 4 + 4 * 4)
    np.testing.assert_array_equal(methods._trend(X, years, ()), np.insert(X, 0, 1.0, axis=1))
    season = points[:, 0] * np.cos(2 * np.pi * years[:, 3] / 12 - 1)  # in the span of its columns
    left = season - trend @ np.linalg.lstsq(trend, season, rcond=None)[0]
    np.testing.assert_allclose(left, 0, atol=1e-10)
    kind, X, _ = found(rng.uniform(0, 9, (50, 5)))
    assert kind == "matern_ard"
    np.testing.assert_allclose(X.std(axis=0), 1)


def test_gpboost_has_the_same_trend_where_one_month_of_several_years_is_asked_for():
    pytest.importorskip("gpboost")
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.uniform(0, 1, (300, 2)), np.repeat(np.arange(30.0), 10)])
    y = np.sin(2 * np.pi * X[:, 2] / 12) + 0.1 * rng.standard_normal(300)
    task = cells.Task(X[:-10], y[:-10], X[-10:], y[-10:], {"time": 12.0})
    found = methods.gpboost(task)
    # The season is known from 290 rows with noise of 0.1, to within a fraction of it.
    np.testing.assert_allclose(found.mean, np.sin(2 * np.pi * X[-10:, 2] / 12), atol=0.1)


def test_a_table_ranks_methods_with_all_splits_only():
    errors = {"zonal": [3.0, 5.0], "LightGBM": [2.0, 4.0], "CatBoost": [6.0, 6.0], "RealMLP": [1.5]}
    errors["HistGradientBoosting"] = [9.0, 9.0]
    known = {
        f"wage, {number}, {method}": {"rmse": error, "seconds": 1.0}
        for method, own in errors.items()
        for number, error in enumerate(own)
    }
    known["wage, 0, xRFM"] = {"rmse": None, "seconds": 900}
    for name, error in (("protein", 3.25), ("diamonds", 520.0)):
        known[f"{name}, 0, zonal, a third"] = {"rmse": error, "seconds": 7.0}
    text = tables_page(known)
    assert "| **3** (1 s) |" in text  # LightGBM
    assert "| wage | RealMLP | 1 | **1.5** | 3 | 0.500 | 1, 1 |" in text
    assert "| wage | xRFM | – | not done in 15 min | – | – | – |" in text
    assert "- CatBoost, tuned: wage" in text
    (ranks,) = [line for line in text.splitlines() if line.startswith("| mean rank")]
    assert [part.strip() for part in ranks.split("|")[4:8]] == ["2.00", "1.00", "3.00", "4.00"]
    quoted = text[text.index("Published") :].splitlines()
    (ours,) = [number for number, line in enumerate(quoted) if "here: zonal" in line]
    assert quoted[ours].startswith("| **here: zonal** | **3.250** | **520.0** |")
    assert quoted[ours - 1].startswith("| ModernNCA | 3.240 |")  # by the error on protein
    assert "(1 of protein and 1 of diamonds)" in text
