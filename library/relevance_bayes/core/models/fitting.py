"""The fit of a problem: its iterates, and the log from which a computation of many fits is resumed.

A training is a deterministic sequence of fits: the next one depends only on the ends of those before it. So the ends of
the completed fits, in their order, and the last one's checkpoint are sufficient.
"""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from math import inf, isfinite, nan
from typing import TypeAlias

import numpy as np

from relevance_bayes.core.algorithms.sequential import problem_of
from relevance_bayes.core.algorithms.state import FitTracer, Iterate, State, Termination
from relevance_bayes.core.basis import (
    Basis,
    Bias,
    Candidates,
    ConstantFunction,
    Functions,
    Group,
    GroupFunctions,
    InputFunctions,
    Inputs,
    KernelBasis,
    KernelFunctions,
    Single,
    SingleFunctions,
)
from relevance_bayes.core.errors import DataError, IllegalCombinationError, SparseBayesError
from relevance_bayes.core.folds import distinct
from relevance_bayes.core.inference.problem import Problem, check_shapes, check_source
from relevance_bayes.core.kernels.hyperparameters import FixedWidth, InheritedWidth, InputMap, Learning, Width
from relevance_bayes.core.models.model import InputRange, Model, Spec, check, is_heteroscedastic, learning
from relevance_bayes.core.priors import Independent
from relevance_bayes.core.rows import ArrayRows, RowSource, Sample
from relevance_bayes.core.types import Array, Indices

__all__ = ["State", "Termination", "fit", "is_checkpoint", "iterate", "iterates", "pose", "pose_rows"]

REBUILT_EVERY = 16
"""States whose number is a multiple of this are checkpoints."""


def pose(
    X: Array,
    t: Array,
    spec: Spec,
    *,
    centres: Indices | None = None,
    inherited: KernelFunctions | None = None,
    noise_sd: Array | None = None,
    threads: int = 1,
) -> Problem:
    """The problem of a spec without width search: X (N, d), t (N,), candidates on the rows `centres`, or on all.

    `threads` share passes over all rows; the other parameters are those of `pose_rows`. Raises DataError,
    IllegalCombinationError.
    """
    check(spec)
    check_shapes(X, t)
    sample = None if centres is None else Sample(centres, X[centres])
    source = ArrayRows(X, t, threads=threads)
    return pose_rows(source, spec, centres=sample, inherited=inherited, noise_sd=noise_sd)


def pose_rows(
    source: RowSource,
    spec: Spec,
    *,
    centres: Sample | None = None,
    inherited: KernelFunctions | None = None,
    noise_sd: Array | None = None,
) -> Problem:
    """The problem of a spec without width search, with candidates on the rows `centres`, or on all.

    Under independent weights equal rows have one candidate, since copies would enter twice. `inherited` are functions
    of another fit, whose input map and covariance a kernel with an inherited width has. `noise_sd` (N,) is given where
    the likelihood has known noise by row. Raises DataError, IllegalCombinationError.
    """
    check(spec)
    likelihood, t = spec.model_likelihood, source.t
    if is_heteroscedastic(likelihood):
        raise SparseBayesError("expected noise of one size, or known by row: two fits in turn learn it as a function")
    check_source(source, noise_sd)
    likelihood.check(t)
    if likelihood.noise_by_row != (noise_sd is not None):
        raise DataError("expected a noise sd for each row where the likelihood has it as known, and only there")
    sample = Sample(np.arange(len(t)), source.every().X) if centres is None else centres
    if isinstance(spec.prior, Independent):
        apart = distinct(sample.X, t[sample.numbers])
        sample = Sample(sample.numbers[apart], sample.X[apart])
    learns = Learning()
    for basis in spec.basis:
        if isinstance(basis, KernelBasis):
            learns = learning(spec, basis)
    dictionaries = [_functions(basis, source, sample, learns, inherited) for basis in spec.basis]
    working, log_jacobian = likelihood.working(t)
    precisions = None if noise_sd is None else noise_sd**-2
    centre = _centre(spec, working, precisions)
    return Problem(
        source.with_targets(working - centre, precisions),
        Candidates(tuple(dictionaries)),
        likelihood,
        spec.prior,
        learns,
        spec.seed,
        log_jacobian=log_jacobian,
        centre=centre,
    )


def _functions(
    basis: Basis, source: RowSource, sample: Sample, learns: Learning, inherited: KernelFunctions | None
) -> Functions:
    """The candidates of a dictionary for the rows of a source, kernels centred on the `sample`."""
    if not isinstance(basis, Group):
        return _single(basis, source, sample, learns, inherited)
    if not all(0 <= k < source.inputs for k in basis.inputs):
        raise IllegalCombinationError("basis", f"expected inputs from 0 to {source.inputs - 1} in a group")
    columns = np.array(basis.inputs, np.intp)
    group, among = ArrayRows(source.every().X[:, columns], source.t), Sample(sample.numbers, sample.X[:, columns])
    return GroupFunctions(columns, _single(basis.of, group, among, Learning(), None))


def _single(
    basis: Single, source: RowSource, sample: Sample, learns: Learning, inherited: KernelFunctions | None
) -> SingleFunctions:
    match basis:
        case Bias():
            return ConstantFunction()
        case Inputs():
            return InputFunctions(np.arange(source.inputs))
        case KernelBasis(width=InheritedWidth()) if inherited is not None:
            return inherited.moved(inherited.input_map, sample.X, sample.numbers)
        case KernelBasis(kernel=kernel, width=width):
            input_map = _input_map(width, learns, inputs=source.inputs)
            return KernelFunctions(kernel, input_map, sample.X, sample.numbers)
        case _:
            return basis.functions(source.every().X)


def _centre(spec: Spec, working: Array, precisions: Array | None) -> Array:
    """The prior mean of the constant: that of the targets, where the latent has their units, else 0.

    Summed in sorted order, so that the order of the rows changes no bit: samples depend on the centred targets.
    """
    constant = any(isinstance(basis, Bias) for basis in spec.basis)
    if not (constant and spec.prior.centred and spec.likelihood.has_target_units):
        return np.zeros(working.shape[1:])
    weights = np.ones(len(working)) if precisions is None else precisions
    total = np.sort((working.T * weights).T, axis=0).sum(axis=0)
    return np.asarray(total / np.sort(weights).sum())


def _input_map(width: Width | InheritedWidth, learns: Learning, *, inputs: int) -> InputMap:
    match width:
        case FixedWidth(value=tuple(), each=each) if len(each) != inputs:
            raise IllegalCombinationError("basis", f"expected {inputs} widths, one for each input, got {len(each)}")
        case FixedWidth(each=each):
            if not all(0.0 < one < inf for one in each):
                raise IllegalCombinationError("basis", f"expected widths above 0, got {', '.join(map(str, each))}")
            return InputMap(np.array(each))
        case _ if learns.widths != "none":
            return InputMap.isotropic(1.0)
    raise SparseBayesError("expected widths that are fixed, inherited or learned: selection finds the others")


def is_checkpoint(state: State) -> bool:
    """True where a fit can be resumed from this state alone with the same result.

    All derived quantities are rebuilt there. Under a process, where that changes no bit, every state is a checkpoint.
    """
    if state.iteration == 0:
        return False
    return state.process is not None or state.termination is not None or state.iteration % REBUILT_EVERY == 0


def iterates(problem: Problem, spec: Spec, start: State | None = None) -> Iterator[Iterate]:
    """The iterates from `start`, or from the beginning, to the end, which has a termination."""
    now: Iterate = spec.algorithm.init(problem) if start is None else spec.algorithm.rebuild(problem, start)
    yield now
    while now.state.termination is None:
        now = spec.algorithm.step(problem, now)
        if now.state.process is None and is_checkpoint(now.state):
            now = spec.algorithm.rebuild(problem, now.state)
        yield now


def iterate(problem: Problem, spec: Spec, start: State | None = None) -> Iterator[State]:
    """The states of one fit. The first is `start` or the algorithm's first; only the last has a termination."""
    return (now.state for now in iterates(problem, spec, start))


def fit(X: Array, t: Array, spec: Spec, *, centres: Indices | None = None, noise_sd: Array | None = None) -> Model:
    """The fitted model: X (N, d), t (N,), a spec without width search; see `pose`."""
    problem = pose(X, t, spec, centres=centres, noise_sd=noise_sd)
    (last,) = deque(iterates(problem, spec), maxlen=1)
    return learned(problem, last)


def learned(problem: Problem, last: Iterate) -> Model:
    """The model of the end of a fit."""
    kept, state = last.kept(problem), last.state
    return Model(
        likelihood=kept.likelihood,
        functions=kept.functions,
        mean=kept.mean,
        covariance=kept.covariance,
        alpha=kept.alpha,
        gamma=kept.gamma,
        noise_sd=kept.likelihood.noise(problem.precision(state.beta)),
        evidence=last.log_evidence(problem),
        inputs=problem.inputs,
        rows=problem.rows,
        candidates=problem.candidates.size,
        termination=str(state.termination or Termination.MAX_ITERATIONS),
        signal_variance=kept.signal_variance,
        last_gain=kept.last_gain,
        next_gain=kept.next_gain,
        augmentation=kept.augmentation,
        jitter=kept.jitter,
        input_range=InputRange.of(problem.source) if kept.likelihood.has_input_range else None,
        trace=state.trace,
    )


LogEntry: TypeAlias = State | Array | None
"""The state of a fit at its end or last checkpoint, None before; or the result of several fits, as numbers, None in
front of their own entries before they have ended; or the state of another computation, as numbers."""


class FitLog:
    """The log of a computation's fits, from which it is resumed without fitting again.

    `entries` are those of an earlier start of the same computation, on the same rows; each is reused at its index.
    """

    def __init__(self, entries: Sequence[LogEntry] = ()) -> None:
        self._entries = list(entries)
        self._place = 0

    @property
    def entries(self) -> tuple[LogEntry, ...]:
        """The entries to store."""
        return tuple(self._entries)

    @property
    def place(self) -> int:
        """The number of entries before the next one."""
        return self._place

    def iterates(self, problem: Problem, spec: Spec, begin: State | None = None) -> Iterator[Iterate]:
        """The iterates of the next fit, from its last checkpoint, else `begin`; they end at once for a completed
        fit."""
        place = self.begin()
        known = self._entries[place]
        start = known if isinstance(known, State) else begin
        before, tracer = start, FitTracer(None if start is None else start.trace)
        for now in iterates(problem, spec, None if start is None else replace(start, trace=None)):
            if now.state.iteration > tracer.iteration:
                _trace(tracer, problem, before, now.state)
            before, to_store = now.state, is_checkpoint(now.state)
            traced = replace(now, state=replace(now.state, trace=tracer.trace)) if to_store else now
            yield traced
            # After the yield, so that a caller that stops here stops at the same iterate when it is resumed.
            if to_store:
                self._entries[place] = traced.state

    def recorded(self) -> Array | None:
        """The recorded result of the next part, of any shape; None where it has not ended."""
        known = self._entries[self._place] if self._place < len(self._entries) else None
        if not isinstance(known, np.ndarray):
            return None
        self._place += 1
        return known

    def begin(self) -> int:
        """Return the index of a part of several entries, which `record` replaces by their result.

        Until then the part has an entry None, so that no entry within it is taken for its result.
        """
        place = self._place
        if place == len(self._entries):
            self._entries.append(None)
        self._place += 1
        return place

    def parts(self, number: int) -> "list[FitLog]":
        """The logs of so many parts that come next, one entry each: threads may compute them in any order."""
        self._entries += [None] * (self._place + number - len(self._entries))
        logs = [FitLog() for _ in range(number)]
        for place, one in enumerate(logs, start=self._place):
            one._entries, one._place = self._entries, place
        self._place += number
        return logs

    def once(self, compute: Callable[[], Array]) -> Array:
        """The result of the next part, of any shape, computed where the log doesn't have it."""
        known = self.recorded()
        if known is None:
            known = compute()
            self.record(self._place, known)
        return known

    def record(self, place: int, found: Array) -> None:
        """Replace all entries from `place` on by one of any shape: their result, or the current state of that part."""
        self._entries[place : self._place] = [found]
        self._place = place + 1


def _trace(tracer: FitTracer, problem: Problem, before: State | None, now: State) -> None:
    """Add the step from one state to the next."""
    phase = _phase(before, now)
    goes_on = before is not None and isfinite(before.objective) and tracer.phase == phase
    noise_sd = problem.likelihood.noise(problem.precision(now.beta))
    entered, left = _exchanged(before, now)
    tracer.add(
        phase,
        now.iteration,
        now.objective + problem.log_jacobian if isfinite(now.objective) else nan,
        now.objective - before.objective if before is not None and goes_on else nan,
        nan if noise_sd is None else noise_sd,
        len(now.active),
        entered=nan if entered is None else _row(problem, now, entered),
        left=nan if left is None else _row(problem, now, left),
    )


def _phase(before: State | None, now: State) -> str:
    """The phase that a state is the result of: that of a process is then the next one."""
    if now.process is None:
        return now.phase or "fit"
    return now.process.phase if before is None or before.process is None else before.process.phase


def _exchanged(before: State | None, now: State) -> tuple[int | None, int | None]:
    """The only function that entered within a phase, and the only one that left; None without one, or with several."""
    if before is None or before.active == now.active or (now.process is None and before.phase != now.phase):
        return None, None
    if before.active == now.active[:-1]:  # most steps add one
        return now.active[-1], None
    one, other = set(before.active), set(now.active)
    return _only(other - one), _only(one - other)


def _only(functions: set[int]) -> int | None:
    return next(iter(functions)) if len(functions) == 1 else None


def _row(problem: Problem, now: State, function: int) -> float:
    """The training row of a function, NaN where it has none."""
    found = problem_of(problem, now.phase).candidates.row(function)
    return nan if found is None else float(found)
