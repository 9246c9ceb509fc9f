"""Type aliases shared by the whole library."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
FloatArray = npt.NDArray[np.float64]
ScalarFunction = Callable[[Any], Any]

__all__ = ["Array", "FloatArray", "ScalarFunction"]
