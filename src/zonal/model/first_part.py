"""What a mean of models does not have, and its first part tells."""

from typing import Any

import numpy as np

from .._typing import FloatArray

__all__ = ["FirstPart"]


class FirstPart:
    """Coefficients, a local part and shares of a weighted mean: those of its first part.

    Attributes
    ----------
    parts : tuple
        Models, the one that tells first.
    """

    parts: tuple[Any, ...]

    @property
    def coef(self) -> FloatArray:
        """The coefficients of the first part."""
        return np.asarray(self.parts[0].coef)

    @property
    def intercept(self) -> FloatArray:
        """The constants of the first part."""
        return np.asarray(self.parts[0].intercept)

    @property
    def alpha(self) -> float:
        """The regularisation of the first part."""
        return float(self.parts[0].alpha)

    @property
    def part(self) -> Any:
        """The local part of the first part, or None."""
        return self.parts[0].part

    def shares(self) -> dict[str, float]:
        """Return the shares of the targets' variance in the first part."""
        shares: dict[str, float] = self.parts[0].shares()
        return shares
