"""Nearest-neighbour processes compared with the sparse model on held-out rows [THEORY 22].

The sparse model, a process of the targets and a process of the sparse model's residuals are fitted to the training
rows. The one of the greatest mean log density is taken; a process only where it is clearly better, since it keeps all
rows. The process that is taken predicts from all rows, the held-out ones included.
"""

from collections.abc import Generator
from dataclasses import dataclass, field, replace

import numpy as np

from relevance_bayes.core.basis import Bias, Inputs, KernelBasis
from relevance_bayes.core.errors import DataError, NotPositiveDefiniteError
from relevance_bayes.core.fit_log import FitLog
from relevance_bayes.core.fit_trace import FitTrace
from relevance_bayes.core.fitting import pose_rows
from relevance_bayes.core.folds import content_keys
from relevance_bayes.core.likelihoods import GaussianNoise, LogGaussian
from relevance_bayes.core.likelihoods.gaussian import RealPrediction
from relevance_bayes.core.local.choice import LocalChoice, LocalKernel, LocalTarget
from relevance_bayes.core.local.learning import LocalTask, Scored, local_process, n_apart
from relevance_bayes.core.local.prediction import residuals
from relevance_bayes.core.local.validation import Validation, validated
from relevance_bayes.core.local_model import LocalModel
from relevance_bayes.core.prediction import Measured, Ready
from relevance_bayes.core.problem import check_rows
from relevance_bayes.core.sampling import Sampler
from relevance_bayes.core.scales import EvidencePerInputWidth
from relevance_bayes.core.selection.local_alternatives import (
    alternative_of_varying_noise,
    has_varying_noise,
    sparse_alternative,
)
from relevance_bayes.core.selection.local_steps import scales_of
from relevance_bayes.core.selection.ranking import FitContext
from relevance_bayes.core.selection.rows import Folding, Rows, Step
from relevance_bayes.core.selection.scoring import standard_error
from relevance_bayes.core.spec import Spec, is_heteroscedastic
from relevance_bayes.core.types import Array, Indices

NEIGHBOURS, FEWER_NEIGHBOURS = 256, (64, 128)
"""The default number of rows that a prediction is conditioned on, and fewer that are tried instead."""

MAX_LOSS_OF_FEWER = 0.02
"""Nats a row that fewer neighbours may cost. Of 36,000 rows of 8 inputs a prediction of one row from 64, 128 and 256
takes .7, 1.2 and 2.8 ms of CPU, in a batch .3, .7 and 2.2."""

MAX_CENTRES = 1_000
"""Candidates of the problem whose hyperparameters are learned; no function is chosen among them."""

NOT_BETTER = "It was not clearly better than the sparse model."
NOT_COMPUTABLE = "Its covariances were not positive definite in floating point."


@dataclass(frozen=True)
class ProcessScore:
    """A process of `on` on the held-out rows: its kernel, its mean log density, and the variance factor.

    `reason` is why it was not taken, or would not have been if it were not required, None without; the figures are None
    where it could not be computed.
    """

    on: LocalTarget
    kernel: LocalKernel | None
    score: float | None
    variance_factor: float | None
    reason: str | None


@dataclass(frozen=True)
class LocalComparison:
    """Mean log densities of the held-out `rows`, in nats a row, in the units of t.

    `taken` is the quantity that the chosen process models, None where the sparse model was chosen; its score is
    `sparse`, None where it was not fitted. `linear` and `noise` are those of a linear model and of noise alone, None
    where no process of the targets was learned.
    """

    taken: LocalTarget | None
    rows: int
    sparse: float | None
    linear: float | None
    noise: float | None
    candidates: tuple[ProcessScore, ...]


@dataclass(frozen=True, eq=False)
class LocalFit:
    """The comparison, and the process that was taken, with its figures on the rows held `apart` (n,); None where none
    was."""

    comparison: LocalComparison
    model: LocalModel | None = None
    measured: Measured | None = None
    apart: Indices = field(default_factory=lambda: np.zeros(0, np.intp))


@dataclass(frozen=True, eq=False)
class LearnedProcess:
    """A learned process, and the trend whose residuals it models."""

    on: LocalTarget
    task: LocalTask
    found: Scored
    validation: Validation
    trace: FitTrace
    trend: Ready | None = None

    @property
    def log_density(self) -> Array:
        """The log densities of the held-out rows, in the order of the rows."""
        return self.validation.predicted.log_density[np.argsort(self.numbers)]

    @property
    def numbers(self) -> Indices:
        """The numbers (n,) of the held-out rows, in the order of `measured`."""
        return self.task.order[self.task.learned :]

    def measured(self, rows: Rows) -> Measured:
        """The figures of the held-out rows."""
        apart, predicted = self.numbers, self.validation.predicted
        mean = predicted.mean + float(self.task.problem.centre)
        if self.trend is not None:
            mean = mean + self.trend.latent(rows.X[apart]).mean
        none = np.zeros(len(mean))
        return Measured.of(RealPrediction(mean, predicted.variance, none, none), rows.t[apart])

    def model(self, likelihood: GaussianNoise) -> LocalModel:
        """The model that predicts from all rows."""
        process = local_process(self.task, self.found.kernel, self.validation.hyperparameters)
        return LocalModel(process, likelihood, None if self.trend is None else self.trend.model, self.trace)


def learned_locally(
    rows: Rows, spec: Spec, compared_models: tuple[Spec, ...], choice: LocalChoice, folding: Folding, on: FitContext
) -> Generator[Step, None, LocalFit]:
    """Compare nearest-neighbour processes with the sparse model of a spec of Gaussian noise of one size.

    One of `compared_models` for the target's logarithm is fitted too, and the better one compared; one of
    heteroscedastic noise where a process would be taken and the sparse model's residuals vary. Raises DataError, and
    NotPositiveDefiniteError where a process is required and none can be computed.
    """
    check_rows(rows.X, rows.t, rows.noise_sd)
    spec.likelihood.check(rows.t)
    task = _task(rows, spec, choice, folding, on)
    apart, others = np.sort(task.order[task.learned :]), np.sort(task.order[: task.learned])
    sparse: Ready | None = None
    if choice.on != "targets" or not choice.required:
        sparse = yield from sparse_alternative(rows.take(others), spec, folding.take(others), on)
    learned, candidates = list[LearnedProcess](), list[ProcessScore]()
    for of in ("targets", "residuals") if choice.on is None else (choice.on,):
        if of == "residuals" and sparse is None:
            continue
        one = yield from _learned(of, task, sparse, choice, on.fit_log)
        if one is None:
            candidates.append(ProcessScore(of, None, None, None, NOT_COMPUTABLE))
        else:
            learned.append(one)
    left_out = rows.take(apart)
    by_sparse = _log_density(sparse, left_out)
    for alternative in () if choice.required else compared_models:
        if isinstance(alternative.likelihood, LogGaussian):
            other = yield from sparse_alternative(rows.take(others), alternative, folding.take(others), on)
            by_sparse = _better(by_sparse, _log_density(other, left_out))
    best = _best(learned, by_sparse, choice)
    for alternative in () if choice.required or best is None else compared_models:
        if is_heteroscedastic(alternative.likelihood) and sparse is not None and has_varying_noise(sparse, left_out):
            other = yield from alternative_of_varying_noise(rows.take(others), alternative, folding.take(others), on)
            by_sparse = _better(by_sparse, _log_density(other, left_out))
            best = _best(learned, by_sparse, choice)
    if best is None and choice.required:
        raise NotPositiveDefiniteError(NOT_COMPUTABLE)
    candidates += [_candidate(one, best, by_sparse, choice) for one in learned]
    first = next((one.validation for one in learned if one.on == "targets"), None)
    comparison = LocalComparison(
        None if best is None else best.on,
        len(apart),
        None if by_sparse is None else float(by_sparse.mean()),
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
    apart = rows_apart(rows, folding, spec.seed)
    return LocalTask(problem, choice.kernels, neighbours, threads=on.threads, apart=apart)


def rows_apart(rows: Rows, folding: Folding, seed: int) -> Indices | None:
    """The held-out rows (n,): whole groups, or the last in time; None where they are drawn by content."""
    size = n_apart(len(rows.t))
    if folding.by == "random" or folding.keys is None:
        return None
    if folding.by == "order":
        return np.flatnonzero(folding.keys >= np.sort(folding.keys)[-size])
    codes, groups, sizes = np.unique(folding.keys, return_inverse=True, return_counts=True)
    chosen, total = list[int](), 0
    for group in np.argsort(content_keys(codes[:, None], seed), kind="stable").tolist():
        if total + sizes[group] <= size:
            chosen.append(group)
            total += int(sizes[group])
    return np.flatnonzero(np.isin(groups, chosen or [int(sizes.argmin())]))


def _learned(
    of: LocalTarget, task: LocalTask, sparse: Ready | None, choice: LocalChoice, fit_log: FitLog
) -> Generator[Step, None, LearnedProcess | None]:
    """A process with its number of neighbours; None where it can't be computed."""
    trend = None
    if of == "residuals" and sparse is not None:
        trend = sparse
        task = replace(task, problem=residuals(task.problem, lambda X: sparse.latent(X).mean))
    try:
        found, trace = yield from scales_of(task, fit_log)
        validation = validated(task, found)
        if choice.neighbours is None and validation.refusal is None:
            for neighbours in FEWER_NEIGHBOURS:
                fewer = replace(task, neighbours=neighbours)
                other = validated(fewer, found)
                if other.refusal is None and other.score >= validation.score - MAX_LOSS_OF_FEWER:
                    task, validation = fewer, other
                    break
    except (NotPositiveDefiniteError, DataError):
        return None
    return LearnedProcess(of, task, found, validation, trace, trend)


def _best(learned: list[LearnedProcess], by_sparse: Array | None, choice: LocalChoice) -> LearnedProcess | None:
    """The process of the greatest score where it is clearly better than the sparse model, or required."""
    usable = [one for one in learned if one.validation.refusal is None or choice.required]
    best = max(usable, key=lambda one: one.validation.score, default=None)
    return best if best is None or choice.required or _is_better(best, by_sparse, choice) else None


def _is_better(one: LearnedProcess, by_sparse: Array | None, choice: LocalChoice) -> bool:
    if by_sparse is None:
        return True
    gain = one.log_density - by_sparse
    return bool(gain.mean() > max(standard_error(gain), choice.min_gain))


def _log_density(model: Ready | None, left_out: Rows) -> Array | None:
    """The log densities (n,) of the held-out rows by a sparse model, where there is one."""
    return None if model is None else model.predict(left_out.X)[0].log_density(left_out.t)


def _better(one: Array | None, other: Array | None) -> Array | None:
    """The log densities (n,) with the greater mean."""
    if one is None or other is None:
        return other if one is None else one
    return one if one.mean() >= other.mean() else other


def _candidate(
    one: LearnedProcess, best: LearnedProcess | None, by_sparse: Array | None, choice: LocalChoice
) -> ProcessScore:
    validation = one.validation
    reason: str | None = validation.refusal
    if reason is not None:
        reason = f"{reason[0].upper()}{reason[1:]}."
    elif not _is_better(one, by_sparse, choice):
        reason = NOT_BETTER
    elif best is not None and one is not best:
        reason = f"That of the {best.on} was better."
    return ProcessScore(one.on, one.found.kernel, validation.score, validation.variance_factor, reason)
