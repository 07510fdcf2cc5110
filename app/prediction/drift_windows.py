"""Counts of the rows that versions predicted lately, of this process and of others that share a directory."""

import logging
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from uuid import uuid4

import msgspec

logger = logging.getLogger(__name__)

SUFFIX = ".drift"


@dataclass
class DriftWindow:
    """Counts of one version in the current half of the window and the one before; halves are numbered since 1970.

    `inputs` are the names of the monitored inputs with the baseline's counts, `predictions` those of the predictions,
    empty without a baseline. The counts of a half are rows, rows with a known support, those outside, then the bins of
    each input, and of the predictions.
    """

    version_id: str
    owner: str
    model: str
    number: int
    inputs: tuple[tuple[str, tuple[int, ...]], ...]
    predictions: tuple[int, ...]
    halves: dict[int, list[int]] = field(default_factory=dict)

    def add(self, half: int, counts: Sequence[int]) -> None:
        """Add the counts of further rows."""
        known = self.halves.get(half)
        self.halves[half] = list(counts) if known is None else [a + b for a, b in zip(known, counts, strict=True)]

    def total(self, half: int) -> list[int] | None:
        """Return the sums of this half and the one before, None where both are empty."""
        found = [counts for number, counts in self.halves.items() if half - 1 <= number <= half]
        return [sum(each) for each in zip(*found, strict=True)] if found else None

    def forget(self, half: int) -> None:
        """Remove the halves that are no longer in the window."""
        self.halves = {number: counts for number, counts in self.halves.items() if number >= half - 1}


@dataclass
class _Published:
    half_seconds: float
    windows: list[DriftWindow]


def merged(windows: Iterable[DriftWindow]) -> list[DriftWindow]:
    """Return one window for each version, with the sums of its counts."""
    found: dict[str, DriftWindow] = {}
    for window in windows:
        one = found.get(window.version_id)
        if one is None:
            found[window.version_id] = replace(window, halves=dict(window.halves))
            continue
        if (one.inputs, one.predictions) == (window.inputs, window.predictions):
            for half, counts in window.halves.items():
                one.add(half, counts)
    return list(found.values())


class SharedWindows:
    """The windows of the processes that share a directory, each in a file that its process replaces.

    The counts of an ended process remain until they are no longer in the window; then others delete its file.
    """

    def __init__(self, directory: Path, half_seconds: float) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self._directory = directory
        self._half_seconds = half_seconds
        self._file = directory / f"{os.getpid()}-{uuid4().hex}{SUFFIX}"

    def publish(self, windows: Iterable[DriftWindow]) -> None:
        """Replace the file of this process."""
        written = self._file.with_suffix(".new")
        content = msgspec.json.encode(_Published(self._half_seconds, list(windows)))
        try:
            written.write_bytes(content)
            written.replace(self._file)
        except OSError as error:
            logger.warning("the counts of drift can't be written", extra={"reason": str(error)})

    def others(self, now: float) -> list[DriftWindow]:
        """Return the windows of all other files that have counts of the last two halves; delete the rest."""
        found: list[DriftWindow] = []
        for path in sorted({*self._directory.glob(f"*{SUFFIX}")} - {self._file}):
            try:
                if path.stat().st_mtime < now - 2 * self._half_seconds:
                    path.unlink()
                    continue
                published = _PUBLISHED.decode(path.read_bytes())
            except (OSError, msgspec.DecodeError):  # deleted by another process; or of another release
                continue
            if published.half_seconds == self._half_seconds:
                found += published.windows
        return found


_PUBLISHED = msgspec.json.Decoder(_Published)
