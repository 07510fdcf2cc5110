"""Versions at hand to predict with: what a name stands for, and what is kept of it in memory."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from uuid import UUID

from app.domain.models import SupervisedReport, Version
from app.domain.ports import OpenUnitOfWork, UnitOfWork
from app.domain.references import Selector
from app.services.answering import ListedFunction, ServedVersion, answering_of
from app.services.bounded_cache import BoundedCache

STALE_AFTER = 1.0
"""Seconds after which what a name means is asked of the database again."""

MOST_NAMES = 10_000


@dataclass(frozen=True)
class _Meaning:
    """Which version a name stood for, till when that is believed, and from when one caller should ask again."""

    version_id: UUID
    until: float
    ask_from: float


_Name = tuple[str, str, Selector]


class Prediction:
    """Versions to predict with, kept in at most `cache_bytes` of memory."""

    def __init__(
        self, open_uow: OpenUnitOfWork, cache_bytes: int, *, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._open_uow = open_uow
        self._now = now
        self._served: BoundedCache[UUID, ServedVersion] = BoundedCache(cache_bytes, _size)
        self._meanings: dict[_Name, _Meaning] = {}
        self._lock = Lock()

    def at_hand(self, owner: str, name: str, selector: Selector) -> ServedVersion | None:
        """A version without asking the database, else None: see `version`."""
        key = (owner, name, selector)
        now = self._now()
        with self._lock:
            meaning = self._meanings.get(key)
            if meaning is None or now >= meaning.until:
                return None
            if now >= meaning.ask_from:  # this caller asks ahead of time, so that the others never have to wait
                self._meanings[key] = _Meaning(meaning.version_id, meaning.until, ask_from=meaning.until)
                return None
        return self._served.get(meaning.version_id)

    def version(self, owner: str, name: str, selector: Selector = None) -> ServedVersion:
        """The newest, or the one with this number or alias, as of now; raises NotFoundError, UnavailableError."""
        asked_at = self._now()
        with self._open_uow() as uow:
            version = uow.models.version(owner, name, selector)
        served = self._served.load(version.id, lambda: self._load(version))
        with self._lock:
            if len(self._meanings) >= MOST_NAMES:
                self._meanings.clear()
            meaning = _Meaning(version.id, asked_at + STALE_AFTER, asked_at + STALE_AFTER / 2)
            self._meanings[(owner, name, selector)] = meaning
        return served

    def _load(self, version: Version) -> ServedVersion:
        with self._open_uow() as uow:
            predictor = uow.models.predictor(version.id)
            functions = _explaining(uow, version)
        plan = version.report.plan
        return ServedVersion(
            version,
            answering_of(version, predictor),
            functions,
            tuple((column.name, column.kind) for column in plan.inputs),
            frozenset({*(() if plan.target is None else (plan.target,)), *(column.name for column in plan.ignored)}),
        )


def _explaining(uow: UnitOfWork, version: Version) -> tuple[ListedFunction, ...]:
    """The functions that explanations name: predictions of numbers and classes alone have some."""
    if not isinstance(version.report, SupervisedReport):
        return ()
    most = max(version.report.functions, 1)
    listed = uow.models.vectors(version.owner, version.model, version.number, limit=most, after=None, sort="number")
    return tuple(ListedFunction(one.number, one.kind, one.row, one.input) for one in listed.items)


def _size(served: ServedVersion) -> int:
    """About how many bytes a version takes: its arrays, and what its columns, categories and functions cost."""
    columns = served.version.report.plan.inputs
    texts = sum(len(category) + 100 for column in columns for category in column.categories)
    return served.answering.bytes + 2 * texts + 1000 * (len(columns) + 4) + 200 * len(served.functions)
