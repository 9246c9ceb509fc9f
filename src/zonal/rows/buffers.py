"""Memory that blocks of rows share, and memory that matrix products need beside their results."""

import os
import threading
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.linalg.blas import dgemm

from .._typing import Array

__all__ = ["Scratch", "reserve_buffers"]

# OpenBLAS takes 32 MB at its first product and keeps them; twice that leaves something for others.
BUFFER = 1 << 26
# Smaller products may do without.
SIZE = 256


class Scratch(threading.local):
    """A thread's memory for one array, used again for the next: fresh pages cost much."""

    def __init__(self) -> None:
        self._memory: Array = np.empty(0)

    def array(self, shape: tuple[int, int], dtype: Any) -> Array:
        """Return an array of that shape, not cleared."""
        size = shape[0] * shape[1]
        if self._memory.dtype != dtype or self._memory.size < size:
            self._memory = np.empty(size, dtype)
        return self._memory[:size].reshape(shape)


def reserve_buffers(limited: bool = False) -> None:
    """Let the BLAS of NumPy and that of SciPy take their buffers; raise MemoryError if they cannot.

    Without memory, OpenBLAS itself ends the process (NumPy's) or waits for ever (SciPy's, which
    compiled code uses too): both where nothing can be said about it any more.

    Parameters
    ----------
    limited : bool, default=False
        Whether the number of threads of BLAS is limited by now. It is done once for each.
    """
    _reserve(os.getpid(), limited)


@lru_cache(maxsize=8)
def _reserve(process: int, limited: bool) -> None:
    square = np.ones((SIZE, SIZE))
    for product in (np.dot, _of_scipy):
        try:
            np.empty(BUFFER, np.uint8)
        except MemoryError as error:
            raise MemoryError(
                f"There is no memory for products of matrices, which need {BUFFER >> 20} MB: raise "
                "the limit (ulimit -v), or end other programs."
            ) from error
        product(square, square)


def _of_scipy(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    return np.asarray(dgemm(1.0, left, right))
