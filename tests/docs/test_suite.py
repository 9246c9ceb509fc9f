"""Comparisons: scores against closed forms, cells that are kept, and the example of the page."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.linear_model import BayesianRidge

from benchmarks.gp_suite.data import task
from benchmarks.suite import cells, page
from benchmarks.suite.scores import LEVELS, Forecast, _log_density, scores

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


def test_a_cell_without_scores_says_why(tmp_path, monkeypatch):
    monkeypatch.setattr(cells, "RESULTS", tmp_path)
    bad = tmp_path / "bad.py"
    bad.write_text(
        "from benchmarks.suite.cells import Method\n"
        "def fails(task):\n    raise ValueError('no such luck')\n"
        "def lasts(task):\n    while True: pass\n"
        "METHODS = {'bad': Method(fails, 'numpy'), 'slow': Method(lasts, 'numpy')}\n"
    )
    methods = {name: cells.Method(lambda task: None, "numpy") for name in ("bad", "slow")}
    methods["elsewhere"] = cells.Method(lambda task: None, "numpy", "NO_SUCH_VARIABLE")
    wanted = [("elevators", "0", name) for name in methods]
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    # Imports alone take a few seconds of the processor.
    cells.run_cells("test", "benchmarks.gp_suite.cases", wanted, methods, limit=6, file=str(bad))
    found = cells.known_cells("test")
    assert found["elevators", "0", "bad"]["reason"] == "failed: ValueError: no such luck"
    assert found["elevators", "0", "slow"]["reason"] == "not done in 0.1 min"
    assert "NO_SUCH_VARIABLE" in found["elevators", "0", "elsewhere"]["reason"]
    (text,) = page.pages(found, {"elevators": ["0"]}, ["bad", "slow", "elsewhere", "other"])
    assert "| slow | not done in 0.1 min |" in text
    assert "| other | not run yet |" in text
