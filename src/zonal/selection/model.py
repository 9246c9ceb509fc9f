"""What is given of a model, and what is chosen."""

from typing import Any, NamedTuple

from sklearn.pipeline import Pipeline

from ..kernels import Kernel
from ..kriging.search import Found

__all__ = ["LocalOptions", "Model"]


class LocalOptions(NamedTuple):
    """What is given of the local part.

    Attributes
    ----------
    kernel : Kernel or None
        None: by evidence.
    noise : float or None
        None: by evidence.
    n_neighbors : int
    required : bool
        Whether the model must have a local part.
    n_features : int
        How many features may carry the low degrees of its kernel, where there are no others.
    """

    kernel: Kernel | None = None
    noise: float | None = None
    n_neighbors: int = 32
    required: bool = False
    n_features: int = 256


class Model(NamedTuple):
    """What was chosen.

    Attributes
    ----------
    features : Pipeline or None
        Fitted: columns on a common scale, the learned metric if it was chosen, the feature map.
        None: a constant.
    columns : Pipeline or None
        The steps before the feature map, whose rows the local part sees; None: rows as they are.
    local : Found or None
        The parameters of the local part.
    n_neighbors, n_far : int
        Neighbours in predictions, and how many of them are far.
    records : list of dict
        What was tried, in this order.
    """

    features: Pipeline | None
    columns: Pipeline | None
    local: Found | None
    n_neighbors: int
    n_far: int
    records: list[dict[str, Any]]
