r"""How sharply rows tell parameters apart: the information that steps of the climb go by.

Row i given its neighbours has the mean :math:`\mu_i = b_i^\top y_N` and the variance
:math:`\sigma^2 v_i`. To first order in the parameters θ its log density curves by

.. math::

    I_i = \frac{\nabla \mu_i \nabla \mu_i^\top}{\sigma^2 v_i}
        + \tfrac12\, \nabla \log v_i\, \nabla \log v_i^\top ,

with :math:`\nabla \mu_i = u^\top (dK\, b^+)_N`, :math:`\nabla v_i = b^{+\top} dK\, b^+` and
:math:`u = (R_{NN} + \eta)^{-1} y_N` (see `weight_gradient`). The scale σ² is profiled out, which
takes the mean of the second gradients away; mean and coefficients count as known.
"""

import numpy as np
from numba import njit

from .._typing import FloatArray
from ..engines.correlation import Correlation
from ..rows.threads import ordered_map
from .covariance import Covariance
from .effort import JUDGED
from .evidence import Evaluation
from .neighborhood import Factors, count_neighbors, gather
from .numerics import BLOCK
from .pairs import NO_EXTRA, Extra
from .sample import Parameters, Sample
from .weight_gradient import kernel_slopes, sides
from .weights import compiled_weights

__all__ = ["information"]


def information(
    sample: Sample,
    correlation: Correlation,
    parameters: Parameters,
    at: Evaluation,
    extra: Extra = NO_EXTRA,
) -> FloatArray:
    """The information in a row, on average, in the order of `Parameters.vector`: [p, p].

    Several targets add up: the products of their means' gradients by one combination of them with
    random signs for each row, which has the same sum on average.

    Parameters
    ----------
    sample, correlation, parameters, extra
        As in `evaluate`.
    at : Evaluation
        What it returned for them.
    """
    found, n_targets = at.found, sample.targets.shape[1]
    # Information only steers, and has a relative error of about 3 %.
    step = -(-len(sample) // JUDGED)
    few = slice(None, None, step)
    by_mean, by_variance = _row_gradients(sample, correlation, parameters, at, extra, few)
    variance = at.whitening.variance[few, None]
    # Columns of one group add up; so do noise and weight, each a group of its own.
    n_groups = len(parameters.log_scales)
    groups = np.append(sample.groups, [n_groups, n_groups + 1])
    collect = np.eye(n_groups + 2)[groups]
    by_mean = (by_mean / np.sqrt(variance)) @ collect
    by_variance = (by_variance / variance) @ collect
    by_variance -= by_variance.mean(axis=0)
    total = (by_mean.T @ by_mean + n_targets / 2 * (by_variance.T @ by_variance)) / len(by_mean)
    # Repeated rows know the noise, and features the ratio, as so many squares know a variance.
    repeats = float(sample.repeated.part(sample.judged).more.sum())
    explained = len(found.root) - float((found.root**2).sum()) / np.exp(parameters.log_ratio)
    total[-2, -2] += n_targets / 2 * repeats / len(sample)
    total[-1, -1] += n_targets / 2 * explained / len(sample)
    return np.asarray(total)


def _row_gradients(
    sample: Sample,
    correlation: Correlation,
    parameters: Parameters,
    at: Evaluation,
    extra: Extra,
    few: slice,
) -> tuple[FloatArray, FloatArray]:
    """∇μ/σ and ∇v of some rows, by columns' length scales, noise and extra weight: [s, d + 2]."""
    found, n_targets = at.found, sample.targets.shape[1]
    points, noise = sample.scaled(parameters), float(np.exp(parameters.log_noise))
    nugget, ratio = noise / sample.weight, float(np.exp(parameters.log_ratio))
    rows, neighbors = sample.judged[few], at.whitening.neighbors[few]
    extra, factors = extra.part(few), at.factors
    if factors is None:
        factors = Factors.room(*neighbors.shape)
        compiled_weights(
            Covariance.of(correlation), points, nugget, points[rows], neighbors, factors,
            extra=extra, extra_weight=ratio,
        )  # fmt: skip
    else:
        factors = factors.part(few)
    coef = np.vstack([-found.mean, np.eye(n_targets), -found.coef])
    residual = sample.columns @ coef / np.sqrt(found.scale)
    signs = np.random.default_rng(0).choice([-1.0, 1.0], (len(rows), n_targets))
    weights = at.whitening.weights[few]
    shape = len(rows), points.shape[1] + 2
    by_mean, by_variance = np.zeros(shape), np.zeros(shape)

    def run(start: int) -> None:
        part = slice(start, start + BLOCK)
        _rows(
            correlation.family, correlation.shape, points, nugget, rows[part], neighbors[part],
            *extra.part(part), ratio, *factors.part(part), weights[part], residual, signs[part],
            by_mean[part], by_variance[part],
        )  # fmt: skip

    for _ in ordered_map(run, range(0, len(rows), BLOCK)):
        pass
    return by_mean, by_variance


@njit(nogil=True, cache=True)
def _rows(  # type: ignore[no-untyped-def]
    family,
    shape,
    points,
    nugget,
    rows,
    neighbors,
    extra_pairs,
    extra_diagonal,
    share,
    extra_weight,
    all_squares,
    all_values,
    all_upper,
    weights,
    residual,
    signs,
    by_mean,
    by_variance,
):
    """IN: all but the last two, for a block of rows. OUT: derivatives."""
    most, d = neighbors.shape[1], points.shape[1]
    n_pairs = most * (most + 1) // 2
    local, slope, product = np.empty((d, most + 1)), np.empty(n_pairs), np.empty(n_pairs)
    left, right, targets = np.empty(most + 1), np.empty(most + 1), np.empty(most)
    for i in range(len(neighbors)):
        m = count_neighbors(neighbors[i])
        members, n_pairs = neighbors[i, :m], m * (m + 1) // 2
        squares, upper = all_squares[i, :n_pairs], all_upper[i]
        gather(points, points[rows[i]], members, local)
        for j in range(m):
            targets[j] = 0.0
            for k in range(signs.shape[1]):
                targets[j] += signs[i, k] * residual[members[j], k]
        sides(upper, m, weights[i], 0.0, targets, left, right)
        for j in range(m):
            by_mean[i, d] += left[j] * right[j] * nugget[members[j]]
            by_variance[i, d] += right[j] * right[j] * nugget[members[j]]
        by_variance[i, d] += nugget[rows[i]]
        if len(extra_pairs):
            _add_extra(
                extra_pairs[i], extra_diagonal[i], extra_weight, left, right, m,
                by_mean[i], by_variance[i],
            )  # fmt: skip
        kernel_slopes(
            family, shape, squares, all_values[i], len(extra_pairs) > 0, share, product, slope
        )
        _add_columns(local, slope, product, left, right, m, by_mean[i], by_variance[i])


@njit(nogil=True, cache=True, fastmath=True)
def _add_extra(  # type: ignore[no-untyped-def]
    pairs, diagonal, weight, left, right, m, by_mean, by_variance
):
    """Add lᵀ E r and rᵀ E r, for the extra covariances E times their weight."""
    mean, variance, first = 0.0, 0.0, 0
    for a in range(m + 1):
        for b in range(a):
            mean += pairs[first + b] * (left[a] * right[b] + left[b] * right[a])
            variance += 2.0 * pairs[first + b] * right[a] * right[b]
        mean += diagonal[a] * left[a] * right[a]
        variance += diagonal[a] * right[a] * right[a]
        first += a
    by_mean[-1] += weight * mean
    by_variance[-1] += weight * variance


@njit(nogil=True, cache=True, fastmath=True)
def _add_columns(  # type: ignore[no-untyped-def]
    local, slope, product, left, right, m, by_mean, by_variance
):
    """Add Σ_{b<a} (l_a r_b + l_b r_a) and 2 r_a r_b, times -f'(ρ)/ρ δ_c², for each column c."""
    first = 0
    for a in range(1, m + 1):
        of_mean, of_variance = slope[first : first + a], product[first : first + a]
        left_a, right_a = left[a], right[a]
        for b in range(a):
            of_variance[b] = 2.0 * of_mean[b] * right_a * right[b]
            of_mean[b] *= left_a * right[b] + left[b] * right_a
        for c in range(len(local)):
            column, x, mean, variance = local[c], local[c, a], 0.0, 0.0
            for b in range(a):
                square = (column[b] - x) * (column[b] - x)
                mean += of_mean[b] * square
                variance += of_variance[b] * square
            by_mean[c] -= mean
            by_variance[c] -= variance
        first += a
