"""The log of a computation of many fits: small enough to be stored, complete enough to end with the same model.

A training is a fixed sequence of fits: which follows is decided by how those before it ended, and by nothing else. So
the ends of the fits that ended, in their order, and the last one's checkpoint, are all there is to know.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

import numpy as np

from relevance_bayes.core.algorithms.state import Iterate, State
from relevance_bayes.core.fitting import is_checkpoint, iterates
from relevance_bayes.core.problem import Problem
from relevance_bayes.core.spec import Spec
from relevance_bayes.core.types import Array

LogEntry: TypeAlias = State | Array | None
"""The state where a fit ended or had its last checkpoint, None before; or the result of several together, as numbers,
None before their own entries where they have not ended; or, as numbers too, where something else than a fit is."""


class FitLog:
    """The log of a computation's fits, from which it is resumed without fitting again.

    `entries` are those of an earlier start of the same computation, on the same rows; each is used again at its place.
    """

    def __init__(self, entries: Sequence[LogEntry] = ()) -> None:
        self._entries = list(entries)
        self._place = 0

    @property
    def entries(self) -> tuple[LogEntry, ...]:
        """All there is to keep."""
        return tuple(self._entries)

    @property
    def place(self) -> int:
        """The number of entries before the next one."""
        return self._place

    def iterates(self, problem: Problem, spec: Spec, begin: State | None = None) -> Iterator[Iterate]:
        """The iterates of the next fit, from its last checkpoint, else `begin`; they end at once where it had ended."""
        place = self.begin()
        known = self._entries[place]
        for now in iterates(problem, spec, known if isinstance(known, State) else begin):
            yield now
            # Only now: a caller that stops a fit here stops it again where it is resumed.
            if is_checkpoint(now.state):
                self._entries[place] = now.state

    def recorded(self) -> Array | None:
        """The result of the next several fits, None where they are still to be fitted."""
        known = self._entries[self._place] if self._place < len(self._entries) else None
        if not isinstance(known, np.ndarray):
            return None
        self._place += 1
        return known

    def begin(self) -> int:
        """Return the place of a part of several entries, for which `record` keeps what came of them.

        Until then it has an entry of its own, None, so that no entry within it is taken for the result of the whole.
        """
        place = self._place
        if place == len(self._entries):
            self._entries.append(None)
        self._place += 1
        return place

    def once(self, compute: Callable[[], Array]) -> Array:
        """The result of the next part, which is computed where the log doesn't have it."""
        known = self.recorded()
        if known is None:
            known = compute()
            self.record(self._place, known)
        return known

    def record(self, place: int, found: Array) -> None:
        """Replace all entries from `place` on by one: their result, or the state of that part by now."""
        self._entries[place : self._place] = [found]
        self._place = place + 1
