"""Features as a recipe has them: given or the default, seeded, with weights if they take some."""

from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils import check_random_state, get_tags

from .._typing import FloatArray
from .._validation import check_count
from ..features.default import default_features
from .encoders import weight_arguments

__all__ = ["asked_width", "fit_features", "is_automatic", "take_sparse"]


def is_automatic(features: Any) -> bool:
    """Tell whether features are to be chosen."""
    return isinstance(features, str) and features == "auto"


def fit_features(
    features: Any,
    X: Any,
    y: Any = None,
    weight: FloatArray | None = None,
    *,
    owner: str,
    budget: int,
    random_state: Any,
) -> Any:
    """Fit a copy of features to rows; for "auto" the default ones.

    Parameters
    ----------
    features : transformer or "auto"
    X, y, weight
        The rows that they learn from.
    owner : str
        The learner, for messages.
    budget : int
        The number of columns of the default.
    random_state : int, RandomState or None
        Seeds what the features leave to chance.
    """
    if isinstance(features, str):
        if features != "auto":
            raise ValueError(
                f"features={features!r} must be 'auto' or a transformer such as "
                "zonal.GegenbauerFeatures()."
            )
        own: Any = default_features(check_count("budget", budget, owner))
    elif hasattr(features, "fit") and hasattr(features, "transform"):
        own = clone(features)
    else:
        raise TypeError(
            f"features={features!r} must be 'auto' or a transformer with fit and transform, such "
            "as zonal.GegenbauerFeatures()."
        )
    _seed(own, random_state)
    return own.fit(X, y, **weight_arguments(own, weight))


def asked_width(features: Any, budget: int) -> int:
    """Return how many columns features are asked for; zero where that is not known."""
    if isinstance(features, Pipeline):
        features = features[-1]
    width = budget if isinstance(features, str) else getattr(features, "n_components", 0)
    return int(width) if isinstance(width, Integral) else 0


def take_sparse(features: Any) -> bool:
    """Tell whether features, or all of several, take sparse rows."""
    parts = features if isinstance(features, tuple | list) else [features]
    return all(
        isinstance(part, str)
        or (hasattr(part, "__sklearn_tags__") and get_tags(part).input_tags.sparse)
        for part in parts
    )


def _seed(features: Any, random_state: Any) -> None:
    """Seed what the features leave to chance from the learner's own seed, if it has one."""
    parameters = features.get_params(deep=True) if hasattr(features, "get_params") else {}
    unset = sorted(
        name
        for name, value in parameters.items()
        if value is None and (name == "random_state" or name.endswith("__random_state"))
    )
    if random_state is not None and unset:
        rng = check_random_state(random_state)
        seeds = {name: int(rng.randint(np.iinfo(np.int32).max)) for name in unset}
        features.set_params(**seeds)
