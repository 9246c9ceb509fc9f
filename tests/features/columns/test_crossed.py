"""Combinations of words and times: means of other rows, taken where they tell something."""

from collections import defaultdict

import numpy as np
import pandas as pd
import pytest

import zonal
from zonal.features.columns.choices import FOLDS
from zonal.features.columns.table.crossed import Cross, CrossedPart, Factor, crossed
from zonal.features.columns.table.words import MeanPart, WordLevels

RNG = np.random.default_rng(0)
N = 6000
WORDS = np.array([f"w{j:02d}" for j in range(20)], dtype=object)
LEFT, RIGHT = (WORDS[RNG.integers(20, size=N)] for _ in range(2))
DATES = np.datetime64("2001-01-01T00:30", "us") + RNG.integers(30 * 24, size=N) * np.timedelta64(
    1, "h"
)
HOUR = (DATES - DATES.astype("datetime64[D]")).astype("timedelta64[h]").astype(int)
NOISE = 0.5 * RNG.standard_normal(N)
FOLD = RNG.integers(FOLDS, size=N)


def code(words):
    return np.searchsorted(WORDS.astype(str), words.astype(str))


def frame():
    return pd.DataFrame({"left": LEFT, "right": RIGHT, "date": DATES})


def part_of(encoder):
    return next((p for p in encoder._parts.values() if isinstance(p, CrossedPart)), None)


def test_means_are_those_of_other_folds():
    """Σ w y / (Σ w + m) over the rows of the same combination, of other folds in training."""
    levels = WordLevels("left", WORDS.astype(str), np.full(21, 1 / 20))
    factors = Factor("left", "word", 21, 0, levels), Factor("date", "hour", 24)
    codes = {f.name: f.codes({"left": LEFT, "date": DATES}[f.column]) for f in factors}
    np.testing.assert_array_equal(codes["hour of date"], HOUR)
    weights, targets = RNG.uniform(0.5, 2, N), NOISE[:, None]
    cross = Cross.of(factors, codes, targets, weights, FOLD)
    for folds in (None, FOLD):
        sums, totals = defaultdict(float), defaultdict(float)
        for i in range(N):
            for fold in range(FOLDS):
                if folds is None or FOLD[i] != fold:
                    key = LEFT[i], HOUR[i], fold
                    sums[key] += weights[i] * NOISE[i]
                    totals[key] += weights[i]
        keys = [(LEFT[i], HOUR[i], 0 if folds is None else FOLD[i]) for i in range(N)]
        wanted = [sums[key] / (totals[key] + cross.shrink[0]) for key in keys]
        found = cross.means(codes, folds)[:, 0]
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-12)


def test_units_of_dates():
    dates = np.array(["2001-01-01T05:59:59", "2000-02-29T00", "1969-12-31T23:30", "NaT"], "M8[us]")
    series = pd.Series(dates[:3])
    for unit, wanted in (
        ("hour", series.dt.hour),
        ("weekday", series.dt.day_of_week),
        ("month", series.dt.month - 1),
    ):
        n_codes = {"hour": 24, "weekday": 7, "month": 12}[unit]
        assert Factor("d", unit, n_codes).codes(dates).tolist() == [*wanted, n_codes]
    first = int(np.datetime64("2000-02-28", "D").astype(int))
    assert Factor("d", "day", 2, first).codes(dates).tolist() == [2, 1, 2, 2]


@pytest.mark.parametrize("name", ["right", "hour of date", "day of date"])
def test_what_combinations_tell_is_found(name):
    table = RNG.standard_normal((20, 31))
    day = (DATES.astype("datetime64[D]") - np.datetime64("2001-01-01", "D")).astype(int)
    other = {"right": code(RIGHT), "hour of date": HOUR, "day of date": day}[name]
    truth = table[code(LEFT), other]
    encoder = zonal.TableEncoder().fit(frame()[:5000], (truth + NOISE)[:5000])
    part = part_of(encoder)
    assert {"left", name} <= {factor.name for factor in part.factors}
    assert encoder.columns_[-1]["encoding"].startswith("means of the target over left x")
    column = encoder.transform(frame()[5000:])[:, -1]
    assert np.corrcoef(column, truth[5000:])[0, 1] > 0.8
    assert encoder.groups_[-1] == encoder.get_feature_names_out()[-1]


def test_sums_need_no_combinations():
    """Two words that add up, and noise: their own means say it all."""
    effect = RNG.standard_normal(20)
    encoder = zonal.TableEncoder().fit(frame(), effect[code(LEFT)] + effect[code(RIGHT)] + NOISE)
    assert part_of(encoder) is None
    assert part_of(zonal.TableEncoder().fit(frame(), NOISE)) is None
    few = frame().assign(left=code(LEFT) % 5, right="one")
    assert part_of(zonal.TableEncoder(categorical=["left"]).fit(few, NOISE)) is None


def test_rows_never_seen_have_the_mean():
    truth = RNG.standard_normal((20, 20))[code(LEFT), code(RIGHT)]
    encoder = zonal.TableEncoder().fit(frame(), truth + NOISE)
    new = frame()[:2].assign(left=["unheard of", LEFT[0]], date=pd.NaT)
    rows = encoder.transform(new)
    assert np.isfinite(rows).all()
    assert rows[0, -1] == 0


def test_held_out_targets_are_not_seen():
    truth = RNG.standard_normal((20, 20))[code(LEFT), code(RIGHT)]
    encoder = zonal.TableEncoder().fit(frame(), truth + NOISE)
    known = np.arange(N) % 4 > 0
    changed = np.where(known, truth + NOISE, 100.0)
    found, again = (encoder.split_table(frame(), y).rows(known) for y in (truth + NOISE, changed))
    assert part_of(encoder) is not None
    np.testing.assert_array_equal(found, again)


def test_most_combinations_are_rows_of_their_own():
    """With one row for each combination there is nothing to average."""
    words = np.array([f"w{i // 5}" for i in range(500)], dtype=object)
    values = {"a": words, "b": RNG.permutation(words)}
    codes, ones = np.unique(words.astype(str)), np.ones((FOLDS, 101))
    parts = {
        name: MeanPart(
            WordLevels(name, codes, np.full(101, 0.01)), ones, ones[:, :, None], *np.ones((2, 1))
        )
        for name in values
    }
    y = RNG.standard_normal((500, 1))
    assert crossed(parts, values, y, np.ones(500), np.arange(500) % FOLDS) is None
