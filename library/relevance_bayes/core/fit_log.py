"""The log of a computation of many fits: small enough to be stored, complete enough to end with the same model.

A training is a deterministic sequence of fits: the next one depends only on the ends of those before it. So the ends of
the completed fits, in their order, and the last one's checkpoint are sufficient.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from math import isfinite, nan
from typing import TypeAlias

import numpy as np

from relevance_bayes.core.algorithms.forward import problem_of
from relevance_bayes.core.algorithms.state import Iterate, State
from relevance_bayes.core.fit_trace import FitTracer
from relevance_bayes.core.fitting import is_checkpoint, iterates
from relevance_bayes.core.problem import Problem
from relevance_bayes.core.spec import Spec
from relevance_bayes.core.types import Array

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
