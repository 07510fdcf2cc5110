"""The cost of a training of numbers or classes, planned before it runs, and the plan within a budget.

The cost follows from the plan and the number of rows alone, never from a clock. Work is counted in units, each a
millisecond of the reference core. A process of a pool is counted by its evaluations of the evidence and its
computations of the expected information, of which starts on at most 250 rows, the ascent on at most 1,000 and a fold
each take some; what follows grows with all rows. The constants of this module belong to the release. They were fitted
to the CPU time of trainings of generated and public tables of 30 to 20,000 rows; docs/reference/training-costs.md has a
table. What only the rows decide is planned by its chance: next to no noise takes several times as long.

A budget is in CPU seconds of the reference core. Left out are, in this order, until the planned work is within it:
alternatives of the noise, the logarithm and independent weights; nearest-neighbour processes; processes of the pool, or
of classes, from the last to the second; two of five folds; all folds and the optimisation of inducing points, which
leaves a quick training; and rows, drawn by content. No clock is read, so that equal requests give equal versions on
every machine.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import log2
from typing import Literal

from relevance_bayes.core.algorithms import Greedy
from relevance_bayes.core.algorithms.task import MAX_FUNCTIONS, ROWS_FOR_SCALES, ROWS_FOR_STARTS
from relevance_bayes.core.basis import KernelBasis
from relevance_bayes.core.inference.problem import MIN_ROWS_PER_INPUT
from relevance_bayes.core.likelihoods import (
    BernoulliPerClass,
    ClassLikelihood,
    GaussianNoise,
    Hurdle,
    NegativeBinomial,
    OneAgainstRest,
    StudentT,
    TransformedGaussian,
)
from relevance_bayes.core.likelihoods.counts import CountLikelihood
from relevance_bayes.core.models.classes import is_softmax_regression
from relevance_bayes.core.models.hurdle import member_specs
from relevance_bayes.core.models.model import Spec, has_width_per_input, is_heteroscedastic
from relevance_bayes.core.models.pooling.folds import MAX_ROWS_STEPPED
from relevance_bayes.core.models.pooling.folds import MIN_ROWS as MIN_ROWS_STEPPED
from relevance_bayes.core.priors import GaussianProcess
from relevance_bayes.core.selection import FOLDS, NORMAL, THOROUGH, Bounds, Step
from relevance_bayes.core.selection.by_folds import MIN_FOLDS, MIN_ROWS_PER_CLASS, MIN_ROWS_TO_COMPARE
from relevance_bayes.records.errors import Fault
from relevance_bayes.records.jobs import ExpectedCost
from relevance_bayes.records.reports import BudgetPlan
from relevance_bayes.records.values import Effort
from relevance_bayes.tasks.planning import held_out_rows, refusal
from relevance_bayes.tasks.supervised.request import SupervisedPlan

UNITS_PER_SECOND = 1_000.0
"""The units of a CPU second of the reference core."""

CALENDAR_COLUMNS = 7
"""The columns of a timestamp: itself, and sine and cosine of three periods."""

MAX_ROWS_AT_ONCE = 5_000
"""Of more rows, the functions of a reduced pool are added in rounds on all rows."""

SHARED_OF_FOLDS = 0.15
"""The share of the folds of a pool that they have in common."""

MEASURED_AFTER_FIRST = 1.6
"""The alternatives of two classes that are expected to be measured by each fold after the first, which measures all."""

SHARE_OF_MANY_FOLDS = 0.36
"""The share of the folds of alternatives of many classes that is expected."""

SHARE_OF_STARTS = 0.5
"""The share of the starts of the work of an alternative's scales."""

ROWS_OF_ROUNDS = 100_000
"""Further rows are read by the last of the rounds in which functions are added."""

ROWS_OF_PASSES = 20_000
"""Further rows take less memory: a pass over them has blocks of rows at a time, ..."""

BYTES_OF_A_ROW, BYTES_OF_A_ROW_WITH_FOLDS, BYTES_OF_A_ROW_OF_CLASSES = 30, 95, 1_000
"""... and each of them has a target and an index, copies of these where some are held out, or the weights and residuals
of classes."""

CELLS_OF_CLASSES = 12
"""The numbers of each row and class that a softmax regression holds at once."""

STARTS, EVALUATIONS_OF_START, EVALUATIONS_OF_ASCENT = 3, 10.0, 12.0
"""The starts of a process on a few rows, the evaluations of the evidence from each, and those from the best of them on
more rows."""

SHARE_OF_ONE_WIDTH = 0.45
"""The share of the evaluations from a start where one width is learned for all inputs."""

EVALUATIONS_NEAR = 5.0
"""The evaluations from a start near the end: from another process, or from the best start on the same rows."""

EVALUATIONS_OF_FOLD, EVALUATIONS_OF_WARPS = 2.7, 7.0
"""The evaluations of a fold that begins at the scales of all rows, and of one whose warps begin at identities."""

CHANCE_OF_VARYING, CHANCE_OF_TAILS, CHANCE_OF_BOUNDED, CHANCE_OF_TAKEN = 0.25, 0.02, 0.35, 0.1
"""The shares of trainings whose residuals have noise compared that varies with the inputs, heavy tails, and a hurdle,
and of those in which an alternative is taken."""

CHANCE_OF_COUNTS = 0.7
"""The share of trainings that compare the negative binomial distribution where the targets are counts, and mostly take
it."""

ROUNDS_OF_VARYING = 1.4
"""The rounds of a function and its log noise variance in the folds, over those on all rows."""

CHANCE_OF_ASCENT = 0.8
"""The share of the alternatives of two classes whose scales are learned on after their starts."""

SHARE_OF_LOGARITHM = 0.25
"""The share of its ascent and folds that the logarithm takes: most are left out after the starts."""

FOLDS_OF: dict[Effort, int] = {"quick": 0, "normal": FOLDS, "thorough": 2 * FOLDS}


@dataclass(frozen=True)
class WorkStage:
    """A part of a training: its planned `units` of work, and the `phases` of its steps.

    Where it `is_counted` its steps count how much of it is complete, and the share `before_first` is so with the first
    of them; the units are those of a count up to `total`, where that may turn out less. A stage with a `number` has the
    steps of its phase that have so many complete. The rows decide how much is needed: `expected` is the share of the
    units that is planned, and `chance` that of the trainings which have the stage at all. One that `is_raced` ends
    early where it is behind, so that its time is no measure of the time of others.
    """

    phases: tuple[str, ...]
    units: float
    is_counted: bool = False
    number: int | None = None
    expected: float = 1.0
    chance: float = 1.0
    before_first: float = 0.0
    total: int | None = None
    is_raced: bool = False

    def has(self, step: Step) -> bool:
        """Return whether a step is of this stage."""
        return step.phase in self.phases and self.number in {None, step.completed}


@dataclass(frozen=True)
class Cost:
    """The planned stages of a training, and the peak of its memory in bytes."""

    stages: tuple[WorkStage, ...]
    memory_bytes: int

    @property
    def work_units(self) -> float:
        """The expected units of all stages."""
        return sum(one.chance * one.expected * one.units for one in self.stages)

    @staticmethod
    def seconds_of_a_unit(speed: float) -> float:
        """The seconds of a unit on a core of a speed."""
        return 1.0 / (UNITS_PER_SECOND * speed)

    def at(self, speed: float | None) -> ExpectedCost:
        """Return the cost on cores of a speed; None: on the reference core."""
        seconds = self.work_units * self.seconds_of_a_unit(speed or 1.0)
        speed_of: Literal["workers", "reference"] = "reference" if speed is None else "workers"
        return ExpectedCost(round(self.work_units), round(seconds, 3), self.memory_bytes, speed or 1.0, speed_of)


def planned_cost(plan: SupervisedPlan, rows: int) -> Cost:
    """Return the cost of a plan on a dataset of so many rows."""
    size = _Size.of(plan, rows)
    stages = list[WorkStage]()
    if any(column.kind == "timestamp" for column in plan.inputs) and plan.dates == "calendar":
        stages.append(WorkStage(("derived inputs",), 12.0 * size.member(plan.spec)))
    if plan.text == "target":
        stages.append(WorkStage(("derived inputs",), 2.0 * size.starts(plan.spec)))
    if plan.local is not None:
        stages += _of_local(plan, size)
    if plan.pool:
        stages += _of_pool(plan, size)
    elif isinstance(plan.spec.likelihood, ClassLikelihood):
        stages += _of_classes(plan, size)
    else:
        stages += _of_one(plan, size)
    stages.append(WorkStage(("done",), 20.0 + 0.01 * rows))
    return Cost(tuple(stages), _memory(plan, size))


QUICK_ITERATIONS = 15
"""The maximum iterations of a joint optimisation of a quick training."""

QUICK_ROWS = (500, 1_000)
QUICK_ROWS_OF_CLASSES = (250, 400)
"""The bounds of the rows, a quarter of all, from which a quick training learns scales and chooses functions."""


def fitted_spec(spec: Spec, effort: Effort, rows: int) -> Spec:
    """Return a planned spec as it is fitted to so many rows: with a maximum of rows where the training is quick.

    A requested algorithm stays as it is.
    """
    if effort != "quick" or spec.algorithm != Greedy(QUICK_ITERATIONS):
        return spec
    low, high = QUICK_ROWS_OF_CLASSES if isinstance(spec.likelihood, ClassLikelihood) else QUICK_ROWS
    return replace(spec, algorithm=Greedy(QUICK_ITERATIONS, min(max(rows // 4, low), high)))


def evaluation(rows: float) -> float:
    """Return the units of an evaluation of the evidence of a process and its gradient: a kernel matrix, its factor and
    its inverse."""
    return 1.2 + 4.5e-5 * rows**2 + 2.2e-8 * rows**3


def information(parameters: int, rows: float) -> float:
    """Return the units of the expected information of so many hyperparameters: a pass over a matrix for each."""
    return 4e-6 * parameters * rows**2


def has_warps(spec: Spec) -> bool:
    """Return whether the warps of a kernel's inputs are learned."""
    return any(isinstance(one, KernelBasis) and one.warp == "evidence" for one in spec.basis)


@dataclass(frozen=True)
class _Size:
    """The rows from which a training learns and its encoded columns, and the units of its parts.

    Functions are `chosen_from` some of the rows where the training is quick, else from all.
    """

    rows: int
    columns: int
    chosen_from: int
    folds: int
    bounds: Bounds | None

    @classmethod
    def of(cls, plan: SupervisedPlan, rows: int) -> "_Size":
        trained = rows - held_out_rows(rows, plan.holdout)
        if plan.budget is not None and plan.budget.rows is not None:
            trained = min(trained, plan.budget.rows)
        columns = sum(
            CALENDAR_COLUMNS if one.kind == "timestamp" and plan.dates == "calendar" else max(len(one.categories), 1)
            for one in plan.inputs
        )
        algorithm = fitted_spec(plan.spec, plan.effort, trained).algorithm
        limit = algorithm.max_rows if isinstance(algorithm, Greedy) else None
        chosen_from = trained if limit is None else min(trained, limit)
        return cls(trained, columns, chosen_from, folds_of(plan), bounds_of(plan))

    @property
    def scales(self) -> int:
        """The rows from which scales are learned."""
        return min(self.chosen_from, ROWS_FOR_SCALES)

    def information(self, spec: Spec, rows: float) -> float:
        """The expected information of the hyperparameters of a process: noise, signal, columns, widths and warps."""
        widths = self.columns if has_width_per_input(spec) else 1
        warps = 2 * self.columns if has_warps(spec) else 0
        return information(3 + self.columns + widths + warps, rows)

    def starts(self, spec: Spec) -> float:
        """All starts of a process on a few rows."""
        rows, share = min(self.scales, ROWS_FOR_STARTS), 1.0 if has_width_per_input(spec) else SHARE_OF_ONE_WIDTH
        each = share * EVALUATIONS_OF_START * evaluation(rows) + self.information(spec, rows)
        return STARTS * each

    def ascent(self, spec: Spec, rows: float, *, is_near: bool = False) -> float:
        """The ascent on some rows from the best start, or from another process, which `is_near`."""
        is_near = is_near or rows <= ROWS_FOR_STARTS or not has_width_per_input(spec)
        evaluations = EVALUATIONS_NEAR if is_near else EVALUATIONS_OF_ASCENT
        return evaluations * evaluation(rows) + self.information(spec, rows)

    def member(self, spec: Spec) -> float:
        """A process from all its starts."""
        return self.starts(spec) + self.ascent(spec, self.scales)

    @property
    def of_varying_noise(self) -> float:
        """A function and its log noise variance on all rows, to the end."""
        by_column = 0.7 + 0.05 * self.columns
        if self.folds_are_unseen:
            return by_column * 0.6 * self.rows
        return by_column * (1.5 * self.fold_rows + 4.5e-4 * self.fold_rows**2)

    @property
    def folds_of_varying_noise(self) -> float:
        """A function and its log noise variance while folds are measured: on all of many rows once, else in each."""
        return ROUNDS_OF_VARYING * (1.3 if self.folds_are_unseen else 0.37 * self.folds) * self.of_varying_noise

    @property
    def folds_are_unseen(self) -> bool:
        """True where the rows are so many that folds are predicted at the scales of all."""
        return self.bounds is not None and not self.bounds.learns_folds_anew and self.rows > MAX_ROWS_STEPPED

    def single(self, spec: Spec) -> float:
        """A process alone, with optimised inducing points, to its end."""
        few = min(self.rows, ROWS_FOR_SCALES)
        return 60.0 + self.member(spec) + 0.015 * self.columns * few + 0.05 * self.rows

    @property
    def fold_rows(self) -> int:
        """The rows that are divided into folds."""
        bounds = self.bounds or THOROUGH
        return min(self.rows, bounds.max_rows)

    def member_folds(self, spec: Spec) -> float:
        """A process in all folds: what they share, then its steps in each; or each learned anew."""
        others = 0.8 * min(self.rows, ROWS_FOR_SCALES)
        if self.bounds is None or self.bounds.learns_folds_anew:
            return self.folds * (self.starts(spec) + self.ascent(spec, others))
        if self.rows < max(MIN_ROWS_STEPPED, MIN_ROWS_PER_INPUT * self.columns):
            return self.folds * EVALUATIONS_OF_ASCENT * evaluation(others)
        if self.folds_are_unseen:
            return 5.5e-5 * self.fold_rows**2
        evaluations = EVALUATIONS_OF_WARPS if has_warps(spec) else EVALUATIONS_OF_FOLD
        each = 0.3 * evaluation(self.scales) + evaluations * evaluation(others)
        return self.information(spec, self.scales) + 0.4 * evaluation(self.scales) + self.folds * each


def _of_local(plan: SupervisedPlan, size: _Size) -> list[WorkStage]:
    """A sparse model, the nearest-neighbour processes that it is compared with, and a sparse one of the logarithm.

    Counts and a hurdle are fitted where a process would be taken whose intervals reach below 0.
    """
    sparse = 2.0 * size.member(plan.spec) + 0.035 * size.rows
    stages = [WorkStage(("fit",), sparse), WorkStage(("neighbours",), 17_000.0 + 2.4 * size.rows, True, expected=0.3)]
    if any(isinstance(one.likelihood, TransformedGaussian) for one in plan.compared_models):
        stages.append(WorkStage(("fit",), 2.0 * size.single(plan.spec)))
    for place, one in enumerate(plan.compared_models):
        if isinstance(one.likelihood, CountLikelihood | Hurdle):
            stages.append(WorkStage(("alternatives",), _one_fit(one, size), number=place, chance=0.3))
    return stages


def _of_pool(plan: SupervisedPlan, size: _Size) -> list[WorkStage]:
    """Members on all rows, their folds, then alternatives and the reduction to few functions, or an alternative."""
    members, models = (plan.spec, *plan.pool), plan.compared_models
    fits = [WorkStage(("fit",), size.member(plan.spec), number=0)]
    for place, one in enumerate(plan.pool, start=1):
        # One with a width for each input begins at the widths of the first.
        units = size.ascent(one, size.scales, is_near=True) if has_width_per_input(one) else size.member(one)
        fits.append(WorkStage(("fit",), units, number=place))
    shared = SHARED_OF_FOLDS if size.rows <= MAX_ROWS_STEPPED else 1.0
    folds = WorkStage(("folds",), sum(map(size.member_folds, members)), True, before_first=shared)
    varying = [one for one in models if is_heteroscedastic(one.likelihood)]
    alternatives = [one for one in models if one not in varying] + varying[:1]
    compared = [_compared(place, spec, size) for place, spec in enumerate(alternatives)]
    through = 20.0 + 4.0 * size.columns + _rounds(size.rows)
    order = 10.0 + 1.5e-4 * min(size.rows, 1_000) * min(size.rows, MAX_ROWS_AT_ONCE)
    reduction = [
        WorkStage(("reduction",), order, number=0),
        WorkStage(("reduction",), through, number=1),
        WorkStage(("reduction",), 0.85 * size.folds * (order + through), number=2, chance=0.1),
    ]
    taken = [
        WorkStage(("alternative fit",), _taken(spec, size), number=place, chance=_chance_of_taken(spec))
        for place, spec in enumerate(alternatives)
    ]
    return [*fits, folds, *compared, *reduction, *taken]


def _rounds(rows: int) -> float:
    """The functions of a reduced pool added on all rows: at once, or in rounds, which few of many rows decide."""
    if rows <= MAX_ROWS_AT_ONCE:
        return 0.1 * rows
    decided = min(rows, ROWS_OF_PASSES)
    further = min(rows, ROWS_OF_ROUNDS) - decided
    return 0.18 * decided + 0.02 * further + 0.0015 * max(rows - ROWS_OF_ROUNDS, 0)


def _compared(place: int, spec: Spec, size: _Size) -> WorkStage:
    """An alternative in the folds; residuals decide whether heavy tails and noise that varies are compared.

    The logarithm and independent weights are mostly left out after starts on few rows, or after the first fold.
    """
    chance = 1.0
    match spec.likelihood:
        case TransformedGaussian():
            further = size.ascent(spec, size.scales) + size.member_folds(spec)
            units = size.starts(spec) + SHARE_OF_LOGARITHM * further
        case NegativeBinomial():
            units, chance = size.folds * _one_of_counts(size), CHANCE_OF_COUNTS
        case CountLikelihood() | Hurdle():
            units, chance = size.folds * _one_fit(spec, size), CHANCE_OF_BOUNDED
        case GaussianNoise() if not is_heteroscedastic(spec.likelihood):
            units = 80.0 + 0.15 * size.fold_rows
        case StudentT():
            units, chance = size.folds_of_varying_noise, CHANCE_OF_TAILS
        case _:
            units, chance = size.folds_of_varying_noise, CHANCE_OF_VARYING
    return WorkStage(("alternatives",), units, number=place, chance=chance, is_raced=True)


def _chance_of_taken(spec: Spec) -> float:
    return CHANCE_OF_COUNTS if isinstance(spec.likelihood, NegativeBinomial) else CHANCE_OF_TAKEN


def _one_of_counts(size: _Size) -> float:
    """A negative binomial process, whose dispersion is learned with its scales."""
    return 400.0 * log2(max(size.scales, 40) / 20.0) + 0.1 * size.rows


def _taken(spec: Spec, size: _Size) -> float:
    """An alternative on all rows, to its end."""
    if isinstance(spec.likelihood, NegativeBinomial):
        return _one_of_counts(size)
    if isinstance(spec.likelihood, Hurdle):
        return _one_fit(spec, size)
    if is_heteroscedastic(spec.likelihood):
        return size.of_varying_noise
    return size.ascent(spec, size.scales) + 0.2 * size.rows


def _of_classes(plan: SupervisedPlan, size: _Size) -> list[WorkStage]:
    """The scales of alternatives, their folds, then the end of the best; or one fit."""
    likelihood = plan.spec.likelihood
    if isinstance(likelihood, OneAgainstRest):
        return _of_many_classes(plan, size)
    models = len(plan.classes) if isinstance(likelihood, BernoulliPerClass) else max(len(plan.classes) - 1, 1)
    by_column = 0.6 + 0.025 * size.columns
    scales = models * by_column * (50.0 + 0.15 * size.scales)
    end = models * (80.0 + 0.1 * size.scales + 0.15 * (size.rows - size.scales))
    alternatives = [plan.spec, *plan.alternatives]
    if len(alternatives) == 1:
        folds = size.folds * (scales + end)
        return [
            WorkStage(("classes", "fit"), scales + end),
            *([WorkStage(("validation",), folds, True)] if folds else []),
        ]
    anew = size.bounds is None or size.bounds.learns_folds_anew
    few = size.rows < MIN_ROWS_PER_CLASS * max(len(plan.classes), 2)
    by_steps = models * (0.5 + 0.022 * size.columns) * (35.0 + 0.045 * size.fold_rows)
    fold = scales + end if anew else 0.5 * scales if few else by_steps
    of_each = [(2.2 if has_width_per_input(spec) else 1.0) * scales for spec in alternatives if not anew]
    # Of several classes mostly one alternative is left after the starts, where rows are enough to compare these.
    are_all_measured = models == 1 or size.rows < ROWS_FOR_STARTS + MIN_ROWS_TO_COMPARE
    measured = MEASURED_AFTER_FIRST * (size.folds - 1) + len(alternatives) if are_all_measured else 1.2 * size.folds
    total = len(alternatives) * size.folds
    starts = [SHARE_OF_STARTS * units for units in of_each]
    ascents = [0.0 if few else units - of_starts for units, of_starts in zip(of_each, starts, strict=True)]
    # Of the alternatives that are clearly behind after their starts, more so of several classes, none is learned on.
    chance = CHANCE_OF_ASCENT if are_all_measured else 1.0 / len(alternatives)
    return [
        *(WorkStage(("scales",), units, number=place) for place, units in enumerate(starts)),
        *(
            WorkStage(("scales",), units, number=len(starts) + place, chance=1.0 if place == 1 else chance)
            for place, units in enumerate(ascents)
        ),
        WorkStage(("folds",), total * fold, True, expected=min(measured / max(total, 1), 1.0), total=total or None),
        WorkStage(("classes", "fit"), end),
    ]


def _of_many_classes(plan: SupervisedPlan, size: _Size) -> list[WorkStage]:
    """The folds of alternatives, each learned anew by least squares or as a softmax regression, and the best of them on
    all rows; or one fit."""
    alternatives, classes = [plan.spec, *plan.alternatives], len(plan.classes)

    def fit(spec: Spec, rows: float) -> float:
        if is_softmax_regression(spec):
            return 20.0 + 3e-5 * rows * classes * (80 + size.columns)
        functions = min(rows, MAX_FUNCTIONS) / MAX_FUNCTIONS
        return 200.0 + functions**2 * (2_000.0 + (0.5 + 0.008 * classes) * rows)

    in_folds = sum(fit(spec, 0.8 * size.fold_rows) for spec in alternatives) if size.folds else 0.0
    share = 1.0 if len(alternatives) == 1 else SHARE_OF_MANY_FOLDS
    return [
        WorkStage(("folds", "validation"), size.folds * in_folds, True, expected=share),
        WorkStage(("classes", "fit"), fit(plan.spec, size.rows)),
    ]


def _of_one(plan: SupervisedPlan, size: _Size) -> list[WorkStage]:
    """One fit with those that are compared with it by evidence, and its validation."""
    fit = _one_fit(plan.spec, size) + sum(_one_fit(one, size) for one in plan.compared_models)
    phases = ("width search", "fit", "alternative fit")
    folds = 1 if size.bounds is not None and size.rows > size.bounds.max_rows_for_folds else size.folds
    share = min(1.0, size.fold_rows / size.rows)
    validation = [WorkStage(("validation", *phases), folds * share * fit, True)] if size.folds else []
    return [WorkStage(phases, fit), *validation]


def _one_fit(spec: Spec, size: _Size) -> float:
    if isinstance(spec.likelihood, Hurdle):
        return sum(_one_fit(one, size) for one in member_specs(spec))
    if not isinstance(spec.prior, GaussianProcess):
        return 80.0 + 2e-4 * min(size.rows, 5_000) ** 2
    if not isinstance(spec.likelihood, GaussianNoise | TransformedGaussian):
        times = 2.0 if isinstance(spec.likelihood, StudentT) else 1.0
        return times * ((0.7 + 0.03 * size.columns) * (80.0 + 0.7 * size.scales) + 0.1 * size.rows)
    times = 4.0 if is_heteroscedastic(spec.likelihood) else 1.0
    if spec.prior.inducing_points == "rows":
        return times * (1.1 * size.member(spec) + 110.0 + 0.08 * size.chosen_from + 0.001 * size.rows)
    return times * size.single(spec)


def _memory(plan: SupervisedPlan, size: _Size) -> int:
    """The peak in bytes: some matrices of the rows of the scales, and one or two of the rows of folds.

    Of so many rows that a tenth is held out in place of folds, there is no matrix of these.
    """
    m, passes = size.scales, 800 * size.rows
    of_columns = 6_000_000 + 8 * size.columns * m**2
    bounded, further = 800 * min(size.rows, ROWS_OF_PASSES), max(0, size.rows - ROWS_OF_PASSES)
    many = bounded + (BYTES_OF_A_ROW_WITH_FOLDS if size.folds else BYTES_OF_A_ROW) * further
    if plan.pool:
        holds_out_a_tenth = size.bounds is not None and size.rows > size.bounds.max_rows_for_folds
        has_matrix = size.rows > MAX_ROWS_STEPPED and not holds_out_a_tenth
        return (21 * size.fold_rows**2 if has_matrix else 130 * m**2) + of_columns + many
    if isinstance(plan.spec.likelihood, OneAgainstRest):
        of_functions = 32 * MAX_FUNCTIONS * min(size.rows, MAX_ROWS_AT_ONCE)
        return 60_000 * m + of_functions + 8 * CELLS_OF_CLASSES * size.rows * len(plan.classes) + 5 * passes
    if isinstance(plan.spec.likelihood, ClassLikelihood):
        several = 1.0 if len(plan.classes) <= 2 else 1.0 + 0.5 * len(plan.classes)
        return int(26_000 * m * several) + 5 * bounded + BYTES_OF_A_ROW_OF_CLASSES * further
    if not isinstance(plan.spec.likelihood, GaussianNoise | TransformedGaussian):
        return 6_000_000 + 13_000 * m + passes
    return 64 * m**2 + of_columns + many


def folds_of(plan: SupervisedPlan) -> int:
    """Return the requested number of folds; by default that of the effort, or fewer within a budget."""
    if plan.validation is not None:
        return plan.validation.folds
    if plan.budget is not None and plan.budget.folds is not None:
        return plan.budget.folds
    return FOLDS_OF[plan.effort]


def bounds_of(plan: SupervisedPlan) -> Bounds | None:
    """Return the bounds of the folds' cost; None where folds are requested: they are computed at any cost."""
    if plan.validation is not None:
        return None
    return THOROUGH if plan.effort == "thorough" else NORMAL


MIN_ROWS_OF_BUDGET = 50
"""The fewest rows to which a budget leaves a training."""


def within_budget(plan: SupervisedPlan, quick: SupervisedPlan, rows: int, cpu_seconds: float) -> SupervisedPlan:
    """Return the first of the reduced plans on so many rows that costs at most `cpu_seconds` of the reference core.

    `quick` is the plan of the same request with the effort `quick`. Raises InvalidRequestError where none is so cheap.
    """
    units = UNITS_PER_SECOND * cpu_seconds
    tried = plan
    for tried in _reduced(plan, quick, rows):
        cost = planned_cost(tried, rows).work_units
        if cost <= units:
            given = tried.budget or BudgetPlan(cpu_seconds, 0)
            return replace(tried, budget=replace(given, cpu_seconds=cpu_seconds, work_units=round(cost)))
    minimum = planned_cost(tried, rows).work_units / UNITS_PER_SECOND
    min_rows = min(rows, MIN_ROWS_OF_BUDGET)
    detail = (
        f"The budget of {cpu_seconds:g} CPU seconds is too small: a quick training of {min_rows} rows takes about"
        f" {minimum:.2g}. Expected at least that."
    )
    raise refusal(Fault(detail, "/budget/cpu_seconds"))


def _reduced(plan: SupervisedPlan, quick: SupervisedPlan, rows: int) -> Iterator[SupervisedPlan]:
    """Yield the plan, then each with more left out."""
    yield plan
    now, omitted = plan, list[str]()

    def without(what: str, reduced: SupervisedPlan) -> SupervisedPlan:
        omitted.append(what)
        return replace(reduced, budget=BudgetPlan(0.0, 0, omitted=tuple(omitted)))

    if now.compared_models:
        now = without("alternatives of noise and prior", replace(now, compared_models=()))
        yield now
    if now.local is not None and not now.local.choice.required:
        now = without("nearest-neighbour processes", replace(now, local=None))
        yield now
    while len(now.pool) > 1:
        now = without(f"process {len(now.pool) + 1} of the pool", replace(now, pool=now.pool[:-1]))
        yield now
    while len(now.alternatives) > 1:
        fewer = replace(now, alternatives=now.alternatives[:-1])
        now = without(f"process {len(now.alternatives) + 1} of the alternatives", fewer)
        yield now
    if now.validation is None and folds_of(now) > MIN_FOLDS:
        omitted.append(f"{folds_of(now) - MIN_FOLDS} of {folds_of(now)} folds")
        now = replace(now, budget=BudgetPlan(0.0, 0, folds=MIN_FOLDS, omitted=tuple(omitted)))
        yield now
    if now.effort != "quick":
        folds = [] if now.validation is not None else ["all folds, so that there is no score"]
        omitted = [*(one for one in omitted if "fold" not in one), "all processes but one", *folds]
        now = replace(quick, budget=BudgetPlan(0.0, 0, omitted=tuple(omitted)))
        yield now
    size = rows
    while size > MIN_ROWS_OF_BUDGET:
        size = max(size * 4 // 5, MIN_ROWS_OF_BUDGET)
        drawn = (*omitted, f"all rows but {size:,}, drawn by content")
        yield replace(now, budget=BudgetPlan(0.0, 0, rows=size, omitted=drawn))
