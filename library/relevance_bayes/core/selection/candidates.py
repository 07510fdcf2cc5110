"""The fit of a candidate, a spec, to rows: run until predictions can be computed, and compared by evidence.

Of several specs of one target those fits are compared by their evidence with the hyperparameters integrated out. A
hurdle, noise that depends on the inputs, and classes are fits of several functions.
"""

from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf, isfinite, nan
from typing import TypeGuard

import numpy as np

from relevance_bayes.core.algorithms.greedy import with_more_jitter
from relevance_bayes.core.algorithms.state import Iterate, State
from relevance_bayes.core.algorithms.task import ProcessTask, process_of
from relevance_bayes.core.basis import Basis, KernelBasis, KernelFunctions
from relevance_bayes.core.errors import DataError, NotPositiveDefiniteError, OneClassError, TooManyCandidatesError
from relevance_bayes.core.folds import Split, subset
from relevance_bayes.core.inference.evidence import Integral
from relevance_bayes.core.inference.problem import Problem, check_rows
from relevance_bayes.core.kernels.hyperparameters import CrossValidationWidth, Hyperparameters, InheritedWidth
from relevance_bayes.core.likelihoods import Bernoulli, BernoulliPerClass, ClassLikelihood, Hurdle
from relevance_bayes.core.likelihoods.base import LatentGaussian, Targets
from relevance_bayes.core.likelihoods.bernoulli import fitted_temperature
from relevance_bayes.core.models.classes import (
    PerClass,
    constant_latent,
    is_softmax_regression,
    softmax_regression,
    without_functions,
)
from relevance_bayes.core.models.fitting import FitLog, learned, pose, pose_rows
from relevance_bayes.core.models.heteroscedastic import MAX_ROUNDS, ROUNDS_WITH_CHOICE, heteroscedastic, with_log_noise
from relevance_bayes.core.models.hurdle import HurdleModel, member_specs, of_all_rows
from relevance_bayes.core.models.model import Model, Spec, is_heteroscedastic
from relevance_bayes.core.models.pool import LearnedModel, at_temperature, likelihood_of, members_of, ready_of
from relevance_bayes.core.models.pooling.members import MemberFit, Whole
from relevance_bayes.core.models.prediction import Prediction, Ready, with_temperature
from relevance_bayes.core.models.width_search import with_width
from relevance_bayes.core.priors import GaussianProcess
from relevance_bayes.core.rows import FIT, Folding, Rows, Sample, Sampler, Step
from relevance_bayes.core.selection.scoring import (
    FOLDS,
    Compared,
    HeldOutFigures,
    RankedModel,
    Trained,
    measured,
    table_of_rows,
    work_of,
)
from relevance_bayes.core.types import Indices

MAX_CENTRES = 4_000
"""Rows that may carry a function, drawn by content: a pass over all candidates costs rows x centres."""

MIN_MARGIN = 0.1
"""Nats a row by which another likelihood must be better: fits of one from different starts have differed by .08."""


@dataclass(frozen=True)
class FitContext:
    """The context of fits: their log, the threads that share passes over all rows, and the most cells of a pass."""

    fit_log: FitLog = field(default_factory=FitLog)
    threads: int = 1
    max_cells: int | None = None

    def check(self, problem: Problem, spec: Spec) -> None:
        """Raises TooManyCandidatesError."""
        cells = problem.rows * problem.candidates.size
        if self.max_cells is not None and spec.algorithm.has_full_passes and cells > self.max_cells:
            raise TooManyCandidatesError(
                f"expected rows times candidates of at most {self.max_cells:,}, got {problem.rows:,} times"
                f" {problem.candidates.size:,}"
            )


@dataclass(frozen=True, eq=False)
class CandidateFit:
    """The end of a fit: the spec with the widths found, its problem, and the last iterate.

    `inherited_cost` is the cost of an inherited input map.
    """

    spec: Spec
    problem: Problem
    last: Iterate
    inherited_cost: float = 0.0

    @property
    def is_stopped_early(self) -> bool:
        """True where the fit was not run to its end."""
        return self.last.state.termination is None

    @property
    def evidence_per_row(self) -> float:
        """The evidence in nats a row, nan without an estimate."""
        return nan if self.last.evidence_per_row is None else self.last.evidence_per_row

    @cached_property
    def model(self) -> Model:
        """The learned model."""
        return learned(self.problem, self.last)

    @property
    def ranked_model(self) -> RankedModel:
        """The model and its score."""
        return RankedModel(self.spec, len(self.model.mean), self.score)

    @cached_property
    def integral(self) -> Integral:
        """The integral of the evidence over the hyperparameters."""
        return self.last.integral(self.problem)

    @property
    def scales(self) -> float:
        """The cost of the input map, learned or inherited; 0 where no kernel is in the model."""
        kernels = any(isinstance(one, KernelFunctions) and one.size for one in self.model.functions)
        return self.integral.input_map + (self.inherited_cost if kernels else 0.0)

    @property
    def score(self) -> float:
        """The score in nats, in the targets' own units."""
        return self.integral.value + self.scales + self.problem.log_jacobian

    def outscores(self, other: "CandidateFit") -> bool:
        """True where it is better than another fit: by MIN_MARGIN where that has another likelihood."""
        same = self.spec.likelihood == other.spec.likelihood
        return self.score > other.score + (0.0 if same else MIN_MARGIN * self.problem.rows)


def _to_end(
    fit_log: FitLog,
    spec: Spec,
    problem: Problem,
    step: Callable[[Iterate], Step],
    *,
    begin: State | None = None,
    min_evidence_per_row: float = nan,
    inherited_cost: float = 0.0,
) -> Generator[Step, None, CandidateFit]:
    """A fit to its end, or to where its evidence per row is below the least.

    One from which no prediction can be computed is continued with more jitter.
    """
    while True:
        for now in fit_log.iterates(problem, spec, begin):
            yield step(now)
            if now.evidence_per_row is not None and now.evidence_per_row < min_evidence_per_row:
                break
        fit = CandidateFit(spec, problem, now, inherited_cost)
        try:
            if not fit.is_stopped_early:
                Ready.of(fit.model)
        except NotPositiveDefiniteError as error:
            begin = with_more_jitter(now.state, error)
        else:
            return fit


@dataclass(frozen=True, eq=False)
class Ranking:
    """The best fit, those it outscored, those that failed, and the work of all."""

    best: CandidateFit
    outscored: tuple[RankedModel, ...]
    failed: tuple[Compared, ...]
    work: float

    def trained(self, best: CandidateFit | None = None) -> Trained:
        """The result: the best fit, or where it was continued since."""
        ranked_models = (self.best.ranked_model, *self.outscored) if self.outscored else ()
        fit = best or self.best
        return Trained(fit.model, fit.spec, ranked_models=ranked_models, compared=self.failed, work=self.work)


def ranked(rows: Rows, specs: Sequence[Spec], folding: Folding, on: FitContext) -> Generator[Step, None, Ranking]:
    """Fit and compare all; raises NotPositiveDefiniteError where none can be computed."""
    check_rows(rows.X, rows.t, rows.noise_sd)
    specs[0].likelihood.check(rows.t)
    best: CandidateFit | None = None
    outscored, failed, work = list[RankedModel](), list[Compared](), 0.0
    for tried in specs:
        alternative = tried if best is not None else _with_own_width(tried)
        try:
            fit = yield from fitted_to(rows, alternative, folding, on, earlier=best)
            work += work_of(fit.problem, alternative, fit.last.state)
            if best is None:
                best = fit
            elif fit.is_stopped_early:
                behind = (best.evidence_per_row - fit.evidence_per_row) * best.problem.rows
                outscored.append(RankedModel(fit.spec, None, best.score - behind))
            else:
                best, worse = (fit, best) if fit.outscores(best) else (best, fit)
                outscored.append(worse.ranked_model)
        except NotPositiveDefiniteError as error:
            failed.append(Compared(alternative, None, str(error), computable=False))
    if best is None:
        raise NotPositiveDefiniteError("; ".join(f"{one.reason}" for one in failed))
    return Ranking(best, tuple(outscored), tuple(failed), work)


def _with_own_width(spec: Spec) -> Spec:
    """The spec with its inherited width replaced by one by folds, where there is no fit to inherit from."""
    basis = tuple(replace(one, width=CrossValidationWidth()) if _inherits(one) else one for one in spec.basis)
    return replace(spec, basis=basis)


def _inherits(basis: Basis) -> TypeGuard[KernelBasis]:
    return isinstance(basis, KernelBasis) and isinstance(basis.width, InheritedWidth)


def fitted_to(
    rows: Rows,
    spec: Spec,
    folding: Folding,
    on: FitContext,
    *,
    earlier: CandidateFit | None = None,
    begin: State | None = None,
) -> Generator[Step, None, CandidateFit]:
    """A fit, from the state `begin` where there is one; `earlier` is the best so far, from which kernels may inherit.

    A model whose evidence per row is lower than the best's is stopped early, since the phases after the scales cost
    several times as much, most under a wrong likelihood with many functions. Noise of another likelihood may be in
    other units: the steps of a compared model don't report it.
    """
    resolved, problem = yield from posed(rows, spec, folding, on, earlier=earlier)
    return (yield from _run(resolved, problem, on, begin, earlier))


def _run(
    spec: Spec, problem: Problem, on: FitContext, begin: State | None, earlier: CandidateFit | None
) -> Generator[Step, None, CandidateFit]:
    first = FIT if earlier is None else Step("alternative fit", 0, None, "iterations")
    yield first

    def step(now: Iterate) -> Step:
        state = now.state
        return replace(
            first,
            completed=state.iteration,
            log_marginal_likelihood=state.objective + problem.log_jacobian if isfinite(state.objective) else None,
            functions=len(state.active),
            noise_sd=spec.likelihood.noise(problem.precision(state.beta)) if earlier is None else None,
        )

    if earlier is None:
        return (yield from _to_end(on.fit_log, spec, problem, step, begin=begin))
    cost = earlier.scales if any(map(_inherits, spec.basis)) else 0.0
    lowest = earlier.evidence_per_row
    return (yield from _to_end(on.fit_log, spec, problem, step, min_evidence_per_row=lowest, inherited_cost=cost))


def posed(
    rows: Rows, spec: Spec, folding: Folding, on: FitContext, *, earlier: CandidateFit | None = None
) -> Generator[Step, None, tuple[Spec, Problem]]:
    """The spec with the widths that a search finds, and its problem."""
    resolved = yield from with_width(rows, spec, folding, on.fit_log)
    source = rows.blocks(on.threads)
    centres = Sampler(source, spec.seed).sample(MAX_CENTRES)
    inherited = None if earlier is None else _kernel_functions(earlier)
    problem = pose_rows(source, resolved, centres=centres, inherited=inherited, noise_sd=rows.noise_sd)
    on.check(problem, resolved)
    return resolved, problem


def _kernel_functions(fit: CandidateFit) -> KernelFunctions | None:
    """The kernel functions of the model, else of its candidates; None without a kernel."""
    dictionaries = (*fit.model.functions, *fit.problem.candidates.dictionaries)
    return next((functions for functions in dictionaries if isinstance(functions, KernelFunctions)), None)


def beside_a_tenth(
    rows: Rows, specs: Sequence[Spec], split: Split, folding: Folding, on: FitContext
) -> Generator[Step, None, Trained | None]:
    """The best of processes on all rows but a tenth, continued on all rows, and measured on the tenth.

    It goes on from the hyperparameters and inducing points, which are optimised together again: to begin on all rows
    would take twice the time. None where the others can't be learned from.
    """
    others, fold = split
    try:
        ranking = yield from ranked(rows.take(others), specs, folding.take(others), on)
    except (DataError, NotPositiveDefiniteError):
        return None
    yield Step("validation", 0, 1, "fits")
    table = on.fit_log.once(lambda: table_of_rows(ranking.best.model, rows.take(fold)))
    yield Step("validation", 1, 1, "fits")
    (kernels,) = (one for one in ranking.best.problem.candidates.dictionaries if isinstance(one, KernelFunctions))
    centres, spec, last = Sample(others[kernels.rows], kernels.centres), ranking.best.spec, ranking.best.last.state
    problem = pose_rows(rows.blocks(on.threads), spec, centres=centres, noise_sd=rows.noise_sd)
    process = replace(process_of(last), phase="together", origin=None)
    begin = replace(last, objective=-inf, termination=None, process=process, trace=None)
    best = yield from _run(spec, problem, on, begin, None)
    return ranking.trained(best).measured(HeldOutFigures.of(measured(table, rows.t[fold]), fold), 1, 1)


MAX_ROWS_OF_FOLD = 5_000
"""The most rows of a fold, drawn by content, that counts and hurdles learn from: each fold is a whole fit."""

SAMPLED: frozenset[Targets] = frozenset({"count", "amount"})

ROUNDS_IN_FOLDS, ROUNDS_WITH_CHOICE_IN_FOLDS = 2, 1
"""The most rounds of heteroscedastic noise in a fold, and those of them that choose functions."""


def alternative_prediction(
    others: Rows, fold: Rows, alternative: Spec, begin: MemberFit, fit_log: FitLog, step: Step
) -> Generator[Step, None, Prediction | None]:
    """The prediction of the fold by an alternative that learned from `others`; None where it can't be fitted.

    `begin` is a process of these rows: see `alternative_fit`.
    """
    if alternative.likelihood.targets in SAMPLED and len(others.t) > MAX_ROWS_OF_FOLD:
        others = others.take(subset(others.X, others.t, MAX_ROWS_OF_FOLD, alternative.seed))
    try:
        found = yield from alternative_fit(others, alternative, begin, fit_log, step, is_fold=True)
        prediction, _ = ready_of(found.learned).predict(fold.X, fold.noise_sd)
    except (NotPositiveDefiniteError, DataError):
        return None
    return prediction


def alternative_fit(
    rows: Rows, spec: Spec, begin: MemberFit, fit_log: FitLog, step: Step, *, is_fold: bool = False
) -> Generator[Step, None, Trained]:
    """An alternative to a pool; raises DataError, NotPositiveDefiniteError.

    `begin` is a process of these rows: one of independent weights has its input map, and the first fit of
    heteroscedastic noise its hyperparameters, where it has the same spec but for the noise. A process of all rows
    continues at the scales of `begin` where that has its spec.
    """
    first = begin.hyperparameters if isinstance(begin, Whole) else None
    if is_heteroscedastic(spec.likelihood):
        found = heteroscedastic(
            rows,
            spec,
            fit_log,
            step=step if is_fold else None,
            begin=first,
            max_rounds=ROUNDS_IN_FOLDS if is_fold else MAX_ROUNDS,
            rounds_with_choice=ROUNDS_WITH_CHOICE_IN_FOLDS if is_fold else ROUNDS_WITH_CHOICE,
            grows=not is_fold,
        )
        return Trained((yield from found).model, spec)
    if isinstance(spec.likelihood, Hurdle):

        def fit(some: Rows, part: Spec, _numbers: Indices) -> Generator[Step, None, Trained]:
            return Trained((yield from computable_fit(some, part, None, fit_log, step)), part)

        return (yield from _hurdle(rows, spec, fit))
    if isinstance(spec.prior, GaussianProcess):
        same = first if isinstance(begin, Whole) and begin.spec == spec and not is_fold else None
        return Trained((yield from computable_fit(rows, spec, None, fit_log, step, begin=same)), spec)
    inherited = None
    if isinstance(begin, Whole):
        functions = begin.task.functions
        inherited = functions.moved(begin.hyperparameters.input_map, functions.centres, functions.rows)
    return Trained((yield from computable_fit(rows, spec, inherited, fit_log, step)), spec)


def computable_fit(
    rows: Rows,
    spec: Spec,
    inherited: KernelFunctions | None,
    fit_log: FitLog,
    step: Step,
    *,
    begin: Hyperparameters | None = None,
) -> Generator[Step, None, Model]:
    """A fit without a search of widths, run to its end, with candidates on all rows."""
    problem = replace(pose(rows.X, rows.t, spec, inherited=inherited, noise_sd=rows.noise_sd), begin=begin)

    def each(now: Iterate) -> Step:
        return step if step.phase == "folds" else replace(step, completed=now.state.iteration)

    return (yield from _to_end(fit_log, spec, problem, each)).model


_PartFit = Callable[[Rows, Spec, Indices], Generator[Step, None, Trained]]
"""The fit of a part of a hurdle to rows with these numbers (n,) among all rows."""


def _hurdle(rows: Rows, spec: Spec, fit: _PartFit) -> Generator[Step, None, Trained]:
    """A hurdle: the model of zeros and that of positive targets are fitted one after the other.

    Zeros are as probable everywhere as they are frequent where they have no other model. Raises DataError, and
    NotPositiveDefiniteError where that of positive targets can't be fitted.
    """
    likelihood, t = Hurdle(), (rows.t == 0.0).astype(np.float64)
    likelihood.check(rows.t)
    of_zeros, of_positive = member_specs(spec)
    zero = Trained(without_functions(rows.X.shape[1], t, len(t)), of_zeros)
    if t.any() and not t.all():
        with suppress(NotPositiveDefiniteError):
            zero = yield from fit(rows.with_targets(t), of_zeros, np.arange(len(t)))
    above = np.flatnonzero(rows.t > 0.0)
    positive = yield from fit(rows.take(above), of_positive, above)
    model = HurdleModel(zero.model, of_all_rows(positive.model, above), likelihood)
    return Trained(model, spec, class_specs=(zero.spec, positive.spec), work=zero.work + positive.work)


def searched_hurdle(rows: Rows, folding: Folding, *, spec: Spec, on: FitContext) -> Generator[Step, None, Trained]:
    """A hurdle, the widths of whose models may be searched for."""

    def fit(some: Rows, part: Spec, numbers: Indices) -> Generator[Step, None, Trained]:
        return (yield from ranked(some, (part,), folding.take(numbers), on)).trained()

    return (yield from _hurdle(rows, spec, fit))


def with_noise(rows: Rows, folding: Folding, *, spec: Spec, on: FitContext) -> Generator[Step, None, Trained]:
    """A function and its log noise variance."""
    yield FIT
    return Trained(*(yield from with_log_noise(rows, spec, folding, on.fit_log, on.threads)))


MAX_ROWS_FOR_TEMPERATURE = 2_000
"""The most rows, drawn by content, to which a temperature is fitted."""


@dataclass(frozen=True, eq=False)
class FittedClasses:
    """A model of classes before its temperature is learned, with the fits (1,) or (K,) of its members.

    `specs` are those of the members, with the widths found. A fit is None where a class has a constant probability, and
    of a softmax regression.
    """

    model: LearnedModel
    specs: tuple[Spec, ...]
    fits: tuple[CandidateFit | None, ...]

    def trained(self, spec: Spec, model: LearnedModel) -> Trained:
        """The result of a spec: a single model has that with the widths found, one for each class has theirs."""
        if isinstance(model, Model):
            return Trained(model, self.specs[0])
        return Trained(model, spec, class_specs=self.specs)


def binary_problems(rows: Rows, spec: Spec) -> list[tuple[Rows, Spec]]:
    """The rows and the spec of each model: of all classes, or under `BernoulliPerClass` of each class against all
    others."""
    if not isinstance(spec.likelihood, BernoulliPerClass):
        return [(rows, spec)]
    single = replace(spec, likelihood=spec.likelihood.member)
    classes = range(spec.likelihood.latents)
    return [(rows.with_targets((rows.t == number).astype(np.float64)), single) for number in classes]


def is_constant(rows: Rows, spec: Spec) -> bool:
    """True where the rows of a model of two classes are of one alone."""
    return isinstance(spec.likelihood, Bernoulli) and bool((rows.t == rows.t[0]).all())


def fitted_classes(
    rows: Rows, spec: Spec, begin: Sequence[State | None] = (), *, folding: Folding, on: FitContext
) -> Generator[Step, None, FittedClasses]:
    """Fit classes t (N,) at temperature 1, each model from its state in `begin` where there are any.

    A class that has no row, or all, and one whose matrices are not positive definite in floating point, has a constant
    probability: see `without_functions`. Raises DataError, OneClassError where all rows are of one class, and
    NotPositiveDefiniteError where a single model can't be fitted.
    """
    if is_softmax_regression(spec):
        _, problem = yield from posed(rows, spec, folding, on)
        return FittedClasses((yield from softmax_regression(problem)), (spec,), (None,))
    likelihood = spec.likelihood
    states = iter(begin or [None] * likelihood.latents)
    if not isinstance(likelihood, BernoulliPerClass):
        found = yield from fitted_to(rows, spec, folding, on, begin=next(states))
        return FittedClasses(found.model, (found.spec,), (found,))
    check_rows(rows.X, rows.t, rows.noise_sd)
    likelihood.check(rows.t)
    members, specs, fits = list[Model](), list[Spec](), list[CandidateFit | None]()
    for number, ((of_class, single), state) in enumerate(zip(binary_problems(rows, spec), states, strict=True)):
        yield Step("classes", number, likelihood.latents, "models")
        try:
            found = yield from fitted_to(of_class, single, folding, on, begin=state)
        except (OneClassError, NotPositiveDefiniteError):
            members.append(without_functions(rows.X.shape[1], of_class.t, candidates=len(rows.t)))
            specs.append(single)
            fits.append(None)
        else:
            members.append(found.model)
            specs.append(found.spec)
            fits.append(found)
    yield Step("classes", likelihood.latents, likelihood.latents, "models")
    return FittedClasses(PerClass(tuple(members), likelihood), tuple(specs), tuple(fits))


def learns_temperature(spec: Spec) -> bool:
    """True where a spec is of classes whose temperature is learned."""
    return isinstance(spec.likelihood, ClassLikelihood) and spec.likelihood.temperature == "learned"


def at_learned_temperature(
    found: FittedClasses, rows: Rows, folding: Folding, spec: Spec, temperature: float | None = None
) -> LearnedModel:
    """The model at its temperature: that of whole folds where it is known, else that of folds of its weights."""
    model = found.model
    if not learns_temperature(spec):
        return model
    if isinstance(model, Model) and model.likelihood.is_conjugate and temperature is None:
        return with_temperature(model, rows)
    if temperature is None:
        temperature = _temperature_of_weights(found, rows, folding, spec.seed)
    return model if temperature is None else at_temperature(model, temperature)


def _temperature_of_weights(found: FittedClasses, rows: Rows, folding: Folding, seed: int) -> float | None:
    """The temperature of folds whose rows are held out from the weights alone; None without a process or a fold.

    Functions and scales are those of all rows, so that the probabilities are a few percent too certain: the temperature
    is within 5 % of that of whole folds where all inputs have one width.
    """
    some = subset(rows.X, rows.t, MAX_ROWS_FOR_TEMPERATURE, seed)
    splits = [
        (some[others], some[fold])
        for others, fold in folding.take(some).splits(rows.take(some), FOLDS, seed)
        if len(fold) and len(np.unique(rows.t[some[others]])) > 1
    ]
    if not splits or not any(fit is not None and isinstance(fit.problem.prior, GaussianProcess) for fit in found.fits):
        return None
    measured = np.concatenate([fold for _, fold in splits])
    try:
        latents = [
            constant_latent(model, len(measured)) if fit is None else _latent_without(fit, splits)
            for fit, model in zip(found.fits, members_of(found.model), strict=True)
        ]
    except NotPositiveDefiniteError:
        return None
    likelihood, noise_sd = likelihood_of(found.model), members_of(found.model)[0].noise_sd
    if not isinstance(likelihood, ClassLikelihood):
        return None
    prediction = likelihood.predictive(LatentGaussian.of_each(latents), noise_sd)
    return fitted_temperature(prediction.probabilities, rows.t[measured])


def _latent_without(fit: CandidateFit, splits: Sequence[Split]) -> LatentGaussian:
    """The latent of the folds' rows, each by weights that are learned from the other rows, at the scales of all."""
    task, state = ProcessTask.of(fit.problem), fit.last.state
    h, vectors, parts = process_of(state).hyperparameters, task.vectors(state), list[LatentGaussian]()
    for others, fold in splits:
        rows = task.rows(state, fold)
        found = task.bound(task.rows(state, others), vectors, h)
        parts.append(task.latent(vectors, h, found, rows.X, rows.F))
    joined = ([one.mean for one in parts], [one.weights for one in parts], [one.residual for one in parts])
    return LatentGaussian(*(np.concatenate(part) for part in joined))
