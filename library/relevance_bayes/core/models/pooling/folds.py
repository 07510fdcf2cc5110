"""The folds of a process that was fitted to all rows: each by a few Newton steps of its scales from there [THEORY 12].

Without a fold's rows the maximum of the evidence is near that of all rows, and the curvature there is known. So a fold
starts from the scales of all rows: the evidence of the other rows, its gradient and the predictions of the fold follow
from the inverse covariance of all rows without another factorisation, and a step follows where it promises a rise.

A fold is learned anew from its own start where such an optimum may exist only thanks to the rows left out: with next to
no noise, few rows, few rows for each input, or less than half of the rows. Of many rows the scales are learned from a
sample, and the rows outside it are predicted at the scales of all: they have seen none of these rows.
"""

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import log

import numpy as np

from relevance_bayes.core.algorithms.greedy import Greedy
from relevance_bayes.core.algorithms.hyperparameter_space import CAUTIOUS_SIGNAL_TO_NOISE, ascend
from relevance_bayes.core.algorithms.scales import ExactScales, ScalesAt
from relevance_bayes.core.algorithms.sequential import with_hyperparameters
from relevance_bayes.core.algorithms.task import ROWS_FOR_SCALES, ProcessTask, process_of
from relevance_bayes.core.concurrency import concurrently
from relevance_bayes.core.errors import NotPositiveDefiniteError
from relevance_bayes.core.folds import Split
from relevance_bayes.core.inference.exact_process import ExactProcess, WithoutFold, without_each
from relevance_bayes.core.inference.problem import MIN_ROWS_PER_INPUT
from relevance_bayes.core.inference.process import ProcessRows
from relevance_bayes.core.kernels.hyperparameters import Hyperparameters
from relevance_bayes.core.likelihoods.base import LatentGaussian, Prediction
from relevance_bayes.core.likelihoods.gaussian import RealPrediction
from relevance_bayes.core.models.fitting import FitLog, pose
from relevance_bayes.core.models.model import Spec
from relevance_bayes.core.models.pooling.members import (
    FIRST_WITH_FUNCTIONS,
    MAX_SIGNAL_TO_NOISE,
    FailedFit,
    MemberFit,
    Whole,
    learned_member,
)
from relevance_bayes.core.rows import Rows, Step
from relevance_bayes.core.types import Array, Indices

MAX_ROWS_STEPPED = 1_750
"""Of more rows, those outside the sample of the scales are predicted at the scales of all."""

MIN_ROWS = 100
"""With fewer rows, or fewer than MIN_ROWS_PER_INPUT for each input, a fold is learned anew: the scales have seen too
much of each row."""

MAX_STEPS, TOLERANCE = 3, 0.02
"""The most steps of a fold, and the rise in nats that one must promise. With 0 steps the score of seven public tables
is .012 to .10 nats a row too good, with 3 up to .008, which is a tenth of its standard error."""

MAX_STEPS_OF_WARPS, TOLERANCE_OF_WARPS = 20, 0.03
"""The same where a fold starts from identity warps: warps have several maxima, and from those of all rows the score
stays .03 to .05 nats a row too good."""

TOLERANCE_ANEW = 0.2
"""The rise in nats that a step of a fold that is learned anew must promise."""

MIN_CURVATURE = 0.05
"""The least curvature of a fold in nats a squared logarithm."""


@dataclass(frozen=True, eq=False)
class FoldFit:
    """A process without a fold's rows: its hyperparameters and the prediction of the fold."""

    hyperparameters: Hyperparameters
    prediction: Prediction


@dataclass(frozen=True, eq=False)
class ProcessFolds:
    """The folds of `member`, the fit to all N `rows`, in the order of `splits`.

    `learns_anew`: every fold is learned anew, from all its own starts.
    """

    rows: Rows
    member: Whole
    splits: Sequence[Split]
    learns_anew: bool = False

    @property
    def is_unseen(self) -> bool:
        """True where only rows that the scales have not seen are predicted."""
        return not self.learns_anew and len(self.rows.t) > MAX_ROWS_STEPPED

    def fit(self, number: int, first: Hyperparameters | None, fit_log: FitLog, step: Step) -> "Fold":
        """The fit without a fold; FailedFit where nothing can be computed.

        `first` are the hyperparameters there of the process that this one started from, where it did.
        """
        others, _ = self.splits[number]
        try:
            if self.is_unseen:
                return self._unseen[number] if len(self.splits) > 1 else self._held_out()
            if not self._is_learned_anew(others):
                return self._stepped(number, first)
        except NotPositiveDefiniteError:
            pass
        return (yield from self._anew(number, first, fit_log, step))

    def prepare(self, step: Step) -> Generator[Step, None, None]:
        """Compute what the folds share."""
        yield step
        try:
            if self.is_unseen and len(self.splits) > 1:
                self._unseen  # noqa: B018 - kept from here on
            elif not self.is_unseen and not all(self._is_learned_anew(others) for others, _ in self.splits):
                self._curvature, self._process.inverse  # noqa: B018 - kept from here on
        except NotPositiveDefiniteError:  # which each fold raises again
            return

    def at(self, number: int, h: Hyperparameters) -> Whole:
        """The process at hyperparameters h, given the training rows of a fold."""
        return at_scales(self.rows.take(self.splits[number][0]), self.member.spec, h)

    def each_left_out(self, numbers: Indices) -> Prediction:
        """The prediction of each of the rows `numbers` (n,) by the others, at the scales of the member.

        t_n - m_n = v_n / P_nn and the variance 1 / P_nn, noise included [RASMUSSEN2006, eq. 5.12]. Raises
        NotPositiveDefiniteError.
        """
        rows, h = self._every(numbers), self.member.hyperparameters
        process = ExactProcess.of(rows, self._task.kernel, h, with_slopes=False)
        variance = 1.0 / process.inverse.diagonal()
        return self._fit(h, numbers, rows.t - variance * process.solved[:, 0], variance).prediction

    def _is_learned_anew(self, others: Indices) -> bool:
        """See the module: next to no noise, few rows, or few of them left."""
        N, d = self.rows.X.shape
        h, square = self.member.hyperparameters, self.member.problem.square
        is_noiseless = h.beta * square > MAX_SIGNAL_TO_NOISE and N <= ROWS_FOR_SCALES
        is_few = N < max(MIN_ROWS, MIN_ROWS_PER_INPUT * d)
        return self.learns_anew or is_noiseless or is_few or 2 * len(others) < N

    def _anew(self, number: int, first: Hyperparameters | None, fit_log: FitLog, step: Step) -> "Fold":
        """Learned from the fold's own rows: from the scales of `first` there, else from the start that won on all."""
        others, fold = self.splits[number]
        begin, start = first if self.member.problem.begin else None, process_of(self.member.state).start
        apart, tolerance = self.rows.take(others), None if self.learns_anew else TOLERANCE_ANEW
        if begin is None and start is not None and not self.learns_anew:
            begin = ProcessTask.of(pose(apart.X, apart.t, self.member.spec, noise_sd=apart.noise_sd)).space.start(start)
        found = yield from learned_member(apart, self.member.spec, begin, fit_log, step, tolerance=tolerance)
        if isinstance(found, FailedFit):
            return found
        left_out = self.rows.take(fold)
        try:
            return FoldFit(found.hyperparameters, found.predict(left_out.X, left_out.noise_sd))
        except NotPositiveDefiniteError as error:
            return FailedFit(str(error))

    def _stepped(self, number: int, first: Hyperparameters | None) -> FoldFit:
        """By steps from the scales of all rows; raises NotPositiveDefiniteError."""
        others, fold = self.splits[number]
        taken = np.flatnonzero(np.isin(self.numbers, others))
        left_out = np.flatnonzero(~np.isin(self.numbers, others))
        some = self._seen.take(taken)
        has_warps = self.member.problem.learning.warp and first is not None
        like = self.member.hyperparameters
        if has_warps:
            like = ProcessTask.of(replace(self.member.problem, begin=first)).space.start(0)
        cap = max(CAUTIOUS_SIGNAL_TO_NOISE, log(like.beta * self.member.problem.square))
        scales = ExactScales(self._task, some, like, cap)
        curvature = _without_rows(self._curvature, len(taken) / len(self.numbers))
        if has_warps:
            start, steps, tolerance = (
                scales(scales.entries.inside(like.packed())),
                MAX_STEPS_OF_WARPS,
                TOLERANCE_OF_WARPS,
            )
        else:
            start = ScalesAt(self._task, like.packed(), self._process.without(left_out))
            steps, tolerance = MAX_STEPS, TOLERANCE
        variables = scales.entries.curvature(curvature)
        best = ascend(
            scales, start, variables, scales.entries, max_steps=steps, tolerance=tolerance, small_steps=1
        ).best
        process = best.process
        if len(self.numbers) == len(self.rows.t):
            if isinstance(process, WithoutFold):
                places = np.searchsorted(process.fold, fold)
                return self._fit(process.h, fold, process.mean[places], process.variance[places])
        else:
            process = ExactProcess.of(self._every(others), self._task.kernel, process.h, with_slopes=False)
        return self._predicted(process, fold)

    def _held_out(self) -> FoldFit:
        """The single fold of many rows, at the scales of all, given its training rows."""
        fold = self.rows.take(self.splits[0][1])
        h = self.member.hyperparameters
        return FoldFit(h, self.at(0, h).predict(fold.X, fold.noise_sd))

    @cached_property
    def _unseen(self) -> list[FoldFit]:
        """All folds at the scales of all rows: of one factorisation where each fold's other rows are all others."""
        measured = np.unique(np.concatenate([np.concatenate(split) for split in self.splits]))
        h, kernel = self.member.hyperparameters, self._task.kernel
        complements = [np.setdiff1d(measured, others) for others, _ in self.splits]
        order = np.concatenate(complements)
        if len(order) > len(measured):
            return [
                self._predicted(ExactProcess.of(self._every(others), kernel, h, with_slopes=False), fold)
                for others, fold in self.splits
            ]
        found = []
        process = ExactProcess.of(self._every(order), kernel, h, with_slopes=False)
        sizes = [len(one) for one in complements]
        parts = zip(without_each(process, sizes), complements, self.splits, strict=True)
        for (mean, variance), complement, (_, fold) in parts:
            places = np.searchsorted(complement, fold)
            found.append(self._fit(h, fold, mean[places], variance[places]))
        return found

    def _predicted(self, process: ExactProcess, fold: Indices) -> FoldFit:
        """The prediction of a fold by a process of the other rows."""
        rows = self._every(fold)
        mean, variance = process.predict(rows.X, rows.F)
        return self._fit(process.h, fold, mean, variance + 1.0 / rows.precision(process.h.beta))

    def _fit(self, h: Hyperparameters, fold: Indices, mean: Array, variance: Array) -> FoldFit:
        """The fit of a fold whose working targets have these means and variances (f,), noise included."""
        problem, likelihood = self.member.problem, self.member.spec.model_likelihood
        given = self.rows.noise_sd
        noise = likelihood.noise(problem.precision(h.beta)) if given is None else given[fold]
        latent = np.maximum(variance - 1.0 / self._every(fold).precision(h.beta), 0.0)
        return FoldFit(
            h, likelihood.predictive(LatentGaussian(mean + problem.centre, latent, np.zeros(len(fold))), noise)
        )

    def _every(self, numbers: Indices) -> ProcessRows:
        """Rows of the member's problem by their numbers among all."""
        return self._task.rows(self.member.state, numbers)

    @cached_property
    def _task(self) -> ProcessTask:
        return self.member.task

    @cached_property
    def numbers(self) -> Indices:
        """The numbers (n,) of the rows of the scales."""
        return self.member.problem.sample(ROWS_FOR_SCALES).numbers

    @cached_property
    def _seen(self) -> ProcessRows:
        return self._task.rows_for_scales(self.member.state)

    @cached_property
    def _process(self) -> ExactProcess:
        """At the scales of all rows: the folds share its inverse covariance."""
        return ExactProcess.of(self._seen, self._task.kernel, self.member.hyperparameters)

    @cached_property
    def _curvature(self) -> Array:
        return ScalesAt(self._task, self.member.hyperparameters.packed(), self._process).curvature


Fold = Generator[Step, None, FoldFit | FailedFit]
"""The fit without a fold's rows."""


@dataclass(frozen=True, eq=False)
class PoolFolds:
    """The folds of a pool: `members` are its processes fitted to all rows, `each` their folds, None for failed fits.

    `splits` have only rows that are predicted: see `unseen`. `threads` compute folds at once.
    """

    rows: Rows
    members: Sequence[MemberFit]
    each: tuple[ProcessFolds | None, ...]
    splits: tuple[Split, ...]
    learns_anew: bool
    threads: int = 1
    _fits: dict[int, list[FoldFit | FailedFit]] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        rows: Rows,
        members: Sequence[MemberFit],
        splits: Sequence[Split],
        *,
        learns_anew: bool,
        threads: int = 1,
    ) -> "PoolFolds":
        """The folds of processes that were fitted to all rows."""
        first = next((one for one in members if isinstance(one, Whole)), None)
        if first is not None and not learns_anew:
            splits = unseen(rows, first, splits)
        each = [ProcessFolds(rows, one, splits, learns_anew) if isinstance(one, Whole) else None for one in members]
        return cls(rows, members, tuple(each), tuple(splits), learns_anew, threads)

    @property
    def is_unseen(self) -> bool:
        """True where only rows that the scales have not seen are predicted."""
        return not self.learns_anew and len(self.rows.t) > MAX_ROWS_STEPPED

    def prepare(self, step: Step) -> Generator[Step, None, None]:
        """Compute all that several folds need, so that threads only read it."""
        yield from concurrently([one.prepare(step) for one in self.each if one is not None], self.threads)

    def fits(self, number: int, fit_log: FitLog, step: Step) -> Generator[Step, None, list[FoldFit | FailedFit]]:
        """The fits of all members without a fold; those that started from the first one's scales do so here too."""
        if number not in self._fits:
            found = list[FoldFit | FailedFit]()
            for member, folds in zip(self.members, self.each, strict=True):
                first = found[0].hyperparameters if found and isinstance(found[0], FoldFit) else None
                if folds is not None:
                    found.append((yield from folds.fit(number, first, fit_log, step)))
                elif isinstance(member, FailedFit):
                    found.append(member)
                yield step
            self._fits[number] = found
        return self._fits[number]

    def process(self, number: int, place: int, fit_log: FitLog, step: Step) -> Generator[Step, None, MemberFit]:
        """The member of an index, given a fold's training rows, at its scales there."""
        found, folds = (yield from self.fits(number, fit_log, step))[place], self.each[place]
        if isinstance(found, FailedFit) or folds is None:
            return FailedFit("its fit can't be computed")
        return folds.at(number, found.hyperparameters)

    def table(self, number: int, fit_log: FitLog, step: Step) -> Generator[Step, None, Array]:
        """(2 K, f): means of a fold's rows by the members, and variances; NaN of those that failed."""
        found = yield from self.fits(number, fit_log, step)
        nothing = np.full(len(self.splits[number][1]), np.nan)
        predictions = [one.prediction if isinstance(one, FoldFit) else None for one in found]
        real = [one if isinstance(one, RealPrediction) else None for one in predictions]
        means = [nothing if one is None else one.mean for one in real]
        return np.array([*means, *(nothing if one is None else one.variance for one in real)])

    def tables(self, fit_log: FitLog) -> Generator[Step, None, Array]:
        """(2 K, n): `table` of all folds, one after the other, each an entry of the log."""
        step = Step("folds", 0, len(self.splits), "folds")
        yield step
        parts = [self._part(number, log) for number, log in enumerate(fit_log.parts(len(self.splits)))]
        if self.threads > 1:
            yield from self.prepare(step)
        return np.hstack([np.empty((2 * len(self.members), 0)), *(yield from concurrently(parts, self.threads))])

    def _part(self, number: int, fit_log: FitLog) -> Generator[Step, None, Array]:
        step, table = Step("folds", number, len(self.splits), "folds"), fit_log.recorded()
        if table is None:
            table = yield from self.table(number, FitLog(), step)
            fit_log.record(fit_log.begin(), table)
        yield replace(step, completed=number + 1)
        return table


def at_scales(rows: Rows, spec: Spec, h: Hyperparameters) -> Whole:
    """The process of a spec at hyperparameters h, given these rows."""
    problem = pose(rows.X, rows.t, spec, noise_sd=rows.noise_sd)
    first = Greedy().init(problem).state
    learned = replace(first, process=replace(process_of(first), phase=FIRST_WITH_FUNCTIONS))
    return Whole(spec, problem, with_hyperparameters(learned, h))


def unseen(rows: Rows, member: Whole, splits: Sequence[Split]) -> list[Split]:
    """The folds without the rows that the scales of a member were learned from, where these are a sample."""
    if len(rows.t) <= MAX_ROWS_STEPPED:
        return list(splits)
    seen = member.problem.sample(ROWS_FOR_SCALES).numbers
    return [(others, fold[~np.isin(fold, seen)]) for others, fold in splits]


def _without_rows(curvature: Array, share: float) -> Array:
    """The curvature (p, p) of a share of the rows, its eigenvalues at least MIN_CURVATURE."""
    values, vectors = np.linalg.eigh(share * curvature)
    return np.asarray((vectors * np.maximum(values, MIN_CURVATURE)) @ vectors.T)
