"""What must be true of every case: `PROPERTIES`, which the tests and `make fuzz` both try.

Two ways of computing the same thing may differ by rounding, and how much that is depends on the
case. The yardstick is what happens to the answer when every input is changed by its own rounding:
`unstable` measures it, and a case whose answer changes by more than a tenth shows nothing.
"""

import re
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numba
import numpy as np
import scipy.sparse as sp
from hypothesis import strategies as st
from sklearn.base import clone
from threadpoolctl import threadpool_limits

import zonal
from zonal.rows import threads

from . import altered, cases
from .cases import LearnerCase, MapCase, Table

# What may be refused, in words that say so; any other error is a failure.
REFUSALS = re.compile(
    r"overflow|beyond the range of numbers|at least 2 classes|not zero at all rows"
    r"|No column is left to learn from|n_radial=1 is too small"
)


class ShowsNothingError(Exception):
    """A case that the property says nothing about: it was refused, or is all rounding."""


@dataclass(frozen=True)
class Property:
    """A property and the cases it is for.

    Attributes
    ----------
    check : callable
        What raises an error for a case that does not have it.
    drawn : SearchStrategy
        The cases.
    quick : int
        How many of them every run of the tests tries.
    automatic : bool
        Whether the learners choose their features, which takes about a second each time.
    """

    check: Callable[[Any], None]
    drawn: Any
    quick: int
    automatic: bool

    @property
    def name(self) -> str:
        return self.automatic * "automatic: " + self.check.__name__


PROPERTIES: list[Property] = []


def holds(
    drawn: Any, quick: int, automatic: bool = False
) -> Callable[[Callable[[Any], None]], Callable[[Any], None]]:
    """Register a property of the cases that a strategy draws."""

    def register(check: Callable[[Any], None]) -> Callable[[Any], None]:
        PROPERTIES.append(Property(check, drawn, quick, automatic))
        return check

    return register


@contextmanager
def refusals() -> Iterator[None]:
    """Let cases be refused in words, and nothing warn of invalid values."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", RuntimeWarning)
        try:
            yield
        except ValueError as error:
            if REFUSALS.search(str(error)):
                raise ShowsNothingError("refused") from error
            raise


def try_one(check: Callable[[Any], None], case: Any) -> None:
    with refusals():
        check(case)


def answer(model: Any, X: Any) -> np.ndarray:
    """Return what a fitted map or learner says of rows, as one matrix of numbers."""
    if hasattr(model, "predict_proba"):
        found = model.predict_proba(X)
    elif isinstance(model, zonal.KernelKMeans) or not hasattr(model, "predict"):
        found = model.transform(X)
    else:
        found = model.predict(X)
    found = found[0] if isinstance(found, tuple) else found
    found = found.toarray() if sp.issparse(found) else np.asarray(found)
    return found.reshape(len(found), -1)


def refitted(model: Any, X: Any) -> np.ndarray:
    """Return the answers that two fits share: of a map Z Zᵀ, since Z may be turned."""
    found = answer(model, X)
    return (
        found if hasattr(model, "features") or not hasattr(model, "transform") else found @ found.T
    )


def fit(case: Any, X: Any = None, y: Any = None, **kwargs: Any) -> Any:
    X = case.rows.make() if X is None else X
    if isinstance(case, MapCase):
        return clone(case.features).fit(X, **kwargs)
    return clone(case.learner).fit(X, case.y if y is None else y, **kwargs)


def moved(X: Any) -> Any:
    """Return rows with every number changed by a few units of its last digit."""
    values = X.data if sp.issparse(X) else X
    signs = np.random.default_rng(7).choice([-4, 4], values.shape)
    values = values * (1 + signs * np.finfo(X.dtype).eps).astype(X.dtype)
    return sp.csr_array((values, X.indices, X.indptr), X.shape) if sp.issparse(X) else values


def unstable(case: Any, model: Any, X: Any, refit: bool, **kwargs: Any) -> float:
    """Return how far rounding moves the answers, by which two ways may differ."""
    refit = refit and not case.automatic
    said = refitted if refit else answer
    before = said(model, X)
    after = said(fit(case, moved(X), **kwargs) if refit else model, moved(X))
    size = np.abs(before).max(initial=0) + np.finfo(float).tiny
    eps = np.finfo(before.dtype).eps
    error = 64 * (np.abs(after - before).max(initial=0) + 16 * eps * size)
    if case.automatic:  # other rows may be another choice, but the same rows are not
        error += np.sqrt(eps) * size
    if isinstance(model, zonal.NystroemFeatures):
        error += 64 * np.sqrt(eps) * size  # the square root of K loses half the digits
    if isinstance(model, zonal.KernelKMeans):  # a distance is the root of a difference
        size = max(size, np.abs(model.cluster_centers_).max())
        error += 64 * np.sqrt(eps) * size
    if getattr(model, "noise", None) in ("evidence", "auto"):
        error += 1e-5 * size  # where the search for it ends
    if not error < 0.1 * size:
        raise ShowsNothingError("all rounding")
    return float(error)


def same(found: Any, expected: Any, tolerance: float = 0.0) -> None:
    """Compare; without a tolerance, to the last bit."""
    if tolerance == 0:
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)
    else:
        np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance)


ANY = st.one_of(cases.map_cases(), cases.learner_cases())
LEARNT_ALIKE = cases.map_cases(cases.UNORDERED)
FIXED_ALPHA = cases.learner_cases(
    ("ridge", "process", "components", "exact"),
    features=lambda on: cases.maps(on, cases.UNORDERED),
    alphas=[1e-2, 1.0],
)
AUTOMATIC = cases.automatic_cases()


@holds(cases.map_cases(), quick=40)
def features_are_finite(case: MapCase) -> None:
    X = case.rows.make()
    model = fit(case, X)
    Z = answer(model, X)
    assert np.isfinite(Z).all(), "not finite"
    assert Z.dtype == case.rows.dtype
    assert 1 <= Z.shape[1] <= case.features.n_components
    assert len(model.get_feature_names_out()) == Z.shape[1]


@holds(cases.learner_cases(), quick=25)
@holds(AUTOMATIC, quick=2, automatic=True)
def predictions_are_finite(case: LearnerCase) -> None:
    model = fit(case)
    found = answer(model, case.rows.make(n=40, seed=1))
    assert np.isfinite(found).all(), "not finite"
    if isinstance(case.learner, zonal.GaussianProcess | zonal.NeighborKriging):
        assert (model.predict(case.rows.make(), return_std=True)[1] >= 0).all()
    if isinstance(case.learner, zonal.KernelRidgeClassifier):
        assert found.min() >= 0
        np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-5)
        assert set(model.predict(case.rows.make())) <= set(case.y)


@holds(ANY, quick=20)
@holds(AUTOMATIC, quick=1, automatic=True)
def a_row_alone_has_its_answer(case: Any) -> None:
    X = case.rows.make()
    model = fit(case, X)
    tolerance = unstable(case, model, X, refit=False)
    whole = answer(model, X)
    for i in {0, case.rows.n // 2, case.rows.n - 1}:
        same(answer(model, X[i : i + 1]), whole[i : i + 1], tolerance)
    same(answer(model, X[::-1]), whole[::-1], tolerance)


@holds(ANY, quick=15)
def layouts_do_not_matter(case: Any) -> None:
    X = case.rows.make()
    model = fit(case, X)
    tolerance = unstable(case, model, X, refit=True)
    whole = refitted(model, X)
    dense = case.rows.dense()
    for layout in cases.LAYOUTS:
        if layout == "csr" and isinstance(case, LearnerCase):
            continue  # local parts take dense rows only
        again = cases.laid_out(dense, layout)
        same(refitted(model, again), whole, tolerance)
        if (layout == "csr") == (case.rows.layout == "csr"):  # sparse rows are not centred
            same(refitted(fit(case, again), X), whole, tolerance)


@holds(st.one_of(LEARNT_ALIKE, FIXED_ALPHA), quick=15)
def the_order_of_rows_does_not_matter(case: Any) -> None:
    X = case.rows.make()
    model = fit(case, X)
    tolerance = unstable(case, model, X, refit=True)
    order = np.random.default_rng(3).permutation(case.rows.n)
    y = case.y[order] if isinstance(case, LearnerCase) and case.y is not None else None
    again = fit(case, X[order], y)
    components = isinstance(getattr(case, "learner", None), zonal.KernelPCA)
    found, whole = refitted(again, X), refitted(model, X)
    if components:  # whose sign is that of the largest entry, of which there may be two
        found, whole = np.abs(found), np.abs(whole)
    same(found, whole, tolerance)


@holds(st.one_of(cases.map_cases(cases.UNORDERED, n=st.integers(2, 300)), FIXED_ALPHA), quick=15)
def a_weight_of_two_is_two_rows(case: Any) -> None:
    if isinstance(getattr(case, "learner", None), zonal.KernelPCA | zonal.ExactKernelRidge):
        raise ShowsNothingError("takes no weights")
    X = case.rows.make()
    weight = np.random.default_rng(3).integers(0, 3, case.rows.n).astype(float)
    weight[:2] = 2, 1  # one row alone says nothing of the norms of others
    model = fit(case, X, sample_weight=weight)
    tolerance = unstable(case, model, X, refit=True, sample_weight=weight)
    each = np.repeat(np.arange(case.rows.n), weight.astype(int))
    y = case.y[each] if isinstance(case, LearnerCase) else None
    same(refitted(fit(case, X[each], y), X), refitted(model, X), tolerance)


@holds(
    cases.learner_cases(
        ("ridge", "classifier", "process"),
        features=lambda on: st.builds(
            cases.oblivious, st.just(on), st.integers(1, 64), st.integers(0, 99)
        ),
        layouts=cases.LAYOUTS[:3],
    ),
    quick=15,
)
@holds(AUTOMATIC, quick=1, automatic=True)
def chunks_do_not_matter(case: LearnerCase) -> None:
    X, y = case.rows.make(), case.y
    model = fit(case, X)
    tolerance = unstable(case, model, X, refit=True)
    cuts = np.sort(np.random.default_rng(5).integers(1, case.rows.n, 3))
    parts = [part for part in np.split(np.arange(case.rows.n), cuts) if len(part)]
    streamed = clone(case.learner).fit((X[part], y[part]) for part in parts)
    same(answer(streamed, X), answer(model, X), tolerance)
    if case.learner.local is not None:
        return  # it keeps its rows
    stepwise = clone(case.learner)
    given = {"classes": np.unique(y)} if hasattr(stepwise, "predict_proba") else {}
    for part in parts:
        stepwise.partial_fit(X[part], y[part], **given)
    if given:  # rows that are seen once have the squared loss
        model = clone(case.learner).set_params(loss="squared").fit(X, y)
    same(answer(stepwise, X), answer(model, X), tolerance)


@holds(cases.learner_cases(("ridge", "kriging")), quick=12)
@holds(cases.automatic_cases(("ridge", "process")), quick=1, automatic=True)
def predictions_follow_the_units_of_the_target(case: LearnerCase) -> None:
    X, y = case.rows.make(), case.y
    model = fit(case, X)
    tolerance = unstable(case, model, X, refit=True)
    whole = answer(model, X)
    for factor, shift in ((-1024.0, 0.0), (2.0, -3.0)):
        found = answer(fit(case, X, factor * y + shift), X)
        # The shift takes digits away from the target.
        same((found - shift) / factor, whole, tolerance * (1 + abs(shift)))


@holds(ANY, quick=12)
@holds(AUTOMATIC, quick=1, automatic=True)
def threads_do_not_matter(case: Any) -> None:
    X = case.rows.make()
    before, size = numba.get_num_threads(), threads.BLOCK_SIZE
    found = []
    try:
        threads.BLOCK_SIZE = 1 << 10  # so that there are blocks for several threads
        for count in (1, min(2, numba.config.NUMBA_NUM_THREADS)):
            numba.set_num_threads(count)
            with threadpool_limits(count):
                found.append(fit(case, X))
        tolerance = unstable(case, found[0], X, refit=True)
        same(refitted(found[1], X), refitted(found[0], X), tolerance)
    finally:
        threads.BLOCK_SIZE = size
        numba.set_num_threads(before)


@holds(ANY, quick=30)
@holds(AUTOMATIC, quick=1, automatic=True)
def saved_and_loaded_to_the_last_bit(case: Any) -> None:
    X = case.rows.make()
    model = fit(case, X)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.zonal"
        zonal.save(model, path)
        functions = {"cauchy": cases.cauchy} if "cauchy" in repr(case) else None
        again = zonal.load(path, functions)
    same(answer(again, X), answer(model, X))


@holds(cases.map_cases((zonal.HarmonicFeatures, zonal.FourierFeatures)), quick=20)
def features_do_not_exceed_the_kernel(case: MapCase) -> None:
    X = case.rows.make()
    model = fit(case, X)
    Z = answer(model, X).astype(float)
    diagonal = np.asarray(model.kernel_diag(X), float)
    slack = 100 * np.sqrt(np.finfo(case.rows.dtype).eps) * diagonal.max()
    squares = np.square(Z).sum(axis=1)
    if isinstance(model, zonal.FourierFeatures):
        if case.features.n_components % 2 == 0:
            np.testing.assert_allclose(squares, diagonal, atol=slack)
        return
    assert (squares <= diagonal + slack).all(), (squares - diagonal).max() / diagonal.max()


@holds(
    cases.map_cases(
        (zonal.NystroemFeatures,), n=st.integers(1, 40), dim=st.integers(1, 10), most=4
    ),
    quick=20,
)
def all_rows_as_landmarks_are_the_kernel(case: MapCase) -> None:
    X = case.rows.make()
    model = clone(case.features).set_params(n_components=case.rows.n).fit(X)
    Z = answer(model, X).astype(float)
    K = np.asarray(model.kernel_(X), float)
    size = np.abs(K).max()
    eps = np.finfo(case.rows.dtype).eps
    # An angle near zero, and so an arc-cosine kernel near its diagonal, has half the digits.
    angles = re.search("ArcCosine|NTK", repr(case.features))
    lost = 30 * np.sqrt(eps) if angles else 1e3 * case.rows.n * eps
    np.testing.assert_allclose(Z @ Z.T / size, K / size, rtol=0, atol=min(lost, 0.05))


@holds(
    cases.learner_cases(("ridge", "process", "kriging"), n=st.integers(12, 120), most=3), quick=12
)
@holds(cases.automatic_cases(("ridge", "process")), quick=1, automatic=True)
def intervals_are_ordered_and_nested(case: LearnerCase) -> None:
    model, new = fit(case), case.rows.make(n=30, seed=1)
    if not hasattr(model, "predict_interval"):
        raise ShowsNothingError("has no intervals")
    before = None
    for coverage in (0.3, 0.8, 0.9, 0.99):
        lower, upper = model.predict_interval(new, coverage=coverage)
        assert not np.isnan([lower, upper]).any()
        assert (lower <= upper).all()
        if before is not None:
            assert (lower <= before[0]).all()
            assert (upper >= before[1]).all()
        before = lower, upper
    quantiles = model.predict_quantiles(new, [0.05, 0.5, 0.95])
    assert (np.diff(quantiles, axis=1) >= 0).all()


@holds(cases.learner_cases(("classifier",), n=st.integers(12, 120), most=3), quick=8)
def sets_of_classes_are_nested(case: LearnerCase) -> None:
    model, new = fit(case), case.rows.make(n=30, seed=1)
    narrow, wide = (model.predict_set(new, coverage=level) for level in (0.6, 0.95))
    assert (narrow <= wide).all()


@holds(cases.tables(), quick=30)
def encoders_are_finite_and_saved(case: Table) -> None:
    X = case.make()
    encoder = clone(case.encoder).fit(X, case.y)
    Z = np.asarray(encoder.transform(X))
    assert np.isfinite(Z).all()
    assert len(encoder.get_feature_names_out()) == Z.shape[1]
    size = 1e-12 * (1 + np.abs(Z).max(initial=0))
    for i in (0, case.n - 1):
        alone = X.iloc[[i]] if hasattr(X, "iloc") else X[[i]]
        same(np.asarray(encoder.transform(alone)), Z[[i]], size)
    with tempfile.TemporaryDirectory() as folder:
        zonal.save(encoder, Path(folder) / "encoder.zonal")
        again = zonal.load(Path(folder) / "encoder.zonal")
    same(np.asarray(again.transform(X)), Z)


@holds(altered.CASES, quick=15)
def altered_files_do_no_harm(case: altered.Altered) -> None:
    found = altered.problem(case)
    assert found is None, found


@holds(cases.tables((zonal.TableEncoder(),)), quick=12)
def tables_are_learnt(case: Table) -> None:
    X, y = case.make(), case.y
    features = zonal.FourierFeatures(zonal.Gaussian(3.0), 16, random_state=0)
    model = zonal.KernelRidge(features, 1.0, local=None, encoder=case.encoder, target=None)
    model.fit(X, y)
    found = model.predict(X)
    assert np.isfinite(found).all()
    same(model.predict(X.iloc[::-1])[::-1], found, 1e-9 * (1 + np.abs(found).max()))
    again = clone(model).fit(X, 4 * y + 3)
    same((again.predict(X) - 3) / 4, found, 1e-7 * (1 + np.abs(found).max()))
