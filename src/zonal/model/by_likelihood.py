r"""Features fitted by a likelihood, by Newton's method.

Left out of the fit, row i would have (to second order, about the mode)

.. math:: f_{-i} = f_i - \frac{\ell_i}{1 - h_i \ell_i}\, g_i, \qquad
    v_{-i} = \frac{\varphi\, \ell_i}{1 - h_i \ell_i},

with the leverage ℓ, the slope g and the curvature h.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .._typing import FloatArray
from ..features.space import FeatureSpace
from ..likelihoods import Likelihood
from ..rows import LEARN_ROWS, Block, Source, sample_rows
from ..rows.array import ArraySource
from ..rows.block import take
from .anova_kernel import Pseudo
from .feature_calibration import MOST_LEVERAGE, copies_of
from .from_likelihood import FromLikelihood
from .kept_features import with_features
from .newton import find_mode
from .newton_sums import Expansion, NewtonSums, unpacked
from .ridge_posterior import left_out

__all__ = ["ByLikelihood", "weights_of"]

# The least curvature of pseudo-targets, as a share of the largest.
LEAST_CURVATURE = 1e-6


def _on_block(source: Source, where: Expansion) -> NewtonSums:
    assert isinstance(source, ArraySource)
    return where.sums(source.block)


def weights_of(rows: Block) -> FloatArray:
    """Return the weights of rows: [n]."""
    return np.ones(len(rows)) if rows.weight is None else np.asarray(rows.weight, np.float64)


@dataclass(frozen=True)
class ByLikelihood:
    """How features are fitted.

    Attributes
    ----------
    likelihood : Likelihood
        What is not known of it is found by evidence.
    alpha : float or None
        None: by evidence.
    """

    likelihood: Likelihood
    alpha: float | None = None

    def start(self, space: FeatureSpace, sample: Block) -> tuple[Expansion, float]:
        """Return where the first pass is, and the largest variance that the features leave out.

        Parameters
        ----------
        space : FeatureSpace
        sample : Block
            Rows with packed responses, some or all of them.
        """
        observed, offset = unpacked(sample.y)
        weight = weights_of(sample)
        likelihood = self.likelihood.started(observed, weight)
        level = likelihood.level(observed, offset, weight)
        counting = np.flatnonzero(weight > 0)
        some = take(sample.X, counting[sample_rows(len(counting), LEARN_ROWS)])
        start = Expansion(space.features, space.mean(sample.X), likelihood, None, level)
        return start, left_out(space, some)

    def fitted(
        self,
        start: Expansion,
        source: Source,
        walk: Callable[[Source, Expansion], NewtonSums],
        missing: float,
    ) -> FromLikelihood:
        """Fit to all rows, a pass for each step.

        Parameters
        ----------
        start : Expansion
        source : Source
            All rows; in memory, their features are kept if there is room.
        walk : callable
            Sums over the rows of a source.
        missing : float
            The largest variance that the features leave out of the kernel, at rows.
        """
        space, rotation = start.space, None
        if isinstance(source, ArraySource) and space.thread_safe:
            source, start, rotation = with_features(source.block, start)
        mode = find_mode(
            lambda where: walk(source, where), start, self.alpha, self.likelihood.unknown
        )
        return FromLikelihood.of(space, mode if rotation is None else rotation.undo(mode), missing)

    def on_rows(self, space: FeatureSpace, rows: Block) -> FromLikelihood:
        """Fit to rows in memory."""
        start, missing = self.start(space, rows)
        return self.fitted(start, ArraySource(rows), _on_block, missing)

    def pseudo(self, space: FeatureSpace, rows: Block) -> Pseudo:
        """Fit to rows in memory, and say what the fit says of them."""
        found = self.on_rows(space, rows)
        likelihood, phi = found.likelihood, found.likelihood.dispersion
        observed, offset = unpacked(rows.y)
        weight = weights_of(rows)
        mean, variance = found.latent(rows.X)
        g, h = likelihood.derivatives(observed, mean + offset)
        leverage = variance / phi
        copies = copies_of(np.column_stack([leverage, mean, rows.y]))
        together = np.bincount(copies, weight)[copies]
        kept = 1 - np.minimum(together * h * leverage, MOST_LEVERAGE)
        moved = mean + offset - together * leverage / kept * g
        loss = likelihood.log_predictive(observed, moved, variance / kept)
        h = np.maximum(h, LEAST_CURVATURE * h.max())
        targets = mean - found.intercept[0] + g / h
        return Pseudo(
            targets[:, None],
            weight * h / phi,
            phi / found.alpha,
            1,
            -float(np.average(loss, weights=weight)),
        )
