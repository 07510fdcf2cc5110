"""The cache of loaded versions, bounded in bytes: their loading, the resolution of references, and its refresh."""

import heapq
import logging
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from threading import Event, Lock, Thread
from typing import Generic, TypeAlias, TypeVar
from uuid import UUID

from app.database.engine import Reachability
from app.database.notifier import Notifier
from app.database.transaction import OpenTransaction, Transaction
from app.errors import OutOfReachError, UnavailableError
from app.http.metrics import TimedCalls
from app.http.response_headers import note_stale
from app.metrics import Numbers, counter, gauge
from app.prediction import ServedVersion
from app.prediction.drift import DriftMonitors
from app.prediction.usage_counts import Counters, Counts, Totals
from app.registry.records import Version
from app.registry.repository import ModelRepository, version_ids
from app.registry.version_repository import VectorRepository
from app.tasks import task_of
from relevance_bayes.records.errors import NotFoundError
from relevance_bayes.records.functions import ListedFunction
from relevance_bayes.records.models import NamedVersion, Selector
from relevance_bayes.tasks.union import Predictor

logger = logging.getLogger(__name__)

REFRESH_SECONDS = 0.3
"""Seconds after which names are refreshed without a notification, since one may be lost."""

REST_SECONDS = 10.0
"""Between two calls while nothing is wanted: no connection is held then."""

MIN_SECONDS = 0.05
"""Between two times, however much happens."""

PAUSES = (0.1, 0.5, 1.0)
"""Seconds until the next try to listen, after each one that failed; the last for all that follow."""

JOIN_SECONDS = 2.0


class BackgroundRefresh:
    """Calls `refresh` on each notification, and every REFRESH_SECONDS (REST_SECONDS after it returns False).

    No thread runs before `begin`.
    """

    def __init__(self, notifier: Notifier, refresh: Callable[[], bool]) -> None:
        self._notifier = notifier
        self._refresh = refresh
        self._lock = Lock()
        self._stopped = Event()
        self._woken = Event()
        self._thread: Thread | None = None

    def begin(self) -> None:
        """Start or wake the thread; no effect once closed."""
        self._woken.set()
        with self._lock:
            if self._stopped.is_set() or (self._thread is not None and self._thread.is_alive()):
                return
            self._thread = Thread(target=self._run, name="refresher", daemon=True)
            self._thread.start()

    def close(self) -> None:
        """Stop the thread."""
        self._stopped.set()
        self._woken.set()
        with self._lock:
            thread = self._thread
        if thread is not None:
            thread.join(JOIN_SECONDS)

    def _run(self) -> None:
        failures = 0
        while not self._stopped.is_set():
            try:
                self._woken.clear()
                if self._refresh():
                    self._follow()
                failures = 0
                self._woken.wait(REST_SECONDS)
            except UnavailableError as error:
                if failures == 0:
                    logger.debug("changes of models can't be listened to", extra={"reason": error.detail})
                self._stopped.wait(PAUSES[min(failures, len(PAUSES) - 1)])
                failures += 1

    def _follow(self) -> None:
        """Refresh until closed."""
        with self._notifier.open() as listener:
            # Changes before this connection listened are not notified.
            required, renewed = self._refresh(), time.monotonic()
            while required and not self._stopped.is_set():
                received = listener.receive()
                if received is None or received or time.monotonic() - renewed > REFRESH_SECONDS:
                    required, renewed = self._refresh(), time.monotonic()
                    self._stopped.wait(MIN_SECONDS)


Stored: TypeAlias = tuple[Predictor, tuple[ListedFunction, ...]]


def stored(tx: Transaction, version: Version) -> Stored:
    """Return the stored parts of a version, decoded; raises NotFoundError where it was deleted."""
    return ModelRepository(tx).predictor(version.id), _explaining(tx, version)


def serve(version: Version, kept: Stored, counts: Counts, monitors: DriftMonitors | None = None) -> ServedVersion:
    """Return the loaded version, its model factorised: outside of transactions. `counts` are of its requests."""
    predictor, functions = kept
    plan, model = version.report.plan, task_of(version.report).model(version.report, predictor)
    return ServedVersion(
        version,
        model,
        functions,
        tuple((column.name, column.kind) for column in plan.inputs),
        frozenset({*(() if plan.target is None else (plan.target,)), *(column.name for column in plan.ignored)}),
        counts,
        None if monitors is None else monitors.of(version, model.classes),
    )


def _explaining(tx: Transaction, version: Version) -> tuple[ListedFunction, ...]:
    """Return the functions that explanations name."""
    return VectorRepository(tx).listed(version.id) if task_of(version.report).is_explained else ()


HITS = counter("relevance_version_cache_hits_total", "Versions that were found in the cache.")
MISSES = counter("relevance_version_cache_misses_total", "Versions that were loaded from the database.")
EVICTIONS = counter("relevance_version_cache_evictions_total", "Versions that were removed from a full cache.")
VERSIONS = gauge("relevance_version_cache_versions", "Versions in the cache.")
BYTES = gauge("relevance_version_cache_bytes", "Approximate memory of the versions in the cache.")
MAX_BYTES = gauge("relevance_version_cache_max_bytes", "Maximum memory of the cache.")


class _CacheMetrics:
    """The numbers of one cache; the cache calls all methods under its lock."""

    def __init__(self, numbers: Numbers, max_bytes: int) -> None:
        self._values = numbers.values
        self._hits, self._misses = numbers.place(HITS), numbers.place(MISSES)
        self._evictions = numbers.place(EVICTIONS)
        self._versions, self._bytes = numbers.place(VERSIONS), numbers.place(BYTES)
        self._values[numbers.place(MAX_BYTES)] = max_bytes

    def hit(self) -> None:
        """Count a value that was found."""
        self._values[self._hits] += 1

    def miss(self) -> None:
        """Count a value that was loaded."""
        self._values[self._misses] += 1

    def change(self, evicted: int, kept: int, size: int) -> None:
        """Record evictions, and what is kept since: the number of values and their bytes."""
        self._values[self._evictions] += evicted
        self._values[self._versions] = kept
        self._values[self._bytes] = size


Key = TypeVar("Key")
Value = TypeVar("Value")


class BoundedCache(Generic[Key, Value]):
    """Values by key, together at most `capacity` bytes as `size` counts them; safe to use from many threads.

    While it `may_evict` nothing, a value for which there is no room is not kept.
    """

    def __init__(
        self,
        capacity: int,
        size: Callable[[Value], int],
        *,
        may_evict: Callable[[], bool] = lambda: True,
        metrics: _CacheMetrics | None = None,
    ) -> None:
        self._capacity = capacity
        self._size = size
        self._may_evict = may_evict
        self._metrics = metrics
        self._used = 0
        self._kept: OrderedDict[Key, tuple[Value, int]] = OrderedDict()
        self._loading: dict[Key, Lock] = {}
        self._lock = Lock()

    @property
    def used(self) -> int:
        """Bytes of all that is kept."""
        return self._used

    def __contains__(self, key: Key) -> bool:
        return key in self._kept

    def get(self, key: Key) -> Value | None:
        """Return what is kept under `key`, None when nothing is."""
        with self._lock:
            entry = self._kept.get(key)
            if entry is None:
                return None
            self._kept.move_to_end(key)
            if self._metrics is not None:
                self._metrics.hit()
            return entry[0]

    def load(self, key: Key, make: Callable[[], Value]) -> Value:
        """Return the value of `key`, else that of `make`, which is called once for all threads that wait."""
        with self._lock:
            gate = self._loading.setdefault(key, Lock())
        try:
            with gate:
                value = self.get(key)
                if value is None:
                    value = make()
                    self._keep(key, value)
                return value
        finally:
            with self._lock:
                self._loading.pop(key, None)

    def _keep(self, key: Key, value: Value) -> None:
        size = self._size(value)
        with self._lock:
            if self._metrics is not None:
                self._metrics.miss()
            if size > self._capacity:  # it would push out all others and then still not fit
                return
            if self._used + size > self._capacity and not self._may_evict():
                return
            replaced = self._kept.pop(key, None)
            self._used += size - (replaced[1] if replaced else 0)
            self._kept[key] = (value, size)
            evicted = 0
            while self._used > self._capacity:
                _, (_, freed) = self._kept.popitem(last=False)
                self._used -= freed
                evicted += 1
            if self._metrics is not None:
                self._metrics.change(evicted, len(self._kept), self._used)


STALE_SECONDS = 300.0
"""The seconds of an outage during which references resolve to their last known versions."""

MAX_WAIT_SECONDS = 0.5
"""The seconds that a request with a known reference waits for the database to confirm it."""

STALE_AFTER = 1.0
"""The seconds after which a reference is resolved by the database again, if it was not refreshed before."""

REFRESH_AFTER = 0.8
"""The seconds after which one caller resolves a reference ahead of time, so that no other has to wait."""

USED_SECONDS = 30.0
"""The seconds after its last use during which a reference is refreshed."""

CONFIRM_SECONDS = 10.0
"""The seconds between refreshes of all other references, so that an outage finds them current."""

KEPT_SECONDS = 900.0
"""The seconds after its last use during which a newer version of a reference is loaded in advance."""

MAX_NAMES = 10_000
"""The number of cached references; at this number the least recently used tenth is evicted."""


@dataclass
class _Meaning:
    """The version of a reference, with the times of its last resolution, its last use and its next refresh."""

    version_id: UUID
    requested_at: float
    used_at: float
    refresh_from: float


class ServedVersions:
    """Loaded versions in at most `cache_bytes` of memory.

    A resolved reference is valid for STALE_AFTER seconds. With `notifier` a thread refreshes references before that,
    and as soon as a model changes, so that predictions never wait for the database. `counters` count the requests;
    their sums, and what the cache does, are among the `numbers` of the metrics. `monitors` count the rows of their
    predictions.

    While `reachability` reports an outage nothing is evicted. A version's number, which never changes its meaning,
    resolves for as long as the version is in memory. The newest version and aliases resolve as last known until
    `stale_seconds` after the database was last reached, and `note_stale` records their age. No request with a known
    reference waits longer than MAX_WAIT_SECONDS.
    """

    def __init__(
        self,
        transaction: OpenTransaction,
        cache_bytes: int,
        *,
        notifier: Notifier | None = None,
        reachability: Reachability | None = None,
        stale_seconds: float = STALE_SECONDS,
        numbers: Numbers | None = None,
        monitors: DriftMonitors | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self.counters = Counters(totals=None if numbers is None else Totals(numbers))
        self._monitors = monitors
        self._transaction = transaction
        self._now = now
        self._database = Reachability(now) if reachability is None else reachability
        self._served: BoundedCache[UUID, ServedVersion] = BoundedCache(
            cache_bytes,
            _size,
            may_evict=lambda: self._database.is_reachable,
            metrics=None if numbers is None else _CacheMetrics(numbers, cache_bytes),
        )
        self._meanings: dict[NamedVersion, _Meaning] = {}
        self._lock = Lock()
        self._stale_seconds = stale_seconds
        self._calls = TimedCalls()
        self._confirmed_at = now()
        self._refresher = None if notifier is None else BackgroundRefresh(notifier, self.refresh)

    def at_hand(self, owner: str, name: str, selector: Selector) -> ServedVersion | None:
        """Return a version without a query, else None: see `version`."""
        meaning, now = self._meanings.get((owner, name, selector)), self._now()
        if meaning is None:
            return None
        if now >= meaning.refresh_from:
            if not self._database.is_reachable:
                return self._remembered(owner, name, selector)
            with self._lock:
                if now >= meaning.refresh_from:  # this caller refreshes it
                    meaning.refresh_from = meaning.requested_at + STALE_AFTER
                    return None
        meaning.used_at = now
        return self._served.get(meaning.version_id)

    def version(self, owner: str, name: str, selector: Selector = None) -> ServedVersion:
        """Return the newest version, or the one with this number or alias, current or as last known.

        Raises NotFoundError, and UnavailableError in an outage where what is known is too old.
        """
        key = (owner, name, selector)
        if not self.is_known(*key):
            return self._requested(*key)
        try:
            if not self._database.is_reachable:
                raise OutOfReachError("The database can't be reached; try again later.")
            return self._calls.call(lambda: self._requested(*key), seconds=MAX_WAIT_SECONDS)
        except UnavailableError:
            self._database.suspect()
            remembered = self._remembered(*key)
            if remembered is None:
                raise
            return remembered

    def is_known(self, owner: str, name: str, selector: Selector) -> bool:
        """Return whether a reference has a loaded version, so that no request with it waits long."""
        meaning = self._meanings.get((owner, name, selector))
        return meaning is not None and meaning.version_id in self._served

    def _requested(self, owner: str, name: str, selector: Selector, *, used_at: float | None = None) -> ServedVersion:
        """Resolve a reference by the database; `used_at` is the time of its use, by default now."""
        requested_at = self._now()
        try:
            with self._transaction() as tx:
                version = ModelRepository(tx).version(owner, name, selector)
        except NotFoundError:
            self._forget((owner, name, selector))
            raise
        served = self._served.load(version.id, lambda: self._load(version))
        with self._lock:
            if len(self._meanings) >= MAX_NAMES:
                uses = {key: one.used_at for key, one in self._meanings.items()}
                for oldest in heapq.nsmallest(max(2, MAX_NAMES // 10), uses, uses.__getitem__):
                    del self._meanings[oldest]
            # Its number too, which may be requested during an outage; it has not been used yet.
            number = (owner, version.model, version.number)
            self._meanings.setdefault(
                number, _Meaning(version.id, requested_at, -USED_SECONDS, requested_at + REFRESH_AFTER)
            )
            used_at = self._now() if used_at is None else used_at
            self._meanings[(owner, name, selector)] = _Meaning(
                version.id, requested_at, used_at, requested_at + REFRESH_AFTER
            )
        if self._refresher is not None:
            self._refresher.begin()
        return served

    @property
    def has_loaded_versions(self) -> bool:
        """Return whether a version with a known reference is loaded, which can predict without the database."""
        with self._lock:
            return any(one.version_id in self._served for one in self._meanings.values())

    def _remembered(self, owner: str, name: str, selector: Selector) -> ServedVersion | None:
        """Return the last known version of a reference, None where it is not loaded or too old."""
        meaning, now = self._meanings.get((owner, name, selector)), self._now()
        served = None if meaning is None else self._served.get(meaning.version_id)
        if meaning is None or served is None:
            return None
        age = now - meaning.requested_at
        if not isinstance(selector, int) and age > STALE_AFTER:
            if self._database.seconds_since_reached() > self._stale_seconds:
                return None
            note_stale(age)
        meaning.used_at = now
        return served

    def refresh(self) -> bool:
        """Refresh the references in use, and less often all others; return whether any are in use.

        A newer version is loaded before its reference resolves to it. Deleted ones are evicted. Raises
        UnavailableError.
        """
        requested_at = self._now()
        confirms = requested_at - self._confirmed_at >= CONFIRM_SECONDS
        with self._lock:
            used = {name: one for name, one in self._meanings.items() if requested_at - one.used_at < USED_SECONDS}
            names = dict(self._meanings) if confirms else used
        if names:
            with self._transaction() as tx:
                found = version_ids(tx, list(names))
            for name, meaning in names.items():
                self._refresh(name, meaning, found.get(name), requested_at)
        if confirms:
            self._confirmed_at = requested_at
        return bool(used)

    def _refresh(self, name: NamedVersion, meaning: _Meaning, found: UUID | None, requested_at: float) -> None:
        """Keep, replace or evict a reference; `found` None: it resolves to nothing."""
        if found == meaning.version_id:
            with self._lock:
                meaning.requested_at, meaning.refresh_from = requested_at, requested_at + REFRESH_AFTER
        elif found is None or requested_at - meaning.used_at >= KEPT_SECONDS:
            self._forget(name)
        else:
            with suppress(NotFoundError):  # it may be gone by now
                self._requested(*name, used_at=meaning.used_at)

    def _forget(self, name: NamedVersion) -> None:
        with self._lock:
            self._meanings.pop(name, None)

    def close(self) -> None:
        """Stop the refresh and the monitors."""
        if self._refresher is not None:
            self._refresher.close()
        if self._monitors is not None:
            self._monitors.close()

    def _load(self, version: Version) -> ServedVersion:
        with self._transaction() as tx:
            kept = stored(tx, version)
        return serve(version, kept, self.counters.of(version), self._monitors)


def _size(served: ServedVersion) -> int:
    """Return the approximate size in bytes: arrays, columns, categories and functions."""
    columns = served.version.report.plan.inputs
    texts = sum(len(category) + 100 for column in columns for category in column.categories)
    return served.model.bytes + 2 * texts + 1000 * (len(columns) + 4) + 200 * len(served.functions)
