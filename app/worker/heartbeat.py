"""The heartbeat: says that this worker lives, and in the same breath looks after the others and after lost jobs."""

import logging
import time
from collections.abc import Callable, Iterable
from threading import Event, Thread
from uuid import UUID

from app.domain.errors import UnavailableError
from app.domain.jobs import JobActivity
from app.domain.ports import OpenUnitOfWork, Recovery
from app.worker.orphan_recovery import Watch, recover_orphans
from app.worker.outage import DatabaseOutage
from app.worker.reconciliation import sweep

logger = logging.getLogger(__name__)

BEATS_MORE = 2
"""A worker may judge others once it has beaten without a gap for the limit and this many beats more."""

IDLE_BEATS = 5
"""Beats to one look after the others and after lost jobs, while every job has ended."""


class BeatStreak:
    """Since when this worker has been beating without a gap, by two clocks: one stands still while a machine sleeps."""

    def __init__(self, *, beat: float, limit: float) -> None:
        self._gap = max(limit / 2, beat)
        self._needed = limit + BEATS_MORE * beat
        self._began = self._last = (float("-inf"), float("-inf"))

    def beaten(self, now: tuple[float, float]) -> None:
        """A beat was written down at `now`: monotonic seconds, and seconds by the clock on the wall."""
        if max(abs(here - there) for here, there in zip(now, self._last, strict=True)) > self._gap:
            self._began = now
        self._last = now

    @property
    def may_judge(self) -> bool:
        """Whether somebody who seems silent is so, and not this worker or the database that was."""
        return self._last[0] - self._began[0] >= self._needed


class Heartbeat:
    """Beats in a thread of its own, from `start` until `stop`. Should it ever break, `broken` is called.

    `on_beat` is called after each beat that the database has confirmed, and then `on_activity` with the jobs' activity,
    which may raise UnavailableError.
    """

    def __init__(
        self,
        open_uow: OpenUnitOfWork,
        recovery: Recovery,
        *,
        executor: str,
        beat: float,
        limit: float,
        broken: Callable[[], None],
        on_beat: Callable[[], None],
        on_activity: Callable[[JobActivity], None],
        outage: DatabaseOutage | None = None,
    ) -> None:
        self._open_uow = open_uow
        self._recovery = recovery
        self._executor = executor
        self._beat = beat
        self._watch = Watch(limit=limit)
        self._broken = broken
        self._on_beat = on_beat
        self._on_activity = on_activity
        self._outage = outage or DatabaseOutage()
        self._streak = BeatStreak(beat=beat, limit=limit)
        self._stopping = Event()
        self._thread = Thread(target=self._run, name="heart", daemon=True)

    def start(self, dead: Iterable[str] = ()) -> None:
        """Beat once, say of executors that are known to be dead that they left, then go on beating.

        Raises UnavailableError when the first beat can't be written down.
        """
        self._say_alive()
        with self._open_uow() as uow:
            for executor in dead:
                uow.workers.leave(executor)
        self._thread.start()

    def stop(self) -> None:
        """Beat no more, and say that everything is handed back."""
        self._stopping.set()
        self._thread.join()
        try:
            with self._open_uow() as uow:
                uow.workers.leave(self._executor)
        except UnavailableError:
            logger.warning("could not say goodbye: the others will notice", extra={"executor": self._executor})

    def _run(self) -> None:
        swept: UUID | None = None
        beats = 0
        try:
            while not self._stopping.wait(self._beat):
                try:
                    activity = self._say_alive()
                    if activity.is_unfinished or beats % IDLE_BEATS == 0:
                        self._reap()
                        swept = sweep(self._open_uow, self._recovery, after=swept)
                    beats += 1
                    self._on_activity(activity)
                except UnavailableError as error:
                    self._outage.begin(error.detail)
                else:
                    self._outage.end()
        finally:
            if not self._stopping.is_set():
                self._broken()

    def _reap(self) -> None:
        recover_orphans(
            self._open_uow, self._recovery, self._watch, now=time.monotonic(), may_judge=self._streak.may_judge
        )

    def _say_alive(self) -> JobActivity:
        with self._open_uow() as uow:
            uow.workers.beat(self._executor)
            activity = uow.jobs.activity()
        self._streak.beaten((time.monotonic(), time.time()))
        self._on_beat()
        return activity
