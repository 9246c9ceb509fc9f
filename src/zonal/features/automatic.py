"""The features that learners use when they are not told which."""

from typing import Any

from sklearn.pipeline import Pipeline

from .gegenbauer import GegenbauerFeatures
from .scaling import Standardizer

__all__ = ["automatic_features"]


def automatic_features(n_components: int, random_state: Any = None) -> Pipeline:
    """Standardised columns, a Gaussian kernel of median bandwidth, Gegenbauer features.

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
