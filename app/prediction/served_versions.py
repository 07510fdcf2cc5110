"""Versions at hand to predict with: what a name stands for, and what is kept of it in memory."""

import heapq
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from threading import Lock
from uuid import UUID

from app.database.notifier import Notifier
from app.database.reachability import Reachability
from app.database.transaction import OpenTransaction
from app.errors import OutOfReachError, UnavailableError
from app.http.staleness import note_stale
from app.http.timed_calls import TimedCalls
from app.prediction import ServedVersion
from app.prediction.background_refresh import BackgroundRefresh
from app.prediction.bounded_cache import BoundedCache
from app.prediction.serving import serve, stored
from app.prediction.usage_counts import Counters
from app.registry.naming import version_ids
from app.registry.records import Version
from app.registry.repository import ModelRepository
from relevance_bayes.types.errors import NotFoundError
from relevance_bayes.types.references import NamedVersion, Selector

STALE_SECONDS = 300.0
"""Seconds for which names resolve as last known while the database is away."""

MAX_WAIT_SECONDS = 0.5
"""The time that a request waits for the database to confirm a name of which it already knows what it stood for."""

STALE_AFTER = 1.0
"""Seconds after which what a name means is asked of the database again, if that was not renewed before."""

REFRESH_AFTER = 0.8
"""Seconds after which one caller asks, ahead of time, so that the others never have to wait."""

USED_SECONDS = 30.0
"""For how long what a name means is renewed after somebody asked for it."""

CONFIRM_SECONDS = 10.0
"""Seconds between confirmations of all other names, so that they are known when the database goes away."""

KEPT_SECONDS = 900.0
"""For how long, after a name was used, a newer version that it means is loaded before anybody asks for it."""

MAX_NAMES = 10_000
"""Names that are remembered; at that number the tenth that was not used for longest is forgotten."""


@dataclass
class _Meaning:
    """Which version a name stood for, as was asked at a time, when it was used last, and from when to ask again."""

    version_id: UUID
    requested_at: float
    used_at: float
    refresh_from: float


class ServedVersions:
    """Versions to predict with, kept in at most `cache_bytes` of memory.

    What names mean is believed for STALE_AFTER seconds. With `notifier` a thread renews it before they are over, and
    as soon as something happens to a model, so that predictions never wait for the database. `counters` count what
    versions are asked for.

    While the database is away by `reachability` nothing is forgotten: a version's number, which never means another
    one, answers for as long as the version is in memory. The newest version and aliases answer as last known until
    `stale_seconds` after the database was last reached, and `note_stale` is told their age. No request for a known name
    waits longer than MAX_WAIT_SECONDS.
    """

    def __init__(
        self,
        transaction: OpenTransaction,
        cache_bytes: int,
        *,
        notifier: Notifier | None = None,
        reachability: Reachability | None = None,
        stale_seconds: float = STALE_SECONDS,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self.counters = Counters()
        self._transaction = transaction
        self._now = now
        self._database = Reachability(now) if reachability is None else reachability
        self._served: BoundedCache[UUID, ServedVersion] = BoundedCache(
            cache_bytes, _size, may_evict=lambda: self._database.is_reachable
        )
        self._meanings: dict[NamedVersion, _Meaning] = {}
        self._lock = Lock()
        self._stale_seconds = stale_seconds
        self._calls = TimedCalls()
        self._confirmed_at = now()
        self._refresher = None if notifier is None else BackgroundRefresh(notifier, self.refresh)

    def at_hand(self, owner: str, name: str, selector: Selector) -> ServedVersion | None:
        """A version without asking the database, else None: see `version`."""
        meaning, now = self._meanings.get((owner, name, selector)), self._now()
        if meaning is None:
            return None
        if now >= meaning.refresh_from:
            if not self._database.is_reachable:
                return self._remembered(owner, name, selector)
            with self._lock:
                if now >= meaning.refresh_from:  # this caller is the one who asks
                    meaning.refresh_from = meaning.requested_at + STALE_AFTER
                    return None
        meaning.used_at = now
        return self._served.get(meaning.version_id)

    def version(self, owner: str, name: str, selector: Selector = None) -> ServedVersion:
        """The newest, or the one with this number or alias, as of now or as last known.

        Raises NotFoundError, and UnavailableError where the database is away and what is known is too old.
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
        """Return whether it is known what a name stood for, so that no request for it waits long."""
        meaning = self._meanings.get((owner, name, selector))
        return meaning is not None and meaning.version_id in self._served

    def _requested(self, owner: str, name: str, selector: Selector, *, used_at: float | None = None) -> ServedVersion:
        """The version by what the database says; `used_at` is when the name was used, now unless given."""
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
            # Its number too, by which it may be asked for when the database is away; nobody has used that yet.
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
    def holds_versions(self) -> bool:
        """Return whether there is a version in memory, by a known name, which can answer without the database."""
        with self._lock:
            return any(one.version_id in self._served for one in self._meanings.values())

    def _remembered(self, owner: str, name: str, selector: Selector) -> ServedVersion | None:
        """A version by what was last known of its name, None where nothing is in memory or it is too long ago."""
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
        """Ask again what all names mean that are used, and now and then what the others mean; whether any are used.

        A newer version is loaded before a name stands for it. What is gone is forgotten. Raises UnavailableError.
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
        """Keep, replace or forget a meaning by what was found, None: nothing."""
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
        """Renew nothing any more."""
        if self._refresher is not None:
            self._refresher.close()

    def _load(self, version: Version) -> ServedVersion:
        with self._transaction() as tx:
            kept = stored(tx, version)
        return serve(version, kept, self.counters.of(version))


def _size(served: ServedVersion) -> int:
    """About how many bytes a version takes: its arrays, and what its columns, categories and functions cost."""
    columns = served.version.report.plan.inputs
    texts = sum(len(category) + 100 for column in columns for category in column.categories)
    return served.model.bytes + 2 * texts + 1000 * (len(columns) + 4) + 200 * len(served.functions)
