"""The scales of a process whose evidence has no closed form: the bound through pivots, maximised by BFGS that begins
with its expected information [THEORY 18].

Each start is a few steps on few rows through few pivots; the best goes on, on the rows of the scales.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from math import inf

import numpy as np

from relevance_bayes.core.algorithms.hyperparameter_space import CAUTIOUS_SIGNAL_TO_NOISE
from relevance_bayes.core.algorithms.scales import Scales, scales_curvature
from relevance_bayes.core.algorithms.state import State, Trial
from relevance_bayes.core.algorithms.task import MAX_PIVOTS, PIVOTS_FOR_STARTS, ROWS_FOR_STARTS, ProcessTask, process_of
from relevance_bayes.core.errors import SparseBayesError
from relevance_bayes.core.folds import subset
from relevance_bayes.core.inference.exact_process import ExactProcess
from relevance_bayes.core.inference.posterior import LatentSites, Optimum
from relevance_bayes.core.inference.process import Bound, ProcessRows, Vectors, bound_gradient
from relevance_bayes.core.kernels.hyperparameters import Hyperparameters
from relevance_bayes.core.likelihoods.base import LatentGaussian
from relevance_bayes.core.types import Array

ROWS_FOR_INFORMATION = 100
"""Rows from which the information is estimated: 400 rows of 30 inputs cost more than the steps they saved."""

TOLERANCE_OF_SITES = 3e-6
"""The share of 1 + |L| in which the sites have converged: of 300 nats a hundredth of the least promised rise, ..."""

TOLERANCE_TO_BEGIN = 1e-4
"""... and that of the sites from which other iterations begin."""

ROWS_PER_INPUT = 8
"""With fewer rows per input, an ascent that ends early is worse on new rows: see `FEW_ROWS`."""


@dataclass(frozen=True)
class StepLimits:
    """The most steps of an ascent, and the promised rise in nats at which it ends: of a start, of the best, and of a
    fold from the scales of all rows."""

    start_steps: int
    start_tolerance: float
    steps: int
    tolerance: float
    fold_steps: int
    fold_tolerance: float


USUAL = StepLimits(8, 1.0, 60, 0.1, 2, 0.2)

FEW_ROWS = StepLimits(15, 0.3, 60, 0.02, 6, 0.05)
"""Where rows are few for the inputs: the log loss of six such fits was .347, with `USUAL` .372. On 26 other tables they
cost 14 % more and gain nothing."""


def limits_of(task: ProcessTask) -> StepLimits:
    """The limits that suit the rows of a problem: of two classes, twice those of the rarer one count."""
    problem = task.problem
    rows = problem.rows / problem.likelihood.latents
    if problem.likelihood.targets == "class" and problem.likelihood.latents == 1:
        positive = float(problem.t.sum())
        rows = 2.0 * min(positive, problem.rows - positive)
    return FEW_ROWS if rows < ROWS_PER_INPUT * problem.inputs else USUAL


@dataclass(frozen=True, eq=False)
class PivotEvaluation:
    """The bound through pivots with the log prior at theta (p,), `value` in nats."""

    task: ProcessTask
    rows: ProcessRows
    vectors: Vectors
    h: Hyperparameters
    theta: Array
    bound: Bound
    value: float

    @cached_property
    def gradient(self) -> Array:
        """The gradient (p,)."""
        slope, _ = bound_gradient(self.rows, self.vectors, self.task.kernel, self.h, self.bound)
        return slope + self.task.space.log_prior(self.h)[1]

    @cached_property
    def curvature(self) -> Array:
        """The expected information, the prior's curvature and RIDGE, (p, p)."""
        return scales_curvature(self.information, self.task, self.h)

    @property
    def information(self) -> Array:
        """The expected information (p, p) of theta where the sites are Gaussian targets, of variances 1/lam.

        That of ROWS_FOR_INFORMATION rows times the ratio of all rows to them, and times the latents.
        """
        rows, precision = self.rows, self.bound.optimum.sites.precision
        some = subset(rows.X, rows.t, ROWS_FOR_INFORMATION, self.task.problem.seed)
        precision = np.maximum(precision[some], 1e-6 * float(precision.max()))
        targets = replace(rows.take(some), precisions=precision / self.h.beta)
        scale = len(rows.t) / len(some) * self.task.problem.likelihood.latents
        return np.asarray(scale * ExactProcess.of(targets, self.task.kernel, self.h).information)


@dataclass(eq=False)
class PivotScales(Scales[PivotEvaluation]):
    """Those by the bound through at most so many `pivots`, spread over the rows.

    Each evaluation begins with the sites of the one before, `near`; the first with sites `first` at the same rows,
    where there are any.
    """

    pivots: int = MAX_PIVOTS
    tolerance_of_sites: float = TOLERANCE_OF_SITES
    first: LatentSites | None = None
    near: Optimum | None = None

    @cached_property
    def vectors(self) -> Vectors:
        """The pivots; raises SparseBayesError where the evidence has a closed form."""
        vectors = self.task.spread(self.rows, self.pivots)
        if vectors is None:
            raise SparseBayesError("expected a likelihood whose evidence has no closed form")
        return vectors

    def __call__(self, theta: Array) -> PivotEvaluation:
        """The evaluation at theta (p,); raises NotPositiveDefiniteError."""
        h = self.like.unpacked(theta)
        found = self.task.bound(
            self.rows, self.vectors, h, self.near, first=self.first, tolerance_of_sites=self.tolerance_of_sites
        )
        self.near = found.optimum
        value = found.value + self.task.space.log_prior(h)[0]
        return PivotEvaluation(self.task, self.rows, self.vectors, h, theta, found, value)


def scales_through_pivots(
    task: ProcessTask, rows: ProcessRows, start: Hyperparameters, *, cap: float, is_start: bool
) -> Trial:
    """The best hyperparameters from a start: see `StepLimits`; `cap` is the bound of log beta."""
    limits = limits_of(task)
    if is_start:
        scales = PivotScales(task, rows, start, cap, PIVOTS_FOR_STARTS)
        found = scales.learned(limits.start_steps, limits.start_tolerance)
    else:
        found = PivotScales(task, rows, start, cap).learned(limits.steps, limits.tolerance)
    return Trial(found.best.h, found.best.value)


def losses_of_unseen(task: ProcessTask, state: State, max_rows: int) -> Array:
    """The log loss (N,) of at most `max_rows` rows that the starts of a model of classes have not seen, at the scales
    of a state; 0 for all others. Raises NotPositiveDefiniteError."""
    problem, seen = task.problem, task.problem.sample(ROWS_FOR_STARTS).numbers
    unseen = np.setdiff1d(problem.sample(len(seen) + max_rows).numbers, seen)
    h, rows, losses = process_of(state).hyperparameters, task.rows_for_starts(state), np.zeros(problem.rows)
    scales = PivotScales(task, rows, h, inf, PIVOTS_FOR_STARTS, TOLERANCE_TO_BEGIN)
    at, new = scales(h.packed()), task.rows(state, unseen)
    latent = task.latent(at.vectors, at.h, at.bound, new.X, new.F)
    prediction = problem.likelihood.predictive(LatentGaussian.of_each([latent]), None)
    losses[unseen] = -prediction.log_density(new.t)
    return losses


def scales_from_start(task: ProcessTask, state: State, number: int) -> PivotEvaluation | None:
    """The scales learned from one start alone, as accurately as those of a fold by steps; None where no step raises the
    bound."""
    limits, cap = limits_of(task), max(CAUTIOUS_SIGNAL_TO_NOISE, task.space.begin_cap)
    scales = PivotScales(task, task.rows_for_scales(state), task.space.start(number), cap)
    found = scales.learned(limits.steps, limits.fold_tolerance)
    return found.best if found.has_converged or found.has_risen else None


@dataclass(frozen=True, eq=False)
class ScalesOfAll:
    """The scales learned from all rows, or a sample, from which those of some of the rows are a few steps away."""

    at: PivotEvaluation
    limits: StepLimits

    @classmethod
    def of(cls, task: ProcessTask, state: State) -> "ScalesOfAll":
        """The scales of a state; raises NotPositiveDefiniteError."""
        h, rows = process_of(state).hyperparameters, task.rows_for_scales(state)
        return cls(PivotScales(task, rows, h, inf, tolerance_of_sites=TOLERANCE_TO_BEGIN)(h.packed()), limits_of(task))

    @property
    def sites(self) -> LatentSites:
        """The sites at the rows."""
        return self.at.bound.optimum.latent_sites

    def stepped(self, task: ProcessTask, state: State, first: LatentSites | None = None) -> PivotEvaluation | None:
        """The evaluation after the steps on the rows of another task; None where no share of a step raises the bound.

        `first` are sites at its rows. The curvature is that of all rows, times the share of the rows.
        """
        rows = task.rows_for_scales(state)
        cap = max(CAUTIOUS_SIGNAL_TO_NOISE, task.space.begin_cap)
        scales = PivotScales(task, rows, self.at.h, cap, first=first)
        curvature = scales.entries.curvature(self.at.curvature) * (len(rows.t) / len(self.at.rows.t))
        found = scales.learned(self.limits.fold_steps, self.limits.fold_tolerance, curvature)
        return found.best if found.has_converged or found.has_risen else None
