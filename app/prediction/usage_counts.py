"""Usage counts of versions in this process: requests, rows, errors and times."""

import time
from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from threading import Lock
from time import perf_counter_ns
from types import TracebackType
from uuid import UUID

import numpy as np

from app.errors import ClientLeftError
from app.http.rate_limits import CURRENT as RATES
from app.metrics import Numbers, counter
from app.registry.records import Version
from relevance_bayes.core.types import Array
from relevance_bayes.records.models import Reference
from relevance_bayes.records.statistics import MIN_SUPPORT
from relevance_bayes.tasks.prediction import cost_in_rows

BOUNDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Seconds that the requests of each bucket took at most; one more has those that took longer."""

PREDICTIONS = counter(
    "relevance_predictions_total", "Predictions, each of one request or gRPC call, by their outcome.", "outcome"
)
ROWS = counter("relevance_predicted_rows_total", "Rows that were predicted.")

MAX_VERSIONS = 10_000
"""Versions of which counts are kept: those that came into memory last."""

_BOUNDS = tuple(round(1e9 * bound) for bound in BOUNDS)


@dataclass(frozen=True)
class Counted:
    """The usage counts of one version until now; times are nanoseconds of all requests together.

    `succeeded` are requests by the buckets of BOUNDS. Of the `rows` answered, support is known of `placed`, and little
    of `outside`. `last_at` is when the last request began, None where there was none.
    """

    succeeded: tuple[int, ...]
    failed: int
    rows: int
    placed: int
    outside: int
    succeeded_ns: int
    failed_ns: int
    last_at: datetime | None

    @property
    def requests(self) -> int:
        """Answered ones, and others."""
        return sum(self.succeeded) + self.failed


class AnsweredRows:
    """Rows that were answered, of which some are `averaged` over other rows."""

    __slots__ = ("averaged", "number", "outside", "placed")

    def __init__(self) -> None:
        self.number = self.placed = self.outside = self.averaged = 0

    def add(self, rows: int, support: Array | None, averaged: int = 0) -> None:
        """Count rows; `support` (N,) is NaN for rows with a fault, None where the model does not have it."""
        self.number += rows
        self.averaged += averaged
        if support is None:
            return
        if rows == 1:  # for one number a call of numpy costs more than all else here
            only = support.item()
            if only == only:
                self.placed += 1
                if only < MIN_SUPPORT:
                    self.outside += 1
            return
        self.placed += rows - int(np.count_nonzero(np.isnan(support)))
        self.outside += int(np.count_nonzero(support < MIN_SUPPORT))

    def join(self, others: "AnsweredRows") -> None:
        """Those that were counted apart."""
        self.number += others.number
        self.averaged += others.averaged
        self.placed += others.placed
        self.outside += others.outside


class Counts:
    """Counts of one version, which one thread adds to, the event loop's: a lock would cost more than all the rest.

    They are also added to the sums over all versions, in the `totals`.
    """

    __slots__ = ("failed", "failed_ns", "last", "rows", "succeeded", "succeeded_ns", "totals")

    def __init__(self, totals: "Totals | None" = None) -> None:
        self.totals = totals
        self.rows = AnsweredRows()
        self.succeeded = [0] * (len(_BOUNDS) + 1)
        self.failed = self.succeeded_ns = self.failed_ns = 0
        self.last: int | None = None

    def end(self, began: int, failed: bool) -> None:
        """A request has ended that began at this time of `time.perf_counter_ns`."""
        taken = perf_counter_ns() - began
        self.last = began
        if failed:
            self.failed += 1
            self.failed_ns += taken
        else:
            self.succeeded[bisect_left(_BOUNDS, taken)] += 1
            self.succeeded_ns += taken

    def until_now(self) -> Counted:
        """All of it."""
        ago = None if self.last is None else (perf_counter_ns() - self.last) / 1e9
        return Counted(
            succeeded=tuple(self.succeeded),
            failed=self.failed,
            rows=self.rows.number,
            placed=self.rows.placed,
            outside=self.rows.outside,
            succeeded_ns=self.succeeded_ns,
            failed_ns=self.failed_ns,
            last_at=None if ago is None else datetime.fromtimestamp(time.time() - ago, UTC),
        )


class Totals:
    """The predictions and rows of all versions, among the metrics; the event loop's thread adds to them."""

    __slots__ = ("_failed", "_rows", "_succeeded", "_values")

    def __init__(self, numbers: Numbers) -> None:
        self._values = numbers.values
        self._succeeded = numbers.place(PREDICTIONS, "succeeded")
        self._failed = numbers.place(PREDICTIONS, "failed")
        self._rows = numbers.place(ROWS)

    def add(self, rows: int, failed: bool) -> None:
        """Count a prediction and its rows."""
        self._values[self._failed if failed else self._succeeded] += 1
        self._values[self._rows] += rows


class CountedRequest:
    """A request, entered and left on the event loop, whose rows may be answered elsewhere: they are counted at its end.

    One that is given up, since nobody waits for it, is not counted. Its rows count for the owner's rate, by their cost.
    """

    __slots__ = ("_began", "_counts", "_rates", "_rows")

    def __init__(self, counts: Counts) -> None:
        self._counts, self._rows = counts, AnsweredRows()
        self._rates = RATES.get()  # a stream may be left in the context of another request
        self._began = perf_counter_ns()

    def __enter__(self) -> AnsweredRows:
        return self._rows

    def __exit__(self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None) -> None:
        if self._rates is not None:
            self._rates.charge_rows(cost_in_rows(self._rows.number, self._rows.averaged))
        if kind is not None and (issubclass(kind, ClientLeftError) or not issubclass(kind, Exception)):
            return
        counts, rows = self._counts, self._rows
        counts.end(self._began, kind is not None)
        counts.rows.join(rows)
        if counts.totals is not None:
            counts.totals.add(rows.number, kind is not None)


class Counters:
    """Counts of all versions since the process began; they outlast what is kept of the versions in memory."""

    def __init__(self, now: Callable[[], float] = time.time, totals: Totals | None = None) -> None:
        self._totals = totals
        self.since = datetime.fromtimestamp(now(), UTC)
        self._kept: dict[UUID, tuple[str, Reference, Counts]] = {}
        self._lock = Lock()

    def of(self, version: Version) -> Counts:
        """A version's own, for what answers with it."""
        new = (version.owner, Reference(version.model, version.number), Counts(self._totals))
        with self._lock:
            kept = self._kept[version.id] = self._kept.pop(version.id, new)
            while len(self._kept) > MAX_VERSIONS:
                del self._kept[next(iter(self._kept))]
        return kept[-1]

    def until_now(self, version: Version) -> Counted:
        """Return the counts of a version, zeros where it was never requested."""
        with self._lock:
            kept = self._kept.get(version.id)
        return (Counts() if kept is None else kept[-1]).until_now()

    def all(self, owner: str) -> Iterator[tuple[Reference, Counted]]:
        """An owner's versions that came into memory, by their numbers."""
        with self._lock:
            kept = [*self._kept.values()]
        return ((reference, counts.until_now()) for whose, reference, counts in kept if whose == owner)
