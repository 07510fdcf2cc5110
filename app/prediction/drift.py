"""The drift of the rows that versions predicted lately, of this process and of others, and its metrics.

Counted are the rows outside the support, and those in each bin of the version's baseline. Predictions only append to a
bounded list; a thread counts what is in it, once a second.
"""

import logging
import os
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from threading import Event, Lock, Thread
from uuid import UUID, uuid4

import msgspec
import numpy as np

from app.metrics import MetricSample, gauge
from app.registry.records import Version
from relevance_bayes.core.types import Array
from relevance_bayes.records.statistics import MIN_SUPPORT
from relevance_bayes.records.values import Label
from relevance_bayes.tables.columns import Block, taken
from relevance_bayes.tables.moments import Binning, population_stability_index
from relevance_bayes.tasks.listing import monitored_column
from relevance_bayes.tasks.prediction import RowPredictions
from relevance_bayes.tasks.rows import joined

logger = logging.getLogger(__name__)

SUFFIX = ".drift"


@dataclass
class _DriftWindow:
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
    windows: list[_DriftWindow]


def merged(windows: Iterable[_DriftWindow]) -> list[_DriftWindow]:
    """Return one window for each version, with the sums of its counts."""
    found: dict[str, _DriftWindow] = {}
    for window in windows:
        one = found.get(window.version_id)
        if one is None:
            found[window.version_id] = replace(window, halves=dict(window.halves))
            continue
        if (one.inputs, one.predictions) == (window.inputs, window.predictions):
            for half, counts in window.halves.items():
                one.add(half, counts)
    return list(found.values())


class _SharedWindows:
    """The windows of the processes that share a directory, each in a file that its process replaces.

    The counts of an ended process remain until they are no longer in the window; then others delete its file.
    """

    def __init__(self, directory: Path, half_seconds: float) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self._directory = directory
        self._half_seconds = half_seconds
        self._file = directory / f"{os.getpid()}-{uuid4().hex}{SUFFIX}"

    def publish(self, windows: Iterable[_DriftWindow]) -> None:
        """Replace the file of this process."""
        written = self._file.with_suffix(".new")
        content = msgspec.json.encode(_Published(self._half_seconds, list(windows)))
        try:
            written.write_bytes(content)
            written.replace(self._file)
        except OSError as error:
            logger.warning("the counts of drift can't be written", extra={"reason": str(error)})

    def others(self, now: float) -> list[_DriftWindow]:
        """Return the windows of all other files that have counts of the last two halves; delete the rest."""
        found: list[_DriftWindow] = []
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


MAX_WAITING = 128
"""The number of requests of a version that are counted each second, the first ones."""

MAX_ROWS = 500
"""The maximum number of rows counted of a request, random ones of more."""

MAX_CELLS = 32_768
"""The maximum number of rows times inputs that are kept of a request until the count."""


class DriftMonitor:
    """Counts of one version in this process; threads that predict call `add`, and one thread at a time the rest."""

    def __init__(self, version: Version, classes: Sequence[Label]) -> None:
        baseline = version.report.baseline
        self._inputs = tuple(Binning(one) for one in (() if baseline is None else baseline.inputs))
        self._predictions = None if baseline is None else Binning(baseline.predictions)
        self._classes = tuple(classes)
        self._max_rows = min(MAX_ROWS, MAX_CELLS // max(len(self._inputs), 1))
        self._max_whole = min(MAX_ROWS, MAX_CELLS // max(len(version.report.plan.inputs), 1))
        self._random = np.random.default_rng()
        self._max_waiting = MAX_WAITING
        self._waiting: deque[tuple[Block, Array, Array | None]] = deque()
        self.window = _DriftWindow(
            version_id=str(version.id),
            owner=version.owner,
            model=version.model,
            number=version.number,
            inputs=tuple((one.histogram.name, one.expected) for one in self._inputs),
            predictions=() if self._predictions is None else self._predictions.expected,
        )

    def add(self, block: Block, prediction: RowPredictions, rows: int) -> None:
        """Keep the rows of a request for the count, unless there are many already."""
        waiting, support = self._waiting, prediction.support
        if len(waiting) >= self._max_waiting or (support is None and self._predictions is None):
            return
        values = prediction.monitored[1]
        if rows <= self._max_whole:
            waiting.append((block, values, support))
        else:
            waiting.append(self._part(block, values, support))

    def stop(self) -> None:
        """Keep no rows any more, and forget those that were kept."""
        self._max_waiting = 0
        self._waiting.clear()

    def _part(self, block: Block, values: Array, support: Array | None) -> tuple[Block, Array, Array | None]:
        """Return the monitored inputs of random rows: one of each of equally many consecutive ones."""
        number = min(self._max_rows, len(values))
        rows = ((np.arange(number) + self._random.random(number)) * (len(values) / number)).astype(np.intp)
        names = (one.histogram.name for one in self._inputs)
        part = {name: taken(block[name], rows) for name in names if name in block}
        return part, values[rows], None if support is None else support[rows]

    def count(self, half: int) -> bool:
        """Count the rows kept since the last call in this half of the window; return whether there were any."""
        self.window.forget(half)
        kept = [self._waiting.popleft() for _ in range(len(self._waiting))]
        if not kept:
            return False
        blocks, values, supports = zip(*kept, strict=True)
        known = [support for support in supports if support is not None]
        support = np.concatenate(known) if known else np.empty(0)
        counts = [
            sum(map(len, values)),
            int(np.count_nonzero(~np.isnan(support))),
            int(np.count_nonzero(support < MIN_SUPPORT)),
        ]
        for binning in self._inputs:
            name = binning.histogram.name
            columns = [block[name] for block in blocks if name in block]
            counts += [0] * len(binning.expected) if not columns else binning.observed(joined(columns)).tolist()
        if self._predictions is not None:
            column = monitored_column(np.concatenate(values), self._classes)
            counts += self._predictions.observed(column).tolist()
        self.window.add(half, counts)
        return True


WINDOW_SECONDS = 86_400.0
"""The default length of the window."""

COUNT_SECONDS = 1.0
"""The seconds between two counts of the rows that were predicted."""

PUBLISH_SECONDS = 5.0
"""The seconds between two publications of the counts for other processes."""

MAX_VERSIONS = 1_000
"""Versions that are monitored: those that came into memory last."""

MAX_REPORTED = 50
"""Versions of an owner in the metrics: those with the most rows."""

MAX_REPORTED_OF_ALL = 500
"""Versions of all owners in the metrics."""

MIN_ROWS = 200
"""The rows from which shares and drift are reported: with fewer, chance alone gives a PSI near .1."""

ROWS = gauge(
    "relevance_monitored_rows",
    "Rows of the window that support and drift are determined from.",
    "owner",
    "model",
    "version",
)
OUTSIDE = gauge(
    "relevance_outside_support_ratio",
    "Share of the window's rows outside the support of the training data.",
    "owner",
    "model",
    "version",
)
INPUTS = gauge(
    "relevance_input_drift_psi",
    "Population stability index of an input: the window's rows against training rows.",
    "owner",
    "model",
    "version",
    "input",
)
PREDICTIONS = gauge(
    "relevance_prediction_drift_psi",
    "Population stability index of the predictions: the window's rows against training rows.",
    "owner",
    "model",
    "version",
)


class DriftMonitors:
    """The monitors, and the thread that counts what they keep; it runs once a version is loaded.

    The window begins with the half before the current one, so that it is between a half and one of `window_seconds`
    long; halves begin at the same time in all processes. With a `directory` the metrics are of all processes that share
    it.
    """

    def __init__(
        self,
        window_seconds: float = WINDOW_SECONDS,
        directory: Path | None = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._half_seconds = window_seconds / 2
        self._shared = None if directory is None else _SharedWindows(directory, self._half_seconds)
        self._now = now
        self._monitors: dict[UUID, DriftMonitor] = {}
        self._lock = Lock()
        self._is_published = True
        self._closed = Event()
        self._thread: Thread | None = None

    def of(self, version: Version, classes: Sequence[Label]) -> DriftMonitor:
        """Return the monitor of a version, for what predicts with it; `classes` are those of its model."""
        with self._lock:
            kept = self._monitors.pop(version.id, None) or DriftMonitor(version, classes)
            self._monitors[version.id] = kept
            while len(self._monitors) > MAX_VERSIONS:
                self._monitors.pop(next(iter(self._monitors))).stop()
            if not self._closed.is_set() and (self._thread is None or not self._thread.is_alive()):
                self._thread = Thread(target=self._run, name="drift", daemon=True)
                self._thread.start()
        return kept

    def samples(self, owner: str | None) -> Iterator[MetricSample]:
        """Yield the metrics of an owner's versions, or of all owners' versions."""
        half, windows = self.count(), self._windows()
        others = [] if self._shared is None else self._shared.others(self._now())
        totals = [
            (window, total)
            for window in merged([*windows, *others])
            if owner in (None, window.owner) and (total := window.total(half)) is not None
        ]
        totals.sort(key=lambda pair: -pair[1][0])
        reported = Counter[str]()
        for window, total in totals:
            if reported[window.owner] < MAX_REPORTED and reported.total() < MAX_REPORTED_OF_ALL:
                reported[window.owner] += 1
                yield from window_samples(window, total)

    def close(self) -> None:
        """Stop the thread, and publish the last counts."""
        self._closed.set()
        if self._thread is not None:
            self._thread.join()
        self.count()
        self.publish()

    def _run(self) -> None:
        published_at = time.monotonic()
        while not self._closed.wait(COUNT_SECONDS):
            self.count()
            if time.monotonic() - published_at >= PUBLISH_SECONDS:
                self.publish()
                published_at = time.monotonic()

    def count(self) -> int:
        """Count the rows of all monitors; return the current half."""
        half = int(self._now() // self._half_seconds)
        with self._lock:
            for monitor in self._monitors.values():
                if monitor.count(half):
                    self._is_published = False
        return half

    def _windows(self) -> list[_DriftWindow]:
        with self._lock:
            return merged(monitor.window for monitor in self._monitors.values())

    def publish(self) -> None:
        """Write the counts since the last publication for other processes, if there are any."""
        if self._shared is not None and not self._is_published:
            self._is_published = True
            self._shared.publish(window for window in self._windows() if window.halves)


def window_samples(window: _DriftWindow, total: Sequence[int]) -> Iterator[MetricSample]:
    """Yield the metrics of a version, from the sums of its counts."""
    rows, placed, outside, *bins = total
    labels = window.owner, window.model, str(window.number)
    yield MetricSample(ROWS, labels, (rows,))
    if placed >= MIN_ROWS:
        yield MetricSample(OUTSIDE, labels, (outside / placed,))
    rest: Iterable[int] = iter(bins)
    for name, expected in window.inputs:
        observed = list(islice(rest, len(expected)))
        if sum(observed) >= MIN_ROWS:
            yield MetricSample(INPUTS, (*labels, name), (population_stability_index(expected, observed),))
    observed = list(rest)
    if window.predictions and sum(observed) >= MIN_ROWS:
        yield MetricSample(PREDICTIONS, labels, (population_stability_index(window.predictions, observed),))
