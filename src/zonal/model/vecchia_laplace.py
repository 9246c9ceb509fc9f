r"""Laplace's approximation with a local part: Newton's method on the rows.

The latent function is f(x) = μ + z(x)ᵀβ + u(x), u a Gaussian process of covariance σ² k known by
the nearest rows. With slopes g and curvatures h of the log likelihood at f, a step of Newton's
method is kriging of the pseudo-targets :math:`t = f + g/h` with noise of the variance 1/h: the
weights of `zonal.kriging` take a noise for each row. The mode is a fixed point of that, whatever
positive h is used. With the mode, Laplace's log evidence is that of the pseudo-targets, and what
the likelihood says instead of the normal density:

.. math:: \log N(t;\, 0, \sigma^2 K + H^{-1})
    + \sum_i \left[\log p(y_i \mid f_i) - \log N(t_i;\, f_i, 1/h_i)\right] .

(Zilber and Katzfuss, 2021, whiten the latent values instead of the pseudo-targets.)
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from .._typing import Array, FloatArray
from ..kriging.joint import Joint, fit_joint
from ..kriging.locations import Locations, Repeated
from ..kriging.neighbors import Indices
from ..kriging.precision import Precision
from ..kriging.process import LocalProcess
from ..kriging.search import Found
from ..likelihoods import Likelihood
from .newton_sums import unpacked

__all__ = ["Laplace", "Responses", "field_mode", "find_laplace", "pseudo_joint"]

Features = Callable[[Array], Array]

# Curvatures below this share of the largest count as it: pseudo-targets stay numbers, and the mode
# does not depend on it.
LEAST_CURVATURE = 1e-6
# The least share of a step, and the fall of the log density, relative to it, that stops no step.
LEAST_SHARE, SLACK = 1e-3, 1e-4
# Steps, and the change of f that ends them.
MOST_STEPS, CLOSE = 50, 1e-8


@dataclass(frozen=True)
class Responses:
    """What is observed at locations, where there may be several rows.

    Attributes
    ----------
    packed : ndarray of shape (n_rows, 3)
        Response, offset, trials.
    weight : ndarray of shape (n_rows,)
    place : ndarray of shape (n_rows,)
        The location of each row.
    n_places : int
    """

    packed: FloatArray
    weight: FloatArray
    place: npt.NDArray[np.intp]
    n_places: int

    @classmethod
    def of(cls, locations: Locations, y: Array, weight: FloatArray | None) -> "Responses":
        """Take the rows whose location is among these."""
        rows = np.flatnonzero(locations.index >= 0)
        weights = np.ones(len(rows)) if weight is None else np.asarray(weight, float)[rows]
        return cls(np.asarray(y, float)[rows], weights, locations.index[rows], len(locations))

    def sums(self, values: FloatArray) -> FloatArray:
        """Return weighted sums at each location."""
        return np.bincount(self.place, self.weight * values, self.n_places).astype(np.float64)

    def beginning(self, likelihood: Likelihood) -> FloatArray:
        """Return first latent values at the locations: the same for all."""
        observed, offset = unpacked(self.packed)
        level = likelihood.level(observed, offset, self.weight)
        return np.full(self.n_places, float(likelihood.link(np.asarray(level))))

    def expansion(
        self, likelihood: Likelihood, f: FloatArray
    ) -> tuple[FloatArray, FloatArray, float]:
        """Return pseudo-targets, their precisions and the log density, at latent values."""
        observed, offset = unpacked(self.packed)
        own = f[self.place] + offset
        g, h = likelihood.derivatives(observed, own)
        slope, curvature = self.sums(g), self.sums(h)
        curvature = np.maximum(curvature, LEAST_CURVATURE * curvature.max())
        log_density = float(self.weight @ likelihood.log_density(observed, own))
        return f + slope / curvature, curvature / likelihood.dispersion, log_density


@dataclass(frozen=True)
class Laplace:
    """The mode at given parameters.

    Attributes
    ----------
    joint : Joint
        Kriging of the pseudo-targets.
    latent : ndarray of shape (n,)
        f at the locations.
    log_evidence : float
    n_steps : int
    """

    joint: Joint
    latent: FloatArray
    log_evidence: float
    n_steps: int


def find_laplace(
    locations: Locations,
    responses: Responses,
    likelihood: Likelihood,
    found: Found,
    scale: float,
    features: Features | None = None,
    n_neighbors: int = 32,
    close: float = CLOSE,
    near: FloatArray | None = None,
) -> Laplace:
    """Find the mode of f and the log evidence, given all parameters.

    Parameters
    ----------
    locations : Locations
        The rows; their targets do not matter.
    responses : Responses
        What is observed there.
    likelihood : Likelihood
        With all its parameters.
    found : Found
        The kernel, the ratio of the two parts and features of the kernel's own.
    scale : float
        σ².
    features : callable, optional
        Maps rows [k, d] to features [k, D].
    n_neighbors : int
        Rows that a row is known by.
    close : float
        The change of f that ends the steps.
    near : ndarray of shape (n,), optional
        The mode at parameters that are not far: the first step from it is taken whole.
    """
    f = responses.beginning(likelihood) if near is None else near
    m = min(n_neighbors, len(locations))
    if features is None and found.low is None:
        process = LocalProcess(locations.rows, locations.weight, found.kernel, 1 / scale, m)
        earlier = process.earlier()
        prior = Precision.of(process, earlier)
        f, n_steps = field_mode(prior, responses, likelihood, scale, f, close)
        targets, precision, _ = responses.expansion(likelihood, f)
        joint = pseudo_joint(locations, targets, precision, found, scale, None, m, earlier)
    else:
        joint, f, n_steps = _mode_with_features(
            locations, responses, likelihood, found, scale, features, m, close, f, near is not None
        )
    targets, precision, log_density = responses.expansion(likelihood, f)
    normal = 0.5 * float(np.sum(np.log(precision / (2 * np.pi)) - precision * (targets - f) ** 2))
    evidence = _with_scale(joint, scale) + log_density - normal
    joint = replace(joint, found=replace(joint.found, scale=np.array([scale])))
    return Laplace(joint, f, evidence, n_steps)


def pseudo_joint(
    locations: Locations,
    targets: FloatArray,
    precision: FloatArray,
    found: Found,
    scale: float,
    features: Features | None,
    n_neighbors: int,
    earlier: Indices | None = None,
) -> Joint:
    """Return kriging of pseudo-targets [n] of the variances 1/h [n], by their own best scale."""
    pseudo = replace(
        locations,
        targets=targets[:, None],
        weight=precision,
        repeated=Repeated.nothing(len(locations), 1),
    )
    process = LocalProcess(
        locations.rows, precision, found.kernel, 1 / scale, n_neighbors, low=found.low
    )
    return fit_joint(pseudo, process, features, found.ratio, neighbors=earlier)


def field_mode(
    prior: Precision,
    responses: Responses,
    likelihood: Likelihood,
    scale: float,
    near: FloatArray,
    close: float = CLOSE,
) -> tuple[FloatArray, int]:
    r"""Return the mode of μ + u at the locations, and how many steps of Newton's method it took.

    With the precision Q of the process (`zonal.kriging.precision`), whose weights are found once,
    a step solves :math:`(Q/\sigma^2 + H)\, \delta = g - Q f/\sigma^2`.

    Parameters
    ----------
    prior : Precision
    responses : Responses
    likelihood : Likelihood
    scale : float
        σ².
    near : ndarray of shape (n,)
        Where to begin.
    close : float
        The change of f that ends the steps.
    """
    f, pull = near, prior.apply(near) / scale
    change, n_steps = np.inf, 0
    while change >= close and n_steps < MOST_STEPS:
        n_steps += 1
        targets, precision, _ = responses.expansion(likelihood, f)
        move = prior.solve(scale, precision, precision * (targets - f) - pull)
        step = move, prior.apply(move) / scale
        share = _share_of_step(responses, likelihood, (f, pull), step)
        f, pull = f + share * step[0], pull + share * step[1]
        change = float(np.abs(move).max())
    return f, n_steps


def _mode_with_features(
    locations: Locations,
    responses: Responses,
    likelihood: Likelihood,
    found: Found,
    scale: float,
    features: Features | None,
    m: int,
    close: float,
    f: FloatArray,
    is_near: bool,
) -> tuple[Joint, FloatArray, int]:
    """Return the same with features, by kriging the pseudo-targets of each step, and the last."""
    # K⁻¹f: of a constant it is zero. It tells what the prior says of a step.
    pull = np.zeros(len(f))
    neighbors = earlier = None
    change, n_steps = np.inf, 0
    while change >= close and n_steps < MOST_STEPS:
        n_steps += 1
        targets, precision, _ = responses.expansion(likelihood, f)
        if neighbors is None:
            process = LocalProcess(
                locations.rows, precision, found.kernel, 1 / scale, m, low=found.low
            )
            neighbors, earlier = process.near(locations.rows), process.earlier()
        joint = pseudo_joint(locations, targets, precision, found, scale, features, m, earlier)
        moved = joint.predict(locations.rows, features, neighbors=neighbors)[0][:, 0]
        step = moved - f, precision * (targets - moved) - pull
        whole = is_near and n_steps == 1  # K⁻¹f is known after it
        share = 1.0 if whole else _share_of_step(responses, likelihood, (f, pull), step)
        f, pull = f + share * step[0], pull + share * step[1]
        change = float(np.abs(step[0]).max())
    return joint, f, n_steps


def _share_of_step(
    responses: Responses,
    likelihood: Likelihood,
    at: tuple[FloatArray, FloatArray],
    step: tuple[FloatArray, FloatArray],
) -> float:
    """Return how much of a step to take: half as much as long as the posterior density falls.

    Newton's method overshoots where counts are far from what the latent values say, and never comes
    back where the prior is wide. Pairs are f and K⁻¹f.
    """

    def log_posterior(share: float) -> float:
        f, pull = (now + share * move for now, move in zip(at, step, strict=True))
        return responses.expansion(likelihood, f)[2] - 0.5 * float(f @ pull)

    before, share = log_posterior(0.0), 1.0
    # Neighbours are not quite a process: a density that hardly falls is not a step too far.
    while share > LEAST_SHARE and not log_posterior(share) > before - SLACK * abs(before):
        share /= 2
    return share


def _with_scale(joint: Joint, scale: float) -> float:
    """Return the log evidence of the pseudo-targets with a scale that is given, not found."""
    n, best = len(joint.residual), float(joint.found.scale[0])
    gained = n * (np.log(scale / best) + best / scale - 1)
    return joint.found.log_evidence - 0.5 * float(gained)
