"""Files are written whole or not at all."""

import os
import stat
import subprocess
import sys

import numpy as np
import pytest

import zonal
from zonal._files import beside

from .common import X, features


def test_paths_may_be_strings(path):
    zonal.save(zonal.Gaussian(3.0), str(path))
    assert zonal.load(str(path)).bandwidth == 3.0
    zonal.save(zonal.Gaussian(4.0), path)  # over the old file
    assert zonal.load(path).bandwidth == 4.0


@pytest.mark.parametrize("step", ["fsync", "replace"])
@pytest.mark.parametrize("error", [OSError("disk full"), KeyboardInterrupt()], ids=repr)
@pytest.mark.parametrize("old", [True, False], ids=["over a file", "new"])
def test_a_crash_leaves_the_old_file(step, error, old, path, monkeypatch):
    if old:
        zonal.save(zonal.Gaussian(1.0), path)
    before = path.read_bytes() if old else None

    def crash(*args):
        # The new file is being written elsewhere at this moment.
        assert len(os.listdir(path.parent)) == 1 + old
        raise error

    monkeypatch.setattr(os, step, crash)
    with pytest.raises(type(error)):
        zonal.save(features().fit(X), path)
    monkeypatch.undo()
    assert os.listdir(path.parent) == ([path.name] if old else [])
    if old:
        assert path.read_bytes() == before
        assert zonal.load(path).bandwidth == 1.0


def test_a_model_that_cannot_be_written_leaves_the_old_file(path):
    zonal.save(zonal.Gaussian(1.0), path)
    with pytest.raises(Exception, match="generator"):
        zonal.save(zonal.KernelRidge(features(), alphas=(a for a in [1.0])), path)
    assert zonal.load(path).bandwidth == 1.0
    assert os.listdir(path.parent) == [path.name]


def test_no_other_file_is_left(path):
    for _ in range(2):
        zonal.save(zonal.Gaussian(), path)
        assert os.listdir(path.parent) == [path.name]


def test_permissions_are_those_of_any_file(path):
    zonal.save(zonal.Gaussian(), path)
    other = path.with_name("other")
    other.write_bytes(b"")
    assert path.stat().st_mode == other.stat().st_mode


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664])
def test_a_file_that_is_replaced_keeps_its_permissions(mode, path):
    zonal.save(zonal.Gaussian(1.0), path)
    path.chmod(mode)
    zonal.save(zonal.Gaussian(2.0), path)
    assert stat.S_IMODE(path.stat().st_mode) == mode
    assert zonal.load(path).bandwidth == 2.0


def test_nobody_reads_a_private_file_while_it_is_written(path, monkeypatch):
    zonal.save(zonal.Gaussian(1.0), path)
    path.chmod(0o600)
    modes = []

    def look(number):
        modes.append(stat.S_IMODE(os.fstat(number).st_mode))

    monkeypatch.setattr(os, "fsync", look)
    zonal.save(zonal.Gaussian(2.0), path)
    assert modes == [0o600]


@pytest.mark.parametrize("there", [True, False], ids=["to a file", "to nothing yet"])
def test_symbolic_links_are_followed(there, path, tmp_path):
    target = tmp_path / "elsewhere" / "version-2.zonal"
    target.parent.mkdir()
    path.symlink_to(os.path.join("..", "elsewhere", target.name))
    if there:
        zonal.save(zonal.Gaussian(1.0), target)
        target.chmod(0o640)
    zonal.save(zonal.Gaussian(2.0), path)
    assert path.is_symlink()
    assert zonal.load(target).bandwidth == 2.0
    assert not there or stat.S_IMODE(target.stat().st_mode) == 0o640
    assert os.listdir(path.parent) == [path.name]
    assert os.listdir(target.parent) == [target.name]


def test_folders(path):
    with pytest.raises(FileNotFoundError, match=r"model\.zonal cannot be written: .*no folder"):
        zonal.save(zonal.Gaussian(), path.parent / "missing" / "model.zonal")
    with pytest.raises(IsADirectoryError, match=r"models cannot be .*models/model\.zonal\.$"):
        zonal.save(zonal.Gaussian(), path.parent)
    assert os.listdir(path.parent) == []
    assert os.listdir(path.parent.parent) == [path.parent.name]


@pytest.mark.parametrize("thing", [None, 3, "model", [zonal.Gaussian()], np.ones(3), np.exp])
def test_only_estimators_are_saved(thing, path):
    with pytest.raises(TypeError, match="is not a kernel, a features object or a learner"):
        zonal.save(thing, path)
    assert not path.exists()


def test_without_skops(path, monkeypatch):
    zonal.save(zonal.Gaussian(), path)
    monkeypatch.setitem(sys.modules, "skops", None)
    monkeypatch.setitem(sys.modules, "skops.io", None)
    with pytest.raises(ImportError, match=r"pip install 'zonal\[save\]'"):
        zonal.save(zonal.Gaussian(), path)
    with pytest.raises(ImportError, match=r"pip install 'zonal\[save\]'"):
        zonal.load(path)


def test_what_killed_processes_left_is_removed(path):
    host = beside(path).name.split("-")[1]
    ended = subprocess.Popen(["true"])
    ended.wait()
    names = {
        f".zonal-{host}-{ended.pid}-0123abcd-{path.name}": False,
        f".zonal-{host}-{os.getpid()}-0123abcd-{path.name}": True,  # it may still be written
        f".zonal-{host}-{ended.pid}-0123abcd-other-{path.name}": True,  # of another file
        f".zonal-00000000-{ended.pid}-0123abcd-{path.name}": True,  # of another machine
    }
    for name in names:
        path.with_name(name).write_text("half")
    zonal.save(zonal.Gaussian(), path)
    left = {name for name, stays in names.items() if stays}
    assert set(os.listdir(path.parent)) == {path.name, *left}
