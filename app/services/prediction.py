"""Versions at hand to predict with: what a name stands for, and what is kept of it in memory."""

import heapq
import logging
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from threading import Lock
from uuid import UUID

from app.domain.errors import NotFoundError, UnavailableError
from app.domain.models import Version
from app.domain.ports import Happenings, OpenUnitOfWork
from app.domain.references import NamedVersion, Selector
from app.services.answering import ServedVersion
from app.services.bounded_cache import BoundedCache
from app.services.counting import Counters
from app.services.renewals import Renewals
from app.services.serving import serve, stored
from app.services.staleness import note_stale
from app.services.timed_calls import TimedCalls

logger = logging.getLogger(__name__)

STALE_SECONDS = 300.0
"""How long, without a database, the newest version and aliases answer as they were last known."""

MAX_WAIT_SECONDS = 0.5
"""How long a request waits for the database to confirm a name of which it already knows what it stood for."""

MAX_FIRST_WAIT_SECONDS = 10.0
"""How long it waits for a name of which it knows nothing: the version may have to be loaded."""

PROBE_SECONDS = 0.5
PROBE_WAIT_SECONDS = 0.05
"""How often, while the database is away, a request asks it all the same, and how long it waits for the answer."""

STALE_AFTER = 1.0
"""Seconds after which what a name means is asked of the database again, if that was not renewed before."""

ASK_AFTER = 0.8
"""Seconds after which one caller asks, ahead of time, so that the others never have to wait."""

WANTED_SECONDS = 30.0
"""For how long what a name means is renewed after somebody asked for it."""

MOST_NAMES = 10_000
"""Names that are remembered; at that number the tenth that was not used for longest is forgotten."""


@dataclass
class _Meaning:
    """Which version a name stood for, as was asked at a time, when it was used last, and from when to ask again."""

    version_id: UUID
    asked_at: float
    used_at: float
    ask_from: float


class Prediction:
    """Versions to predict with, kept in at most `cache_bytes` of memory.

    What names mean is believed for STALE_AFTER seconds. With `happenings` a thread renews it before they are over, and
    as soon as something happens to a model, so that predictions never wait for the database. `counters` count what
    versions are asked for.

    While the database is away nothing is forgotten: a version's number, which never means another one, answers for as
    long as the version is in memory, and the newest version and aliases answer as last known for `stale_seconds`, of
    which `note_stale` is told. No request waits longer than MAX_WAIT_SECONDS to find out.
    """

    def __init__(
        self,
        open_uow: OpenUnitOfWork,
        cache_bytes: int,
        *,
        happenings: Happenings | None = None,
        stale_seconds: float = STALE_SECONDS,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self.counters = Counters()
        self._open_uow = open_uow
        self._now = now
        self._served: BoundedCache[UUID, ServedVersion] = BoundedCache(cache_bytes, _size)
        self._meanings: dict[NamedVersion, _Meaning] = {}
        self._lock = Lock()
        self._stale_seconds = stale_seconds
        self._calls = TimedCalls()
        self._away_since: float | None = None
        self._probe_from = 0.0
        self._renewals = None if happenings is None else Renewals(happenings, self.renew)

    def at_hand(self, owner: str, name: str, selector: Selector) -> ServedVersion | None:
        """A version without asking the database, else None: see `version`."""
        meaning, now = self._meanings.get((owner, name, selector)), self._now()
        if meaning is None:
            return None
        if now >= meaning.ask_from:
            if self._away_since is not None:
                return None if self._is_time_to_probe(now) else self._remembered(owner, name, selector)
            with self._lock:
                if now >= meaning.ask_from:  # this caller is the one who asks
                    meaning.ask_from = meaning.asked_at + STALE_AFTER
                    return None
        meaning.used_at = now
        return self._served.get(meaning.version_id)

    def version(self, owner: str, name: str, selector: Selector = None) -> ServedVersion:
        """The newest, or the one with this number or alias, as of now or as last known.

        Raises NotFoundError, and UnavailableError where the database is away and what is known is too old.
        """
        is_known, is_away = (owner, name, selector) in self._meanings, self._away_since is not None
        waits = (MAX_WAIT_SECONDS, PROBE_WAIT_SECONDS) if is_known else (MAX_FIRST_WAIT_SECONDS, MAX_WAIT_SECONDS)
        try:
            return self._calls.call(lambda: self._asked(owner, name, selector), seconds=waits[is_away])
        except UnavailableError as error:
            self._note_away(error)
            remembered = self._remembered(owner, name, selector)
            if remembered is None:
                raise
            return remembered

    def _asked(self, owner: str, name: str, selector: Selector) -> ServedVersion:
        """The version by what the database says."""
        asked_at = self._now()
        try:
            with self._open_uow() as uow:
                version = uow.models.version(owner, name, selector)
        except NotFoundError:
            self._note_back()
            self._forget((owner, name, selector))
            raise
        served = self._served.load(version.id, lambda: self._load(version))
        self._note_back()
        with self._lock:
            if len(self._meanings) >= MOST_NAMES:
                used_at = {key: one.used_at for key, one in self._meanings.items()}
                for oldest in heapq.nsmallest(max(2, MOST_NAMES // 10), used_at, used_at.__getitem__):
                    del self._meanings[oldest]
            # Its number too, by which it may be asked for when the database is away; nobody has used that yet.
            number = (owner, version.model, version.number)
            self._meanings.setdefault(number, _Meaning(version.id, asked_at, -WANTED_SECONDS, asked_at + ASK_AFTER))
            self._meanings[(owner, name, selector)] = _Meaning(version.id, asked_at, self._now(), asked_at + ASK_AFTER)
        if self._renewals is not None:
            self._renewals.begin()
        return served

    @property
    def holds_versions(self) -> bool:
        """Whether there is a version in memory, which can answer without the database."""
        return self._served.used > 0

    def _remembered(self, owner: str, name: str, selector: Selector) -> ServedVersion | None:
        """A version by what was last known of its name, None where nothing is in memory or it is too long ago."""
        meaning, now = self._meanings.get((owner, name, selector)), self._now()
        served = None if meaning is None else self._served.get(meaning.version_id)
        if meaning is None or served is None:
            return None
        age = now - meaning.asked_at
        if not isinstance(selector, int) and age > STALE_AFTER:
            if age > self._stale_seconds:
                return None
            note_stale(age)
        meaning.used_at = now
        return served

    def _is_time_to_probe(self, now: float) -> bool:
        """Whether this caller is the one who asks the database whether it is back."""
        with self._lock:
            if now < self._probe_from:
                return False
            self._probe_from = now + PROBE_SECONDS
            return True

    def _note_away(self, error: UnavailableError) -> None:
        with self._lock:
            is_new, now = self._away_since is None, self._now()
            if is_new:
                self._away_since, self._probe_from = now, now + PROBE_SECONDS
        if is_new:
            logger.warning("the database is away", extra={"reason": error.detail})

    def _note_back(self) -> None:
        with self._lock:
            since, self._away_since = self._away_since, None
        if since is not None:
            logger.info("the database is back", extra={"seconds": round(self._now() - since, 1)})

    def renew(self) -> bool:
        """Ask again what all names mean that are used; whether any are. Raises UnavailableError.

        A newer version is loaded before a name stands for it. What is gone is forgotten.
        """
        asked_at = self._now()
        with self._lock:
            used = {name: one for name, one in self._meanings.items() if asked_at - one.used_at < WANTED_SECONDS}
        if not used:
            return False
        try:
            with self._open_uow() as uow:
                found = uow.models.version_ids(list(used))
        except UnavailableError as error:
            self._note_away(error)
            raise
        self._note_back()
        for name, meaning in used.items():
            if found.get(name) == meaning.version_id:
                with self._lock:
                    meaning.asked_at, meaning.ask_from = asked_at, asked_at + ASK_AFTER
            elif name in found:
                with suppress(NotFoundError):  # it may be gone by now
                    self.version(*name)
            else:
                self._forget(name)
        return True

    def _forget(self, name: NamedVersion) -> None:
        with self._lock:
            self._meanings.pop(name, None)

    def close(self) -> None:
        """Renew nothing any more."""
        if self._renewals is not None:
            self._renewals.close()

    def _load(self, version: Version) -> ServedVersion:
        with self._open_uow() as uow:
            kept = stored(uow, version)
        return serve(version, kept, self.counters.of(version))


def _size(served: ServedVersion) -> int:
    """About how many bytes a version takes: its arrays, and what its columns, categories and functions cost."""
    columns = served.version.report.plan.inputs
    texts = sum(len(category) + 100 for column in columns for category in column.categories)
    return served.answering.bytes + 2 * texts + 1000 * (len(columns) + 4) + 200 * len(served.functions)
