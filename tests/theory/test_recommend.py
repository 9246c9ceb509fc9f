"""The report of how many features are enough."""

import numpy as np
import pytest

import zonal
from zonal.theory import degree_and_order, n_features, recommend, spectral_error
from zonal.theory.recommend import WIDTHS, _number

X = np.random.default_rng(0).standard_normal((400, 3))
KERNEL = zonal.Gaussian(2.0)


@pytest.fixture(scope="module")
def report():
    return recommend(KERNEL, X, lam=1.0, eps=0.5, delta=0.1, n_sample=400, n_seeds=1)


def test_every_map_is_measured(report):
    names = {item.name for item in report.measurements}
    assert {"GegenbauerFeatures", "FourierFeatures", "NystroemFeatures"} <= names
    assert all(item.n_components or item.note for item in report.measurements)


def test_smallest_first(report):
    widths = [item.n_components or np.inf for item in report.measurements]
    assert widths == sorted(widths)
    assert widths[0] < 100


@pytest.mark.parametrize("name", ["GegenbauerFeatures", "FourierFeatures", "NystroemFeatures"])
def test_width_is_enough_and_half_is_not(report, name):
    """All rows were measured, so that the numbers can be checked against the definition."""
    width = next(item.n_components for item in report.measurements if item.name == name)
    assert width in WIDTHS
    map_ = getattr(zonal, name)

    def error(width):
        Z = map_(KERNEL, width, random_state=0).fit_transform(X)
        return spectral_error(KERNEL(X), Z, 1.0)

    assert error(width) <= 0.5
    assert error(WIDTHS[(WIDTHS.index(width) + 1) // 2 * 2 - 2]) > 0.5  # the last doubling failed


def test_theorem(report):
    radius = np.linalg.norm(X - X.mean(axis=0), axis=1).max()
    args = (KERNEL, 3, radius, 400, 1.0, 0.5)
    assert (report.max_degree, report.n_radial) == degree_and_order(*args)
    expected = n_features(*args, 0.1, s_lam=float(report.statistical_dimension))
    assert report.theorem_features == expected
    K = KERNEL(X)
    dimension = np.trace(K @ np.linalg.inv(K + np.eye(400)))
    assert report.statistical_dimension == pytest.approx(dimension)


def test_text_and_html(report):
    text, html = str(report), report._repr_html_()
    for part in ("Gaussian(bandwidth=2.0)", f"{report.theorem_features:,}", "NystroemFeatures"):
        assert part in text
        assert part in html
    assert repr(report) == text
    assert html.startswith("<table>")
    assert html.count("<tr>") == html.count("</tr>")


def test_kernels_without_theorem_or_map():
    found = recommend(zonal.NTK(1), X[:60, :2], lam=1.0, n_seeds=1)
    assert found.theorem_features is None
    assert "neither a Gaussian nor a dot-product kernel" in str(found)
    notes = {item.name: item.note for item in found.measurements}
    assert "No spectral distribution is known" in notes["FourierFeatures"]
    assert "<lambda>" not in found._repr_html_()


def test_two_columns_and_names():
    """The theorems begin with three columns, and a column of zeros changes nothing."""
    found = recommend("gaussian", X[:60, :2], lam=0.5, n_seeds=1)
    assert found.dim == 2
    assert found.theorem_features > 0
    assert found.kernel.bandwidth > 0


def test_numbers_beyond_floating_point():
    assert _number(1234) == "1,234"
    assert _number(3 * 10**5000) == "about 10^5000"


def test_bad_input():
    for bad in ({"lam": 0}, {"lam": 1.0, "eps": 1.0}, {"lam": 1.0, "delta": 0}):
        with pytest.raises(ValueError, match="="):
            recommend(KERNEL, X, **bad)
    with pytest.raises(ValueError, match="n_sample=1"):
        recommend(KERNEL, X, lam=1.0, n_sample=1)
