"""The monitors of all versions that a process has loaded, and their metrics."""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from threading import Event, Lock, Thread
from uuid import UUID

from app.metrics.numbers import MetricSample, gauge
from app.prediction.drift import DriftMonitor
from app.prediction.drift_windows import DriftWindow, SharedWindows, merged
from app.registry.records import Version
from relevance_bayes.records.values import Label
from relevance_bayes.tables.moments import population_stability_index

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
        self._shared = None if directory is None else SharedWindows(directory, self._half_seconds)
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

    def _windows(self) -> list[DriftWindow]:
        with self._lock:
            return merged(monitor.window for monitor in self._monitors.values())

    def publish(self) -> None:
        """Write the counts since the last publication for other processes, if there are any."""
        if self._shared is not None and not self._is_published:
            self._is_published = True
            self._shared.publish(window for window in self._windows() if window.halves)


def window_samples(window: DriftWindow, total: Sequence[int]) -> Iterator[MetricSample]:
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
