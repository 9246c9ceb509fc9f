"""Generalized linear models on explicit features: counts, amounts, shares, outliers."""

from dataclasses import replace
from operator import add
from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import column_or_1d

from .._typing import Array
from ..features.space import FeatureSpace
from ..likelihoods import Likelihood, as_likelihood
from ..model.blend import BlendStart
from ..model.by_likelihood import ByLikelihood, weights_of
from ..model.folds import check_alpha
from ..model.from_likelihood import FromLikelihood
from ..model.from_local_likelihood import (
    FromLocalLikelihood,
    refit_local_likelihood,
    solve_local_likelihood,
)
from ..model.from_rows import FromRows
from ..model.newton_sums import Expansion, NewtonSums, unpacked
from ..model.start import Start
from ..persistence.checkpoint import Run
from ..rows import Block, Source
from ..rows.array import ArraySource
from ..rows.kept import KEPT_BYTES
from ..rows.kinds import is_many
from ..rows.survey import Survey
from ..selection.choose import Question
from ..selection.records import weighed_records
from . import glm_answers
from .glm_targets import check_stream, pack
from .model_learner import ModelLearner
from .neighbor_kriging import NeighborKriging
from .targets import check_numbers

__all__ = ["KernelGLM"]


class KernelGLM(RegressorMixin, ModelLearner):
    r"""Generalized linear model on explicit features, by Newton's method.

    The response y has a distribution p(y | f) of its own, with the latent function
    f(x) = z(x)ᵀβ + β₀ + offset. The fit minimises

    .. math:: \tfrac12 \sum_i w_i\, d(y_i, f_i) + \tfrac{\alpha}{2} \|\beta\|^2

    with the unit deviance d; β₀ is free. Each step of Newton's method is a pass over the rows, five
    to eight of them, block by block. Laplace's approximation about the mode gives the evidence,
    by which α and the shape of the likelihood are found, and what is not known of f.

    Parameters
    ----------
    likelihood : str or Likelihood, default="poisson"
        ``"poisson"``, ``"negative_binomial"`` (counts; mean exp(f)), ``"gamma"`` (positive amounts;
        mean exp(f)), ``"bernoulli"`` (0 or 1), ``"binomial"`` (successes in known numbers of
        trials; share 1/(1 + e⁻ᶠ)) or ``"student"`` (numbers with outliers; f itself). The shape of
        a likelihood is found by evidence; an object of `zonal.likelihoods`, such as
        ``NegativeBinomial(shape=2.0)``, gives it.
    features : transformer or "auto", default="auto"
        As in `KernelRidge`. Chosen by least squares on linearised responses (the first step of
        Newton's method).
    alpha : float or "evidence", default="evidence"
        The regularisation α.
    local : "auto", NeighborKriging or None, default="auto"
        As in `KernelRidge`.
    encoder, budget, metric, time_limit, random_state, verbose
        As in `KernelRidge`.

    Attributes
    ----------
    likelihood_ : Likelihood
        With its parameters.
    alpha_ : float
        The α used.
    coef_ : ndarray of shape (D,)
        β.
    intercept_ : float
        β₀.
    log_evidence_ : float
        Laplace's approximation.
    n_iter_ : int
        Passes over the rows.
    features_, local_, encoder_, importances_, selection_
        As in `KernelRidge`; importances are those in f.

    Notes
    -----
    `sample_weight` counts rows: a row of weight 2 is two rows. A number as `alpha` is that of
    scikit-learn's GLMs times the sum of the weights (``PoissonRegressor(alpha=a)`` is
    ``alpha=a * n`` here), and 1/C of its LogisticRegression.

    Examples
    --------
    >>> import numpy as np
    >>> import zonal
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-3, 3, (600, 1))
    >>> days = rng.integers(1, 30, 600)
    >>> y = rng.poisson(days * np.exp(np.sin(X[:, 0])))
    >>> model = zonal.KernelGLM("poisson", budget=64, random_state=0).fit(X, y, exposure=days)
    >>> rate = model.predict(X)  # for an exposure of one
    >>> bool(np.abs(np.log(rate) - np.sin(X[:, 0])).mean() < 0.05)
    True
    """

    _local_class = NeighborKriging
    # What is observed, while a choice looks at it; and candidates until all rows are fitted.
    _observed_: Block | None = None
    _others_: tuple[Start, ...] = ()

    def __init__(
        self,
        likelihood: Any = "poisson",
        features: Any = "auto",
        alpha: float | str = "evidence",
        *,
        local: Any = "auto",
        encoder: Any = "auto",
        budget: int = 1024,
        metric: bool = True,
        time_limit: float | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.likelihood = likelihood
        self.features = features
        self.alpha = alpha
        self.local = local
        self.encoder = encoder
        self.budget = budget
        self.metric = metric
        self.time_limit = time_limit
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        offset: Any = None,
        exposure: Any = None,
        trials: Any = None,
    ) -> Self:
        """Fit to all rows.

        Parameters
        ----------
        X : {array-like, CSR matrix, frame} of shape (n_samples, n_features)
            Rows; or a Dask array or frame; or blocks (X, y) of rows, from `zonal.stream`. They are
            walked over several times: an iterator must fit into memory.
        y : array-like of shape (n_samples,)
            Responses, unless X yields them. A stream may yield y of shape (n, 3): response, offset,
            trials.
        sample_weight : array-like of shape (n_samples,), optional
            How many rows each row counts for.
        offset : array-like of shape (n_samples,), optional
            Added to f, with the coefficient one.
        exposure : array-like of shape (n_samples,), optional
            What counts or amounts are in proportion to (days, areas, people): their means are
            exposure · exp(f).
        trials : array-like of shape (n_samples,), optional
            Of how many trials y is the number of successes, for ``"binomial"``.

        Returns
        -------
        self
        """
        likelihood = as_likelihood(self.likelihood)
        if y is not None and not is_many(X):
            y = column_or_1d(y, warn=True)
        given = {"offset": offset, "exposure": exposure, "trials": trials}
        if y is None and is_many(X):
            check_stream(given)
        elif any(v is not None for v in given.values()) or likelihood.name == "binomial":
            y = pack(likelihood, y, **given)
        return self._fit(X, y, sample_weight)

    predict = glm_answers.predict
    predict_std = glm_answers.predict_std
    predict_quantiles = glm_answers.predict_quantiles
    predict_interval = glm_answers.predict_interval
    score = glm_answers.score
    log_density = glm_answers.log_density

    @property
    def likelihood_(self) -> Likelihood:
        """The likelihood with its parameters."""
        found: Likelihood = self._solution.likelihood
        return found

    @property
    def log_evidence_(self) -> float:
        """Laplace's approximation of the log evidence."""
        return float(self._solution.log_evidence)

    @property
    def n_iter_(self) -> int:
        """Passes over the rows."""
        return int(self._solution.n_passes)

    # The fit.

    def _check_parameters(self) -> None:
        as_likelihood(self.likelihood)
        check_alpha(self.alpha, "evidence")
        super()._check_parameters()

    def _merges_copies(self, groups: Any = None, **options: Any) -> bool:
        return False

    def _check_y(self, y: Any) -> Array:
        """Return packed responses [n, 3]."""
        likelihood = as_likelihood(self.likelihood)
        found = check_numbers(y, type(self).__name__)
        if found.ndim == 1:
            return pack(likelihood, found)
        if found.shape[1] != 3:
            raise ValueError(
                f"y has {found.shape[1]} columns: KernelGLM takes one response; a stream may yield "
                "three columns (response, offset, trials)."
            )
        return found

    def _checked(self, block: Block, *, first: bool) -> Block:
        found = super()._checked(block, first=first)
        as_likelihood(self.likelihood).check(found.y[:, 0], found.start)
        return found

    def _open(self, X: Any, y: Any, weight: Any, resumable: bool = False, **options: Any) -> Source:
        source = super()._open(X, y, weight, resumable, **options)
        if not source.once:
            return source
        held = source.hold(KEPT_BYTES)
        if held is None:
            raise ValueError(
                "KernelGLM walks over the rows several times, but an iterator of more than "
                f"{KEPT_BYTES >> 30} GB can be walked over once: pass zonal.stream(...), a memory "
                "map or Dask, which can be read again."
            )
        return self._held(held)

    def _read(self, block: Block, survey: Survey, source: Source | None) -> dict[str, Any]:
        return super()._read(self._linearised(block), survey, source)

    def _linearised(self, block: Block) -> Block:
        """Return rows with targets and weights by which features are chosen."""
        observed, offset = unpacked(block.y)
        weight = weights_of(block)
        likelihood = as_likelihood(self.likelihood).started(observed, weight)
        level = likelihood.level(observed, offset, weight)
        targets, precision = likelihood.linearised(observed, offset, level)
        even = np.ptp(precision) <= 1e-12 * precision.max() and block.weight is None
        return replace(block, y=targets, weight=None if even else weight * precision)

    def _question(self, *args: Any) -> Question:
        return replace(super()._question(*args), observed=self._observed_)

    @property
    def _latent(self) -> ByLikelihood:  # type: ignore[override]
        return ByLikelihood(as_likelihood(self.likelihood))

    def _learn(self, survey: Survey, **options: Any) -> Any:
        given = Block(*survey.sample[1:])
        if survey.whole:
            likelihood = as_likelihood(self.likelihood)
            likelihood.check_all(unpacked(given.y)[0], weights_of(given))
        rows = self._linearised(given)
        self._observed_ = Block(None, given.y, given.weight)
        sample = survey.sample._replace(y=rows.y, weight=rows.weight)
        super()._learn(survey._replace(sample=sample), **options)
        self._observed_, self._others_ = None, ()
        if isinstance(self._start_, BlendStart):  # the evidence will decide
            self._start_, *others = self._start_.parts
            self._others_ = tuple(others)
        if self._start_.recipe.local is not None:
            return None
        return self._how.start(FeatureSpace(self.features_, self.n_columns_), given)

    @property
    def _how(self) -> ByLikelihood:
        """How features are fitted."""
        return replace(self._latent, alpha=None if isinstance(self.alpha, str) else self.alpha)

    def _reduce(self, source: Source, resume: Run | None, learnt: Any) -> None:
        own, others, self._others_ = self._start_, self._others_, ()
        fits: list[Any] = []
        for other in others:  # features of columns, where the choice has seen all rows
            assert isinstance(source, ArraySource)
            assert other.summation is not None
            fits.append(self._how.on_rows(other.summation.space, source.block))
        rival = max((fit.log_evidence for fit in fits), default=-np.inf)
        if learnt is None:
            fits.insert(0, self._with_local_part(source, rival))
        else:
            start, missing = learnt
            fits.insert(0, self._how.fitted(start, source, self._walked, missing))
        evidence = [-np.inf if fit is None else fit.log_evidence for fit in fits]
        best = int(np.argmax(evidence))
        self._solution_, self._sums_ = fits[best], None
        if others:
            starts, weights = (own, *others), np.eye(len(fits))[best]
            records = weighed_records(own.recipe.records, starts, weights.tolist())
            recipe = replace(starts[best].recipe, records=records)
            self._start_ = replace(starts[best], recipe=recipe)

    def _walked(self, source: Source, where: Expansion) -> NewtonSums:
        """Return the sums of a pass over all rows."""
        found: NewtonSums = self._walk(source, where.sums, add)
        return found

    def _with_local_part(self, source: Source, rival: float) -> FromLocalLikelihood | None:
        """Fit with a local part, to rows that are all here; None if it cannot beat a rival."""
        if not isinstance(source, ArraySource):  # `_open` has held what fits into memory
            raise ValueError(
                f"A local part keeps all rows, which take more than {KEPT_BYTES >> 30} GB: use "
                "local=None."
            )
        held = source.block
        start, linearised = self._start_, self._linearised(held)
        linear = start.solved(start.sums(linearised), self.verbose)
        assert isinstance(linear, FromRows)
        rows = replace(held, X=linear.local_rows(held.X))
        local = start.recipe.local
        assert local is not None
        likelihood = as_likelihood(self.likelihood)
        started = likelihood.started(unpacked(held.y)[0], weights_of(held))
        return solve_local_likelihood(
            linear, rows, started, likelihood.unknown, local.kernel is None, local.seed, rival
        )

    def _refit(self, block: Block, start: Start | BlendStart) -> Self:
        """Refit with all that was found, but the coefficients or the rows of a local part."""
        known = self._solution_
        block = self._checked(block, first=False)
        self._cells_ = self._cells_.refitted(self._linearised(block))
        self._start_ = start.with_cells(self._cells_)
        block = self._prepared(block)
        if isinstance(known, FromLikelihood):
            how = ByLikelihood(known.likelihood, known.alpha)
            self._solution_ = how.on_rows(known.space, block)
        else:
            rows = replace(block, X=known.rows.local_rows(block.X))
            self._solution_ = refit_local_likelihood(known, rows, 0)
        self._sums_, self.n_rows_ = None, len(block)
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = (
            getattr(self.likelihood, "name", self.likelihood) != "student"
        )
        return tags
