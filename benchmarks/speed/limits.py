"""What the hardware allows, measured: arithmetic, memory and BLAS in float32, all threads."""

from dataclasses import dataclass

import numpy as np
from numba import get_num_threads, njit, prange
from scipy.linalg.blas import sgemm, ssyrk

from ..measure import seconds, table

__all__ = ["Limits", "measure_limits"]

# Numbers that a thread of the arithmetic loop works on: they stay in the first-level cache.
LANES, ROUNDS = 1024, 100_000
# Multiply-adds between a load and a store, so that the loop is bound by arithmetic alone.
CHAIN = 16
# Far more bytes than a core's caches hold.
MEMORY = 1 << 28


@dataclass(frozen=True)
class Limits:
    """Rates: operations a second (a multiply-add is two) and bytes a second."""

    fma: float
    sgemm: float
    ssyrk: float
    write: float
    fresh: float
    copy: float

    @property
    def peak(self) -> float:
        """Operations a second at best; BLAS may use wider vectors than compiled loops do."""
        return max(self.fma, self.sgemm, self.ssyrk)

    def ideal(self, multiply_adds: float, n_bytes: float = 0.0) -> tuple[float, str]:
        """Seconds for so much arithmetic and writing, whichever takes longer, and which does."""
        arithmetic, memory = 2 * multiply_adds / self.peak, n_bytes / self.write
        return max((arithmetic, "arithmetic"), (memory, "writing"))

    def __str__(self) -> str:
        rows = [
            ("multiply-adds in registers, float32", f"{self.fma / 1e9:.0f} Gflop/s"),
            ("BLAS sgemm", f"{self.sgemm / 1e9:.0f} Gflop/s"),
            ("BLAS ssyrk", f"{self.ssyrk / 1e9:.0f} Gflop/s"),
            ("writing to memory in use", f"{self.write / 1e9:.1f} GB/s"),
            ("writing to fresh memory", f"{self.fresh / 1e9:.1f} GB/s"),
            ("copying (read and written bytes)", f"{self.copy / 1e9:.1f} GB/s"),
        ]
        return table(rows, ("limit", "measured"))


def measure_limits(n: int, width: int) -> Limits:
    """Measure all rates; those of BLAS at the shapes of the benchmark, [n, width]."""
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((n, width), dtype=np.float32)
    square = np.asfortranarray(rng.standard_normal((width, width), dtype=np.float32))
    target, source = np.ones((2, MEMORY // 4), np.float32)
    state = np.ones((get_num_threads(), LANES), np.float32)
    half = np.float32(0.5)
    fma, gemm, syrk, write, fresh, copy = seconds(
        lambda: _multiply_add(state, ROUNDS, half, half),
        lambda: sgemm(1.0, square, Z.T),
        lambda: ssyrk(1.0, Z.T),
        lambda: _write(target),
        lambda: _write(np.empty(MEMORY // 4, np.float32)),
        lambda: np.copyto(target, source),
        repeats=7,
        summary=min,
    )
    return Limits(
        fma=2.0 * state.size * ROUNDS * CHAIN / fma,
        sgemm=2.0 * n * width**2 / gemm,
        ssyrk=1.0 * n * width * (width + 1) / syrk,
        # Copies bypass the caches, which saves reading what is about to be overwritten.
        write=MEMORY / min(write, copy),
        fresh=MEMORY / fresh,
        copy=2 * MEMORY / copy,
    )


# Contraction alone: a compiler that may reorder sums would merge the steps of the chain.
@njit(parallel=True, fastmath={"contract"})
def _multiply_add(state, rounds, a, b):  # type: ignore[no-untyped-def]
    """Chains of `CHAIN` multiply-adds, written out: an inner loop would not be vectorised."""
    for thread in prange(len(state)):
        values = state[thread]
        for _ in range(rounds):
            for j in range(LANES):
                u = values[j]
                u = (((u * a + b) * a + b) * a + b) * a + b
                u = (((u * a + b) * a + b) * a + b) * a + b
                u = (((u * a + b) * a + b) * a + b) * a + b
                u = (((u * a + b) * a + b) * a + b) * a + b
                values[j] = u


@njit(parallel=True)
def _write(target):  # type: ignore[no-untyped-def]
    for i in prange(len(target)):
        target[i] = 1.0
