"""Members of a pool: their scales, their functions in the order of their gains, the fit through few."""

from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from math import expm1, inf, isfinite, log, pi
from typing import TypeAlias

import numpy as np

from relevance_bayes.core.algorithms import hyperparameter_space
from relevance_bayes.core.algorithms.greedy import BEFORE_TOGETHER, Greedy, ProcessIterate
from relevance_bayes.core.algorithms.scales import has_short_starts
from relevance_bayes.core.algorithms.sequential import with_hyperparameters
from relevance_bayes.core.algorithms.state import KeptFunctions, State, Termination
from relevance_bayes.core.algorithms.task import ROWS_FOR_SCALES, ProcessTask, process_of
from relevance_bayes.core.basis import ConstantFunction, KernelBasis, KernelFunctions
from relevance_bayes.core.concurrency import concurrently
from relevance_bayes.core.errors import DataError, NotPositiveDefiniteError
from relevance_bayes.core.inference.evidence import Chosen, choose
from relevance_bayes.core.inference.problem import Problem
from relevance_bayes.core.inference.process import ProcessRows
from relevance_bayes.core.kernels import Kernel
from relevance_bayes.core.kernels.hyperparameters import Hyperparameters
from relevance_bayes.core.likelihoods.base import LatentGaussian, Prediction
from relevance_bayes.core.linalg import cholesky, inverse_from_cholesky, log_determinant, solve_lower
from relevance_bayes.core.models.fitting import FitLog, iterates, learned, pose
from relevance_bayes.core.models.model import Model, Spec, has_width_per_input
from relevance_bayes.core.models.prediction import Ready, predict
from relevance_bayes.core.priors import JITTER, Whitening
from relevance_bayes.core.rows import Rows, Step, reported_as
from relevance_bayes.core.types import Array
from relevance_bayes.records.reports import Evidence

MIN_JITTER = 1e-8
JITTER_OF_NOISE = 0.01
"""The largest jitter as a share of the noise variance over the signal variance: more would act as noise."""

MIN_GAIN = 0.03
"""The least gain in nats of a member's last function, before functions are left out to save cost."""

CUT_RATIO = 10.0
"""An ordering whose last function gains more than this multiple of MIN_GAIN was cut."""

MIN_SHARE_OF_LEFT = 0.02
"""The least gain of a function, as a share of what may be left, where that is less than MIN_GAIN."""

MAX_EXPONENT = 50.0
"""The largest 4 times loss of which the exponential is taken: every function costs less."""

MAX_EXCESS = 1.0
"""Nats by which the gains of functions may add up to more than there is to gain: of more, rounding has spoiled them."""

MAX_FUNCTIONS = 512

MAX_ROWS_FOR_EXACT = 5_000
"""The most rows of an exact process; of more, a member through few functions grows."""

FIRST_WITH_FUNCTIONS = "functions"
"""The phase of a fit in which its scales are learned, and no function is chosen yet."""


@dataclass(frozen=True, eq=False)
class Whole:
    """A member before its reduction: its spec, its problem, and the state at which its scales were learned."""

    spec: Spec
    problem: Problem
    state: State

    @property
    def task(self) -> ProcessTask:
        """The problem as a task of the process algorithm."""
        return ProcessTask.of(self.problem)

    @property
    def hyperparameters(self) -> Hyperparameters:
        """The learned hyperparameters."""
        return process_of(self.state).hyperparameters

    @property
    def evidence(self) -> Evidence:
        """The evidence of the full process."""
        return ProcessIterate(self.state).log_evidence(self.problem)

    @property
    def has_started(self) -> bool:
        """True where the starts were compared on few rows, and nothing was learned on all rows yet."""
        task, process = self.task, process_of(self.state)
        return process.phase == "scales" and process.starts == task.space.starts + has_short_starts(task)

    def covariance(self, rows: ProcessRows, K: Array) -> Array:
        """That of the targets at N rows of kernel K (N, N): s K + F diag(1/alpha) F' and the noise."""
        h = self.hyperparameters
        C = h.signal_variance * K + (rows.F / h.alpha) @ rows.F.T
        C.flat[:: len(C) + 1] += 1.0 / rows.precision(h.beta)
        return C

    def predict(self, X: Array, noise_sd: Array | None = None) -> Prediction:
        """The predictive distribution of the process at X (n, d), given all rows; O(N^3 + N^2 n).

        Exact [RASMUSSEN2006, eqs 2.25 and 2.26] up to MAX_ROWS_FOR_EXACT of them, above through MAX_FUNCTIONS.
        `noise_sd` (n,) where each row has its own. Raises NotPositiveDefiniteError.
        """
        if self.problem.rows > MAX_ROWS_FOR_EXACT:
            ordered = Ordered.of(self)
            return predict(ordered.at_scales(len(ordered.chosen.gains)), X, noise_sd)
        task, h, rows = self.task, self.hyperparameters, self.task.rows(self.state)
        kernel, U, V = h.covariance(task.kernel), h.input_map(rows.X), h.input_map(X)
        F = self.problem.candidates.columns(X, self.state.active[: len(h.alpha)])
        lower = cholesky(self.covariance(rows, kernel(U, U)))
        reached = solve_lower(lower, h.signal_variance * kernel(U, V) + (rows.F / h.alpha) @ F.T)
        mean = reached.T @ solve_lower(lower, rows.t) + self.problem.centre
        variance = np.maximum(h.signal_variance + np.square(F) @ (1.0 / h.alpha) - np.square(reached).sum(axis=0), 0.0)
        likelihood = self.spec.model_likelihood
        noise = likelihood.noise(self.problem.precision(h.beta)) if noise_sd is None else noise_sd
        return likelihood.predictive(LatentGaussian(mean, variance, np.zeros(len(X))), noise)


def whole(problem: Problem, spec: Spec, fit_log: FitLog) -> Iterator[Whole]:
    """The states of a fit until its scales are learned: the last is the member. Raises NotPositiveDefiniteError."""
    for now in fit_log.iterates(problem, spec):
        yield Whole(spec, problem, now.state)
        if process_of(now.state).phase == FIRST_WITH_FUNCTIONS:
            return


def jitter(h: Hyperparameters) -> float:
    """The jitter on the diagonal of the kernel matrix of few functions: less than the noise, where that is little."""
    return min(JITTER, max(MIN_JITTER, JITTER_OF_NOISE / (h.beta * h.signal_variance)))


def total_gain(member: Whole, rows: ProcessRows, K: Array) -> float:
    """The gain of all functions of a process together at N rows, in nats: log p(t) - L of the fixed columns alone.

    K (N, N) is the kernel of the rows, lam (N,) their noise precision, and F (N, F) the columns, of precisions alpha:
    L = log N(t; 0, F diag(1/alpha) F' + diag(1/lam)) - s/2 sum lam, the last the trace term [TITSIAS2009]. log p(t) is
    the evidence of the scales where these were learned on all rows, else O(N^3). Raises NotPositiveDefiniteError.
    """
    h, t = member.hyperparameters, rows.t
    precision = np.array(np.broadcast_to(rows.precision(h.beta), len(t)))
    weighted = precision[:, None] * rows.F
    lower = cholesky(rows.F.T @ weighted + np.diag(h.alpha))
    square = float(precision @ np.square(t) - np.square(solve_lower(lower, weighted.T @ t)).sum())
    determinant = log_determinant(lower) - float(np.log(h.alpha).sum() + np.log(precision).sum())
    alone = -0.5 * (len(t) * log(2.0 * pi) + determinant + square + h.signal_variance * float(precision.sum()))
    is_known = isfinite(member.state.objective)
    if is_known and len(member.task.rows_for_scales(member.state).t) == len(t) == member.problem.rows:
        return member.evidence.value - member.problem.log_jacobian - alone
    lower = cholesky(member.covariance(rows, K))
    square = float(np.square(solve_lower(lower, t)).sum())
    return -0.5 * (len(t) * log(2.0 * pi) + log_determinant(lower) + square) - alone


@dataclass(frozen=True, eq=False)
class Ordered:
    """A member's functions in the order of their gains, on so many `rows`.

    `total_gain` is that of all functions in nats, None where it is not known: of more rows than MAX_ROWS_FOR_EXACT.
    `max_left` are the nats that the functions after the last may gain together.
    """

    whole: Whole
    chosen: Chosen
    rows: int
    total_gain: float | None = None
    max_left: float = 0.0

    @classmethod
    def of(cls, member: Whole, *, max_loss: float = 0.0, max_functions: int = MAX_FUNCTIONS) -> "Ordered":
        """The ordering of all functions that gain MIN_GAIN, at most `max_functions`.

        With `max_loss` it ends where those left would lose the member at most so many nats a row: 1/4 log(1 + 2 g) with
        their gain g in nats a row, see `reduction.widening`. Raises NotPositiveDefiniteError.
        """
        task, h = member.task, member.hyperparameters
        places, rows = task.rows_for_functions(member.state)
        U, kernel, total = h.input_map(rows.X), h.covariance(task.kernel), None
        max_left = 0.5 * len(rows.t) * expm1(min(4.0 * max_loss, MAX_EXPONENT))
        min_gain = min(MIN_GAIN, MIN_SHARE_OF_LEFT * max_left or inf)
        if member.problem.rows <= MAX_ROWS_FOR_EXACT:
            K = kernel(U, U)
            total, K = total_gain(member, rows, K), K[:, : len(places)]
        else:
            K = kernel(U, U[: len(places)])
        chosen = choose(
            K,
            signal_variance=h.signal_variance,
            gradient=rows.precision(h.beta) * rows.t,
            precision=np.array(np.broadcast_to(rows.precision(h.beta), len(rows.t))),
            fixed=rows.F,
            alpha=h.alpha,
            min_gain=MIN_GAIN if total is None else min_gain,
            max_functions=max_functions,
            max_total_gain=inf if total is None else total - max_left,
            residue=min(1e-6, jitter(h)),
        )
        return cls(member, replace(chosen, places=places[chosen.places]), len(rows.t), total, max_left)

    @property
    def left(self) -> float:
        """The nats that all functions after the last gain together, 0 where that is not known."""
        return max(-self._excess, 0.0)

    @property
    def is_cut(self) -> bool:
        """True where MAX_FUNCTIONS or rounding ended the order while functions gained much more than MIN_GAIN, and
        those left more than `max_left`; or where the gains are wrong, since they add up to more than there is."""
        gains = self.chosen.gains
        ended = self.total_gain is not None and self.left <= self.max_left
        return self._excess > MAX_EXCESS or (
            not ended and 0 < len(gains) < self.rows and bool(gains[-1] > CUT_RATIO * MIN_GAIN)
        )

    @property
    def _excess(self) -> float:
        """The sum of the gains less what there is to gain, in nats."""
        return 0.0 if self.total_gain is None else float(self.chosen.gains.sum()) - self.total_gain

    def worth(self, gain: float) -> int:
        """The number of functions before the first that gains less than `gain` nats."""
        below = np.flatnonzero(self.chosen.gains < gain)
        return int(below[0]) if len(below) else len(self.chosen.places)

    @property
    def grows(self) -> bool:
        """True where the order is of a part of many rows, and functions may be added by their gains on all rows."""
        return self.whole.task.grows and self.whole.problem.rows > MAX_ROWS_FOR_EXACT

    def growing(self, max_functions: int) -> Problem:
        """The problem of a fit that adds functions by the likelihood's least gain, up to `max_functions`."""
        prior = replace(self.whole.task.prior, min_gain=None, max_functions=max_functions)
        return replace(self.whole.problem, prior=prior)

    def through(self, functions: int, jitter: float, *, grows: bool = False) -> State:
        """The state from which a fit through the first functions continues with its noise, then with all
        hyperparameters, and then adds functions where it `grows`."""
        process = process_of(self.whole.state)
        gains = self.chosen.gains
        found = replace(
            process,
            phase="noise",
            round=BEFORE_TOGETHER if grows else None,
            hyperparameters=replace(process.hyperparameters, jitter=jitter),
            last_gain=float(gains[functions - 1]) if functions else None,
            next_gain=float(gains[functions]) if functions < len(gains) else self.chosen.next_gain,
        )
        numbers = (int(self.whole.task.first + place) for place in self.chosen.places[:functions])
        return replace(self.whole.state, active=(*self.whole.state.active, *numbers), process=found)

    def needs_all(self, functions: int) -> bool:
        """True where so many functions are most of those of all rows, or the order of these was cut, of not too few
        rows from all of which the scales were learned."""
        are_enough = MIN_ROWS_OF_ALL <= self.whole.problem.rows == self.rows <= ROWS_FOR_SCALES
        return are_enough and (self.is_cut or functions > NEARLY_ALL * self.rows)

    def through_all(self) -> Model:
        """The model through the functions of all rows at the member's scales: see `exact_model`.

        Where each row has a noise of its own, it is the process itself but for jitter. Raises
        NotPositiveDefiniteError."""
        if self.whole.problem.precisions is None:
            return exact_model(self.whole)
        rows, places = self.whole.problem.rows, self.chosen.places
        others = np.setdiff1d(np.arange(rows), places)
        gains = np.append(self.chosen.gains, np.zeros(len(others)))
        chosen = replace(self.chosen, places=np.concatenate([places, others]), gains=gains)
        model = replace(self, chosen=chosen).at_scales(rows)
        Ready.of(model)
        return model

    def at_scales(self, functions: int) -> Model:
        """The model through the first functions at the member's scales: only noise and precisions are learned again.

        Raises NotPositiveDefiniteError.
        """
        problem, spec = self.whole.problem, self.whole.spec
        for now in iterates(problem, spec, self.through(functions, jitter(self.whole.hyperparameters))):
            if process_of(now.state).phase in {"vectors", "together"}:
                break
        rows = replace(now.state, process=replace(process_of(now.state), phase="rows", moved=None))
        (last,) = deque(iterates(problem, spec, rows), maxlen=1)
        return learned(problem, last)


NOISE_MARGIN = 10.0
"""The kernel matrix of N rows is positive definite with 1/NOISE_MARGIN of an exact process's noise, so that it is with
all of it on any machine. Over its signal variance the noise is at least N eps: with rounding errors of their own,
matrices of 60 to 1,000 rows needed 0.3 N eps."""


@dataclass(frozen=True, eq=False)
class _Exact(ProcessIterate):
    """The end of a process that keeps the functions of all rows."""

    weights: KeptFunctions | None = None

    def kept(self, problem: Problem) -> KeptFunctions:
        """The weights."""
        return super().kept(problem) if self.weights is None else self.weights


def with_noise(K: Array, share: float) -> tuple[Whitening, float]:
    """The whitening by K (N, N) with the noise's `share` on its diagonal, tenfold while rounding forbids it."""
    share = max(share, len(K) * float(np.finfo(np.float64).eps))
    while True:
        try:
            Whitening.of(K, jitter=share / NOISE_MARGIN)
            return Whitening.of(K, jitter=share), share
        except NotPositiveDefiniteError:
            if share > MIN_JITTER:
                raise
            share *= 10.0


def exact_model(member: Whole) -> Model:
    """The process itself as a model, at its scales, through the functions of all rows.

    Its jitter is its noise variance over s, n = 1/(beta s). Of L L' = K + n I, s (1 - |L^-1 k|^2) is the variance of
    the latent given the targets and the weights w of the columns F [RASMUSSEN2006, eq. 2.26], and no digit of little
    noise is lost. w has the covariance S = (A + F'(K + n I)^-1 F / s)^-1 [RASMUSSEN2006, eq. 2.42], and the functions
    the weights (K + n I)^-1 (t - F w). Rows have noise of one size. Raises NotPositiveDefiniteError.
    """
    problem, task, h = member.problem, member.task, member.hyperparameters
    s, alpha = h.signal_variance, h.alpha
    rows, functions = task.rows(member.state, task.functions.rows), task.functions
    kernel = KernelFunctions(h.covariance(task.kernel), h.input_map, functions.centres, functions.rows)
    whitening, n = with_noise(kernel.every(functions.centres), 1.0 / (h.beta * s))
    h = replace(h, beta=1.0 / (n * s), jitter=n)
    inverse = whitening.inverse
    F, t = inverse @ rows.F, inverse @ rows.t
    middle = cholesky(np.diag(alpha) + F.T @ F / s)
    covariance = inverse_from_cholesky(middle)
    of_columns = covariance @ (F.T @ t) / s
    left = t - F @ of_columns
    square = float(left @ left) / s + float(alpha @ np.square(of_columns))
    determinant = (
        len(t) * log(s) + log_determinant(whitening.lower) + log_determinant(middle) - float(np.log(alpha).sum())
    )
    value = -0.5 * (len(t) * log(2.0 * pi) + determinant + square)
    spread = inverse.T @ solve_lower(middle, F.T).T
    prior = np.append(s * np.square(inverse).sum(axis=0), 1.0 / alpha)
    variances = np.append(np.square(spread).sum(axis=1), covariance.diagonal())
    mean = np.append(inverse.T @ left, of_columns)
    fixed = task.fixed(member.state)
    mean[[isinstance(one, ConstantFunction) for one in (kernel, *fixed) for _ in range(one.size)]] += problem.centre
    weights = KeptFunctions(
        functions=(kernel, *fixed),
        mean=mean,
        covariance=covariance,
        alpha=1.0 / prior,
        gamma=np.clip(1.0 - variances / prior, 0.0, 1.0),
        likelihood=problem.likelihood,
        signal_variance=s,
        jitter=n,
    )
    least_noise = log(h.beta) >= task.space.max_log_beta(hyperparameter_space.MAX_SIGNAL_TO_NOISE) - 1e-6
    why = Termination.NOISE_FLOOR if least_noise and task.space.free(h)[0] else Termination.CONVERGED
    state = replace(member.state, objective=value, termination=why)
    model = learned(problem, _Exact(with_hyperparameters(state, h), weights=weights))
    Ready.of(model)
    return model


MAX_SIGNAL_TO_NOISE = 1e3
"""The signal-to-noise ratio up to which another kernel starts from the widths of the first."""

MAX_JITTER = 1e-4
"""The jitter up to which tenfold jitter is tried, before three quarters of the functions."""

FEWER = (0.9, 0.8)
"""Shares of the functions that are tried where a matrix is not positive definite with all of them."""

NEARLY_ALL = 0.5
"""The share of all functions above which all are kept, as where there is next to no noise. A bound through so many is
dearer than the process itself: without it, trainings of five public tables of 320 to 600 rows take 0.4 to 1.2 of the
time, and new rows have up to 0.12 nats more."""

MIN_ROWS_OF_ALL = 200
"""The least number of rows of which all functions are kept: of fewer, the bound through few functions costs little."""

MIN_FUNCTIONS = 8
"""The least number of functions of a member: an error is raised where fewer would be needed."""


@dataclass(frozen=True)
class FailedFit:
    """A process that could not be learned, and the reason; or, where it `is_behind`, why it is not measured further."""

    reason: str
    is_behind: bool = False


MemberFit: TypeAlias = Whole | FailedFit


def learned_members(
    rows: Rows, specs: Sequence[Spec], fit_log: FitLog, step: Step, threads: int = 1
) -> Generator[Step, None, list[MemberFit]]:
    """Each member with its scales learned.

    Those with a width for each input start from the hyperparameters of the first; another kernel has its own starts
    where the first found nearly no noise. All but the first are learned at once by `threads`.
    """
    logs = fit_log.parts(len(specs))
    each = [replace(step, completed=place, total=len(specs), unit="processes") for place in range(len(specs))]
    first = yield from reported_as(each[0], learned_member(rows, specs[0], None, logs[0], step))
    others = list[Generator[Step, None, MemberFit]]()
    for spec, entries, own in zip(specs[1:], logs[1:], each[1:], strict=True):
        has_start = isinstance(first, Whole) and has_width_per_input(spec)
        if isinstance(first, Whole) and _kernel(spec) != _kernel(specs[0]):
            has_start = has_start and first.hyperparameters.beta * first.problem.square < MAX_SIGNAL_TO_NOISE
        begin = first.hyperparameters if isinstance(first, Whole) and has_start else None
        others.append(reported_as(own, learned_member(rows, spec, begin, entries, step)))
    return [first, *(yield from concurrently(others, threads))]


def learned_member(
    rows: Rows,
    spec: Spec,
    begin: Hyperparameters | None,
    fit_log: FitLog,
    step: Step,
    *,
    tolerance: float | None = None,
    reason_to_stop: Callable[[Whole], str | None] = lambda _: None,
) -> Generator[Step, None, MemberFit]:
    """A member with its scales learned, from `begin` where that is given, until steps promise less than `tolerance`.

    FailedFit where it can't be computed, or as soon as there is a `reason_to_stop`.
    """
    try:
        posed = pose(rows.X, rows.t, spec, noise_sd=rows.noise_sd)
        problem = replace(posed, begin=begin, tolerance=posed.tolerance if tolerance is None else tolerance)
        for member in whole(problem, spec, fit_log):
            yield step
            reason = reason_to_stop(member)
            if reason is not None:
                return FailedFit(reason, is_behind=True)
    except (NotPositiveDefiniteError, DataError) as error:
        return FailedFit(str(error))
    return member


def _kernel(spec: Spec) -> Kernel | None:
    return next((one.kernel for one in spec.basis if isinstance(one, KernelBasis)), None)


def in_order(member: Whole, *, max_loss: float = 0.0, max_functions: int = MAX_FUNCTIONS) -> Ordered | FailedFit:
    """A member's functions in the order of their gains, with the bounds of `Ordered.of`."""
    try:
        return Ordered.of(member, max_loss=max_loss, max_functions=max_functions)
    except NotPositiveDefiniteError as error:
        return FailedFit(str(error))


@dataclass(frozen=True, eq=False)
class Through:
    """A member through few functions, and the hyperparameters that were optimised together with them."""

    model: Model
    hyperparameters: Hyperparameters


MAX_ITERATIONS_NEAR = 8
"""The most iterations of a joint optimisation that starts near its end."""


def learned_through(
    member: Ordered,
    functions: int,
    fit_log: FitLog,
    *,
    max_functions: int | None = None,
    near: Hyperparameters | None = None,
) -> Generator[Step, None, Through]:
    """A member through its first functions, or fewer where a matrix is not positive definite.

    Of many rows, functions that gain beside them on all rows are added, up to `max_functions`; None: none is added.
    The joint optimisation starts at the hyperparameters `near`, where those of a fit to nearly the same rows are given.

    Where a fit can't be computed, FEWER of them are tried, then tenfold jitter, until all can be kept. The model of the
    greatest bound on the log marginal likelihood is taken: for a member of nearly no noise jitter acts as noise, and
    fewer functions may cost less. Raises NotPositiveDefiniteError.
    """
    added, found = jitter(member.whole.hyperparameters), list[Through]()
    while True:
        complete = True
        for size in (functions, *(int(share * functions) for share in FEWER)):
            try:
                found.append((yield from _through(member, size, added, fit_log, max_functions, near)))
                break
            except NotPositiveDefiniteError:
                if functions < MIN_FUNCTIONS:
                    raise
                complete = False
        if found and (complete or added >= MAX_JITTER):
            return max(found, key=lambda one: one.model.evidence.value)
        if added < MAX_JITTER:
            added *= 10.0
        else:
            functions = functions * 3 // 4


def _through(
    member: Ordered,
    functions: int,
    added: float,
    fit_log: FitLog,
    max_functions: int | None,
    near: Hyperparameters | None,
) -> Generator[Step, None, Through]:
    """One fit, from which predictions can be computed; raises NotPositiveDefiniteError."""
    problem, spec, grows = member.whole.problem, member.whole.spec, False
    if max_functions is not None and member.grows:
        problem, grows = member.growing(max(functions, max_functions)), True
    state = member.through(functions, added, grows=grows)
    if near is not None and near.packed().shape == process_of(state).hyperparameters.packed().shape:
        state = with_hyperparameters(state, replace(near, jitter=added))
        if isinstance(spec.algorithm, Greedy):
            spec = replace(spec, algorithm=replace(spec.algorithm, max_iterations=MAX_ITERATIONS_NEAR))
    for now in fit_log.iterates(problem, spec, state):
        state = now.state
        yield Step("fit", state.iteration, None, "iterations", None, len(state.active))
    model = learned(problem, now)
    Ready.of(model)
    return Through(model, process_of(state).hyperparameters)
