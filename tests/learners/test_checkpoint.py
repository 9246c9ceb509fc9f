import os
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest
from sklearn.base import clone

import zonal
from zonal.features.space import FeatureSpace
from zonal.rows import stream as source


def gegenbauer(n_components):
    """Features that learn a bandwidth, a centre and radii."""
    return zonal.GegenbauerFeatures(n_components=n_components)


RNG = np.random.default_rng(0)
X = RNG.standard_normal((6000, 2))
y = np.sin(X[:, 0]) + 0.1 * RNG.standard_normal(6000)


class StopError(Exception):
    """Stands for whatever ends a run."""


def rows(stop=None, size=100):
    for first in range(0, len(X), size):
        if stop is not None and first >= stop:
            raise StopError
        yield X[first : first + size], y[first : first + size]


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch):
    """Blocks of 500 rows, so that there are many, and features from the first 1,000."""
    monkeypatch.setattr(FeatureSpace, "block_rows", 500)
    # All of so few rows would be read for the sample, before any is summed.
    monkeypatch.setattr(source, "LEARN_ROWS", 1000)


LEARNERS = [
    zonal.KernelRidge(gegenbauer(32), random_state=0),
    zonal.GaussianProcess(gegenbauer(32)),
    zonal.KernelPCA(gegenbauer(32)),
]


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda e: type(e).__name__)
@pytest.mark.parametrize("stop", [1500, 4700])
def test_resumed_equals_uninterrupted_bit_for_bit(tmp_path, learner, stop):
    learner = clone(learner).set_params(random_state=0)
    whole = clone(learner).fit(rows())
    checkpoint = zonal.Checkpoint(tmp_path / "sums", every=2)
    model = clone(learner)
    with pytest.raises(StopError):
        model.fit(rows(stop), checkpoint=checkpoint)
    assert not hasattr(model, "moments_")
    assert checkpoint.path.exists()
    model.fit(rows(size=77), checkpoint=checkpoint)  # other batches make no difference
    for a, b in zip(model.moments_, whole.moments_, strict=True):
        np.testing.assert_array_equal(a.gram, b.gram)
    method = "predict" if hasattr(model, "predict") else "transform"
    np.testing.assert_array_equal(getattr(model, method)(X), getattr(whole, method)(X))
    assert not checkpoint.path.exists()


def stopped(path, features=None, **parameters):
    model = zonal.KernelRidge(features or gegenbauer(16), random_state=0, **parameters)
    with pytest.raises(StopError):
        model.fit(rows(3000), checkpoint=zonal.Checkpoint(path, every=2))
    assert path.exists()
    return model


@pytest.mark.parametrize("damage", ["cut", "flipped", "empty", "text"])
def test_a_damaged_checkpoint_is_refused(tmp_path, damage):
    path = tmp_path / "sums"
    model = stopped(path)
    content = bytearray(path.read_bytes())
    if damage == "cut":
        content = content[: len(content) // 2]
    elif damage == "flipped":
        content[len(content) // 2] ^= 0xFF
    else:
        content = bytearray(b"" if damage == "empty" else b"not a checkpoint")
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"sums.*(damaged|cannot be loaded)"):
        model.fit(rows(), checkpoint=path)
    assert path.read_bytes() == content  # nothing is lost by trying


def test_other_parameters_data_or_files_are_refused(tmp_path):
    path = tmp_path / "sums"
    model = stopped(path)
    with pytest.raises(ValueError, match=r"alpha=2.5.*remove the file"):
        clone(model).set_params(alpha=2.5).fit(rows(), checkpoint=path)
    with pytest.raises(ValueError, match="not the first rows"):
        clone(model).fit(X[::-1], y[::-1], checkpoint=path)
    with pytest.raises(ValueError, match="not the first rows"):
        clone(model).fit(X[:100], y[:100], checkpoint=path)
    zonal.save(zonal.Gaussian(), path)
    with pytest.raises(ValueError, match="holds a Gaussian"):
        model.fit(rows(), checkpoint=path)
    with pytest.raises(FileNotFoundError, match="no folder"):
        model.fit(rows(), checkpoint=tmp_path / "nowhere" / "sums")


def test_functions_of_the_user_are_taken_up_again(tmp_path):
    features = zonal.GegenbauerFeatures(zonal.DotProduct(np.exp, [1, 1, 1 / 2]), 16, random_state=0)
    path = tmp_path / "sums"
    model = stopped(path, features=features, alpha=1.0)
    whole = clone(model).fit(rows())
    np.testing.assert_array_equal(model.fit(rows(), checkpoint=path).coef_, whole.coef_)


def test_arrays_take_checkpoints_too(tmp_path):
    model = zonal.KernelRidge(gegenbauer(16), random_state=0).fit(
        X, y, checkpoint=tmp_path / "sums"
    )
    whole = clone(model).fit(X, y)
    np.testing.assert_allclose(model.coef_, whole.coef_, rtol=0, atol=1e-8)


@pytest.mark.slow
def test_a_killed_process_is_resumed(tmp_path):
    script = tmp_path / "fit.py"
    script.write_text(
        textwrap.dedent("""
        import sys, time
        import numpy as np, zonal
        from zonal.rows import stream as source
        from zonal.features.space import FeatureSpace

        FeatureSpace.block_rows = 500
        source.LEARN_ROWS = 1000
        X, y = np.load(sys.argv[1]).values()

        def rows():
            for first in range(0, len(X), 100):
                if first > 2000:
                    time.sleep(0.05)
                yield X[first : first + 100], y[first : first + 100]

        model = zonal.KernelRidge(zonal.GegenbauerFeatures(n_components=32), random_state=0)
        model.fit(rows(), checkpoint=zonal.Checkpoint(sys.argv[2], every=1))
        open(sys.argv[3], "w").close()
    """)
    )
    table, path, end = (tmp_path / name for name in ("rows.npz", "sums", "end"))
    np.savez(table, X=X, y=y)
    killed = subprocess.Popen([sys.executable, *map(str, (script, table, path, end))])
    deadline = time.monotonic() + 60
    while not path.exists() and killed.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    os.kill(killed.pid, signal.SIGKILL)
    assert killed.wait() == -signal.SIGKILL
    assert path.exists()
    assert not end.exists()
    model = zonal.KernelRidge(gegenbauer(32), random_state=0)
    whole = clone(model).fit(rows())
    resumed = model.fit(rows(), checkpoint=zonal.Checkpoint(path, every=1))
    np.testing.assert_array_equal(resumed.coef_, whole.coef_)
