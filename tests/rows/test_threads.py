import numba
import numpy as np
import pytest
from threadpoolctl import threadpool_info

import zonal
from zonal.rows.threads import (
    _allowed,
    block_slices,
    ordered_map,
    single_threaded_blas,
    thread_count,
)


def blas_threads():
    """How many threads each BLAS of the process may use."""
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


@pytest.mark.parametrize(
    ("name", "value", "most"),
    [
        ("OMP_NUM_THREADS", "1", 1),
        ("OMP_NUM_THREADS", "1,2", 1),
        ("LOKY_MAX_CPU_COUNT", "1", 1),  # what joblib sets, beside affinity and quotas
        ("OMP_NUM_THREADS", "many", 10**6),
        ("OMP_NUM_THREADS", "0", 10**6),
    ],
)
def test_limits_from_outside_are_respected(monkeypatch, name, value, most):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    free = _allowed.__wrapped__(0)
    monkeypatch.setenv(name, value)
    assert _allowed.__wrapped__(0) == min(most, free)


def test_numbas_number_is_a_limit_too(two_threads):
    before = numba.get_num_threads()
    numba.set_num_threads(1)
    try:
        assert thread_count() == 1
    finally:
        numba.set_num_threads(before)


def test_blas_has_one_thread_until_the_last_user_is_done():
    before = blas_threads()
    with single_threaded_blas:
        assert list(ordered_map(lambda _: blas_threads(), range(3), n_threads=2)) == [{1}] * 3
        assert blas_threads() == {1}
    assert blas_threads() == before


def test_blocks_do_not_depend_on_the_number_of_threads():
    found = []
    before = numba.get_num_threads()
    for count in (1, before):
        numba.set_num_threads(count)
        found.append(list(block_slices(100_000, 1000)))
    assert found[0] == found[1]
    assert len(found[0]) % 4 == 0


@pytest.mark.usefixtures("two_threads")
def test_the_choice_does_not_depend_on_the_number_of_threads():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, (900, 3))
    y = np.sin(3 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.standard_normal(900)
    models, before = [], numba.get_num_threads()
    for count in (1, before):
        numba.set_num_threads(count)
        models.append(zonal.KernelRidge(budget=64, random_state=0).fit(X, y))
    numba.set_num_threads(before)
    one, two = (model.selection_.drop(columns="seconds") for model in models)
    assert one.to_csv(float_format="%.6g") == two.to_csv(float_format="%.6g")
    np.testing.assert_allclose(models[0].predict(X), models[1].predict(X), rtol=1e-9, atol=1e-9)


def test_a_thread_that_cannot_start(monkeypatch):
    def submit(*_):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr("zonal.rows.threads.ThreadPoolExecutor.submit", submit)
    with pytest.raises(MemoryError, match="OMP_NUM_THREADS=1"):
        list(ordered_map(abs, range(9), 2))
