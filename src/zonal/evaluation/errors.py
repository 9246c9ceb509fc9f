"""How good predictions are, from sums over rows that blocks can add to."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import Array

__all__ = ["ClassErrors", "Counts", "Errors", "Spread"]


@dataclass(frozen=True)
class Spread:
    """Numbers by their count, their mean and their squares about the mean.

    Attributes
    ----------
    rows : float
        n, or the sum of weights.
    mean : float
        ȳ.
    squares : float
        Σ (y - ȳ)².
    """

    rows: float
    mean: float
    squares: float

    @classmethod
    def of(cls, values: Array, weight: Array | None = None) -> "Spread":
        """Return the sums of some numbers."""
        values = np.asarray(values, dtype=np.float64)
        rows = _total(np.ones(len(values)), weight)
        mean = _total(values, weight) / rows if rows else 0.0
        return cls(rows, mean, _total((values - mean) ** 2, weight))

    def __add__(self, other: "Spread") -> "Spread":
        """Return the sums of the rows of both (Chan, Golub and LeVeque 1979)."""
        rows = self.rows + other.rows
        if not rows:
            return self
        step = other.mean - self.mean
        squares = self.squares + other.squares + step**2 * self.rows * other.rows / rows
        return Spread(rows, self.mean + step * other.rows / rows, squares)

    @property
    def best(self) -> float:
        """The constant with the smallest squared error: the mean."""
        return self.mean


@dataclass(frozen=True)
class Counts:
    """How often there is each class.

    Attributes
    ----------
    classes, counts : ndarrays of shape (c,)
        The classes of a model, in order, and the number (or weight) of rows of each.
    """

    classes: Array
    counts: Array

    @classmethod
    def of(cls, labels: Array, classes: Array, weight: Array | None = None) -> "Counts":
        """Count the classes of some rows; those that the model does not know are left out."""
        known = np.flatnonzero(np.isin(labels, classes))
        places = np.searchsorted(classes, labels[known])
        shares = np.ones(len(known)) if weight is None else np.asarray(weight)[known]
        return cls(classes, np.bincount(places, shares, minlength=len(classes)))

    def __add__(self, other: "Counts") -> "Counts":
        """Return the counts of the rows of both."""
        return Counts(self.classes, self.counts + other.counts)

    @property
    def rows(self) -> float:
        """The number of rows with a known class."""
        return float(self.counts.sum())

    @property
    def best(self) -> Any:
        """The most frequent class."""
        return self.classes[int(np.argmax(self.counts))]


@dataclass(frozen=True)
class Errors:
    """Sums over rows with truth y and prediction f.

    Attributes
    ----------
    truth : Spread
        Σ 1, ȳ and Σ (y - ȳ)².
    squared, absolute : float
        ``Σ (y - f)²`` and ``Σ |y - f|``.

    Examples
    --------
    >>> import numpy as np
    >>> from zonal.evaluation import Errors
    >>> one = Errors.of(np.array([0.0, 2.0]), np.array([0.0, 1.0]))
    >>> other = Errors.of(np.array([4.0]), np.array([4.0]))
    >>> (one + other).measures()["r2"]
    0.875
    """

    truth: Spread
    squared: float
    absolute: float

    @classmethod
    def of(cls, truth: Array, prediction: Array, weight: Array | None = None) -> "Errors":
        """Return the sums of some rows.

        Parameters
        ----------
        truth, prediction : ndarrays of shape (n,)
            y and f.
        weight : ndarray of shape (n,), optional
            How much each row counts.
        """
        truth = np.asarray(truth, dtype=np.float64)
        error = truth - np.asarray(prediction)
        squared, absolute = _total(error**2, weight), _total(np.abs(error), weight)
        return cls(Spread.of(truth, weight), squared, absolute)

    def __add__(self, other: "Errors") -> "Errors":
        """Return the sums of the rows of both."""
        return Errors(
            self.truth + other.truth,
            self.squared + other.squared,
            self.absolute + other.absolute,
        )

    def measures(self, constant: float | None = None) -> dict[str, float]:
        """Return ``mse``, ``rmse``, ``mae`` and ``r2``; nothing if there are no rows.

        Parameters
        ----------
        constant : float, optional
            A prediction that looks at nothing, such as the mean in training: its error is added
            as ``mse_of_constant``.
        """
        rows = self.truth.rows
        if not rows:
            return {}
        mse = self.squared / rows
        spread = self.truth.squares
        varies = spread > rows * (1e-12 * self.truth.mean) ** 2  # or else it is rounding
        found = {
            "mse": mse,
            "rmse": mse**0.5,
            "mae": self.absolute / rows,
            "r2": 1 - self.squared / spread if varies else float("nan"),
        }
        if constant is not None:
            found["mse_of_constant"] = spread / rows + (self.truth.mean - constant) ** 2
        return found


@dataclass(frozen=True)
class ClassErrors:
    """Sums over rows with a true class, a predicted one and probabilities.

    Attributes
    ----------
    truth : Counts
        The true classes that the model knows.
    rows : float
        The number of rows.
    right : float
        Rows that are predicted rightly.
    log_loss : float
        -Σ log p(true class) over the rows of known classes; others have no probability.

    Examples
    --------
    >>> import numpy as np
    >>> from zonal.evaluation import ClassErrors
    >>> classes = np.array(["no", "yes"])
    >>> truth = np.array(["no", "yes"])
    >>> errors = ClassErrors.of(truth, np.array(["no", "no"]), classes)
    >>> errors.measures()["accuracy"]
    0.5
    """

    truth: Counts
    rows: float
    right: float
    log_loss: float

    @classmethod
    def of(
        cls,
        truth: Array,
        prediction: Array,
        classes: Array,
        chances: Array | None = None,
        weight: Array | None = None,
    ) -> "ClassErrors":
        """Return the sums of some rows.

        Parameters
        ----------
        truth, prediction : ndarrays of shape (n,)
            Classes.
        classes : ndarray of shape (c,), increasing
            Those that the model knows.
        chances : ndarray of shape (n, c), optional
            Their probabilities.
        weight : ndarray of shape (n,), optional
            How much each row counts.
        """
        loss = float("nan")
        if chances is not None:
            known = np.flatnonzero(np.isin(truth, classes))
            place = np.searchsorted(classes, truth[known])
            shares = None if weight is None else np.asarray(weight)[known]
            loss = _total(-np.log(chances[known, place].astype(np.float64)), shares)
        right = _total(truth == prediction, weight)
        rows = _total(np.ones(len(truth)), weight)
        return cls(Counts.of(truth, classes, weight), rows, right, loss)

    def __add__(self, other: "ClassErrors") -> "ClassErrors":
        """Return the sums of the rows of both."""
        return ClassErrors(
            self.truth + other.truth,
            self.rows + other.rows,
            self.right + other.right,
            self.log_loss + other.log_loss,
        )

    def measures(self, constant: Any = None) -> dict[str, float]:
        """Return ``accuracy`` and ``log_loss``; nothing if there are no rows.

        Parameters
        ----------
        constant : label, optional
            A prediction that looks at nothing, such as the most frequent class in training: its
            accuracy is added as ``accuracy_of_commonest``.
        """
        if not self.rows:
            return {}
        known = self.truth.rows
        found = {
            "accuracy": self.right / self.rows,
            "log_loss": self.log_loss / known if known else float("nan"),
        }
        if constant is not None:
            count = self.truth.counts[self.truth.classes == constant].sum()
            found["accuracy_of_commonest"] = float(count) / self.rows
        return found


def _total(values: Array, weight: Array | None) -> float:
    return float(np.sum(values) if weight is None else np.dot(np.asarray(weight), values))
