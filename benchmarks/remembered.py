"""Figures of draws kept in a file, so that a long table may be broken off and goes on where it was."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.repeats import Figures


@dataclass(frozen=True)
class Remembered:
    """`measure` of each draw of what `of` names, from `file` where it has it; with None nothing is kept.

    A line a draw, appended when it is done. What is kept is of the code it was measured with: another takes a new file.
    """

    measure: Callable[[int], Figures]
    of: tuple[str, ...]
    file: Path | None

    def __call__(self, draw: int) -> Figures:
        """The figures of a draw."""
        known = self._known(draw)
        if known is not None:
            return known
        figures = self.measure(draw)
        if self.file is not None:
            with self.file.open("a", encoding="utf-8") as lines:
                lines.write(json.dumps({"of": self.of, "draw": draw, "figures": figures}) + "\n")
        return figures

    def _known(self, draw: int) -> Figures | None:
        if self.file is None or not self.file.is_file():
            return None
        for line in self.file.read_text("utf-8").splitlines():
            kept = json.loads(line)
            if (kept["of"], kept["draw"]) == ([*self.of], draw):
                figures: Figures = kept["figures"]
                return figures
        return None
