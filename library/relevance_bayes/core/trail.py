"""How far a computation of many fits has come: so little that it can be kept, and enough to end with the same model.

A training is a fixed sequence of fits: which follows is decided by how those before it ended, and by nothing else. So
the ends of the fits that ended, in their order, and where the last one rested, are all there is to know.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

import numpy as np

from relevance_bayes.core.algorithms.state import Standing, State
from relevance_bayes.core.fitting import rests, standings
from relevance_bayes.core.problem import Problem
from relevance_bayes.core.spec import Spec
from relevance_bayes.core.types import Array

Mark: TypeAlias = State | Array | None
"""Where a fit ended, or last rested, None where it has not yet; or what came of several together, as numbers, None
before their own marks where they have not ended; or, as numbers too, where something else than a fit is."""


class Trail:
    """What a computation leaves behind on its way, and goes over again without fitting when it is begun anew.

    `marks` are those of an earlier start of the same computation, on the same rows; each is met again at its place.
    """

    def __init__(self, marks: Sequence[Mark] = ()) -> None:
        self._marks = list(marks)
        self._place = 0

    @property
    def marks(self) -> tuple[Mark, ...]:
        """All there is to keep."""
        return tuple(self._marks)

    @property
    def place(self) -> int:
        """How many marks are passed."""
        return self._place

    def standings(self, problem: Problem, spec: Spec, begin: State | None = None) -> Iterator[Standing]:
        """Those of the next fit, from where it rested last, else `begin`; they end at once where it had ended."""
        place = self.begin()
        met = self._marks[place]
        for now in standings(problem, spec, met if isinstance(met, State) else begin):
            yield now
            # Only now: whoever wants no more of a fit decides so again when it is met anew.
            if rests(now.state):
                self._marks[place] = now.state

    def passed(self) -> Array | None:
        """What came of the next several fits, where that is known: they need not be fitted again."""
        met = self._marks[self._place] if self._place < len(self._marks) else None
        if not isinstance(met, np.ndarray):
            return None
        self._place += 1
        return met

    def begin(self) -> int:
        """Return the place of a part of several marks, for which `settle` keeps what came of them.

        Until then it has a mark of its own, None, so that no mark within it is taken for what came of the whole.
        """
        place = self._place
        if place == len(self._marks):
            self._marks.append(None)
        self._place += 1
        return place

    def once(self, compute: Callable[[], Array]) -> Array:
        """What the next part comes to; where that is known it is not computed again."""
        met = self.passed()
        if met is None:
            met = compute()
            self.settle(self._place, met)
        return met

    def settle(self, place: int, found: Array) -> None:
        """What came of all since the mark at `place`, or how far that part is by now: it alone is kept of them."""
        self._marks[place : self._place] = [found]
        self._place = place + 1
