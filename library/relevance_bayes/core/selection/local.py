"""Nearest-neighbour processes, compared with a sparse model on held-out rows.

The sparse model, a process of the targets and a process of the sparse model's residuals are fitted to the training
rows. The one of the greatest mean log density is taken; a process only where it is clearly better, since it keeps all
rows. The process that is taken predicts from all rows, the held-out ones included.
"""

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite, nan

import numpy as np

from relevance_bayes.core.algorithms.state import TRACE_COLUMNS, FitTrace, FitTracer
from relevance_bayes.core.basis import Bias, Inputs, KernelBasis, KernelFunctions
from relevance_bayes.core.errors import DataError, NotPositiveDefiniteError
from relevance_bayes.core.inference.problem import check_rows
from relevance_bayes.core.kernels.hyperparameters import EvidencePerInputWidth, InputMap
from relevance_bayes.core.likelihoods import GaussianNoise, TransformedGaussian
from relevance_bayes.core.likelihoods.base import NumberPrediction
from relevance_bayes.core.likelihoods.gaussian import RealPrediction
from relevance_bayes.core.log_density import correlation, max_gain_of_noise, min_log_density, noise_varies
from relevance_bayes.core.models.fitting import FitLog, pose_rows
from relevance_bayes.core.models.local.learning import (
    LocalState,
    LocalTask,
    ScoredKernel,
    ValidatedProcess,
    advance,
    decoded,
    encoded,
    local_process,
    n_apart,
    validated,
)
from relevance_bayes.core.models.local.model import LocalModel, residuals
from relevance_bayes.core.models.local.neighbours import LocalChoice, LocalTarget, nearest_averages
from relevance_bayes.core.models.model import Spec, is_heteroscedastic
from relevance_bayes.core.models.pooling.folds import PoolFolds
from relevance_bayes.core.models.pooling.members import FailedFit
from relevance_bayes.core.models.pooling.reduction import Densities, MemberPredictions
from relevance_bayes.core.models.prediction import Measured, Ready
from relevance_bayes.core.rows import BLOCK_ROWS, Folding, Rows, Sampler, Step
from relevance_bayes.core.selection.candidates import SAMPLED, FitContext, fitted_to, with_noise
from relevance_bayes.core.selection.evaluation import PoolComparison, PoolEvaluation, half_width
from relevance_bayes.core.selection.scoring import (
    MIN_STANDARD_ERRORS,
    HeldOutFigures,
    LocalComparison,
    Trained,
    standard_error,
)
from relevance_bayes.core.types import Array, Indices
from relevance_bayes.records.reports import LocalCandidate

NEIGHBOURS, FEWER_NEIGHBOURS = 256, (64, 128)
"""The default number of rows that a prediction is conditioned on, and fewer that are tried instead."""

MAX_LOSS_OF_FEWER = 0.02
"""Nats a row that fewer neighbours may cost. Of 36,000 rows of 8 inputs a prediction of one row from 64, 128 and 256
takes .7, 1.2 and 2.8 ms of CPU, in a batch .3, .7 and 2.2."""

MAX_CENTRES = 1_000
"""Candidates of the problem whose hyperparameters are learned; no function is chosen among them."""

NEAREST = (4, 16)
"""The numbers of nearest rows of one whose residuals are averaged: the fewer show hills no wider than the distance of
some rows, the more show a little structure in much noise."""

MIN_STRUCTURE = 2.0
"""The correlation of the residuals of held-out rows with those of their neighbours, times the root of the rows, below
which no process is learned. A process that would gain .03 nats a row of 1,000 gives some 5."""

NO_STRUCTURE = "The residuals of the sparse model show no likeness among neighbouring rows."
NOT_BETTER = "It was not clearly better than the sparse model."
BOUNDED_BETTER = "Its intervals reach below 0, and the likelihood {} was clearly better."
NOT_COMPUTABLE = "Its covariances were not positive definite in floating point."


@dataclass(frozen=True, eq=False)
class LocalFit:
    """The comparison, and the process that was taken, with its figures on the rows held `apart` (n,); None where none
    was."""

    comparison: LocalComparison
    model: LocalModel | None = None
    measured: Measured | None = None
    apart: Indices = field(default_factory=lambda: np.zeros(0, np.intp))

    def trained(self, spec: Spec) -> Trained:
        """The result, measured on the held-out rows; raises NotPositiveDefiniteError where no process was taken."""
        if self.model is None or self.measured is None:
            raise NotPositiveDefiniteError(NOT_COMPUTABLE)
        return Trained(self.model, spec).measured(HeldOutFigures.of(self.measured, self.apart), 1, 1)


@dataclass(frozen=True, eq=False)
class LearnedProcess:
    """A learned process, and the trend whose residuals it models."""

    on: LocalTarget
    task: LocalTask
    found: ScoredKernel
    validation: ValidatedProcess
    trace: FitTrace
    trend: Ready | None = None

    @property
    def log_density(self) -> Array:
        """The log densities of the held-out rows, in the order of the rows and without a bound."""
        return self.validation.predicted.log_density[np.argsort(self.numbers)]

    @property
    def numbers(self) -> Indices:
        """The numbers (n,) of the held-out rows, in the order of `measured`."""
        return self.task.order[self.task.learned :]

    def prediction(self, rows: Rows) -> RealPrediction:
        """The prediction of the held-out rows, in the order of `numbers`."""
        predicted = self.validation.predicted
        mean = predicted.mean + float(self.task.problem.centre)
        if self.trend is not None:
            mean = mean + self.trend.latent(rows.X[self.numbers]).mean
        none = np.zeros(len(mean))
        return RealPrediction(mean, predicted.variance, none, none)

    def measured(self, rows: Rows) -> Measured:
        """The figures of the held-out rows."""
        return Measured.of(self.prediction(rows), rows.t[self.numbers])

    def model(self, likelihood: GaussianNoise) -> LocalModel:
        """The model that predicts from all rows."""
        process = local_process(self.task, self.found.kernel, self.validation.hyperparameters)
        return LocalModel(process, likelihood, None if self.trend is None else self.trend.model, self.trace)


def learned_locally(
    rows: Rows, spec: Spec, compared_models: tuple[Spec, ...], choice: LocalChoice, folding: Folding, on: FitContext
) -> Generator[Step, None, LocalFit]:
    """Compare nearest-neighbour processes with the sparse model of a spec of Gaussian noise of one size.

    One of `compared_models` for the target's logarithm is fitted too, and the better one compared; one of
    heteroscedastic noise where a process would be taken, the sparse model's residuals vary, and a noise variance known
    for each row could gain as much as the process; and counts and a hurdle where its intervals reach below 0. Raises
    DataError, and NotPositiveDefiniteError where a process is required and none can be computed.
    """
    check_rows(rows.X, rows.t, rows.noise_sd)
    spec.likelihood.check(rows.t)
    task = _task(rows, spec, choice, folding, on)
    apart, others = np.sort(task.order[task.learned :]), np.sort(task.order[: task.learned])
    known, left_out, inner = rows.take(others), rows.take(apart), folding.take(others)
    sparse: Ready | None = None
    if choice.on != "targets" or not choice.required:
        sparse = yield from sparse_alternative(known, spec, inner, on)
    beside = _Beside(choice, left_out, _log_density(sparse, left_out))
    learned, candidates = list[LearnedProcess](), list[LocalCandidate]()
    is_structured = choice.required or sparse is None or has_structure(sparse, known, left_out)
    for of in ("targets", "residuals") if choice.on is None else (choice.on,):
        if of == "residuals" and sparse is None:
            continue
        one = (yield from _learned(of, task, sparse, beside, on.fit_log)) if is_structured else None
        if one is None:
            candidates.append(LocalCandidate(of, None, None, None, NOT_COMPUTABLE if is_structured else NO_STRUCTURE))
        else:
            learned.append(one)
    alternatives = () if choice.required else compared_models
    for alternative in alternatives:
        if isinstance(alternative.likelihood, TransformedGaussian):
            beside = beside.better((yield from sparse_alternative(known, alternative, inner, on)))
    for alternative in alternatives:
        best = beside.best(learned)
        if not is_heteroscedastic(alternative.likelihood) or best is None or sparse is None:
            continue
        if has_varying_noise(sparse, left_out) and not beside.is_out_of_reach(best, sparse):
            beside = beside.better((yield from sparse_alternative(known, alternative, inner, on)))
    best, bounded = beside.best(learned), None
    if best is not None and alternatives:
        bounded = yield from better_bounded(best, rows, alternatives, on)
    if bounded is not None:
        best = None
    if best is None and choice.required:
        raise NotPositiveDefiniteError(NOT_COMPUTABLE)
    candidates += [beside.candidate(one, best) for one in learned]
    if bounded is not None:
        reason = BOUNDED_BETTER.format(bounded.likelihood.type)
        candidates = [one if one.reason else replace(one, reason=reason) for one in candidates]
    first = next((one.validation for one in learned if one.on == "targets"), None)
    comparison = LocalComparison(
        None if best is None else best.on,
        len(apart),
        None if beside.log_density is None else float(beside.log_density.mean()),
        None if first is None else first.linear,
        None if first is None else first.noise,
        tuple(candidates),
    )
    if best is None:
        return LocalFit(comparison)
    likelihood = spec.likelihood
    if not isinstance(likelihood, GaussianNoise):
        raise DataError(f"expected Gaussian noise, got {likelihood.type}")
    return LocalFit(comparison, best.model(likelihood), best.measured(rows), best.numbers)


def _task(rows: Rows, spec: Spec, choice: LocalChoice, folding: Folding, on: FitContext) -> LocalTask:
    """The learning of a process of the targets, with a width for each input and linear columns."""
    source = rows.blocks(on.threads)
    kernel = KernelBasis(choice.kernels[0], EvidencePerInputWidth(), "evidence" if choice.warped else "none")
    wide = replace(spec, basis=(kernel, Bias(), Inputs()))
    problem = pose_rows(source, wide, centres=Sampler(source, spec.seed).sample(MAX_CENTRES))
    neighbours = choice.neighbours or NEIGHBOURS
    apart = folding.held_out(n_apart(len(rows.t)), spec.seed)
    return LocalTask(problem, choice.kernels, neighbours, threads=on.threads, apart=apart)


def _learned(
    of: LocalTarget, task: LocalTask, sparse: Ready | None, beside: "_Beside", fit_log: FitLog
) -> Generator[Step, None, LearnedProcess | None]:
    """A process with its number of neighbours; None where it can't be computed.

    It is that of the first kernel where this one is hopeless beside the sparse model.
    """
    trend = None
    if of == "residuals" and sparse is not None:
        trend = sparse
        task = replace(task, problem=residuals(task.problem, lambda X: sparse.latent(X).mean))
    try:
        found, trace, behind = yield from scales_of(task, fit_log, lambda one: beside.behind(task, one))
        validation = behind or validated(task, found)
        if beside.choice.neighbours is None and validation.refusal is None and behind is None:
            for neighbours in FEWER_NEIGHBOURS:
                fewer = replace(task, neighbours=neighbours)
                other = validated(fewer, found)
                if other.refusal is None and other.score >= validation.score - MAX_LOSS_OF_FEWER:
                    task, validation = fewer, other
                    break
    except (NotPositiveDefiniteError, DataError):
        return None
    return LearnedProcess(of, task, found, validation, trace, trend)


@dataclass(frozen=True, eq=False)
class _Beside:
    """The comparison with sparse models on the rows that are `left_out`: the bounded log densities (n,) by the best of
    these, where there is one."""

    choice: LocalChoice
    left_out: Rows
    log_density: Array | None

    def better(self, other: Ready | None) -> "_Beside":
        """With the log densities of another sparse model where their mean is greater."""
        one, found = self.log_density, _log_density(other, self.left_out)
        is_better = found is not None and (one is None or not one.mean() >= found.mean())
        return replace(self, log_density=found) if is_better else self

    def best(self, learned: list[LearnedProcess]) -> LearnedProcess | None:
        """The process of the greatest score where it is clearly better than the sparse model, or required."""
        required = self.choice.required
        usable = [one for one in learned if one.validation.refusal is None or required]
        best = max(usable, key=lambda one: one.validation.score, default=None)
        return best if best is None or required or self.is_better(best) else None

    def is_better(self, one: LearnedProcess) -> bool:
        """True where a process is clearly better than the sparse model."""
        gain = self._gain(one)
        return gain is None or bool(gain.mean() > max(standard_error(gain), self.choice.min_gain))

    def is_out_of_reach(self, best: LearnedProcess, sparse: Ready) -> bool:
        """True where a process stays clearly better than a sparse model even if this one gains all that noise which
        varies could bring: it spares fits in turn of as many functions as a table of next to no noise needs."""
        z, gain = _standardised(sparse, self.left_out), self._gain(best)
        if z is None or gain is None:
            return False
        left = gain - max_gain_of_noise(z[1])
        return bool(left.mean() > max(MIN_STANDARD_ERRORS * standard_error(left), self.choice.min_gain))

    def _gain(self, one: LearnedProcess) -> Array | None:
        """That of a process over the sparse model, (n,)."""
        if self.log_density is None:
            return None
        return np.maximum(one.log_density, min_log_density(self.left_out.t)) - self.log_density

    def behind(self, task: LocalTask, one: ScoredKernel) -> ValidatedProcess | None:
        """The validation of a kernel that is too far behind the sparse model for others to be learned; None where it is
        not: its gain may be the required one within MIN_STANDARD_ERRORS."""
        if self.choice.required or self.log_density is None or not isfinite(one.score):
            return None
        validation = validated(task, one)
        density = validation.predicted.bounded_log_density[np.argsort(task.order[task.learned :])]
        gain = density - self.log_density
        is_behind = gain.mean() + MIN_STANDARD_ERRORS * standard_error(gain) < self.choice.min_gain
        return validation if is_behind else None

    def candidate(self, one: LearnedProcess, best: LearnedProcess | None) -> LocalCandidate:
        """The figures of a process, and the reason why it was not taken."""
        validation = one.validation
        reason: str | None = validation.refusal
        if reason is not None:
            reason = f"{reason[0].upper()}{reason[1:]}."
        elif not self.is_better(one):
            reason = NOT_BETTER
        elif best is not None and one is not best:
            reason = f"That of the {best.on} was better."
        return LocalCandidate(one.on, one.found.kernel.type, validation.score, validation.variance_factor, reason)


def _log_density(model: Ready | None, left_out: Rows) -> Array | None:
    """The bounded log densities (n,) of the held-out rows by a sparse model, where there is one."""
    if model is None:
        return None
    return np.maximum(model.predict(left_out.X)[0].log_density(left_out.t), min_log_density(left_out.t))


def sparse_alternative(
    others: Rows, spec: Spec, folding: Folding, on: FitContext
) -> Generator[Step, None, Ready | None]:
    """The sparse model of the other rows, which may have heteroscedastic noise; None where it can't be computed."""
    try:
        if is_heteroscedastic(spec.likelihood):
            return Ready.of((yield from with_noise(others, folding, spec=spec, on=on)).model)
        return Ready.of((yield from fitted_to(others, spec, folding, on)).model)
    except NotPositiveDefiniteError:
        return None


def better_bounded(
    process: LearnedProcess, rows: Rows, compared_models: Sequence[Spec], on: FitContext
) -> Generator[Step, None, Spec | None]:
    """The compared model of counts, or the hurdle, that predicts the held-out rows clearly better than a process whose
    intervals reach below 0; None without one.

    It is compared as with a pool, on one fold: see `PoolComparison`, and learns from a sample of the other rows.
    """
    specs = [one for one in compared_models if one.likelihood.targets in SAMPLED]
    if not specs:
        return None
    numbers, found = process.numbers, process.prediction(rows)
    split = process.task.order[: process.task.learned], numbers
    densities = Densities(found.mean[:, None], found.variance[:, None])
    pool = MemberPredictions((split,), numbers, rows.t[numbers], densities)
    folds = PoolFolds.of(rows, [FailedFit(NOT_COMPUTABLE)], [split], learns_anew=True)
    comparison = PoolComparison(folds, on.fit_log, PoolEvaluation(pool, half_width=half_width(rows.t)))
    evaluation = yield from comparison.run((), specs)
    best = evaluation.best_alternative
    return None if best is None else specs[best]


def has_structure(sparse: Ready, others: Rows, apart: Rows) -> bool:
    """True where a sparse model leaves structure to its neighbours: residuals of held-out rows are like those nearby.

    Like: correlated with the mean of those of some NEAREST training rows, by standardised inputs or as the model's
    kernel measures distances.
    """
    near, far = (_residuals(sparse, rows) for rows in (apart, others))
    sd, root = others.X.std(axis=0), np.sqrt(len(near))
    maps = [InputMap(np.where(sd > 0.0, sd, 1.0))]
    maps += [one.input_map for one in sparse.model.functions if isinstance(one, KernelFunctions) and one.size]
    averages = (
        of_one for mapped in maps for of_one in nearest_averages(mapped(apart.X), mapped(others.X), far, NEAREST)
    )
    found = (correlation(near, one) for one in averages)
    return any(one is not None and one * root > MIN_STRUCTURE for one in found)


def _residuals(sparse: Ready, rows: Rows) -> Array:
    """t less the mean of each row, (N,)."""
    parts = [slice(first, first + BLOCK_ROWS) for first in range(0, len(rows.t), BLOCK_ROWS)]
    return np.concatenate([rows.t[some] - sparse.latent(rows.X[some]).mean for some in parts])


def has_varying_noise(sparse: Ready, apart: Rows) -> bool:
    """True where the sizes of a model's residuals on held-out rows depend on the inputs or on the prediction."""
    found = _standardised(sparse, apart)
    return found is not None and noise_varies(apart.X, *found)


def _standardised(sparse: Ready, apart: Rows) -> tuple[Array, Array] | None:
    """The means and the standardised residuals of held-out rows, each (n,); None where these are no numbers."""
    predicted = sparse.predict(apart.X, apart.noise_sd)[0]
    if not isinstance(predicted, NumberPrediction):
        return None
    return predicted.mean, (apart.t - predicted.mean) / np.sqrt(predicted.variance)


BEST = "best"
"""The phase of the last step."""


def scales_of(
    task: LocalTask, fit_log: FitLog, behind: Callable[[ScoredKernel], ValidatedProcess | None] = lambda _: None
) -> Generator[Step, None, tuple[ScoredKernel, FitTrace, ValidatedProcess | None]]:
    """The final kernel and hyperparameters, and the steps; the state is recorded after each, with those so far.

    Where the first kernel is `behind` it is the final one, with that validation.
    """
    place, known = fit_log.place, fit_log.recorded()
    state, tracer = LocalState(), FitTracer()
    if known is not None:
        state, tracer = decoded(known, task), FitTracer(_trace(known, task))
    yield Step("neighbours", state.completed, task.steps, "steps")
    while state.found is None:
        if state.completed == task.starts + 1:
            (first,) = state.scored
            validation = behind(first)
            if validation is not None:
                return first, tracer.trace, validation
        kept = encoded(advance(task, state), task)
        state = decoded(kept, task)  # so that a resumed fit has the same bits
        _trace_step(tracer, task, state)
        numbers = tracer.trace.numbers
        fit_log.record(place, np.concatenate([kept, numbers.ravel(), [len(numbers)]]))
        yield Step("neighbours", state.completed, task.steps, "steps")
    return state.found, tracer.trace, None


def _trace_step(tracer: FitTracer, task: LocalTask, state: LocalState) -> None:
    """Add the step that led to a state: a start of a kernel, its end, or that of the best kernel."""
    place = (state.completed - 1) // (task.starts + 1)
    phase = BEST if place == len(task.kernels) else task.kernels[place].type
    ended = state.found or (state.scored[-1] if len(state.scored) > place else None)
    h = state.start if ended is None else ended.hyperparameters
    noise_sd = nan if h is None else task.problem.likelihood.noise(task.problem.precision(h.beta))
    tracer.add(
        phase,
        state.completed,
        nan if ended is None else ended.score,
        nan,
        nan if noise_sd is None else noise_sd,
        len(task.fixed),
        entered=nan,
        left=nan,
    )


def _trace(recorded: Array, task: LocalTask) -> FitTrace:
    """The trace behind the numbers of a state: few steps, of which none is left out."""
    size = int(recorded[-1])
    numbers = recorded[-1 - TRACE_COLUMNS * size : -1].reshape(size, TRACE_COLUMNS)
    names = (*(kernel.type for kernel in task.kernels), BEST)
    phases = names[: int(numbers[:, 1].max(initial=-1.0)) + 1]
    return FitTrace(size, 1, phases, numbers)
