"""The same model on worker processes, one of which is killed in the middle."""

import os
import signal
import sys

import cloudpickle
import dask
import dask.array as da
import numpy as np
import pytest
from sklearn.base import clone

import zonal
from zonal.distributed import local_cluster
from zonal.partitions import FromParts
from zonal.partitions.folder import Folder

from .common import QUERIES, SPHERE, TARGET, Blocks, parts

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers cannot import tests

LOCAL = zonal.NeighborKriging(zonal.Matern(1.5, 0.3), 16, noise=0.05)
MODEL = zonal.KernelRidge(
    zonal.HarmonicFeatures(zonal.Matern(1.5, 1.0), n_components=36), local=LOCAL
)


@pytest.fixture(scope="module")
def client():
    with local_cluster(2) as client:
        yield client


def collections(mortal=""):
    """Rows and targets in chunks; a worker dies over the fourth, once."""

    def piece(rows, number):
        if mortal and number == 3 and not os.path.exists(mortal):
            open(mortal, "w").close()
            os.kill(os.getpid(), signal.SIGKILL)
        return rows

    chunks = [slice(start, start + 700) for start in range(0, len(SPHERE), 700)]
    X = [
        da.from_delayed(dask.delayed(piece)(SPHERE[rows], k), SPHERE[rows].shape, np.float64)
        for k, rows in enumerate(chunks)
    ]
    return da.concatenate(X), da.from_array(TARGET, chunks=700)


def test_workers_fit_the_model_of_one_process(client):
    serial = clone(MODEL).fit(SPHERE, TARGET)
    with parts():
        found = clone(MODEL).fit(*collections())
    assert isinstance(found._solution_, FromParts)
    np.testing.assert_allclose(found.predict(QUERIES), serial.predict(QUERIES), atol=1e-9)
    lazy = found.predict(da.from_array(QUERIES, chunks=(150, 3)))
    assert lazy.chunks == ((150, 150, 100),)
    np.testing.assert_allclose(lazy.compute(), serial.predict(QUERIES), atol=1e-9)
    low, high = found.predict_interval(da.from_array(QUERIES, chunks=(150, 3)))
    mine = serial.predict_interval(QUERIES)
    np.testing.assert_allclose([low.compute(), high.compute()], mine, atol=1e-6)


@pytest.mark.filterwarnings("ignore")
def test_a_worker_that_is_killed_changes_nothing(client, tmp_path):
    mark = tmp_path / "died"
    with parts():
        found = clone(MODEL).fit(*collections(str(mark)))
        calm = clone(MODEL).fit(Blocks(SPHERE, TARGET), None)
    assert mark.exists()
    np.testing.assert_allclose(found.predict(QUERIES), calm.predict(QUERIES), atol=1e-12)


def test_workers_that_do_not_see_the_folder(client, monkeypatch, tmp_path):
    class Elsewhere(Folder):
        def __reduce__(self):
            return Folder, (str(tmp_path / "not-mounted"),)

    monkeypatch.setattr(Folder, "temporary", classmethod(lambda cls: Elsewhere(tmp_path)))
    with parts(), pytest.raises(RuntimeError, match="ZONAL_PARTS"):
        clone(MODEL).fit(*collections())
