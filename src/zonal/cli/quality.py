"""How good predictions are, from sums over rows that blocks can add to."""

from typing import Any, NamedTuple

import numpy as np

from .._typing import Array

__all__ = ["ClassErrors", "Errors"]


class Errors(NamedTuple):
    """Sums over rows with truth y, prediction f and a constant c (the mean in training).

    Attributes
    ----------
    rows, squared, absolute : float
        The number of rows, Σ (y - f)² and Σ |y - f|.
    beyond, beyond_squared : float
        Σ (y - c) and Σ (y - c)².

    Examples
    --------
    >>> import numpy as np
    >>> from zonal.cli.quality import Errors
    >>> Errors.of(np.array([0.0, 2.0]), np.array([0.0, 1.0]), 1.0).measures()["mse"]
    0.5
    """

    rows: float
    squared: float
    absolute: float
    beyond: float
    beyond_squared: float

    @classmethod
    def of(cls, truth: Array, prediction: Array, constant: float) -> "Errors":
        """The sums of some rows."""
        error = truth.astype(np.float64) - prediction
        beyond = truth.astype(np.float64) - constant
        sums = (error**2, np.abs(error), beyond, beyond**2)
        return cls(float(len(truth)), *(float(np.sum(part)) for part in sums))

    def __add__(self, other: "Errors") -> "Errors":  # type: ignore[override]
        """The sums of the rows of both."""
        return Errors(*(a + b for a, b in zip(self, other, strict=True)))

    def measures(self) -> dict[str, float]:
        """Errors beside those of the constant; R² is not defined where the truth is constant."""
        if not self.rows:
            return {}
        mse = self.squared / self.rows
        spread = self.beyond_squared - self.beyond**2 / self.rows
        varies = spread > 1e-12 * self.beyond_squared  # or else it is rounding
        return {
            "mse": mse,
            "rmse": mse**0.5,
            "mae": self.absolute / self.rows,
            "r2": 1 - self.squared / spread if varies else float("nan"),
            "mse_of_constant": self.beyond_squared / self.rows,
        }


class ClassErrors(NamedTuple):
    """Sums over rows with a true class, a predicted one and probabilities.

    Attributes
    ----------
    rows, known : float
        The number of rows, and of those whose class was there in training.
    right, commonest : float
        Rows that are predicted rightly, and that are of the commonest class in training.
    log_loss : float
        -Σ log p(true class) over the known rows; others have no probability.
    """

    rows: float
    known: float
    right: float
    commonest: float
    log_loss: float

    @classmethod
    def of(
        cls, truth: Array, prediction: Array, chances: Array, classes: Array, commonest: Any
    ) -> "ClassErrors":
        """The sums of some rows."""
        known = np.flatnonzero(np.isin(truth, classes))
        place = np.searchsorted(classes, truth[known])
        loss = -np.log(chances[known, place].astype(np.float64))
        sums = (truth == prediction, truth == commonest, loss)
        return cls(float(len(truth)), float(len(known)), *(float(np.sum(part)) for part in sums))

    def __add__(self, other: "ClassErrors") -> "ClassErrors":  # type: ignore[override]
        """The sums of the rows of both."""
        return ClassErrors(*(a + b for a, b in zip(self, other, strict=True)))

    def measures(self) -> dict[str, float]:
        """Accuracy and log loss, beside the accuracy of the commonest class."""
        if not self.rows:
            return {}
        return {
            "accuracy": self.right / self.rows,
            "log_loss": self.log_loss / self.known if self.known else float("nan"),
            "accuracy_of_commonest": self.commonest / self.rows,
        }
