"""What was found lately is what would be found again."""

import numpy as np
import pytest
from sklearn.base import clone

import zonal
from zonal.kernels.expansion import recent
from zonal.kernels.expansion.recent import recently

RNG = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def forgotten():
    recent._results.clear()


def counted():
    calls = []

    def find():
        calls.append(True)
        return (np.arange(3.0),)

    return calls, find


def test_the_same_kernel_and_the_same_rest():
    calls, find = counted()
    for kernel in (zonal.Gaussian(2.0), zonal.Gaussian(2.0)):
        np.testing.assert_array_equal(recently(find, kernel, 3)[0], np.arange(3.0))
    assert len(calls) == 1
    for kernel, rest in (
        (zonal.Gaussian(2.5), 3),
        (zonal.Gaussian(2.0), 4),
        (zonal.Laplacian(2.0), 3),
        (zonal.Matern(1.5, 2.0), 3),
        (zonal.Matern(2.5, 2.0), 3),
    ):
        recently(find, kernel, rest)
    assert len(calls) == 6


def test_functions_and_classes_of_others_are_asked_again():
    class Own(zonal.Gaussian):
        pass

    calls, find = counted()
    for kernel in (zonal.Zonal(np.exp), Own(1.0), 2 * zonal.Gaussian(1.0)):
        for _ in range(2):
            recently(find, kernel)
    assert len(calls) == 6


def test_a_parameter_that_is_set_anew():
    calls, find = counted()
    kernel = zonal.Gaussian(1.0)
    for bandwidth in (1.0, 2.0, 1.0):
        recently(find, kernel.set_params(bandwidth=bandwidth))
    assert len(calls) == 2


def test_memory_is_bounded():
    for number in range(100):
        recently(lambda: (np.zeros(recent.LARGEST // 16),), zonal.Gaussian(1.0), number)
        recently(lambda: (np.zeros(recent.LARGEST),), zonal.Gaussian(1.0), -number - 1)
    sizes = [recent._size(arrays) for arrays in recent._results.values()]
    assert 0 < sum(sizes) <= recent.KEPT
    assert max(sizes) <= recent.LARGEST


@pytest.mark.parametrize("kernel", [zonal.Gaussian(1.3), zonal.Matern(1.5, 2.0)], ids=repr)
@pytest.mark.parametrize("kind", [zonal.GegenbauerFeatures, zonal.HarmonicFeatures])
def test_features_are_the_same_to_the_bit(kind, kernel):
    X = RNG.standard_normal((50, 3))
    first = kind(kernel, 30, random_state=0)
    Z = first.fit_transform(X)
    assert recent._results
    again = clone(first).fit(X)
    np.testing.assert_array_equal(again.transform(X), Z)
    recent._results.clear()
    np.testing.assert_array_equal(clone(first).fit_transform(X), Z)
