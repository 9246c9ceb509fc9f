"""``zonal fit --likelihood``: counts, exposures, trials, and targets outside the support."""

import numpy as np
import pandas as pd
import pytest

import zonal as library
from zonal.cli.responses import LikelihoodName
from zonal.likelihoods.names import LIKELIHOODS

from .console import as_json, good, message, zonal

N = 400
SMALL = ("--features", "fourier", "--budget", 32, "--local", "none")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("counts")
    rng = np.random.default_rng(0)
    x = rng.uniform(-3, 3, N)
    days = rng.integers(1, 30, N)
    tries = rng.integers(1, 9, N)
    frame = pd.DataFrame({"x": x, "days": days, "tries": tries})
    frame["seen"] = rng.poisson(days * np.exp(np.sin(x)))
    frame["hits"] = rng.binomial(tries, 1 / (1 + np.exp(-x)))
    frame.to_csv(place / "t.csv", index=False)
    frame.assign(seen=frame["seen"].where(frame.index != 17, -2)).to_csv(
        place / "negative.csv", index=False
    )
    # A row without a target is left out, and counts as a row of the file all the same.
    gaps = frame.astype({"seen": float})
    gaps.loc[3, "seen"] = np.nan
    gaps.loc[20, "days"] = 0
    gaps.to_csv(place / "gaps.csv", index=False)
    return place


def fit(target, *options):
    return ("fit", "t.csv", "--target", target, "-i", "x", *SMALL, *options)


def test_counts_with_exposure(folder):
    options = ("--likelihood", "poisson", "--exposure", "days", "--out", "m.zonal", "--force")
    result = as_json(*fit("seen", *options, "--report", "m.html"), cwd=folder)
    assert result["selected"]["likelihood"] == "Poisson()"
    # Judged with the exposures of the rows: a rate alone has the variance of the days left.
    assert result["test"]["r2"] > 0.8
    assert 0.8 < result["intervals"]["coverage_90"] <= 1.0
    assert "KernelGLM" in (folder / "m.html").read_text()
    good("predict", "m.zonal", "t.csv", "--out", "p.csv", "--interval", 0.9, "--force", cwd=folder)
    made, data = pd.read_csv(folder / "p.csv"), pd.read_csv(folder / "t.csv")
    model = library.load(folder / "m.zonal")
    rows = data[["x"]]
    np.testing.assert_allclose(made["prediction"], model.predict(rows, exposure=data["days"]))
    np.testing.assert_array_equal(
        made["upper"], model.predict_interval(rows, 0.9, exposure=data["days"])[1]
    )
    # Without the column: of one day, and a note says so.
    rows.to_csv(folder / "x.csv", index=False)
    done = zonal("predict", "m.zonal", "x.csv", "--out", "q.csv", "--force", cwd=folder)
    assert "no column 'days': predictions are those of an exposure of one" in done.stderr
    np.testing.assert_allclose(pd.read_csv(folder / "q.csv")["prediction"], model.predict(rows))
    assert "--std is for models by least squares" in message(
        "predict", "m.zonal", "t.csv", "--out", "s.csv", "--std", cwd=folder
    )


def test_trials(folder):
    result = as_json(*fit("hits", "--likelihood", "binomial", "--trials", "tries"), cwd=folder)
    assert result["selected"]["likelihood"] == "Binomial()"
    assert result["test"]["r2"] > 0.6


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ("negative.csv", "Row 18 (counted from 1, without the header) has -2 in column 'seen'"),
        ("gaps.csv", "Row 21 (counted from 1, without the header) has the exposure 0"),
    ],
)
def test_targets_outside_the_support_are_named(data, words, folder):
    options = ("--likelihood", "poisson", "--exposure", "days")
    assert words in message("fit", data, "--target", "seen", *SMALL, *options, cwd=folder)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--exposure", "days"), "--exposure goes with a likelihood: add --likelihood poisson"),
        (("--likelihood", "binomial"), "--likelihood binomial needs --trials COL"),
        (("--likelihood", "poisson", "--trials", "tries"), "--trials is for --likelihood binomial"),
        (
            ("--likelihood", "student", "--exposure", "days"),
            "--exposure is for counts and amounts, not for --likelihood student",
        ),
        (
            ("--likelihood", "poisson", "--exposure", "days", "--offset", "tries"),
            "--exposure and --offset do not go together",
        ),
        (("--likelihood", "poisson", "--classify"), "--classify does not go with --likelihood"),
        (("--likelihood", "poisson", "--cv", "3"), "--cv does not go with --likelihood"),
    ],
)
def test_what_does_not_go_together(options, words, folder):
    assert words in message(*fit("seen", *options), cwd=folder)


def test_counts_are_recognised(folder):
    result = as_json(*fit("seen", "--report", "s.html", "--force"), cwd=folder)
    (advice,) = result["suggestions"]
    assert "if these are counts, add --likelihood poisson" in advice
    assert "add --likelihood poisson" in (folder / "s.html").read_text()
    other = as_json("fit", "t.csv", "--target", "x", "-i", "seen", *SMALL, cwd=folder)
    assert other["suggestions"] == []


def test_all_likelihoods_have_a_word():
    assert set(LikelihoodName) == set(LIKELIHOODS)
