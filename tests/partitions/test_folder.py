"""Temporary folders go when nobody needs them, also after a kill; saved ones are whole."""

import copy
import gc
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

import zonal
from zonal.partitions.folder import PLACE, Folder

from .common import QUERIES, SPHERE, TARGET, Blocks, parts

MODEL = zonal.NeighborKriging(zonal.Matern(1.5, 0.3), 8, noise=0.05)


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setenv(PLACE, str(tmp_path / "parts"))
    return tmp_path / "parts"


def fitted():
    with parts():
        return clone(MODEL).fit(Blocks(SPHERE, TARGET), None)


def test_the_folder_goes_with_the_last_model(place):
    model = fitted()
    (folder,) = place.iterdir()
    assert sorted(path.name for path in folder.iterdir())[0] == "part-00000"
    assert not (folder / "blocks").exists()
    other, wanted = copy.deepcopy(model), model.predict(QUERIES)
    del model
    gc.collect()
    np.testing.assert_array_equal(other.predict(QUERIES), wanted)
    del other
    gc.collect()
    assert not list(place.iterdir())


def test_a_fit_that_fails_leaves_nothing(place):
    def broken():
        yield from Blocks(SPHERE[:3000], TARGET[:3000])
        raise OSError("the disk is gone")

    class Broken:
        n = 0

        def __iter__(self):
            Broken.n += 1
            return iter(Blocks(SPHERE, TARGET)) if Broken.n < 3 else broken()

    with parts(), pytest.raises(OSError, match="the disk is gone"):
        clone(MODEL).fit(Broken(), None)
    gc.collect()
    assert not list(place.iterdir())


def test_a_killed_process_leaves_a_folder_that_the_next_one_removes(place):
    script = (
        "from zonal.partitions.folder import Folder; import os, sys\n"
        "folder = Folder.temporary(); (folder / 'left.npy').write_text('x')\n"
        "print(folder.path, flush=True); sys.stdin.read()"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    left = Path(child.stdout.readline().strip())
    own = Folder.temporary()
    assert left.is_dir()  # of a process that lives
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    child.stdin.close()
    child.stdout.close()
    assert left.is_dir()
    Folder.temporary()
    assert not left.exists()
    assert Path(own.path).is_dir()


def test_a_model_is_saved_as_a_folder(place, tmp_path):
    model, path = fitted(), tmp_path / "model.zonal"
    wanted = model.predict_interval(QUERIES)
    zonal.save(model, path)
    zonal.save(model, path)  # again, in its place
    assert sorted(found.name for found in path.iterdir()) == ["model.zonal", "parts"]
    assert [found.name for found in tmp_path.iterdir() if found.name.startswith(".")] == []
    assert str(place).encode() not in (path / "model.zonal").read_bytes()
    del model
    gc.collect()
    script = f"import zonal, numpy; m = zonal.load({str(path)!r}); print(repr(m.n_rows_))"
    assert subprocess.check_output([sys.executable, "-c", script], text=True).strip() == "6000"
    again = zonal.load(path)
    for mine, theirs in zip(again.predict_interval(QUERIES), wanted, strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_loading_reads_no_rows(place, tmp_path):
    """Rows are read when they are needed: of a part that is gone nothing is known before."""
    path = tmp_path / "model.zonal"
    zonal.save(fitted(), path)
    (path / "parts" / "part-00003" / "rows.npy").unlink()
    again = zonal.load(path)
    with pytest.raises(FileNotFoundError, match="part-00003"):
        again.predict(QUERIES)


def test_damaged_parts_are_refused(place, tmp_path):
    path = tmp_path / "model.zonal"
    zonal.save(fitted(), path)
    (path / "parts" / "checksums.json").unlink()  # which would tell it first
    file = path / "parts" / "part-00003" / "rows.npy"
    rows = np.load(file)
    file.unlink()  # another name of the same file stays as it is
    np.save(file, rows[:-1])
    with pytest.raises(ValueError, match="part-00003 is damaged"):
        zonal.load(path).predict(QUERIES)
    np.save(file, rows[:, :2])
    with pytest.raises(ValueError, match="part-00003 is damaged"):
        zonal.load(path).predict(QUERIES)


@pytest.mark.parametrize("name", ["rows", "left", "boxes"])
def test_a_flipped_bit_is_found(place, tmp_path, name):
    path = tmp_path / "model.zonal"
    zonal.save(fitted(), path)
    wanted = zonal.load(path).predict(QUERIES)
    file = path / "parts" / "part-00003" / f"{name}.npy"
    content = bytearray(file.read_bytes())
    content[-3] ^= 1
    file.unlink()
    file.write_bytes(content)
    with pytest.raises(ValueError, match=f"{name}.npy is damaged"):
        zonal.load(path).predict(QUERIES)
    content[-3] ^= 1
    file.write_bytes(content)
    zonal.save(zonal.load(path), path)  # in its own place, with the same checksums
    np.testing.assert_array_equal(zonal.load(path).predict(QUERIES), wanted)


def test_folders_of_earlier_versions_are_read(place, tmp_path):
    """They have neither checksums nor trees."""
    path = tmp_path / "model.zonal"
    zonal.save(fitted(), path)
    wanted = zonal.load(path).predict(QUERIES)
    (path / "parts" / "checksums.json").unlink()
    for file in [*path.rglob("boxes.npy"), *path.rglob("order.npy")]:
        file.unlink()
    np.testing.assert_array_equal(zonal.load(path).predict(QUERIES), wanted)


def test_a_file_without_its_parts_is_refused(place, tmp_path):
    zonal.save(fitted(), tmp_path / "model.zonal")
    (tmp_path / "alone").mkdir()
    alone = tmp_path / "alone" / "model.zonal"
    alone.write_bytes((tmp_path / "model.zonal" / "model.zonal").read_bytes())
    with pytest.raises(ValueError, match="copy the whole folder"):
        zonal.load(alone)


def test_folders_of_others_are_left_alone(place, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear")
    with pytest.raises(ValueError, match="holds no model"):
        zonal.save(fitted(), tmp_path / "mine")
    assert (tmp_path / "mine" / "letter.txt").read_text() == "dear"
    with pytest.raises(IsADirectoryError, match=r"no model of zonal\.save"):
        zonal.load(tmp_path / "mine")


def test_any_model_may_be_a_folder(tmp_path):
    model = zonal.KernelRidge(budget=16, random_state=0).fit(SPHERE[:50], TARGET[:50])
    zonal.save(model, f"{tmp_path}/model.zonal/")
    again = zonal.load(tmp_path / "model.zonal")
    np.testing.assert_array_equal(again.predict(QUERIES), model.predict(QUERIES))
