"""The features that learners use when they are not told which."""

from typing import Any

from sklearn.pipeline import Pipeline

from .columns import Standardizer
from .gegenbauer import GegenbauerFeatures

__all__ = ["default_features"]


def default_features(n_components: int, random_state: Any = None) -> Pipeline:
    """Return the fallback: standardised columns, then Gegenbauer features.

    The kernel is a Gaussian of median bandwidth.

    Parameters
    ----------
    n_components : int
        The width D.
    random_state : int, RandomState instance or None
        The seed of the directions.
    """
    return Pipeline(
        [
            ("scale", Standardizer()),
            ("features", GegenbauerFeatures(n_components=n_components, random_state=random_state)),
        ]
    )
