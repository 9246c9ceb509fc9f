"""Likelihoods as values: what is observed, given the latent function f.

- `base`: what a likelihood offers, and the averages over a normal posterior of f;
- `averages`: Gauss-Hermite quadrature and the probit approximation;
- `counts`: Poisson, NegativeBinomial; `shares`: Bernoulli, Binomial; `amounts`: Gamma;
  `robust`: Student;
- `classes`: Multinomial, with a latent function for each class.

Everything here knows arrays only.
"""

from .amounts import Gamma
from .base import Likelihood, Observed
from .classes import Multinomial
from .counts import NegativeBinomial, Poisson
from .names import LIKELIHOODS, as_likelihood
from .robust import Student
from .shares import Bernoulli, Binomial

__all__ = [
    "LIKELIHOODS",
    "Bernoulli",
    "Binomial",
    "Gamma",
    "Likelihood",
    "Multinomial",
    "NegativeBinomial",
    "Observed",
    "Poisson",
    "Student",
    "as_likelihood",
]
