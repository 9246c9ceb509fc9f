"""Memory that matrix products need beside their results."""

import os
from functools import lru_cache

import numpy as np
from scipy.linalg.blas import dgemm

__all__ = ["reserve_buffers"]

# OpenBLAS takes 32 MB at its first product and keeps them; twice that leaves something for others.
BUFFER = 1 << 26
# Smaller products may do without.
SIZE = 256


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
