"""One training: the width where it is searched for, the fit, its rivals, and what was measured."""

from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from math import isfinite, nan

from app.sparse_bayes.algorithms.state import Standing
from app.sparse_bayes.basis import KernelBasis, KernelFunctions
from app.sparse_bayes.errors import TooManyCandidatesError
from app.sparse_bayes.fitting import learned, pose
from app.sparse_bayes.folds import subset
from app.sparse_bayes.integrated import Integral
from app.sparse_bayes.model import Model
from app.sparse_bayes.pool import LearnedModel, Pool, alone, n_functions, ready_of
from app.sparse_bayes.prediction import predict, scores
from app.sparse_bayes.problem import Problem, check_rows
from app.sparse_bayes.scales import InheritedWidth
from app.sparse_bayes.selection.heteroscedastic import with_log_noise
from app.sparse_bayes.selection.leave_one_out import leave_one_out, sharpened
from app.sparse_bayes.selection.pooled import FOLDS, Compared, Member, pooled
from app.sparse_bayes.selection.rows import Folding, Rows, Step
from app.sparse_bayes.selection.validation import validated
from app.sparse_bayes.selection.widths import with_width
from app.sparse_bayes.spec import Spec, check, is_heteroscedastic
from app.sparse_bayes.trail import Trail

MOST_CENTRES = 4_000
"""Rows that may carry a function, drawn by content: a pass over all candidates costs rows x centres."""

MAX_ROWS_FOR_POOL = 1_000
"""The exact evidence of a process costs the cube of the rows."""

CLEAR = 0.1
"""Nats a row by which another likelihood must be better: fits of one that began differently have differed by .08."""


@dataclass(frozen=True)
class Contender:
    """One of the fits that were compared: its spec, how many functions it kept, and its score.

    `score` is the log of its evidence with the hyperparameters integrated out, in nats. A rival that fell behind on the
    rows that its scales were learned on was given up: it has no `functions`, and that distance, for all rows, as score.
    """

    spec: Spec
    functions: int | None
    score: float


@dataclass(frozen=True, eq=False)
class Trained:
    """The end: the model, the spec as run (no width searched for any more), and what was measured.

    `scores` on the held-out rows, `leave_one_out` and `validation` (see there) are empty without; `contenders`, the one
    taken first, where there were rivals. Of a pool `members` are the processes that it kept, `compared` what the folds
    judged, and `score_loss` what its reduction to few functions costs. Figures are in the units of t.
    """

    learned: LearnedModel
    spec: Spec
    scores: dict[str, float]
    leave_one_out: dict[str, float]
    contenders: tuple[Contender, ...] = ()
    validation: dict[str, float] = field(default_factory=dict)
    members: tuple[Member, ...] = ()
    compared: tuple[Compared, ...] = ()
    score_loss: float | None = None

    @property
    def model(self) -> Model:
        """The model, where it is one alone; raises SparseBayesError for a pool."""
        return alone(self.learned)


def train(
    rows: Rows,
    spec: Spec,
    *,
    rivals: tuple[Spec, ...] = (),
    pool: tuple[Spec, ...] = (),
    folding: Folding | None = None,
    held_out: Rows | None = None,
    folds: int = 0,
    threads: int = 1,
    trail: Trail | None = None,
    most_cells: int | None = None,
) -> Iterator[Step | Trained]:
    """Find the width where a spec asks for a search, fit on all rows, do the same for its rivals, and measure the best.

    With `pool`, processes beside the spec's, all are learned together where rows are few enough: see `pooled`.
    A rival's kernel may inherit input map and terms of the best before it. With `folds` all of this is done again on
    each fold's other rows. `threads` share passes over all rows. It leaves its trail in `trail`, and goes on from where
    an earlier start's trail ended. Steps, at least one first and one last, then one Trained. Raises DataError,
    IllegalCombinationError, and TooManyCandidatesError where rows times candidates are more than `most_cells`.
    """
    for each in (spec, *rivals, *pool):
        check(each)
    folding, on = folding or Folding(), _Way(Trail() if trail is None else trail, threads, most_cells)
    if pool and len(rows.t) <= MAX_ROWS_FOR_POOL:
        yield from _pooled(rows, (spec, *pool), rivals, folding, folds or FOLDS, on, held_out)
        return
    if is_heteroscedastic(spec.likelihood):
        yield from _with_log_noise(rows, spec, folding, folds, on, held_out)
        return

    def learning(some: Rows, apart: Folding) -> Generator[Step, None, Model]:
        fitted, _ = yield from _ranked(some, spec, rivals, apart, on)
        return fitted.model

    best, beaten = yield from _ranked(rows, spec, rivals, folding, on)
    model, total = best.model, best.last.state.iteration
    measured = {} if held_out is None else scores(predict(model, held_out.X, held_out.noise_sd), held_out.t)
    validation: dict[str, float] = {}
    if folds:
        validation = yield from validated(rows, learning, folds=folds, folding=folding, seed=spec.seed)
    noise_sd = model.noise_sd if best.spec.likelihood == spec.likelihood else None
    yield Step("done", total, total, "looks", model.log_marginal_likelihood, len(model.mean), noise_sd)
    contenders = (best.contender, *beaten) if beaten else ()
    yield Trained(model, best.spec, measured, leave_one_out(model, rows, best.spec.prior.rho), contenders, validation)


def _with_log_noise(
    rows: Rows, spec: Spec, folding: Folding, folds: int, on: "_Way", held_out: Rows | None
) -> Iterator[Step | Trained]:
    """The training of a function and its log noise variance."""
    yield Step("fit", 0, None, "looks")
    model, resolved = yield from with_log_noise(rows, spec, folding, on.trail, on.threads)
    measured = {} if held_out is None else scores(predict(model, held_out.X), held_out.t)

    def learning(some: Rows, apart: Folding) -> Generator[Step, None, Model]:
        again, _ = yield from with_log_noise(some, spec, apart, on.trail, on.threads)
        return again

    validation: dict[str, float] = {}
    if folds:
        validation = yield from validated(rows, learning, folds=folds, folding=folding, seed=spec.seed)
    yield Step("done", 1, 1, "fits", model.log_marginal_likelihood, model.size, model.noise_sd)
    yield Trained(model, resolved, measured, {}, validation=validation)


def _pooled(
    rows: Rows,
    specs: tuple[Spec, ...],
    rivals: tuple[Spec, ...],
    folding: Folding,
    folds: int,
    on: "_Way",
    held_out: Rows | None,
) -> Iterator[Step | Trained]:
    """The training of a pool: the score of its folds is its validation."""
    check_rows(rows.X, rows.t, rows.noise_sd)
    for spec in (*specs, *rivals):
        spec.likelihood.check(rows.t)
    found = yield from pooled(rows, specs, rivals, folding, folds, on.trail)
    measured = {}
    if held_out is not None:
        prediction, _ = ready_of(found.model).predict(held_out.X, held_out.noise_sd)
        measured = scores(prediction, held_out.t)
    yield Step("done", folds, folds, "folds", None, n_functions(found.model))
    left_out = {} if isinstance(found.model, Pool) else leave_one_out(found.model, rows, found.spec.prior.rho)
    yield Trained(
        found.model,
        found.spec,
        measured,
        left_out,
        validation=found.score,
        members=found.members,
        compared=found.compared,
        score_loss=found.score_loss,
    )


@dataclass(frozen=True)
class _Way:
    """How fits are made: on which trail, how many threads share passes over all rows, and how long these may be."""

    trail: Trail
    threads: int
    most_cells: int | None

    def check(self, problem: Problem, spec: Spec) -> None:
        """Raises TooManyCandidatesError."""
        cells = problem.rows * problem.candidates.size
        if self.most_cells is not None and spec.algorithm.looks_at_all and cells > self.most_cells:
            raise TooManyCandidatesError(
                f"expected rows times candidates of at most {self.most_cells:,}, got {problem.rows:,} times"
                f" {problem.candidates.size:,}"
            )


def _ranked(
    rows: Rows, spec: Spec, rivals: tuple[Spec, ...], folding: Folding, on: _Way
) -> Generator[Step, None, tuple["_Fit", tuple[Contender, ...]]]:
    """The best fit, and those beaten as they were."""
    check_rows(rows.X, rows.t, rows.noise_sd)
    spec.likelihood.check(rows.t)
    best = yield from _fitted(rows, spec, folding, on)
    beaten: list[Contender] = []
    for rival in rivals:
        tried = yield from _fitted(rows, rival, folding, on, earlier=best)
        if tried.given_up:
            behind = (best.promise - tried.promise) * best.problem.rows
            beaten.append(Contender(tried.spec, None, best.score - behind))
            continue
        best, lost = (tried, best) if tried.beats(best) else (best, tried)
        beaten.append(lost.contender)
    return best, tuple(beaten)


@dataclass(frozen=True, eq=False)
class _Fit:
    """Where one fit on these rows ended, and its `promise` in nats a row, nan where none was made on the way.

    `lent` is what the kernels' input map costs where it is another fit's.
    """

    rows: Rows
    spec: Spec
    problem: Problem
    last: Standing
    promise: float
    lent: float = 0.0

    @property
    def given_up(self) -> bool:
        """Whether it had not ended."""
        return self.last.state.termination is None

    @cached_property
    def model(self) -> Model:
        """What was learned."""
        return sharpened(learned(self.problem, self.last), self.rows)

    @property
    def contender(self) -> Contender:
        """As it is told."""
        return Contender(self.spec, len(self.model.mean), self.score)

    @cached_property
    def integral(self) -> Integral:
        """Of the evidence over the hyperparameters."""
        return self.last.integral(self.problem)

    @property
    def scales(self) -> float:
        """What the input map costs, whoever found it; nothing where no kernel is in the model."""
        kernels = any(isinstance(one, KernelFunctions) and one.size for one in self.model.functions)
        return self.integral.input_map + (self.lent if kernels else 0.0)

    @property
    def score(self) -> float:
        """In nats, of the targets as they came."""
        return self.integral.value + self.scales + self.problem.log_jacobian

    def beats(self, other: "_Fit") -> bool:
        """Whether it takes another's place: by a clear margin where that has another likelihood."""
        same = self.spec.likelihood == other.spec.likelihood
        return self.score > other.score + (0.0 if same else CLEAR * self.problem.rows)


def _fitted(
    rows: Rows, spec: Spec, folding: Folding, on: _Way, *, earlier: _Fit | None = None
) -> Generator[Step, None, _Fit]:
    """A fit; `earlier` is the best so far, from which kernels may inherit.

    A rival that promises less than it is given up, since it would have to be better by a margin: what comes after the
    scales costs several times as much, most where a likelihood is wrong and many functions seem to be worth it.
    Noise of another likelihood may be in other units: of a rival's none is told on the way.
    """
    resolved = yield from with_width(rows, spec, folding, on.trail)
    centres = subset(rows.X, rows.t, MOST_CENTRES, spec.seed)
    inherited = None if earlier is None else _kernel_functions(earlier)
    problem = pose(
        rows.X,
        rows.t,
        resolved,
        centres=centres,
        inherited=inherited,
        noise_sd=rows.noise_sd,
        threads=on.threads,
    )
    on.check(problem, resolved)
    phase = "fit" if earlier is None else "rival fit"
    yield Step(phase, 0, None, "looks")
    promise = nan
    for now in on.trail.standings(problem, resolved):
        state = now.state
        reached = state.objective + problem.log_jacobian if isfinite(state.objective) else None
        noise_sd = spec.likelihood.noise(problem.precision(state.beta)) if earlier is None else None
        yield Step(phase, state.iteration, None, "looks", reached, len(state.active), noise_sd)
        promise = nan if now.promise is None else now.promise
        if earlier is not None and promise < earlier.promise:
            break
    lent = 0.0 if earlier is None or not _inherits(resolved) else earlier.scales
    return _Fit(rows, resolved, problem, now, promise, lent)


def _inherits(spec: Spec) -> bool:
    return any(isinstance(basis, KernelBasis) and isinstance(basis.width, InheritedWidth) for basis in spec.basis)


def _kernel_functions(fit: _Fit) -> KernelFunctions | None:
    """Those in the model, or that it was offered; None where it has no such dictionary."""
    dictionaries = (*fit.model.functions, *fit.problem.candidates.dictionaries)
    kernels = [functions for functions in dictionaries if isinstance(functions, KernelFunctions)]
    return kernels[0] if kernels else None
