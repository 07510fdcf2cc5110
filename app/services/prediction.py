"""Versions at hand to predict with: what a name stands for, and what is kept of it in memory."""

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from threading import Lock
from uuid import UUID

from app.domain.errors import NotFoundError
from app.domain.models import Version
from app.domain.ports import Happenings, OpenUnitOfWork
from app.domain.references import NamedVersion, Selector
from app.services.answering import ServedVersion
from app.services.bounded_cache import BoundedCache
from app.services.counting import Counters
from app.services.renewals import Renewals
from app.services.serving import serve, stored

STALE_AFTER = 1.0
"""Seconds after which what a name means is asked of the database again, if that was not renewed before."""

ASK_AFTER = 0.8
"""Seconds after which one caller asks, ahead of time, so that the others never have to wait."""

WANTED_SECONDS = 30.0
"""For how long what a name means is renewed after somebody asked for it."""

MOST_NAMES = 10_000


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
    """

    def __init__(
        self,
        open_uow: OpenUnitOfWork,
        cache_bytes: int,
        *,
        happenings: Happenings | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self.counters = Counters()
        self._open_uow = open_uow
        self._now = now
        self._served: BoundedCache[UUID, ServedVersion] = BoundedCache(cache_bytes, _size)
        self._meanings: dict[NamedVersion, _Meaning] = {}
        self._lock = Lock()
        self._renewals = None if happenings is None else Renewals(happenings, self.renew)

    def at_hand(self, owner: str, name: str, selector: Selector) -> ServedVersion | None:
        """A version without asking the database, else None: see `version`."""
        meaning, now = self._meanings.get((owner, name, selector)), self._now()
        if meaning is None:
            return None
        if now >= meaning.ask_from:
            with self._lock:
                if now >= meaning.ask_from:  # this caller is the one who asks
                    meaning.ask_from = meaning.asked_at + STALE_AFTER
                    return None
        meaning.used_at = now
        return self._served.get(meaning.version_id)

    def version(self, owner: str, name: str, selector: Selector = None) -> ServedVersion:
        """The newest, or the one with this number or alias, as of now; raises NotFoundError, UnavailableError."""
        asked_at = self._now()
        try:
            with self._open_uow() as uow:
                version = uow.models.version(owner, name, selector)
        except NotFoundError:
            self._forget((owner, name, selector))
            raise
        served = self._served.load(version.id, lambda: self._load(version))
        with self._lock:
            if len(self._meanings) >= MOST_NAMES:
                self._meanings.clear()
            self._meanings[(owner, name, selector)] = _Meaning(version.id, asked_at, self._now(), asked_at + ASK_AFTER)
        if self._renewals is not None:
            self._renewals.begin()
        return served

    def renew(self) -> bool:
        """Ask again what all names mean that are used, and forget the others; whether any are. Raises UnavailableError.

        A newer version is loaded before a name stands for it. What is gone is forgotten.
        """
        asked_at = self._now()
        with self._lock:
            used = {name: one for name, one in self._meanings.items() if asked_at - one.used_at < WANTED_SECONDS}
            self._meanings = dict(used)
        if not used:
            return False
        with self._open_uow() as uow:
            found = uow.models.version_ids(list(used))
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
