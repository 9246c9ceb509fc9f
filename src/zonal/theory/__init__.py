"""The paper's theory as functions that answer a user's question.

How many features do I need, and how good are the ones I have? `recommend` answers both for given
data; the other functions are the definitions, lemmas and theorems behind it, one for each.
"""

from ..polynomials import gegenbauer, gegenbauer_series, harmonic_dimension
from .bounds import RidgeRisk, kmeans_bound, kmeans_cost, ridge_risk_bound
from .counts import degree_and_order, n_directions, n_features
from .estimate import Estimate
from .leverage import leverage_bound, leverage_scores
from .projection import projection_cost_error
from .recommend import Measurement, Recommendation, recommend
from .spectral import spectral_error
from .statistical import statistical_dimension

__all__ = [
    "Estimate",
    "Measurement",
    "Recommendation",
    "RidgeRisk",
    "degree_and_order",
    "gegenbauer",
    "gegenbauer_series",
    "harmonic_dimension",
    "kmeans_bound",
    "kmeans_cost",
    "leverage_bound",
    "leverage_scores",
    "n_directions",
    "n_features",
    "projection_cost_error",
    "recommend",
    "ridge_risk_bound",
    "spectral_error",
    "statistical_dimension",
]
