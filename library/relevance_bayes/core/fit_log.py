"""The log of a computation of many fits: small enough to be stored, complete enough to end with the same model.

A training is a deterministic sequence of fits: the next one depends only on the ends of those before it. So the ends of
the completed fits, in their order, and the last one's checkpoint are sufficient.
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
        for now in iterates(problem, spec, known if isinstance(known, State) else begin):
            yield now
            # After the yield, so that a caller that stops here stops at the same iterate when it is resumed.
            if is_checkpoint(now.state):
                self._entries[place] = now.state

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
