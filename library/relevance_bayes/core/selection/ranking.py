"""Fits of one target compared by their evidence with the hyperparameters integrated out."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf, isfinite, nan

from relevance_bayes.core.algorithms.greedy import with_more_jitter
from relevance_bayes.core.algorithms.state import Iterate, State
from relevance_bayes.core.algorithms.task import process_of
from relevance_bayes.core.basis import KernelBasis, KernelFunctions
from relevance_bayes.core.errors import DataError, NotPositiveDefiniteError, TooManyCandidatesError
from relevance_bayes.core.evidence import Integral
from relevance_bayes.core.fitting import FitLog, learned, pose_rows
from relevance_bayes.core.folds import Split
from relevance_bayes.core.hyperparameters import CrossValidationWidth, InheritedWidth
from relevance_bayes.core.model import Model
from relevance_bayes.core.prediction import Ready
from relevance_bayes.core.problem import Problem, check_rows
from relevance_bayes.core.rows import Folding, Rows, Sample, Sampler, Step
from relevance_bayes.core.selection.scoring import (
    Compared,
    RankedModel,
    Trained,
    Validation,
    measured,
    table_of_rows,
    work_of,
)
from relevance_bayes.core.spec import Spec
from relevance_bayes.core.types import Indices
from relevance_bayes.core.width_search import with_width

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
class Ranking:
    """The best fit, those it outscored, and those that failed."""

    best: "RankedFit"
    outscored: tuple[RankedModel, ...]
    failed: tuple[Compared, ...]

    def trained(self, best: "RankedFit") -> Trained:
        """The result: the best fit, which may have been continued since."""
        ranked_models = (self.best.ranked_model, *self.outscored) if self.outscored else ()
        return Trained(best.model, best.spec, ranked_models=ranked_models, compared=self.failed, work=best.work)


def ranked(rows: Rows, specs: Sequence[Spec], folding: Folding, on: FitContext) -> Generator[Step, None, Ranking]:
    """Fit and compare all; raises NotPositiveDefiniteError where none can be computed."""
    check_rows(rows.X, rows.t, rows.noise_sd)
    specs[0].likelihood.check(rows.t)
    best: RankedFit | None = None
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
    return Ranking(replace(best, work=work), tuple(outscored), tuple(failed))


def _with_own_width(spec: Spec) -> Spec:
    """The spec with its inherited width replaced by one by folds, where there is no fit to inherit from."""
    return replace(
        spec,
        basis=tuple(
            replace(one, width=CrossValidationWidth())
            if isinstance(one, KernelBasis) and isinstance(one.width, InheritedWidth)
            else one
            for one in spec.basis
        ),
    )


@dataclass(frozen=True, eq=False)
class RankedFit:
    """The end of one fit on these rows, and its `evidence_per_row` in nats a row, nan without an estimate.

    `inherited_cost` is the cost of an inherited input map, and `work` that of all compared fits.
    """

    rows: Rows
    spec: Spec
    problem: Problem
    last: Iterate
    evidence_per_row: float
    inherited_cost: float = 0.0
    work: float = 0.0

    @property
    def is_stopped_early(self) -> bool:
        """True where the fit was not run to its end."""
        return self.last.state.termination is None

    @cached_property
    def model(self) -> Model:
        """The learned model."""
        return learned(self.problem, self.last)

    @property
    def objective(self) -> float:
        """The maximised objective in the targets' own units, in nats."""
        return self.last.state.objective + self.problem.log_jacobian

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

    def outscores(self, other: "RankedFit") -> bool:
        """True where it is better than another fit: by MIN_MARGIN where that has another likelihood."""
        same = self.spec.likelihood == other.spec.likelihood
        return self.score > other.score + (0.0 if same else MIN_MARGIN * self.problem.rows)


def fitted_to(
    rows: Rows,
    spec: Spec,
    folding: Folding,
    on: FitContext,
    *,
    earlier: RankedFit | None = None,
    begin: State | None = None,
) -> Generator[Step, None, RankedFit]:
    """A fit, from the state `begin` where there is one; `earlier` is the best so far, from which kernels may inherit.

    A model whose evidence per row is lower than the best's is stopped early, since the phases after the scales cost
    several times as much, most under a wrong likelihood with many functions. A fit from which no prediction can be
    computed is continued with more jitter. Noise of another likelihood may be in other units: the steps of a compared
    model don't report it.
    """
    resolved, problem = yield from posed(rows, spec, folding, on, earlier=earlier)
    inherited_cost = 0.0 if earlier is None or not _inherits(resolved) else earlier.scales
    return (yield from _run(rows, resolved, problem, on, earlier=earlier, inherited_cost=inherited_cost, begin=begin))


def posed(
    rows: Rows, spec: Spec, folding: Folding, on: FitContext, *, earlier: RankedFit | None = None
) -> Generator[Step, None, tuple[Spec, Problem]]:
    """The spec with the widths that a search finds, and its problem."""
    resolved = yield from with_width(rows, spec, folding, on.fit_log)
    source = rows.blocks(on.threads)
    centres = Sampler(source, spec.seed).sample(MAX_CENTRES)
    inherited = None if earlier is None else _kernel_functions(earlier)
    problem = pose_rows(source, resolved, centres=centres, inherited=inherited, noise_sd=rows.noise_sd)
    on.check(problem, resolved)
    return resolved, problem


def continued(rows: Rows, fit: RankedFit, taken: Indices, on: FitContext) -> Generator[Step, None, RankedFit]:
    """A fit of a process to the rows `taken` (n,), continued on all rows, with the same candidates.

    It goes on from the hyperparameters and inducing points, which are optimised together again.
    """
    (kernels,) = (one for one in fit.problem.candidates.dictionaries if isinstance(one, KernelFunctions))
    centres = Sample(taken[kernels.rows], kernels.centres)
    problem = pose_rows(rows.blocks(on.threads), fit.spec, centres=centres, noise_sd=rows.noise_sd)
    process = replace(process_of(fit.last.state), phase="together", origin=None)
    begin = replace(fit.last.state, objective=-inf, termination=None, process=process, trace=None)
    return (yield from _run(rows, fit.spec, problem, on, begin=begin))


def beside_a_tenth(
    rows: Rows, specs: Sequence[Spec], split: Split, folding: Folding, on: FitContext
) -> Generator[Step, None, tuple[Ranking, RankedFit, Validation] | None]:
    """A ranking of processes on all rows but a tenth, its best fit continued on all, and the figures of the tenth.

    None where the others can't be learned from. To begin on all rows again would take twice the time.
    """
    others, fold = split
    try:
        ranking = yield from ranked(rows.take(others), specs, folding.take(others), on)
    except (DataError, NotPositiveDefiniteError):
        return None
    yield Step("validation", 0, 1, "fits")
    table = on.fit_log.once(lambda: table_of_rows(ranking.best.model, rows.take(fold)))
    yield Step("validation", 1, 1, "fits")
    best = yield from continued(rows, ranking.best, others, on)
    return ranking, best, Validation.of(measured(table, rows.t[fold]), fold)


def _run(
    rows: Rows,
    spec: Spec,
    problem: Problem,
    on: FitContext,
    *,
    earlier: RankedFit | None = None,
    inherited_cost: float = 0.0,
    begin: State | None = None,
) -> Generator[Step, None, RankedFit]:
    """The iterates of a fit to its end, or to where it is stopped early."""
    phase = "fit" if earlier is None else "alternative fit"
    yield Step(phase, 0, None, "iterations")
    evidence_per_row = nan
    while True:
        for now in on.fit_log.iterates(problem, spec, begin):
            state = now.state
            reached = state.objective + problem.log_jacobian if isfinite(state.objective) else None
            noise_sd = spec.likelihood.noise(problem.precision(state.beta)) if earlier is None else None
            yield Step(phase, state.iteration, None, "iterations", reached, len(state.active), noise_sd)
            evidence_per_row = nan if now.evidence_per_row is None else now.evidence_per_row
            if earlier is not None and evidence_per_row < earlier.evidence_per_row:
                break
        fit = RankedFit(rows, spec, problem, now, evidence_per_row, inherited_cost)
        try:
            if not fit.is_stopped_early:
                Ready.of(fit.model)
        except NotPositiveDefiniteError as error:
            begin = with_more_jitter(now.state, error)
        else:
            return fit


def _inherits(spec: Spec) -> bool:
    return any(isinstance(basis, KernelBasis) and isinstance(basis.width, InheritedWidth) for basis in spec.basis)


def _kernel_functions(fit: RankedFit) -> KernelFunctions | None:
    """The kernel functions of the model, else of its candidates; None without a kernel."""
    dictionaries = (*fit.model.functions, *fit.problem.candidates.dictionaries)
    kernels = [functions for functions in dictionaries if isinstance(functions, KernelFunctions)]
    return kernels[0] if kernels else None
