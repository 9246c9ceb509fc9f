"""The evidence of an ANOVA kernel."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

import zonal
from zonal.model.anova_kernel import (
    Linearised,
    Shape,
    anova_kernel,
    kernel_evidence,
    landmarks_of,
)
from zonal.model.log_loss import LogLoss
from zonal.rows import Block

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 3))
LENGTH, WEIGHT, VARIANCE = np.array([1.0, 2.0, 4.0]), np.array([0.5, 1.0, 2.0]), 3.0
LOGS = np.log(np.concatenate([LENGTH, WEIGHT, [VARIANCE]]))
SHAPE = Shape.of(X)
# Two columns of numbers and two of levels.
MIXED = np.column_stack([X[:, :1], RNG.integers(0, 3, (60, 2)), X[:, 1:2]])
MIXED_LOGS = np.append(Shape.of(MIXED).start(), np.log(VARIANCE))


def linearised(landmarks, n_latent=1, rows=X):
    h, targets = RNG.uniform(0.05, 0.25, len(X)), RNG.standard_normal((len(X), n_latent))
    return Linearised(Shape.of(rows), rows, landmarks, targets, h, n_latent)


def test_with_all_rows_as_landmarks_it_is_that_of_kriging():
    known = linearised(X)
    noise = 1 / known.precision
    K = VARIANCE * zonal.Anova(LENGTH, WEIGHT)(X)
    density = multivariate_normal(cov=K + np.diag(noise)).logpdf(known.targets[:, 0])
    # What does not depend on the kernel is left out.
    constant = multivariate_normal(cov=np.diag(noise)).logpdf(known.targets[:, 0])
    assert kernel_evidence(known, LOGS)[0] == pytest.approx(density - constant, abs=1e-3)


def test_columns_of_levels_are_those_of_the_kernel():
    known, shape = linearised(MIXED, rows=MIXED), Shape.of(MIXED)
    kernel = shape.kernel(MIXED_LOGS[:-1])
    np.testing.assert_array_equal(kernel.weight[1:3], 0)
    assert len(kernel.levels) == 6
    noise = np.diag(1 / known.precision)
    density = multivariate_normal(cov=VARIANCE * kernel(MIXED) + noise).logpdf(known.targets[:, 0])
    constant = multivariate_normal(cov=noise).logpdf(known.targets[:, 0])
    assert kernel_evidence(known, MIXED_LOGS)[0] == pytest.approx(density - constant, abs=1e-3)


def test_levels_have_no_order():
    """The middle one of three values is unlike both others."""
    rows = RNG.integers(0, 3, (1200, 6)).astype(float)
    labels = ((rows[:, 0] == 1) ^ (rows[:, 1] == 1)).astype(int)
    kernel = anova_kernel(LogLoss.of(labels), Block(rows, labels))
    column, value, counts = kernel.levels.T
    middle = counts[(value == 1) & (column < 2)]
    assert middle.min() > 3 * counts[(value != 1) & (column < 2)].max()
    assert middle.min() > 3 * counts[column > 1].max()


def test_with_fewer_landmarks_it_is_a_lower_bound():
    known = linearised(X)
    full = kernel_evidence(known, LOGS)[0]
    few = Linearised(SHAPE, X, X[:15], known.targets, known.precision, 1)
    assert kernel_evidence(few, LOGS)[0] < full


@pytest.mark.parametrize(
    ("rows", "logs", "n_latent"),
    [
        (X, LOGS, 1),
        (X, LOGS, 2),
        (MIXED, MIXED_LOGS, 2),
        (MIXED[:, 1:3], np.log([0.3, 0.5, 0.2, 0.4, 0.1, 0.6, VARIANCE]), 1),
    ],
)
def test_its_gradient_is_that_of_differences(rows, logs, n_latent):
    known, step = linearised(rows[:15], n_latent, rows), 1e-5
    slope = kernel_evidence(known, logs)[1]
    for j, move in enumerate(step * np.eye(len(logs))):
        above, below = (kernel_evidence(known, logs + s * move)[0] for s in (1, -1))
        assert slope[j] == pytest.approx((above - below) / (2 * step), rel=1e-4, abs=1e-5)


def test_a_kernel_of_interactions_tells_more_than_one_of_the_distance():
    """Of eight columns two pairs count."""
    rows = RNG.standard_normal((1600, 8))
    f = 2 * np.sin(2 * rows[:, 0]) * rows[:, 1] + np.abs(rows[:, 2]) - 0.8
    labels = (f + RNG.logistic(size=1600) / 2 > 0).astype(int)
    known, how = Block(rows[:800], labels[:800]), LogLoss.of(labels)
    kernel = anova_kernel(how, known)
    counted = kernel.weight / kernel.length_scale
    assert counted[3:].max() < counted[:3].min()

    def loss(own):
        fit = how.on_rows(landmarks_of(own, known.X), known)
        chances = fit.calibrated.probabilities(fit.averaged(rows[800:]))
        return -np.log(chances[np.arange(800), labels[800:]]).mean()

    assert loss(kernel) < 0.9 * loss(zonal.Matern(1.5, "median"))


def test_its_gradient_holds_where_the_prior_is_wide():
    """With a variance of 1e6 and long scales the matrices alone have no digit of their inverses."""
    known, step = linearised(X[:15]), 1e-4
    logs = LOGS + np.concatenate([np.full(3, 3.0), np.full(3, -2.0), [np.log(1e6)]])
    slope = kernel_evidence(known, logs)[1]
    for j, move in enumerate(step * np.eye(len(logs))):
        above, below = (kernel_evidence(known, logs + s * move)[0] for s in (1, -1))
        assert slope[j] == pytest.approx((above - below) / (2 * step), rel=1e-3, abs=1e-3)


def test_a_row_far_from_all_others_does_not_stop_the_search():
    """Length scales stay so long that no exponential is zero."""
    rows = RNG.standard_normal((300, 2))
    labels = np.sin(40 * rows[:, 0]) > 0
    rows[0] = 3000.0
    assert np.isfinite(anova_kernel(LogLoss.of(labels), Block(rows, labels)).length_scale).all()


def test_columns_of_four_values_are_numbers():
    """Three numbers u give three levels any distances; the six of four levels need an order."""
    rows = np.column_stack([np.arange(12) % k for k in (1, 2, 3, 4)]).astype(float)
    shape = Shape.of(rows)
    np.testing.assert_array_equal(np.unique(shape.levels.column), [1, 2])
    np.testing.assert_array_equal(shape.numbers, [0, 3])
