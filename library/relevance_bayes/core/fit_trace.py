"""The trace of a fit: its objective, noise and functions by step, thinned evenly to few steps."""

from dataclasses import dataclass

import numpy as np

from relevance_bayes.core.types import Array

MAX_STEPS = 500
"""The number of steps that a trace keeps: every one, then every second, fourth and so on, and always the last."""


TRACE_COLUMNS = 9
"""The numbers of a step in a trace."""


@dataclass(frozen=True)
class FitStep:
    """One step of a fit, in the units of t.

    `objective` is what the fit maximises in this `phase`, in nats, NaN before it is first computed, and `gain` its rise
    by this step, NaN at the beginning of a phase. It never falls within a phase, unless a process learns its scales
    from more rows than it was started on. `noise_sd` is NaN where the likelihood has none. `entered` and `left` are the
    training rows of the function that entered and of the one that left: NaN without one, with several, and for a
    function that has no row.
    """

    phase: str
    iteration: int
    objective: float
    gain: float
    noise_sd: float
    functions: int
    entered: float
    left: float


@dataclass(frozen=True, eq=False)
class FitTrace:
    """The steps (m, 9) whose number is a multiple of `stride`, and the last, of all `steps`.

    The columns are the number of the step, the index of its phase in `phases`, then the other members of `FitStep`.
    """

    steps: int
    stride: int
    phases: tuple[str, ...]
    numbers: Array

    def each(self) -> tuple[FitStep, ...]:
        """The steps that were kept."""
        return tuple(
            FitStep(self.phases[int(phase)], int(iteration), objective, gain, noise_sd, int(functions), *rows)
            for _, phase, iteration, objective, gain, noise_sd, functions, *rows in self.numbers.tolist()
        )


class FitTracer:
    """The trace of a fit that goes on, from that of its last checkpoint."""

    def __init__(self, begun: FitTrace | None = None) -> None:
        self._steps, self._stride = (0, 1) if begun is None else (begun.steps, begun.stride)
        self._phases = [] if begun is None else list(begun.phases)
        self._numbers = np.empty((MAX_STEPS + 1, TRACE_COLUMNS))
        self._kept = 0 if begun is None else len(begun.numbers)
        if begun is not None:
            self._numbers[: self._kept] = begun.numbers
        self.iteration = int(self._numbers[self._kept - 1, 2]) if self._kept else -1
        """The iteration of the last step, -1 before the first."""
        self.phase = self._phases[int(self._numbers[self._kept - 1, 1])] if self._kept else None
        """The phase of the last step, None before the first."""

    def add(
        self,
        phase: str,
        iteration: int,
        objective: float,
        gain: float,
        noise_sd: float,
        functions: int,
        *,
        entered: float,
        left: float,
    ) -> None:
        """Add the next step, with the members of `FitStep`; where there are too many, leave out every second one."""
        if self._steps and (self._steps - 1) % self._stride:
            self._kept -= 1
        if phase != self.phase and phase not in self._phases:
            self._phases.append(phase)
        place = self._phases.index(phase)
        step = (self._steps, place, iteration, objective, gain, noise_sd, functions, entered, left)
        self._numbers[self._kept] = step
        self._steps, self._kept, self.iteration, self.phase = self._steps + 1, self._kept + 1, iteration, phase
        if self._kept > MAX_STEPS:
            self._stride *= 2
            stays = self._numbers[:, 0] % self._stride == 0.0
            stays[-1] = True
            self._kept = int(stays.sum())
            self._numbers[: self._kept] = self._numbers[stays]

    @property
    def trace(self) -> FitTrace:
        """The trace so far."""
        return FitTrace(self._steps, self._stride, tuple(self._phases), self._numbers[: self._kept].copy())
