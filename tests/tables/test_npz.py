"""NPZ files: which arrays are columns, and what is said of those that cannot be read."""

import zipfile

import numpy as np
import pytest

from zonal.tables import Columns, TableError, load_rows, open_table

A, Y = np.arange(4.0), np.arange(4.0) ** 2


@pytest.fixture
def path(tmp_path):
    return tmp_path / "t.npz"


def read(path, **options):
    return load_rows(Columns.of(open_table(path), target="y", **options))


@pytest.mark.parametrize("n_features", [3, 4, 9])
def test_feature_names(path, n_features):
    """Fewer, as many and more than rows."""
    X = np.random.default_rng(0).standard_normal((4, n_features))
    names = [f"height {number}" for number in range(n_features)]
    np.savez(path, X=X, y=Y, feature_names=names)
    rows = read(path)
    assert rows.columns == names
    np.testing.assert_array_equal(rows.X, X)
    np.testing.assert_array_equal(rows.y, Y)


def test_feature_names_must_be_text(path):
    np.savez(path, X=np.ones((4, 1)), y=Y, feature_names=np.array(["a"], object))
    with pytest.raises(TableError, match=r"'feature_names' of .*t\.npz.*astype\(str\)"):
        open_table(path)


@pytest.mark.parametrize(
    "content",
    [
        b"PK\x03\x04garbage",
        b"no archive",
        pytest.param(None, id="half of one"),
    ],
)
def test_damaged(path, content):
    np.savez_compressed(path, a=A, y=Y)
    raw = path.read_bytes()
    path.write_bytes(raw[: len(raw) // 2] if content is None else content)
    with pytest.raises(TableError, match=r"t\.npz is not a NumPy archive, .*numpy\.savez"):
        open_table(path)


@pytest.mark.parametrize("place", [10, 20, 60, 100])
def test_damaged_array(path, place):
    """Any byte of an array, in an archive that is in order: its sum tells, or its header."""
    np.savez(path, a=A, y=Y)
    raw = bytearray(path.read_bytes())
    raw[raw.index(b"\x93NUMPY") + place] ^= 0xFF
    path.write_bytes(raw)
    with pytest.raises(TableError, match=r"t\.npz is not a NumPy archive, .*numpy\.savez"):
        open_table(path)


@pytest.mark.parametrize("header", [b"{'descr': '<f8', 'shape': (4,", b"{(", b"'''", b"[]"])
def test_damaged_header(path, header):
    """A header that is not a whole dictionary, in an archive whose sums agree."""
    header = header.ljust(117) + b"\n"
    with zipfile.ZipFile(path, "w") as archive:
        size = len(header).to_bytes(2, "little")
        archive.writestr("a.npy", b"\x93NUMPY\x01\x00" + size + header + A.tobytes())
    with pytest.raises(TableError, match=r"t\.npz is not a NumPy archive, .*numpy\.savez"):
        open_table(path)


def test_single_array_under_another_name(path):
    with path.open("wb") as file:
        np.save(file, A)
    with pytest.raises(TableError, match=r"t\.npz is not a NumPy archive, .*numpy\.savez"):
        open_table(path)


STRANGE = {
    "complex128": np.full(4, 1j),
    "object": np.array([None, "u", {}, 1], object),
    "float128|float96|longdouble": A.astype(np.longdouble),
    r"datetime64\[h\]": np.arange(4).astype("M8[h]"),
    r"\[\('u', '<f8'\)\]": np.zeros(4, [("u", "<f8")]),
}


@pytest.mark.parametrize("said", STRANGE)
def test_strange_arrays(path, said):
    """They matter only where they are used."""
    if STRANGE[said].dtype == A.dtype:
        pytest.skip("long doubles are doubles here")
    np.savez(path, a=A, z=STRANGE[said], y=Y)
    for options in ({"inputs": ["a"]}, {"ignore": ["z"]}):
        rows = read(path, **options)
        np.testing.assert_array_equal(rows.X[:, 0], A)
    with pytest.raises(TableError, match=rf"'z' of .*t\.npz holds.*{said}.*leave it out"):
        read(path)


def test_what_is_no_column_does_not_matter(path):
    """Single values and more than two dimensions, of whatever type, and files beside arrays."""
    note = np.array({"made": "today"}, object)
    np.savez(path, a=A, y=Y, note=note, scale=1j, images=np.zeros((4, 2, 2)))
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("README.txt", "Heights.")
    rows = read(path)
    assert rows.columns == ["a"]
    np.testing.assert_array_equal(rows.X[:, 0], A)


def test_foreign_byte_order(path):
    foreign = np.dtype(float).newbyteorder("S")
    np.savez(path, a=A.astype(foreign), X=np.column_stack([A, Y]).astype(foreign), y=Y)
    np.testing.assert_array_equal(read(path).X, np.column_stack([A, A, Y]))
