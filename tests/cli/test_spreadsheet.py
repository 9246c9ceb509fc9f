"""Words in CSV that a spreadsheet would run."""

import csv

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from zonal.cli.spreadsheet import SafeCsvWriter

from .console import as_json

FORMULAS = ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", '=HYPERLINK("x")']
HARMLESS = ["", "word", "'=1", "-3", "+4.5", "-1e-9", "-inf", "1=1", "a-b", None]


def written(path, table):
    with SafeCsvWriter(path, table.schema) as writer:
        for batch in table.to_batches(max_chunksize=3):
            writer.write_batch(batch)
    with path.open(newline="") as file:
        return list(csv.reader(file))


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
def test_formulas_are_quoted(tmp_path, kind):
    words = FORMULAS + HARMLESS
    table = pa.table({"word": pa.array(words, kind), "number": -np.arange(float(len(words)))})
    with pytest.warns(UserWarning, match=f"apostrophe in front: {len(FORMULAS)} of 'word'"):
        header, *rows = written(tmp_path / "t.csv", table)
    assert header == ["word", "number"]
    expected = [f"'{word}" for word in FORMULAS] + [word or "" for word in HARMLESS]
    assert [row[0] for row in rows] == expected
    assert [float(row[1]) for row in rows] == (-np.arange(float(len(words)))).tolist()


def test_names_of_columns_are_quoted(tmp_path):
    with pytest.warns(UserWarning, match="1 of '=a'"):
        (header, _) = written(tmp_path / "t.csv", pa.table({"=a": ["x"], "b": ["y"]}))
    assert header == ["'=a", "b"]


def test_nothing_is_said_of_plain_words(tmp_path, recwarn):
    written(tmp_path / "t.csv", pa.table({"a": ["x", "-1"], "b": [1.0, -2.0]}))
    assert not recwarn.list


def test_kept_words_of_predictions(fitted, folder, tmp_path):
    rows = pa.table({**{name: np.zeros(2) for name in "abc"}, "who": ["=1+1", "me"]})
    pa.parquet.write_table(rows, tmp_path / "new.parquet")
    command = ("predict", folder / "m.zonal", "new.parquet", "--keep", "who", "--out")
    said = as_json(*command, "out.csv", cwd=tmp_path)
    assert any("1 of 'who'" in warning for warning in said["warnings"])
    assert (tmp_path / "out.csv").read_text().splitlines()[1].startswith('"\'=1+1"')
    as_json(*command, "out.parquet", cwd=tmp_path)
    assert pa.parquet.read_table(tmp_path / "out.parquet")["who"].to_pylist() == ["=1+1", "me"]
