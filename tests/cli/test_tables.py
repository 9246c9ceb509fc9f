"""Tables as people have them: words, gaps, dates, and twenty kinds of mistakes."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

import zonal
from zonal.cli.report.dependence import partial_dependence

from .console import as_json, good, message
from .console import zonal as run

N = 240
RNG = np.random.default_rng(0)
DATES = pd.date_range("2011-01-01", periods=N, freq="5D")


def houses():
    """A table with every kind of column; the price follows size, kind and year."""
    size = RNG.uniform(40, 200, N).round(1)
    kind = RNG.choice(["flat", "house", "farm"], N)
    price = 3 * size + np.select([kind == "house", kind == "farm"], [100, 200]) + 0.1 * np.arange(N)
    return pd.DataFrame(
        {
            "id": [f"A{j:05}" for j in range(N)],
            "size": size,
            "kind": kind,
            "sold": DATES.strftime("%Y-%m-%d"),
            "garden": RNG.random(N) < 0.5,
            "price": price.round(1),
        }
    )


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """The table with gaps, as CSV, and a model of it."""
    folder = tmp_path_factory.mktemp("houses")
    frame = houses()
    frame.loc[::9, "size"] = np.nan
    frame.loc[5, "kind"] = None
    frame.loc[:6, "price"] = np.nan
    frame.to_csv(folder / "houses.csv", index=False)
    options = ("--budget", 64, "--local", "none", "--out", "m.zonal", "--report", "m.html")
    result = as_json("fit", "houses.csv", "--target", "price", *options, cwd=folder)
    return folder, frame, result


def test_fit_just_works(place):
    folder, _, result = place
    assert result["rows"] == N - 7
    assert result["rows_dropped"] == 7
    assert result["test"]["r2"] > 0.8
    treated = {record["column"]: record for record in result["columns"]}
    assert treated["id"]["encoding"] == "left out"
    assert treated["kind"]["encoding"] == "3 levels"
    assert treated["sold"]["encoding"] == "trend and week and year"
    assert "missing" in treated["size"]["encoding"]
    page = (folder / "m.html").read_text()
    for words in ("an identifier", "What matters", "Partial dependence", "price against size."):
        assert words in page
    assert next(iter(result["importances"])) == "size"
    assert sum(result["importances"].values()) == pytest.approx(1)


def test_partial_dependence_of_a_sum(place):
    """The price is a sum: its curve over sizes has the slope 3, and farms cost 200 more."""
    folder, frame, _ = place
    model = zonal.load(folder / "m.zonal")
    rows = frame[model.table_["inputs"]]
    sizes, means = partial_dependence(model, rows, "size")
    assert np.polyfit(sizes, means, 1)[0] == pytest.approx(3, rel=0.15)
    kinds, means = partial_dependence(model, rows, "kind")
    found = dict(zip(kinds, means, strict=True))
    assert found["farm"] - found["flat"] == pytest.approx(200, rel=0.25)


def test_predict_takes_unseen_words_and_gaps(place):
    folder, frame, _ = place
    new = frame.drop(columns=["price"])
    new.loc[0, "kind"] = "castle"
    new.loc[1, ["kind", "size", "sold"]] = None
    new.to_csv(folder / "new.csv", index=False)
    good("predict", "m.zonal", "new.csv", "--out", "p.parquet", "--keep", "id", "--keep", "size",
         "--force", cwd=folder)  # fmt: skip
    written = pa.parquet.read_table(folder / "p.parquet")
    assert written.schema.field("size").type == pa.float64()
    assert written.schema.field("id").type == pa.string()
    model = zonal.load(folder / "m.zonal")
    np.testing.assert_allclose(written["prediction"], model.predict(new[model.table_["inputs"]]))
    good("predict", "m.zonal", "new.csv", "--out", "q.csv", "--drop-missing", "--keep", "id",
         cwd=folder)  # fmt: skip
    assert pd.read_csv(folder / "q.csv")["prediction"].isna().sum() == new.isna().any(axis=1).sum()


def test_predict_names_a_cell_that_cannot_be_read(place):
    folder, frame, _ = place
    frame.assign(size=["large" if j == 30 else "1" for j in range(N)]).to_csv(
        folder / "bad.csv", index=False
    )
    said = message("predict", "m.zonal", "bad.csv", "--out", "x.csv", cwd=folder)
    assert "Column 'size' of bad.csv must hold numbers" in said
    assert "row 31 (counted from 1, without the header) holds 'large'" in said


def test_kept_whole_numbers_stay_whole(place):
    folder, frame, _ = place
    frame.assign(number=range(N)).to_csv(folder / "n.csv", index=False)
    good("predict", "m.zonal", "n.csv", "--out", "n.parquet", "--keep", "number", cwd=folder)
    kept = pa.parquet.read_table(folder / "n.parquet")["number"]
    assert kept.type == pa.int64()
    assert kept.to_pylist() == list(range(N))


def test_classes_with_probabilities(tmp_path):
    frame = houses()
    frame["dear"] = np.where(frame.pop("price") > 420, "yes", "no")
    frame.to_parquet(tmp_path / "t.parquet")
    options = ("--budget", 64, "--local", "none", "--balanced", "--out", "c.zonal")
    result = as_json("fit", "t.parquet", "--target", "dear", "--classify", *options, cwd=tmp_path)
    assert result["test"]["accuracy"] > 0.75
    good("predict", "c.zonal", "t.parquet", "--out", "p.csv", "--proba", cwd=tmp_path)
    written = pd.read_csv(tmp_path / "p.csv")
    chances = written[["probability_no", "probability_yes"]]
    np.testing.assert_allclose(chances.sum(axis=1), 1)
    assert (chances.idxmax(axis=1) == "probability_" + written["prediction"]).mean() > 0.99
    said = message("predict", "c.zonal", "t.parquet", "--out", "x.csv", "--std", cwd=tmp_path)
    assert "--std needs a regression model" in said


def fit(folder, frame, *options, target="price", **writing):
    frame.to_csv(folder / "t.csv", index=False, **writing)
    small = ("--budget", 32, "--local", "none")
    return as_json("fit", "t.csv", "--target", target, *small, *options, cwd=folder)


def wrong(folder, frame, *options, target="price"):
    if isinstance(frame, pd.DataFrame):
        frame.to_csv(folder / "t.csv", index=False)
    else:
        (folder / "t.csv").write_text(frame)
    return message("fit", "t.csv", "--target", target, *options, cwd=folder)


def changed(column, row, value):
    frame = houses()
    values = [str(cell) for cell in frame[column]]
    values[row] = value
    return frame.assign(**{column: values})


@pytest.mark.parametrize(
    ("table", "options", "words"),
    [
        (lambda: changed("size", 11, "huge"), (), "row 12 (counted from 1, without the header)"),
        (lambda: changed("size", 11, "inf"), (), "Column 'size' is infinite in row 12"),
        (lambda: changed("price", 11, "dear"), (), "The target 'price' holds numbers, but row 12"),
        (lambda: changed("price", 11, "-inf"), (), "The target 'price' is infinite in row 12"),
        (lambda: houses().assign(price=None), (), "The target 'price' is empty in all 240 rows"),
        (lambda: houses().assign(price="a"), (), "holds words ('a'): add --classify"),
        (lambda: houses().assign(price=DATES), (), "The target 'price' holds dates"),
        (lambda: houses().assign(price="a"), ("--classify",), "at least 2 classes"),
        (lambda: houses()[["id", "price"]], (), "No column is left to learn from"),
        (lambda: houses()[["price"]], (), "no column left to learn from"),
        (lambda: houses(), ("--ignore", "sizes"), "Did you mean 'size'?"),
        (lambda: houses(), ("--categorical", "sizes"), "is not among the inputs"),
        (lambda: houses(), ("--numeric", "size", "--categorical", "size"), "choose one"),
        (lambda: houses(), ("--balanced",), "--balanced is for classes"),
        (lambda: houses(), ("--lat", "size", "--lon", "price"), "'price' is not among the inputs"),
        (lambda: houses().assign(lon=1.0), ("--lat", "size", "--lon", "lon"), "must be a latitude"),
        (lambda: houses()[:0], (), "has columns, but no rows"),
        (lambda: "a,price\n1,2\n3\n", (), "Expected 2 columns, got 1"),
        (lambda: "a,a,price\n1,2,3\n", (), "several columns of one name: 'a'"),
        (lambda: "", (), "t.csv is empty"),
        (lambda: "a,price\n1,2\n", (), "too few"),
    ],
)  # fmt: skip
def test_bad_tables(tmp_path, table, options, words):
    assert words in wrong(tmp_path, table(), *options)


def test_all_problems_in_one_message(tmp_path):
    frame = changed("size", 11, "huge").assign(price="a", area=["1"] * (N - 1) + ["oops"])
    said = wrong(tmp_path, frame)
    for words in ("'price' holds words", "row 12 ", "holds 'huge'", "--ignore 'size'", "'area'"):
        assert words in said


def test_a_mistake_may_count_as_missing_or_as_a_word(tmp_path):
    frame = changed("size", 11, "huge")
    result = fit(tmp_path, frame, "--numeric", "size")
    assert result["columns"][1]["kind"] == "number"
    assert result["rows"] == N
    result = fit(tmp_path, frame, "--categorical", "size", "--force")
    assert result["columns"][1]["kind"] == "word"


def test_thousands_and_decimal_commas(tmp_path):
    frame = houses()
    american = frame.assign(price=[f"{price * 10:,.2f}" for price in frame["price"]])
    assert fit(tmp_path, american)["test"]["r2"] > 0.8
    size = [f"{size:.1f}".replace(".", ",") for size in frame["size"]]
    price = [f"{p:.1f}".replace(".", ",") for p in frame["price"]]
    german = frame.assign(size=size, price=price)
    result = fit(tmp_path, german, sep=";")
    assert result["columns"][1]["kind"] == "number"
    assert result["test"]["r2"] > 0.8


def test_notes_for_targets_of_zeros_and_ones(tmp_path):
    frame = houses()
    frame.assign(price=(frame["price"] > 400).astype(int)).to_csv(tmp_path / "t.csv", index=False)
    done = run("fit", "t.csv", "--target", "price", "--budget", 16, "--local", "none",
               cwd=tmp_path)  # fmt: skip
    assert "'price' is 0 or 1 in every row: add --classify" in done.stderr
    assert "kind" in done.stdout
    assert "3 levels" in done.stdout


def test_whole_numbers_as_classes_with_gaps(tmp_path):
    frame = houses()
    grade = (frame.pop("price") // 200).astype(int).astype(str)
    grade[3] = None
    result = fit(tmp_path, frame.assign(grade=grade), "--classify", target="grade")
    assert result["rows"] == N - 1


def test_numbers_of_rows_are_left_out_and_said_once(tmp_path):
    """A table of numbers alone, sorted by class: the number of a row would tell it."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"row": np.arange(300), "x": rng.standard_normal(300)})
    frame["kind"] = np.repeat(["a", "b"], 150)
    frame.to_csv(tmp_path / "sorted.csv", index=False)
    options = ("--target", "kind", "--classify", "--budget", 32, "--local", "none")
    result = as_json("fit", "sorted.csv", *options, cwd=tmp_path)
    assert [record["note"] for record in result["columns"]] == [
        "an identifier: it counts the rows",
        "",
    ]
    assert not result["warnings"]
    assert result["test"]["accuracy"] < 0.8
    kept = as_json("fit", "sorted.csv", *options, "--numeric", "row", cwd=tmp_path)
    assert kept["test"]["accuracy"] > 0.9
