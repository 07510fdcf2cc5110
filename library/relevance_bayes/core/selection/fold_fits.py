"""The fits of alternatives of classes while folds choose among them: by steps, or learned anew in each fold.

By steps the scales of an alternative are first learned from all rows. Those of a fold's training rows are at most a few
steps from there, each towards the maximum of the bound of these rows alone, and the fold is predicted by the posterior
through the pivots on these rows. No functions are chosen in a fold.
"""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from relevance_bayes.core.algorithms.scales_through_pivots import ScalesOfAll, losses_of_unseen, scales_from_start
from relevance_bayes.core.algorithms.state import Iterate, Process, State
from relevance_bayes.core.algorithms.task import MAX_PIVOTS, ROWS_FOR_SCALES, ROWS_FOR_STARTS, Task, process_of
from relevance_bayes.core.basis import Inputs, KernelBasis
from relevance_bayes.core.errors import NotPositiveDefiniteError
from relevance_bayes.core.fitting import pose_rows
from relevance_bayes.core.likelihoods import Bernoulli, BernoulliPerClass, Categorical, ClassLikelihood
from relevance_bayes.core.likelihoods.base import ClassPrediction, Latent
from relevance_bayes.core.per_class import constant_latent, without_functions
from relevance_bayes.core.pool import ready_of
from relevance_bayes.core.priors import GaussianProcess
from relevance_bayes.core.problem import Problem
from relevance_bayes.core.rows import Folding, Rows, Step
from relevance_bayes.core.selection.classes import (
    FittedClasses,
    binary_problems,
    is_constant,
)
from relevance_bayes.core.selection.ranking import FitContext, posed
from relevance_bayes.core.selection.scoring import is_clearly_better, is_hopeless
from relevance_bayes.core.softmax_regression import is_softmax_regression
from relevance_bayes.core.spec import Spec, has_width_per_input, searched
from relevance_bayes.core.types import Array, Indices

MIN_ROWS_PER_CLASS = 50
"""With fewer rows for each class a fold's scales begin at a start: those of all rows have seen too much of each row. Of
60 rows of three classes the score of steps was .16 nats a row too good; from the start that of sixteen tables was .006
off that of new rows, of folds learned anew with their functions .020."""

MIN_SHARE_OF_ROWS = 0.5
"""The least share of the rows that a fold's training rows have where its scales are steps from those of all rows."""

EVALUATIONS, EVALUATIONS_PER_INPUT = 75, 105
"""The most evaluations of the evidence while scales are learned: of one width, and of one per input from three
starts."""

EVALUATIONS_OF_STEPS = 10
"""The most evaluations in a fold whose scales are steps from those of all rows."""


MIN_ROWS_TO_COMPARE, MAX_ROWS_TO_COMPARE = 100, 1_000
"""The least and the most rows on which starts are compared that have not seen them."""


def work(spec: Spec, rows: int, evaluations: int | None = None) -> float:
    """An upper bound of the evaluations times rows and functions of a fit while its scales are learned."""
    if evaluations is None:
        evaluations = EVALUATIONS_PER_INPUT if has_width_per_input(spec) else EVALUATIONS
    if is_softmax_regression(spec):
        return float(EVALUATIONS * rows)
    some = min(rows, ROWS_FOR_SCALES)
    functions = some if spec.likelihood.is_conjugate else min(some, MAX_PIVOTS)
    times = 1 if spec.likelihood.is_conjugate else spec.likelihood.latents
    return float(times * evaluations * some * functions)


def has_linear_columns(spec: Spec) -> bool:
    """True where the inputs are columns of a spec beside its kernel."""
    return any(isinstance(one, Inputs) for one in spec.basis) and not is_softmax_regression(spec)


def learns_through_pivots(spec: Spec) -> bool:
    """True where the scales of a spec are learned through pivots, not among fits or with terms."""
    classes = isinstance(spec.likelihood, Bernoulli | BernoulliPerClass | Categorical)
    additive = any(isinstance(one, KernelBasis) and one.additive != "none" for one in spec.basis)
    return classes and isinstance(spec.prior, GaussianProcess) and not searched(spec) and not additive


def takes_steps(spec: Spec, rows: int) -> bool:
    """True where rows are many enough that a fold's scales are steps from those of all rows."""
    return learns_through_pivots(spec) and rows >= MIN_ROWS_PER_CLASS * max(spec.likelihood.latents, 2)


Learn = Callable[[Rows, Spec, Sequence[State | None]], Generator[Step, None, FittedClasses]]
"""The fit of an alternative to some rows, at temperature 1, from given states where there are any."""


@dataclass(eq=False)
class _Learning:
    """A model of an alternative while its scales are learned from all rows, before functions are chosen."""

    spec: Spec
    problem: Problem
    iterates: Iterator[Iterate]
    state: State

    def is_started(self, process: Process) -> bool:
        """True where the best of the starts is known."""
        return process.phase != "scales" or process.starts >= Task.of(self.problem).space.starts

    def until(self, is_reached: Callable[[Process], bool]) -> Iterator[None]:
        """Iterate until the process is there."""
        while not is_reached(process_of(self.state)):
            self.state = next(self.iterates).state
            yield

    @cached_property
    def of_all(self) -> ScalesOfAll:
        """The scales with their curvature; raises NotPositiveDefiniteError."""
        return ScalesOfAll.of(Task.of(self.problem), self.state)


@dataclass(frozen=True)
class FoldFits:
    """The fits of alternatives to all rows, and to the training rows of folds.

    `by_steps` a fold is still learned anew where it has fewer than MIN_SHARE_OF_ROWS of the rows to learn from, where a
    matrix is not positive definite, and where no share of a step raises the bound; of few rows its scales begin at the
    start that won on all rows. `scaled` are the models of each alternative, None for a class of constant probability;
    `behind` are the alternatives that are clearly worse than another one after their starts.
    """

    learn: Learn
    folding: Folding
    on: FitContext
    by_steps: bool
    scaled: dict[Spec, tuple[_Learning | None, ...]] = field(default_factory=dict)
    behind: set[Spec] = field(default_factory=set)

    def work(self, spec: Spec, rows: int) -> tuple[float, float]:
        """The work of an alternative before the folds, and in each: see `work`."""
        if self.by_steps and learns_through_pivots(spec):
            evaluations = EVALUATIONS_OF_STEPS if takes_steps(spec, rows) else EVALUATIONS
            return work(spec, rows), work(spec, rows, evaluations)
        return 0.0, work(spec, rows)

    def begin(self, rows: Rows, specs: Sequence[Spec]) -> Generator[Step, None, None]:
        """Learn the scales of each alternative from all rows where folds begin with them.

        The starts of all come first: those whose best is clearly worse on rows that no start has seen are `behind`.
        """
        specs = [spec for spec in specs if self.by_steps and learns_through_pivots(spec)]
        if not specs:
            return
        started = dict[Spec, tuple[_Learning | None, ...]]()
        for number, spec in enumerate(specs):
            step = Step("scales", number, 2 * len(specs), "models")
            with suppress(NotPositiveDefiniteError):
                started[spec] = yield from self._started(rows, spec, step)
        with suppress(NotPositiveDefiniteError):
            self.behind.update(self._clearly_worse(len(rows.t), started))
        for number, (spec, models) in enumerate(started.items(), start=len(specs)):
            if spec not in self.behind:
                yield (step := Step("scales", number, 2 * len(specs), "models"))
                with suppress(NotPositiveDefiniteError):
                    for model in filter(None, models) if takes_steps(spec, len(rows.t)) else ():
                        yield from (step for _ in model.until(lambda process: process.phase != "scales"))
                    self.scaled[spec] = models

    def _started(self, rows: Rows, spec: Spec, step: Step) -> Generator[Step, None, tuple[_Learning | None, ...]]:
        """The models of an alternative (K,) at the best of their starts, None for one of constant probability."""
        yield step
        models = list[_Learning | None]()
        for of_class, single in binary_problems(rows, spec):
            if is_constant(of_class, single):
                models.append(None)
                continue
            resolved, problem = yield from posed(of_class, single, self.folding, self.on)
            iterates = self.on.fit_log.iterates(problem, resolved)
            model = _Learning(resolved, problem, iterates, next(iterates).state)
            yield from (step for _ in model.until(model.is_started))
            models.append(model)
        return tuple(models)

    def _clearly_worse(self, rows: int, started: Mapping[Spec, tuple[_Learning | None, ...]]) -> list[Spec]:
        """The alternatives that are clearly worse than another one on rows that no start has seen."""
        specs = list(started)
        if len(specs) < 2 or rows < ROWS_FOR_STARTS + MIN_ROWS_TO_COMPARE:
            return []
        losses = self.on.fit_log.once(lambda: np.array([_losses_of_starts(started[spec], rows) for spec in specs]))
        is_measured = losses.any(axis=0)
        losses = losses[:, is_measured]
        best = losses[int(losses.mean(axis=1).argmin())]
        return [
            spec for spec, each in zip(specs, losses, strict=True) if _is_behind(spec, best - each, len(best) / rows)
        ]

    def fit(self, rows: Rows, spec: Spec) -> Generator[Step, None, FittedClasses]:
        """The fit of an alternative to all rows, from its scales where they are known; raises
        NotPositiveDefiniteError."""
        begin = [None if model is None else model.state for model in self.scaled.get(spec, ())]
        return (yield from self.learn(rows, spec, begin))

    def probabilities(
        self, rows: Rows, spec: Spec, others: Indices, fold: Indices
    ) -> Generator[Step, None, Array | None]:
        """The probabilities (n, K) of the rows `fold` (n,) by an alternative fitted to the rows `others`, None where
        there are none; raises DataError, NotPositiveDefiniteError."""
        latents = None
        if spec in self.scaled and len(others) >= MIN_SHARE_OF_ROWS * len(rows.t):
            latents = yield from self._latents(rows, spec, others, fold)
        if latents is None:
            fitted = yield from self.learn(rows.take(others), spec, ())
            prediction, _ = ready_of(fitted.model).predict(rows.take(fold).X)
        else:
            assert isinstance(spec.likelihood, ClassLikelihood), "expected a likelihood of classes"
            prediction = spec.likelihood.predictive(Latent.of_each(latents), None)
        return prediction.probabilities if isinstance(prediction, ClassPrediction) else None

    def _latents(
        self, rows: Rows, spec: Spec, others: Indices, fold: Indices
    ) -> Generator[Step, None, list[Latent] | None]:
        """The latents of the fold's rows, by model; None where a fold is learned anew."""
        found = list[Latent]()
        for (of_class, single), model in zip(binary_problems(rows, spec), self.scaled[spec], strict=True):
            yield Step("folds", 0, None, "folds")
            some = of_class.take(others)
            if model is None or is_constant(some, single):
                found.append(constant_latent(without_functions(rows.X.shape[1], some.t, len(some.t)), len(fold)))
                continue
            try:
                latent = _stepped(model, some, others, rows.take(fold).X, takes_steps(spec, len(rows.t)))
            except NotPositiveDefiniteError:
                return None
            if latent is None:
                return None
            found.append(latent)
        return found


def _is_behind(spec: Spec, gains: Array, share: float) -> bool:
    """True where an alternative of these gains (n,) over the best, on a `share` of the rows, is not learned further:
    one with linear columns has to be clearly better in the end."""
    return is_hopeless(gains, share) if has_linear_columns(spec) else is_clearly_better(-gains)


def _losses_of_starts(models: Sequence[_Learning | None], rows: int) -> Array:
    """The log loss (N,) of each row, summed over the models whose starts have not seen it."""
    found = np.zeros(rows)
    for model in filter(None, models):
        found += losses_of_unseen(Task.of(model.problem), model.state, MAX_ROWS_TO_COMPARE)
    return found


def _stepped(model: _Learning, some: Rows, others: Indices, X: Array, takes_steps: bool) -> Latent | None:
    """The latent at a fold's X (n, d) by its training rows `some`, whose numbers are `others`; None where no step
    raises the bound. Without steps the scales begin where the best start of all rows did."""
    problem = pose_rows(some.blocks(1), model.spec, noise_sd=some.noise_sd)
    task, state = Task.of(problem), model.spec.algorithm.init(problem).state
    is_whole = len(task.rows_for_scales(state).t) == problem.rows
    if takes_steps:
        scales = model.of_all
        first = scales.sites.take(others) if is_whole and len(scales.at.rows.t) == model.problem.rows else None
        at = scales.stepped(task, state, first)
    else:
        at = scales_from_start(task, state, process_of(model.state).start or 0)
    if at is None:
        return None
    found = at.bound if is_whole else task.bound(task.rows(state), at.vectors, at.h)
    return task.latent(at.vectors, at.h, found, X, problem.candidates.columns(X, state.active))
