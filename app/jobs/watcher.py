"""Watching jobs: one thread of a process listens to changes of jobs, and wakes the requests that wait for them."""

import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from threading import Condition, Thread
from uuid import UUID

from app.database.notifier import Notifier
from app.database.transaction import OpenTransaction
from app.errors import UnavailableError
from app.jobs.change_repository import JobChangeRepository
from app.jobs.repository import JobRepository

logger = logging.getLogger(__name__)

Wake = Callable[[], None]
"""Called in the watching thread: it must return at once, and never raise."""

CHECK_SECONDS = 3.0
"""Seconds between checks of watched jobs without a notification, since one may be lost."""

LINGER_SECONDS = 30.0
"""Seconds for which the connection is kept while no request waits."""

PAUSES = (0.1, 0.5, 1.0)
"""Seconds between attempts to listen after failures; the last value applies to all further ones."""

JOIN_SECONDS = 2.0
"""Seconds to wait for the thread to end, unless the database blocks it."""

MAX_AT_ONCE = 500
"""The number of jobs in one statement."""


class JobWatcher:
    """Wakes requests that wait for a job. While none waits, no query runs and no connection is held."""

    def __init__(
        self,
        transaction: OpenTransaction,
        notifier: Notifier,
        *,
        check: float = CHECK_SECONDS,
        linger: float = LINGER_SECONDS,
    ) -> None:
        self._transaction = transaction
        self._notifier = notifier
        self._check_seconds = check
        self._linger = linger
        self._changed = Condition()
        self._waiting: dict[UUID, list[Wake]] = {}
        self._counts: dict[UUID, int | None] = {}
        self._thread: Thread | None = None
        self._is_stopped = False

    @property
    def is_stopped(self) -> bool:
        """Return whether this process shuts down: requests should stop waiting."""
        return self._is_stopped

    @contextmanager
    def watching(self, job_id: UUID, wake: Wake) -> Iterator[None]:
        """Call `wake`, while the context is open, whenever the job, or one of an owner by `changes_id`, may change.

        A caller that queries once within the context, and again after each call, misses no change.
        """
        with self._changed:
            self._waiting.setdefault(job_id, []).append(wake)
            if not self._is_stopped and (self._thread is None or not self._thread.is_alive()):
                self._thread = Thread(target=self._run, name="watcher", daemon=True)
                self._thread.start()
            self._changed.notify_all()
        try:
            yield
        finally:
            with self._changed:
                others = self._waiting[job_id]
                others.remove(wake)
                if not others:
                    del self._waiting[job_id]
                    self._counts.pop(job_id, None)

    def stop(self) -> None:
        """Wake all waiting requests for the last time; may be called again."""
        with self._changed:
            self._is_stopped = True
            self._changed.notify_all()
            jobs = tuple(self._waiting)
        self._wake(jobs)

    def close(self) -> None:
        """Stop, and end the thread."""
        self.stop()
        if self._thread is not None:
            self._thread.join(JOIN_SECONDS)

    def _run(self) -> None:
        failures = 0
        while self._is_needed():
            try:
                with self._notifier.open() as listener:
                    # The connection receives no notification of what was committed before it listened.
                    self._check()
                    failures, checked = 0, time.monotonic()
                    while self._is_needed(within=self._linger):
                        received = listener.receive()
                        if received is None or time.monotonic() - checked > self._check_seconds:
                            self._check()
                            checked = time.monotonic()
                        self._wake(received or ())
            except UnavailableError as error:
                if failures == 0:
                    logger.warning("notifications of jobs can't be received", extra={"why": error.detail})
                with self._changed:
                    self._changed.wait_for(lambda: self._is_stopped, PAUSES[min(failures, len(PAUSES) - 1)])
                failures += 1
                with suppress(UnavailableError):  # queries may succeed even so
                    self._check()

    def _is_needed(self, *, within: float | None = None) -> bool:
        """Wait at most `within` seconds, or until shutdown; return whether a request waits."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._is_stopped, within)
            return bool(self._waiting) and not self._is_stopped

    def _check(self) -> None:
        """Wake the requests of jobs whose number of events differs from that of the last check."""
        with self._changed:
            jobs = tuple(self._waiting)
        counts = self._count(jobs)
        with self._changed:
            changed = [job for job in jobs if job in self._waiting and self._counts.get(job, -1) != counts.get(job)]
            self._counts |= {job: counts.get(job) for job in changed}
        self._wake(changed)

    def _count(self, jobs: Sequence[UUID]) -> Mapping[UUID, int]:
        counts: dict[UUID, int] = {}
        for first in range(0, len(jobs), MAX_AT_ONCE):
            with self._transaction() as tx:
                some = jobs[first : first + MAX_AT_ONCE]
                counts |= {**JobRepository(tx).event_counts(some), **JobChangeRepository(tx).numbers(some)}
        return counts

    def _wake(self, jobs: Sequence[UUID] | frozenset[UUID]) -> None:
        with self._changed:
            wakes = [wake for job in jobs for wake in self._waiting.get(job, ())]
        for wake in wakes:
            wake()
