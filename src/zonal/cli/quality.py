"""How good predictions are."""

from typing import Any

import numpy as np
from sklearn.metrics import accuracy_score, log_loss, mean_absolute_error, r2_score

from .._typing import Array

__all__ = ["classification", "regression"]


def regression(truth: Array, prediction: Array, constant: float) -> dict[str, float]:
    """Errors of predicted numbers, beside those of a constant.

    Examples
    --------
    >>> import numpy as np
    >>> from zonal.cli.quality import regression
    >>> regression(np.array([0.0, 2.0]), np.array([0.0, 1.0]), 1.0)["mse"]
    0.5
    """
    truth, prediction = truth.astype(np.float64), prediction.astype(np.float64)
    mse = float(np.mean((truth - prediction) ** 2))
    return {
        "mse": mse,
        "rmse": mse**0.5,
        "mae": float(mean_absolute_error(truth, prediction)),
        "r2": float(r2_score(truth, prediction)) if len(truth) > 1 else float("nan"),
        "mse_of_constant": float(np.mean((truth - constant) ** 2)),
    }


def classification(
    truth: Array, prediction: Array, probabilities: Array, classes: Array, commonest: Any
) -> dict[str, float]:
    """Accuracy and log loss, beside the accuracy of the commonest class."""
    return {
        "accuracy": float(accuracy_score(truth, prediction)),
        "log_loss": float(log_loss(truth, probabilities, labels=classes)),
        "accuracy_of_commonest": float(np.mean(truth == commonest)),
    }
