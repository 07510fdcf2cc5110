"""Records of refused requests, limited for each owner so that refusals can't fill the disk."""

import time
from collections.abc import Callable
from threading import Lock

import structlog

from app.database.transaction import OpenTransaction
from app.errors import ConflictError, UnavailableError
from relevance_bayes.records.errors import InvalidDataError

BURST = 50
"""The refused requests of one owner that a process records at once."""

RECORDS_PER_SECOND = 1 / 60
"""The rate at which a process records refused requests of one owner thereafter."""

MAX_OWNERS = 10_000
"""The maximum number of owners whose rates are in memory; the one that was refused longest ago is left out."""

MAX_PATH_LENGTH = 300

log = structlog.stdlib.get_logger("app.audit")


class LimitedRefusals:
    """Records refused requests of known owners; those above the limit are counted in the next record."""

    def __init__(self, transaction: OpenTransaction, *, now: Callable[[], float] = time.monotonic) -> None:
        self._transaction = transaction
        self._now = now
        self._lock = Lock()
        self._owners: dict[str, tuple[float, float, int]] = {}

    def record(self, owner: str, method: str, path: str, status: int) -> None:
        """Record a refusal, or count it where its owner has had too many; blocks the thread, never raises."""
        omitted = self._take(owner)
        if omitted is None:
            return
        try:
            with self._transaction() as tx:
                shown = path.replace("\0", "")[:MAX_PATH_LENGTH]
                tx.record("request.refused", owner, shown, method=method, status=status, omitted=omitted or None)
        except (ConflictError, InvalidDataError, UnavailableError) as error:
            log.warning("refused request not recorded", owner=owner, path=path, status=status, reason=error.detail)
            self._omit(owner, omitted + 1)

    def _take(self, owner: str) -> int | None:
        """Return the number of refusals that were not recorded since the last record; None above the limit."""
        with self._lock:
            now = self._now()
            left, at, omitted = self._owners.pop(owner, (float(BURST), now, 0))
            left = min(float(BURST), left + (now - at) * RECORDS_PER_SECOND)
            while len(self._owners) >= MAX_OWNERS:
                del self._owners[next(iter(self._owners))]
            if left < 1:
                self._owners[owner] = left, now, omitted + 1
                return None
            self._owners[owner] = left - 1, now, 0
            return omitted

    def _omit(self, owner: str, number: int) -> None:
        with self._lock:
            left, at, omitted = self._owners.get(owner, (float(BURST), self._now(), 0))
            self._owners[owner] = left, at, omitted + number
