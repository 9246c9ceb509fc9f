"""R's `sample`, for experiments that others drew with it.

R 3.6 and later: the Mersenne Twister is seeded by a congruential generator, the first 50 of whose
numbers are thrown away; an index below n is made of as many random bits as n needs, 16 of each
number, and drawn again while it is n or more (src/main/RNG.c and src/main/random.c of R).
"""

import numpy as np
import numpy.typing as npt

__all__ = ["RRandom"]


class RRandom:
    """The generator after ``set.seed(seed)``.

    Examples
    --------
    >>> RRandom(42).sample(10, 4).tolist()
    [1, 5, 10, 8]
    """

    def __init__(self, seed: int) -> None:
        words = np.empty(50 + 625, np.uint32)
        for place in range(len(words)):
            seed = (69069 * seed + 1) % 2**32
            words[place] = seed
        self._twister = np.random.MT19937()
        state = {"key": words[-624:], "pos": 624}
        self._twister.state = {"bit_generator": "MT19937", "state": state}

    def uniform(self) -> float:
        """Return a number of ``runif``."""
        return int(self._twister.random_raw()) * 2.3283064365386963e-10

    def index(self, n: int) -> int:
        """Return a number from 0 to n - 1."""
        n_bits = (n - 1).bit_length()
        while True:
            value = 0
            for _ in range(n_bits // 16 + 1):
                value = 65536 * value + int(self.uniform() * 65536)
            value %= 2**n_bits
            if value < n:
                return value

    def sample(self, n: int, size: int) -> npt.NDArray[np.intp]:
        """Return ``sample(1:n, size)``: so many of the numbers 1, …, n, none of them twice."""
        left = np.arange(1, n + 1)
        found = np.empty(size, np.intp)
        for place in range(size):
            own = self.index(n - place)
            found[place] = left[own]
            left[own] = left[n - place - 1]
        return found
