"""The training of classes: one spec, or the one of several alternatives of the least log loss of held-out rows.

A fold's rows are predicted by what is learned from the other rows: see `fold_fits`. The alternative of the smallest
mean log loss is taken, at the temperature fitted to the same rows, and fitted to all rows to its end. One with linear
columns is taken only where it is clearly better.
"""

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from relevance_bayes.core.errors import DataError, NotPositiveDefiniteError
from relevance_bayes.core.folds import Split
from relevance_bayes.core.likelihoods import Bernoulli
from relevance_bayes.core.likelihoods.base import ClassPrediction
from relevance_bayes.core.likelihoods.temperature import fitted_temperature, tempered
from relevance_bayes.core.model import Model
from relevance_bayes.core.numpy_namespace import NUMPY
from relevance_bayes.core.per_class import without_functions
from relevance_bayes.core.pool import LearnedModel
from relevance_bayes.core.prediction import Measured
from relevance_bayes.core.problem import check_rows
from relevance_bayes.core.rows import Folding, Rows, Step
from relevance_bayes.core.selection.classes import (
    FittedClasses,
    at_learned_temperature,
    fitted_classes,
    learns_temperature,
)
from relevance_bayes.core.selection.fold_fits import FoldFits, has_linear_columns
from relevance_bayes.core.selection.ranking import FitContext
from relevance_bayes.core.selection.scoring import (
    BEHIND,
    NOT_FITTED,
    Compared,
    Scoring,
    Trained,
    Validation,
    is_clearly_better,
    is_hopeless,
    measured_rows,
    standard_error,
    work_of,
)
from relevance_bayes.core.spec import Spec
from relevance_bayes.core.types import Array, Indices

MIN_FOLDS = 3
"""The folds by which all alternatives are compared where five are beyond the budget."""

MIN_ROWS_TO_DROP = 50
"""Before so many rows are measured, no alternative but those with linear columns is dropped: the standard error of
so many differences is known to a tenth."""

MIN_GAIN_OVER_CONSTANT = 0.25
"""The gain in log loss over a constant probability, in its standard errors, at or below which the constant is taken:
few rows may show a function by chance. Of thirty draws of 20 rows of noise, five were behind the frequencies of the
classes at 0, three at .25 and at .5; of 600 rows with four of one class, whose gain is that of few rows, .5 is too
much."""

DROPPED = np.inf
"""The value in place of the probabilities of a dropped alternative; NaN is that of one that could not be fitted."""

UNAFFORDABLE = "its folds are beyond what the effort allows"
NOT_FITTED_TO_ALL = "could not be fitted to all rows"


def trained_classes(
    rows: Rows, folding: Folding, *, specs: tuple[Spec, ...], scoring: Scoring, on: FitContext
) -> Generator[Step, None, Trained]:
    """The fit of classes: one spec, or several of which folds choose one."""
    check_rows(rows.X, rows.t, rows.noise_sd)
    first, folding = specs[0], replace(folding, stratified=True)
    first.likelihood.check(rows.t)
    learn = partial(fitted_classes, folding=folding, on=on)
    if len(specs) == 1:
        fitted = yield from learn(rows, first)
        fits = (fit for fit in fitted.fits if fit is not None)
        work = sum(work_of(fit.problem, first, fit.last.state) for fit in fits)
        return replace(_trained(fitted, first, at_learned_temperature(fitted, rows, folding, first)), work=work)
    splits = scoring.splits(rows, folding, first.seed)
    fold_fits = FoldFits(learn, folding, on, by_steps=not scoring.learns_folds_anew)
    budget = None if scoring.bounds is None else scoring.bounds.budget_of_choice
    return (yield from chosen(rows, specs, splits, fold_fits, budget))


def _trained(fitted: FittedClasses, spec: Spec, model: LearnedModel) -> Trained:
    """The result of a spec: a single model has that with the widths found, one for each class has theirs."""
    if isinstance(model, Model):
        return Trained(model, fitted.specs[0])
    return Trained(model, spec, class_specs=fitted.specs)


def chosen(
    rows: Rows, specs: Sequence[Spec], splits: Sequence[Split], fits: FoldFits, budget: float | None
) -> Generator[Step, None, Trained]:
    """Choose one of the alternatives `specs` by the folds `splits` and fit it to rows with classes t (N,).

    Beyond `budget`, in the work of `Bounds`, folds are left out first, then all alternatives but the first. An
    alternative that can't be fitted is reported with the reason. Raises NotPositiveDefiniteError where none can.
    """
    splits = [(others, fold) for others, fold in splits if len(np.unique(rows.t[others])) > 1]
    alternatives, folds = affordable(len(rows.t), specs, len(splits), fits, budget)
    measured, total = splits[:folds], len(splits)
    if folds:
        yield from fits.begin(rows, specs[:alternatives])
    table = yield from _tables(rows, specs[:alternatives], measured, fits)
    evaluation = FoldEvaluation(rows.t, tuple(measured), table, learns_temperature=learns_temperature(specs[0]))
    reasons: dict[int, str | None] = dict.fromkeys(range(alternatives, len(specs)), UNAFFORDABLE)
    reasons |= {place: evaluation.reason(place) for place in range(alternatives)}
    for place in evaluation.ranked(specs):
        try:
            fitted = yield from fits.fit(rows, specs[place])
        except NotPositiveDefiniteError:
            reasons[place] = NOT_FITTED_TO_ALL
            continue
        compared = tuple(
            Compared(spec, evaluation.score(other), why := reasons[other], why not in {NOT_FITTED, NOT_FITTED_TO_ALL})
            for other, spec in enumerate(specs)
            if other != place and (evaluation.n_rows or reasons[other])
        )
        temperature = evaluation.temperature(place)
        model = at_learned_temperature(fitted, rows, fits.folding, specs[place], temperature)
        trained = replace(_trained(fitted, specs[place], model), compared=compared)
        validation = evaluation.validation(place)
        constant = _better_constant(rows, specs[place], measured, validation)
        if constant is not None:
            model, validation = constant
            trained = replace(trained, learned=model)
        return trained.measured(validation, folds, total)
    raise NotPositiveDefiniteError(f"none of {len(specs)} alternatives could be fitted: {NOT_FITTED_TO_ALL}")


def _better_constant(
    rows: Rows, spec: Spec, splits: Sequence[Split], validation: Validation
) -> tuple[Model, Validation] | None:
    """The constant probability of two classes and its validation, where the model's gain over it is not above
    MIN_GAIN_OVER_CONSTANT; else None."""
    likelihood = spec.likelihood
    if not isinstance(likelihood, Bernoulli) or validation.left_out is None:
        return None

    def constant(some: Rows) -> Model:
        return replace(without_functions(rows.X.shape[1], some.t, len(some.t)), likelihood=likelihood)

    parts = [measured_rows(constant(rows.take(others)), rows.take(fold)) for others, fold in splits]
    found = Validation.of(Measured.joined(parts), np.concatenate([fold for _, fold in splits]))
    assert found.left_out is not None
    gains = found.left_out.measured.each["log_loss"] - validation.left_out.measured.each["log_loss"]
    is_better = gains.mean() > MIN_GAIN_OVER_CONSTANT * standard_error(gains)
    return None if is_better else (constant(rows), found)


def affordable(rows: int, specs: Sequence[Spec], folds: int, fits: FoldFits, budget: float | None) -> tuple[int, int]:
    """The numbers of alternatives, the first ones, and of folds that `budget` allows.

    All alternatives by all folds, or by MIN_FOLDS; else the first by either; else none.
    """
    each = [fits.work(spec, rows) for spec in specs]
    for alternatives in (len(specs), 1):
        for some in (folds, min(MIN_FOLDS, folds)):
            if budget is None or sum(begin + some * fold for begin, fold in each[:alternatives]) <= budget:
                return alternatives, some
    return 1, 0


def _tables(rows: Rows, specs: Sequence[Spec], splits: Sequence[Split], fits: FoldFits) -> Generator[Step, None, Array]:
    """(A, K, n): probabilities of the rows of all folds, one after the other, by each alternative."""
    K, fit_log = max(specs[0].likelihood.latents, 2), fits.on.fit_log
    tables, kept = np.empty((len(specs), K, 0)), [spec not in fits.behind for spec in specs]
    done, total = 0, sum(kept) * len(splits)
    yield Step("folds", 0, total, "fits")
    for number, (others, fold) in enumerate(splits):
        table = fit_log.recorded()
        if table is None:
            place, table = fit_log.begin(), np.empty((len(specs), K, len(fold)))
            for each, spec, is_kept in zip(table, specs, kept, strict=True):
                each[:] = np.nan if is_kept else DROPPED
                if is_kept:
                    steps = fits.probabilities(rows, spec, others, fold)
                    found = yield from _within(steps, Step("folds", done, total, "fits"))
                    each[:] = np.nan if found is None else found.T
            fit_log.record(place, table.reshape(-1, len(fold)))
        tables = np.concatenate([tables, table.reshape(len(specs), K, len(fold))], axis=2)
        done += sum(kept)
        kept = _kept(tables, rows.t, specs, splits, number + 1)
        total = done + sum(kept) * (len(splits) - number - 1)
        yield Step("folds", done, total, "fits")
    return tables


def _within(steps: Generator[Step, None, Array | None], step: Step) -> Generator[Step, None, Array | None]:
    """A prediction to its end, each of whose steps is reported as `step`; None where it can't be computed."""
    while True:
        try:
            next(steps)
        except StopIteration as ended:
            found: Array | None = ended.value
            return found
        except (NotPositiveDefiniteError, DataError):
            return None
        yield step


def _kept(table: Array, t: Array, specs: Sequence[Spec], splits: Sequence[Split], number: int) -> list[bool]:
    """The alternatives (A,) that are kept after the first `number` folds (A, K, n): not failed, dropped or hopeless."""
    measured = np.concatenate([fold for _, fold in splits[:number]])
    losses = np.array([-_log_probability(one, t[measured]) for one in table])
    is_finite = [bool(np.isfinite(one).all()) for one in losses]
    if not any(is_finite):
        return [True] * len(table)
    usual = [place for place, finite in enumerate(is_finite) if finite and not has_linear_columns(specs[place])]
    if not usual:
        return is_finite
    best, share = min(usual, key=lambda place: float(losses[place].mean())), number / len(splits)
    return [
        finite and (place == best or not _is_hopeless(specs[place], losses[best] - losses[place], share))
        for place, finite in enumerate(is_finite)
    ]


def _is_hopeless(spec: Spec, gains: Array, share: float) -> bool:
    """True where an alternative is dropped that has these gains (n,) over the best: one with linear columns has to be
    clearly better in the end, others to be better."""
    if has_linear_columns(spec):
        return is_hopeless(gains, share)
    return len(gains) >= MIN_ROWS_TO_DROP and is_hopeless(gains, share, needed=0.0)


def _log_probability(probabilities: Array, t: Array) -> Array:
    """log p of the classes t (n,), by probabilities (K, n): NaN where the fit failed, infinite where dropped."""
    if not np.isfinite(probabilities).all():
        return np.where(np.isnan(probabilities[0]), np.nan, -probabilities[0])
    return _prediction(probabilities.T).log_density(t)


def _prediction(probabilities: Array) -> ClassPrediction:
    """From probabilities (n, K) alone."""
    none = np.zeros(len(probabilities))
    return ClassPrediction(probabilities, none, none)


@dataclass(frozen=True, eq=False)
class FoldEvaluation:
    """Probabilities `table` (A, K, n) of the rows of some folds, one fold after the other, by each alternative.

    t (N,) are the classes of all rows. `learns_temperature`: each fold's temperature is that of the other folds.
    """

    t: Array
    splits: tuple[Split, ...]
    table: Array
    learns_temperature: bool
    _known: dict[int, Measured] = field(default_factory=dict)

    @property
    def n_rows(self) -> int:
        """The number of rows that were measured."""
        return int(self.table.shape[2])

    def is_measured(self, place: int) -> bool:
        """True where an alternative was measured on all rows."""
        return bool(self.n_rows) and place < len(self.table) and bool(np.isfinite(self.table[place]).all())

    def reason(self, place: int) -> str | None:
        """The reason why an alternative was not measured on all rows, None where it was."""
        if not self.n_rows or self.is_measured(place):
            return None
        dropped = self.table[place, 0] == DROPPED
        if np.isnan(self.table[place]).any():
            return NOT_FITTED
        edges = np.cumsum([0, *(len(fold) for _, fold in self.splits)])
        return BEHIND.format(int(np.searchsorted(edges, int(dropped.argmax()), side="right")) - 1, len(self.splits))

    def ranked(self, specs: Sequence[Spec]) -> list[int]:
        """The alternatives in the order of their scores, those without one last; the earlier of equal ones first.

        One with linear columns comes after the best of the others where it is not clearly better.
        """
        scores = [self.score(place) for place in range(len(specs))]
        order = sorted(range(len(specs)), key=lambda place: (scores[place] is None, -(scores[place] or 0.0)))
        first, usual = order[0], [place for place in order if not has_linear_columns(specs[place])]
        if not usual or usual[0] == first or scores[usual[0]] is None or self._gain(first, usual[0]):
            return order
        return [usual[0], *(place for place in order if place != usual[0])]

    def _gain(self, place: int, other: int) -> bool:
        """True where an alternative is clearly better than another one."""
        gains = self._measured(other).each["log_loss"] - self._measured(place).each["log_loss"]
        return is_clearly_better(gains)

    def score(self, place: int) -> float | None:
        """The mean log probability of the rows' classes at each fold's temperature, in nats; None without."""
        return -float(self._measured(place).each["log_loss"].mean()) if self.is_measured(place) else None

    def validation(self, place: int) -> Validation:
        """The rows with all figures of an alternative, empty where it was not measured on all rows."""
        return Validation.of(self._measured(place), self._rows) if self.is_measured(place) else Validation()

    def temperature(self, place: int) -> float | None:
        """The temperature of all measured rows; None where it is not learned, or no row was measured."""
        if not self.learns_temperature or not self.is_measured(place):
            return None
        return fitted_temperature(self.table[place].T, self._t)

    @property
    def _t(self) -> Array:
        return np.asarray(self.t[self._rows])

    @property
    def _rows(self) -> Indices:
        return np.concatenate([np.zeros(0, np.intp), *(fold for _, fold in self.splits)])

    def _measured(self, place: int) -> Measured:
        """The rows by an alternative that was measured on all of them, each fold at its temperature."""
        if place not in self._known:
            self._known[place] = Measured.joined(list(self._parts(self.table[place].T, self._t)))
        return self._known[place]

    def _parts(self, probabilities: Array, t: Array) -> Iterator[Measured]:
        stop = 0
        for _, fold in self.splits:
            here = np.arange(stop, stop := stop + len(fold))
            others = np.setdiff1d(np.arange(len(t)), here)
            found = probabilities[here]
            if self.learns_temperature and len(others):
                found = tempered(NUMPY, found, fitted_temperature(probabilities[others], t[others]))
            yield Measured.of(_prediction(found), t[here])
