"""Likelihoods by their names."""

from typing import Any

from .._suggestions import near
from .amounts import Gamma
from .base import Likelihood
from .counts import NegativeBinomial, Poisson
from .robust import Student
from .shares import Bernoulli, Binomial

__all__ = ["LIKELIHOODS", "as_likelihood"]

#: Every likelihood of one latent value, by its name.
LIKELIHOODS: dict[str, type[Likelihood]] = {
    kind.name: kind for kind in (Poisson, NegativeBinomial, Gamma, Bernoulli, Binomial, Student)
}


def as_likelihood(likelihood: Any) -> Likelihood:
    """Return a likelihood that is given by its name, or as it is.

    Examples
    --------
    >>> from zonal.likelihoods import as_likelihood
    >>> as_likelihood("gamma")
    Gamma(shape=None)
    """
    if isinstance(likelihood, Likelihood):
        return likelihood
    if isinstance(likelihood, str) and likelihood in LIKELIHOODS:
        return LIKELIHOODS[likelihood]()
    hint = near(likelihood, LIKELIHOODS) if isinstance(likelihood, str) else ""
    raise ValueError(
        f"likelihood={likelihood!r} must be one of {', '.join(map(repr, LIKELIHOODS))} or an "
        f"object of zonal.likelihoods such as NegativeBinomial(shape=2.0).{hint}"
    )
