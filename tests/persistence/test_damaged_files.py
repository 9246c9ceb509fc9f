"""Files that are no models, or damaged ones: refused with a message, and nothing is run."""

import io
import json
import pickle
import zipfile

import numpy as np
import pytest
import skops.io
from sklearn.linear_model import Ridge

import zonal
from zonal.persistence import FORMAT
from zonal.persistence.archive import seal

from .common import X, features, parts, refuse, write_parts, y


class Marker:
    """Creates a file when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


BAD = {
    "empty": b"",
    "text": b"not a model\n" * 100,
    "random": np.random.default_rng(0).bytes(5000),
    "only the magic number of a zip": b"PK\x03\x04",
    "only the magic number of an empty zip": b"PK\x05\x06",
    "an empty zip": b"PK\x05\x06" + bytes(18),
    "json": json.dumps({"format": 1, "functions": []}).encode(),
}


@pytest.mark.parametrize("content", BAD.values(), ids=BAD)
def test_other_files(content, path):
    path.write_bytes(content)
    refuse(path, "not a model saved by zonal.save")


def test_paths_without_a_file(path):
    with pytest.raises(FileNotFoundError, match=path.name):
        zonal.load(path)
    with pytest.raises(IsADirectoryError, match=path.parent.name):
        zonal.load(path.parent)


def test_pickles_are_not_run(path, tmp_path):
    marker = tmp_path / "marker"
    content = pickle.dumps(Marker(marker))
    path.write_bytes(content)
    refuse(path, "not a model")
    write_parts(path, {"model.pkl": content})
    refuse(path, "not a model")
    # Where arrays belong: skops must not let NumPy unpickle.
    array = io.BytesIO()
    np.save(array, np.array([Marker(marker)], dtype=object), allow_pickle=True)
    zonal.save(features().fit(X), path)
    contents = parts(path)
    assert any(name.endswith(".npy") for name in contents)
    for payload in (array.getvalue(), content):
        write_parts(path, {k: payload if k.endswith(".npy") else v for k, v in contents.items()})
        refuse(path, "cannot be loaded")
    assert not marker.exists()
    pickle.loads(content).close()
    assert marker.exists()  # it would have been seen


def test_other_zips(path):
    write_parts(path, {"readme.txt": b"hello", "data.csv": b"1,2,3"})
    refuse(path, "not a model")
    header = json.dumps({"format": FORMAT, "version": "0.1.0", "functions": []})
    write_parts(path, {"zonal.json": header})
    refuse(path, "cannot be loaded")
    skops.io.dump(Ridge().fit(X, y), path)
    refuse(path, "not a model")


def test_truncated_files(path):
    zonal.save(features().fit(X), path)
    content = path.read_bytes()
    for length in [*range(0, len(content), 509), len(content) - 30, len(content) - 1]:
        path.write_bytes(content[:length])
        refuse(path)


def test_a_flipped_byte(path):
    """In the middle of each array, compressed as it is."""
    zonal.save(features().fit(X), path)
    content = path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        arrays = [info for info in archive.infolist() if info.filename.endswith(".npy")]
    assert arrays
    for info in arrays:
        damaged = bytearray(content)
        damaged[info.header_offset + 30 + len(info.filename) + info.compress_size // 2] ^= 1
        path.write_bytes(damaged)
        refuse(path, "damaged")


def test_every_flipped_bit_is_found(path):
    zonal.save(zonal.Gaussian(1.2345), path)
    content = path.read_bytes()
    for position in range(len(content)):
        damaged = bytearray(content)
        damaged[position] ^= 1 << position % 8
        path.write_bytes(damaged)
        refuse(path)


def test_format_2_is_still_read(path):
    """Those files have no checksum of the whole; their parts have one each."""
    zonal.save(zonal.Gaussian(1.2345), path)
    header = {"format": 2, "version": "0.1.0", "functions": []}
    write_parts(path, {**parts(path), "zonal.json": json.dumps(header)})
    path.write_bytes(path.read_bytes()[:-64])  # and no comment
    content = bytearray(path.read_bytes())
    content[-2:] = b"\0\0"
    path.write_bytes(content)
    assert zonal.load(path).bandwidth == 1.2345
    content[content.index(b'"bandwidth"') + 3] ^= 1
    path.write_bytes(content)
    refuse(path, "damaged")


def test_files_that_would_fill_the_memory(path):
    """They are measured before anything is unpacked."""
    zonal.save(zonal.FourierFeatures(zonal.Gaussian(), 40).fit(X), path)
    contents = parts(path)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in contents.items():
            archive.writestr(name, content)
        archive.writestr("zeros", bytes(1 << 24))
    path.write_bytes(seal(path.read_bytes()))
    assert path.stat().st_size < 1 << 17
    refuse(path, "would unpack to 16,.* bytes, more than max_bytes=1,000,000", max_bytes=10**6)
    zonal.load(path)


def test_arrays_that_claim_another_size(path):
    zonal.save(features().fit(X), path)
    contents = parts(path)
    name = next(name for name in contents if name.endswith(".npy"))
    array = io.BytesIO()
    header = {"descr": "<f8", "fortran_order": False, "shape": (10**12,)}
    np.lib.format.write_array_header_1_0(array, header)
    write_parts(path, {**contents, name: array.getvalue() + bytes(80)})
    refuse(path, r"is not an array of shape \(1000000000000,\)")


@pytest.mark.parametrize(
    ("step", "said"), [(1, "newer zonal .*Upgrade"), (-4, "older zonal .*fit the model again")]
)
def test_other_formats(path, step, said):
    zonal.save(zonal.Gaussian(), path)
    header = {"format": FORMAT + step, "version": "9.8.7", "functions": [], "more": 1}
    write_parts(path, {**parts(path), "zonal.json": json.dumps(header)})
    refuse(path, said)
    refuse(path, rf"\(9\.8\.7, format {FORMAT + step}\)")


def test_parameters_that_are_younger_than_the_file_have_their_defaults(path):
    rows = np.array([[50.0, 8.0, 1.0], [-20.0, 130.0, 2.0]])
    encoder = zonal.SphereEncoder(0, 1).fit(rows)
    expected = encoder.transform(rows)
    del encoder.height  # as in a file of 0.2.0
    zonal.save(encoder, path)
    loaded = zonal.load(path)
    np.testing.assert_array_equal(loaded.transform(rows), expected)
    assert loaded.get_params()["height"] is False


def test_learners_of_an_older_shape(path):
    """Maps and kernels of format 3 are read; learners had another shape then."""
    header = json.dumps({"format": 3, "version": "0.2.0", "functions": []})
    for model, said in ((zonal.Gaussian(), None), (zonal.KernelRidge(), r"0\.2\.0, format 3")):
        zonal.save(model, path)
        write_parts(path, {**parts(path), "zonal.json": header})
        if said is None:
            assert isinstance(zonal.load(path), zonal.Gaussian)
        else:
            refuse(path, said)
            refuse(path, "fit the model again")


@pytest.mark.parametrize("kind", [zonal.FourierFeatures, zonal.NystroemFeatures])
def test_maps_whose_modules_have_moved(path, kind):
    """Files before format 5 name the modules where they were."""
    fitted = kind(zonal.Gaussian(1.5), 20, random_state=0).fit(X)
    zonal.save(fitted, path)
    contents = parts(path)
    new = f'"{kind.__module__}"'.encode()
    assert new in contents["schema.json"]
    old = new.replace(b"features.", b"features.baselines.")
    contents["schema.json"] = contents["schema.json"].replace(new, old)
    contents["zonal.json"] = json.dumps({"format": 4, "version": "0.3.0", "functions": []})
    write_parts(path, contents)
    np.testing.assert_array_equal(zonal.load(path).transform(X), fitted.transform(X))


@pytest.mark.parametrize(
    "header",
    [
        b"",
        b"not json",
        b"\xff\xfe",
        b"null",
        b"1",
        b"[]",
        b'"text"',
        b"{}",
        b'{"format": 1}',
        b'{"functions": []}',
        b'{"format": null, "functions": []}',
        b'{"format": "one", "functions": []}',
        b'{"format": [1], "functions": []}',
        b'{"format": 1e999, "functions": []}',
        b'{"format": NaN, "functions": []}',
        b'{"format": 1, "functions": 5}',
        b'{"format": 1, "functions": null}',
        b"[" * 100_000,
    ],
    ids=lambda header: header.decode("latin-1")[:40],
)
def test_damaged_headers(header, path):
    zonal.save(zonal.Gaussian(), path)
    write_parts(path, {**parts(path), "zonal.json": header})
    refuse(path, "not a model")


@pytest.mark.parametrize(
    "schema",
    [b"", b"not json", b"[]", b"{}", b'{"__loader__": "Unknown", "protocol": 2}', b"[" * 100_000],
    ids=lambda schema: schema.decode()[:30],
)
def test_damaged_schemas(schema, path):
    zonal.save(zonal.Gaussian(), path)
    write_parts(path, {**parts(path), "schema.json": schema})
    refuse(path, "cannot be loaded")


def test_lost_arrays(path):
    zonal.save(features().fit(X), path)
    write_parts(path, {k: v for k, v in parts(path).items() if not k.endswith(".npy")})
    refuse(path, "cannot be loaded")


def test_things_that_are_not_models(path):
    with zipfile.ZipFile(io.BytesIO(skops.io.dumps({"a": [1, 2]}))) as archive:
        schema = archive.read("schema.json")
    zonal.save(zonal.Gaussian(), path)
    write_parts(path, {**parts(path), "schema.json": schema})
    refuse(path, "holds a dict, not a model")
