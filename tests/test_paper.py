"""The paper's experiments: their parts against closed forms, and quick runs of all four."""

import json
import math
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.special import iv

import zonal
from benchmarks.paper import EXPERIMENTS, figure1, main, table1, table2, table3
from benchmarks.paper.common import Ledger, mean_and_deviation
from benchmarks.paper.table1_page import exponent, sweep
from benchmarks.paper.table1_setting import BOUNDS
from benchmarks.paper.table1_setting import Setting as Table1Setting
from benchmarks.paper.table2_page import body, find, standing
from benchmarks.paper.table2_setting import FULL, PUBLISHED, QUICK


@pytest.fixture(scope="module")
def series():
    return figure1.run()


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    """All experiments, quick: their records by name, and their folder."""
    out = tmp_path_factory.mktemp("paper")
    paths = main("all", quick=True, out=out)
    assert sorted(path.name for path in paths) == sorted(
        f"{name}.{ending}" for name in EXPERIMENTS for ending in ("json", "md", "png")
    )
    records = {name: json.loads((out / f"{name}.json").read_text()) for name in EXPERIMENTS}
    return records, out


def errors(report, kernel, name):
    return np.array(
        [
            row["error"]
            for row in report.rows
            if row["kernel"].startswith(kernel) and row["series"] == name
        ]
    )


def test_figure1_taylor_and_chebyshev_of_the_exponential(series):
    """The remainders of exp(2t) are largest at t = 1, where all their terms are positive."""
    degrees = np.arange(40)
    taylor = np.cumprod(np.r_[1.0, 2 / degrees[1:]])
    bessel = np.where(degrees == 0, 1, 2) * iv(degrees, 2.0)
    for name, terms in (("Taylor", taylor), ("Chebyshev", bessel)):
        tails = np.cumsum(terms[::-1])[::-1][1 : figure1.MAX_DEGREE + 2]
        np.testing.assert_allclose(errors(series, "Gaussian", name), tails, rtol=1e-10)


@pytest.mark.parametrize("dim", figure1.DIMS)
def test_figure1_closed_forms(series, dim):
    """Against the paper's coefficients, and against the largest error that is measured."""
    tails = []
    for degree in range(figure1.MAX_DEGREE + 1):
        tail = 0.0
        for ell in range(degree + 1, degree + 30):
            for i in range(25):
                # All of them with κ^{(j)}(0) = 2^j, at t = 1; gamma functions in logs.
                log = (
                    math.log(zonal.theory.harmonic_dimension(ell, dim))
                    - ell * math.log(2)
                    + math.lgamma(dim / 2)
                    + (ell + 2 * i) * math.log(2)
                    + math.lgamma(i + 0.5)
                    - 0.5 * math.log(math.pi)
                    - math.lgamma(2 * i + 1)
                    - math.lgamma(i + ell + dim / 2)
                )
                tail += math.exp(log)
        tails.append(tail)
    found = errors(series, "Gaussian", f"Gegenbauer, d = {dim}")
    np.testing.assert_allclose(found, tails, rtol=1e-9)
    sums = figure1.partial_sums(lambda t: np.exp(2 * t), "Gegenbauer", dim)
    measured = np.abs(sums - np.exp(2 * figure1.POINTS)).max(axis=1)
    np.testing.assert_allclose(found[:11], measured[:11], rtol=1e-3)


@pytest.mark.parametrize("kernel", ["Gaussian", "Neural Tangent"])
def test_figure1_lower_dimensions_converge_faster(series, kernel):
    """At every degree the errors grow from Chebyshev over d = 4, 8, 32 to Taylor."""
    names = [*(f"Gegenbauer, d = {dim}" for dim in figure1.DIMS), "Taylor"]
    curves = np.array([errors(series, kernel, name) for name in names])
    assert curves.shape == (5, figure1.MAX_DEGREE + 1)
    assert (np.diff(curves, axis=0) > 0).all()
    np.testing.assert_allclose(
        curves[0], errors(series, kernel, "Chebyshev"), rtol=1e-4, atol=3e-14
    )


def test_figure1_neural_tangent_is_the_kernel_of_the_library():
    t = np.linspace(-1, 1, 101)
    pairs = np.column_stack([t, np.sqrt(1 - t**2)])
    exact = zonal.NTK(2)(pairs, np.array([[1.0, 0.0]]))[:, 0]
    np.testing.assert_allclose(figure1.ntk(t), exact, atol=1e-7)  # arccos loses half the digits


@pytest.mark.parametrize("threshold", [1, 4, 5, 37, 64, 1000])
def test_table1_smallest_width(threshold):
    """Within one step of the grid, 2^(1/4), of the true threshold, and never below it."""
    found = table1.smallest_width(lambda width: width >= threshold)
    assert max(threshold, 4) <= found <= max(4, np.ceil(threshold * 2**0.25))


def test_table1_out_of_reach():
    assert table1.smallest_width(lambda width: False) is None


def test_table1_rows_fill_the_ball():
    """Norms of uniform rows are r U^(1/d): their mean is r d/(d + 1)."""
    norms = np.linalg.norm(table1.ball(2000, 3, 2.0), axis=1)
    assert norms.max() <= 2
    standard_error = 2 * np.sqrt(3 / 5 - (3 / 4) ** 2) / np.sqrt(2000)
    assert abs(norms.mean() - 1.5) < 5 * standard_error


def test_table1_exponent_of_a_power():
    rows = [{"r": r, "measured": {"m": 7 * r**2.5, "none": None}} for r in (1.0, 2.0, 4.0)]
    assert exponent(rows, "r", "measured", "m") == pytest.approx(2.5)
    assert exponent(rows, "r", "measured", "none") is None


def test_table2_problems():
    """The sizes, time on an interval of length 1, and scaling by the training rows alone."""
    climate = table2.load("climate", 3000)
    assert climate.X.shape == (3000, 4)
    np.testing.assert_allclose(np.linalg.norm(climate.X[:, :3], axis=1), 1)
    assert climate.X[:, 3].min() == 0
    assert climate.X[:, 3].max() == 1
    train, test, y_train, y_test = table2.load("protein", 2000).split(0)
    assert (len(train), len(test), len(y_train), len(y_test)) == (1800, 200, 1800, 200)
    np.testing.assert_allclose(train.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(train.std(axis=0), 1)
    assert np.abs(test.mean(axis=0)).max() > 1e-6
    elevation = table2.load("elevation", 1 << 30)
    assert elevation.X.shape == (64_800, 3)
    assert np.abs(elevation.y).max() < 9  # kilometres


def test_table2_standing_compares_seed_by_seed():
    rows = [
        {"dataset": "a", "part": "own bandwidth", "method": method, "mse": mse}
        for method, mse in (("Nyström", [1.0, 2.0, 3.0]), ("Harmonic", [1.1, 2.1, 3.4]))
    ]
    best, ours, worse, error = standing(rows, "a")
    assert (best, ours) == ("Nyström", "Harmonic")
    assert worse == pytest.approx(0.2)
    assert error == pytest.approx(np.std([0.1, 0.1, 0.4], ddof=1) / np.sqrt(3))


def test_table2_search_ends_where_the_error_rises(monkeypatch):
    """From wide to narrow: 0.12 is worse than 0.2, and 0.07 is never fitted."""
    errors = {1.0: 2.7, 0.6: 1.6, 0.35: 1.0, 0.2: 0.64, 0.12: 0.65, 0.07: 0.1}
    tried = []

    def model(method, bandwidth, width, seed):
        tried.extend(bandwidth)
        return SimpleNamespace(cv_results_={"mean_test_mse": np.array([errors[tried[-1]], 3.0])})

    monkeypatch.setattr(table2, "model", model)
    monkeypatch.setattr(table2, "fit", lambda estimator, X, y: 0.0)
    problem = table2.load("elevation", 200)
    assert table2.choose("Fourier", problem, True, FULL) == ((0.2,), {})
    assert tried == [1.0, 0.6, 0.35, 0.2, 0.12]


def test_table2_no_cell_is_silent():
    """One seed, an older version and what was given up are said where the number would stand."""
    cell = {"dataset": "elevation", "n": 9, "part": "bandwidth 1", "bandwidth": [1.0]}
    cell |= {"seconds": [70.0], "published mse": 1.3, "published seconds": 2.1, "reason": ""}
    now = zonal.__version__
    rows = [
        {**cell, "method": "Nyström", "mse": [1.25], "version": now},
        {**cell, "method": "Fourier", "mse": [1.25, 1.35], "version": "0.1.0"},
        {**cell, "method": "FastFood", "mse": [], "version": now, "reason": "more than 240 CPU s"},
        {**cell, "method": "Default", "part": "own bandwidth", "mse": [0.04], "version": "0.1.0"},
    ]
    rows += [{**rows[0], "dataset": name} for name in PUBLISHED if name != "elevation"]
    text = body(rows)
    section = text[text.index("## elevation") : text.index("## co2")]
    assert "| Nyström | 1.250 (one seed) | 1.3 |" in section
    assert "| Fourier | 1.300 ± 0.071 (v0.1.0) |" in section
    assert "| FastFood | more than 240 CPU s |" in section
    assert "| Harmonic | not run |" in section
    # Five seeds of 70 s and two fits of the sample.
    assert f"| not run: at least {70 * (5 + 2 * 20_000 / 0.9 / 9) / 60:.1f} CPU min |" in section
    assert "Default" not in section
    assert "| Default | 0.1.0 | 0.040 (70 s) | – | – | – |" in text


def test_table3_exact_objectives():
    """One pass for all labellings against the cost from the whole matrix, one by one."""
    X, _, k = table3.load("shuttle", 200)
    np.testing.assert_allclose(np.linalg.norm(X, axis=1), 1, rtol=1e-6)
    assert k == 7
    rng = np.random.default_rng(0)
    labellings = [rng.integers(0, clusters, len(X)) for clusters in (1, 3, 7)]
    K = table3.KERNEL(X.astype(np.float64))
    expected = [zonal.theory.kmeans_cost(K, labels) / len(X) for labels in labellings]
    np.testing.assert_allclose(table3.exact_objectives(X, labellings), expected, rtol=1e-5)


def test_mean_and_deviation():
    assert mean_and_deviation([1.0, 3.0]) == pytest.approx((2.0, np.sqrt(2)))
    assert mean_and_deviation([4.0]) == (4.0, 0.0)


def test_unknown_experiment():
    with pytest.raises(ValueError, match=r"table9.*figure1, table1, table2, table3"):
        main("table9")
    with pytest.raises(ValueError, match="one table"):
        main("all", methods=["Fourier"])


def test_methods_are_merged_into_what_is_known(tmp_path, monkeypatch):
    """The rows of the others stay as they are, in the file and in the table."""
    point = Table1Setting(60, (2,), (10.0, 100.0), (1.0,), (0,), ("Harmonic",))
    monkeypatch.setattr(table1, "QUICK", point)
    before = json.loads(main("table1", quick=True, out=tmp_path)[0].read_text())
    path, text, _ = main("table1", quick=True, out=tmp_path, methods=["Nyström"])
    after = json.loads(path.read_text())
    assert [set(row["measured"]) for row in after["rows"]] == [{"Harmonic", "Nyström"}] * 2
    for old, new in zip(before["rows"], after["rows"], strict=True):
        assert old["measured"]["Harmonic"] == new["measured"]["Harmonic"]
    assert "| Nyström |" in text.read_text()
    assert "| Harmonic |" in text.read_text()


def test_a_run_that_is_stopped_goes_on(tmp_path):
    """What is in the file is not measured again; what is not known is left out if asked."""
    asked = []

    def measured():
        asked.append(1)
        return {"mse": [0.1 + 0.2]}

    path = tmp_path / "runs" / "table.jsonl"
    assert Ledger(path).get(("elevation", "Nyström", True), measured) == {"mse": [0.1 + 0.2]}
    again = Ledger(path)
    assert again.get(("elevation", "Nyström", True), measured) == {"mse": [0.1 + 0.2]}
    assert len(asked) == 1
    assert Ledger(path, measure=False).get(("co2", "Nyström", True), measured) is None
    assert len(asked) == 1


def test_missing_cells_alone_are_measured(tmp_path):
    """What the results have from this version stays; what is of another is measured again."""
    results = [
        {"dataset": "magic", "method": "Fourier", "own": [0.6], "version": zonal.__version__},
        {"dataset": "magic", "method": "Nyström", "own": [0.7], "version": "0.0.1"},
    ]
    ledger = Ledger()
    ledger.remember(table3.cells(results), zonal.__version__)
    assert ledger.get(("magic", "Fourier"), lambda: {"own": [9.0]})["own"] == [0.6]
    assert ledger.get(("magic", "Nyström"), lambda: {"own": [9.0]})["own"] == [9.0]
    path = tmp_path / "table3.partial.jsonl"
    line = {"key": '["magic", "Nyström"]', "value": results[1], "version": "0.0.1"}
    path.write_text(json.dumps(line) + "\n")
    assert Ledger(path, measure=False).get(("magic", "Nyström"), dict) is None


@pytest.mark.slow
@pytest.mark.longest
def test_quick_records(quick):
    """Every file names machine, versions, setting and seeds, and the numbers are finite."""
    records, out = quick
    for name, record in records.items():
        assert {"machine", "versions", "setting", "rows"} <= set(record)
        assert "seeds" in record["setting"]
        text = (out / f"{name}.md").read_text()
        assert f"{name}.png" in text
        assert "nan" not in text
        assert (out / f"{name}.png").stat().st_size > 10_000


@pytest.mark.slow
@pytest.mark.longest
def test_quick_table1(quick):
    """No method beats the rank that ε asks for, and Fourier grows fastest with n/λ."""
    rows = quick[0]["table1"]["rows"]
    assert len(rows) == 2 * 5
    for row in rows:
        assert set(row["measured"]) == set(table1.QUICK.methods)
        assert set(row["stated"]) == set(BOUNDS)
        assert all(width is None or width >= row["least"] for width in row["measured"].values())
    for dim in table1.QUICK.dims:
        points = sweep(rows, dim, "n/λ")
        last = points[-1]["measured"]
        assert last["Harmonic"] <= last["Gegenbauer (zonal)"] < last["Fourier"]
        assert last["Gegenbauer (zonal)"] < last["Gegenbauer (paper)"]
        assert last["Gegenbauer (paper)"] <= last["Gegenbauer (paper), theorem's q and s"]
        growth = [
            exponent(points, "n/λ", "measured", method)
            for method in ("Harmonic", "Nyström", "Gegenbauer (zonal)", "Fourier")
        ]
        assert max(growth) == growth[-1]


@pytest.mark.slow
@pytest.mark.longest
def test_quick_table2(quick):
    """The paper's order on elevation at bandwidth 1: Gegenbauer ≈ Nyström < Fourier."""
    rows = quick[0]["table2"]["rows"]
    assert {row["dataset"] for row in rows} == set(PUBLISHED)
    for dataset in PUBLISHED:
        timed = dataset in ("co2", "climate")
        chosen = [row for row in rows if row["dataset"] == dataset]
        auto = dataset in QUICK.auto
        assert len(chosen) == (23 if timed else 21) + auto
        assert all(len(row["mse"]) == len(row["seconds"]) == 2 for row in chosen)

    def mse(method, part="bandwidth 1", dataset="elevation"):
        return np.mean(find(rows, dataset, method, part)["mse"])

    for method in ("Gegenbauer (zonal)", "Harmonic"):
        assert abs(mse(method) / mse("Nyström") - 1) < 0.05
        assert 1.05 * mse(method) < mse("Fourier")
    paper, zonal_map = (
        find(rows, "elevation", f"Gegenbauer ({name})", "bandwidth 1")
        for name in ("paper", "zonal")
    )
    assert paper["published mse"] == 1.15
    assert zonal_map["published mse"] is None
    assert paper["degree and order"][0] == 15
    assert len(zonal_map["degree and order"]) == 2
    # A bandwidth of one's own pays, by far, for all that can follow it.
    for method in ("Nyström", "Fourier", "Gegenbauer (zonal)", "Harmonic"):
        assert mse(method, "own bandwidth") < 0.9 * mse(method)
    # Space and time have bandwidths of their own, which no other map can have.
    own = [row for row in rows if row["dataset"] == "co2" and row["part"] == "own bandwidth"]
    assert min(own, key=lambda row: np.mean(row["mse"]))["method"] == "Product"


@pytest.mark.slow
@pytest.mark.longest
def test_quick_table3(quick):
    """Nyström's kernel is below the exact one, and so is its cost of whatever labels."""
    rows = quick[0]["table3"]["rows"]
    assert len(rows) == len(table3.DATASETS) * len(table3.QUICK.methods)
    for row in rows:
        assert len(row["own"]) == len(row["exact"]) == len(row["rand"]) == 2
        assert all(0 < value < 1 for value in row["exact"])
        assert all(-1 <= value <= 1 for value in row["rand"])
        if row["method"] == "Nyström":
            assert all(np.less(row["own"], row["exact"]))
