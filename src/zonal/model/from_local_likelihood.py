"""A model with a local part and a likelihood of its own; it keeps its rows."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._typing import Array, FloatArray
from ..kriging.locations import Locations, locate
from ..likelihoods import Likelihood
from ..rows import Block
from .from_rows import FromRows
from .laplace_parameters import LocalParameters, find_local_parameters
from .local_solution import LocalSolution
from .vecchia_laplace import Responses, find_laplace

__all__ = [
    "FromLocalLikelihood",
    "at_parameters",
    "located",
    "refit_local_likelihood",
    "solve_local_likelihood",
]

# The change of f that ends Newton's method.
CLOSE = 1e-6


@dataclass(frozen=True)
class FromLocalLikelihood:
    """Kriging of the pseudo-targets at the mode, and the likelihood.

    Attributes
    ----------
    rows : FromRows
        The latent function: features, if there are any, and the local part.
    likelihood : Likelihood
        With all its parameters.
    log_evidence : float
        Laplace's.
    n_passes : int
        Steps of Newton's method.
    """

    rows: FromRows
    likelihood: Likelihood
    log_evidence: float
    n_passes: int

    @property
    def part(self) -> LocalSolution:
        """The latent function as the local part sees it."""
        return self.rows.part

    @property
    def cv_results(self) -> dict[str, Array]:
        """Nothing: the evidence decides."""
        return {}

    @property
    def coef(self) -> FloatArray:
        """The coefficients of the features: [D, 1]."""
        return self.rows.coef

    @property
    def intercept(self) -> FloatArray:
        """The constant: [1]."""
        return self.rows.intercept

    @property
    def alpha(self) -> float:
        """The ridge on whitened features."""
        return self.rows.alpha

    def mean(self, rows: Any) -> Array:
        """Return latent values at rows: [n, 1]."""
        return self.rows.mean(rows)

    def latent(self, rows: Any) -> tuple[FloatArray, FloatArray]:
        """Return means and variances of the latent values at rows: [n], [n]."""
        mean, std = self.rows.latent(rows)
        return mean[:, 0].astype(np.float64), np.square(std[:, 0], dtype=np.float64)

    def gradient(self, rows: Any, held_out: bool = False) -> Array:
        """Return gradients of the latent values: [n, 1, d]."""
        return self.rows.gradient(rows, held_out)

    def without(self, rows: Any) -> "FromLocalLikelihood":
        """Return the model to which the places nearest to some rows are not known."""
        return replace(self, rows=self.rows.without(rows))

    def shares(self) -> dict[str, float]:
        """Return the shares of the pseudo-targets' variance."""
        return self.rows.shares()

    def light(self) -> "FromLocalLikelihood":
        """Return the model: it needs its rows."""
        return self


def solve_local_likelihood(
    linear: FromRows,
    block: Block,
    likelihood: Likelihood,
    unknown: tuple[str, ...],
    move_kernel: bool,
    seed: int,
    rival: float = -np.inf,
) -> FromLocalLikelihood | None:
    """Fit a likelihood, from a fit to linearised responses.

    None where the search for parameters, by all rows, shows less evidence than a rival has.

    Parameters
    ----------
    linear : FromRows
        The fit to linearised responses, whose kernel is where the search begins.
    block : Block
        Rows as the local part sees them, packed responses and weights.
    likelihood : Likelihood
        With first values of its parameters.
    unknown : tuple of str
        Those that are to be found.
    move_kernel : bool
        Whether length scales may change.
    seed : int
        Of the order of the rows.
    rival : float
        The log evidence of another model of all rows.
    """
    locations = located(block, seed)
    part, features = linear.part, linear.map
    scale = float(part.joint.found.scale[0])
    start = LocalParameters(likelihood, part.found, scale)
    best, mode = find_local_parameters(
        locations, block.y, block.weight, start, unknown, features, move_kernel
    )
    if len(mode.latent) == len(locations) and mode.log_evidence < rival:
        return None
    near = mode.joint.predict(locations.rows, features)[0][:, 0]
    return at_parameters(linear, block, locations, best, near)


def refit_local_likelihood(
    known: FromLocalLikelihood, block: Block, seed: int
) -> FromLocalLikelihood:
    """Fit to other rows (as the local part sees them), with all parameters kept."""
    part = known.part
    kept = LocalParameters(known.likelihood, part.found, float(part.joint.found.scale[0]))
    return at_parameters(known.rows, block, located(block, seed), kept)


def located(block: Block, seed: int) -> Locations:
    """Return the places of rows that count, in random order, without targets."""
    X = np.asarray(block.X)
    return locate(X, np.zeros((len(X), 1)), block.weight, seed)


def at_parameters(
    model: FromRows,
    block: Block,
    locations: Locations,
    where: LocalParameters,
    near: FloatArray | None = None,
) -> FromLocalLikelihood:
    """Find the mode at all rows, given the parameters, from latent values that may be near it."""
    responses = Responses.of(locations, block.y, block.weight)
    m = model.part.joint.process.n_neighbors
    solved = find_laplace(
        locations, responses, where.likelihood, where.found, where.scale, model.map, m, CLOSE, near
    )
    found = replace(where.found, noise=1 / where.scale, log_evidence=solved.log_evidence)
    spread = np.array([float(np.var(solved.latent))])
    own = LocalSolution(solved.joint, np.zeros(1), found, spread)
    return FromLocalLikelihood(
        replace(model, part=own, kept={}), where.likelihood, solved.log_evidence, solved.n_steps
    )
