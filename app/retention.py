"""Retention: deletion of expired rows."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from app.accounts.session_repository import SessionRepository
from app.audit.repository import AuditRepository
from app.database.transaction import Clock, OpenTransaction, Transaction
from app.http.key_repository import IdempotencyKeyRepository
from app.jobs.backlog_repository import BacklogRepository
from app.jobs.queue.client import EndedEntries
from app.jobs.retention import expired_jobs, forget_jobs, forget_progress, record_forgotten
from app.outcomes.repository import RecordedPredictionRepository
from app.prediction.result_repository import ResultRepository, record_expired
from app.registry.repository import ModelRepository
from app.webhooks.attempt_repository import AttemptRepository
from app.webhooks.delivery_repository import DeliveryRepository
from app.webhooks.repository import WebhookRepository

ENTRIES_AT_ONCE = 200


@dataclass(frozen=True)
class Retention:
    """Deletes the progress of ended jobs, deliveries of webhooks, and the queue's entries of both after `seconds`, and
    files of predictions after `seconds_of_results`, entries of the audit after `seconds_of_audit`, recorded predictions
    after `seconds_of_recorded_predictions`, ended jobs that trained no version after `seconds_of_jobs` (None: never);
    idempotent responses and sessions have an expiry of their own."""

    transaction: OpenTransaction
    entries: EndedEntries
    clock: Clock
    seconds: float
    seconds_of_results: float
    seconds_of_audit: float
    seconds_of_recorded_predictions: float
    seconds_of_jobs: float | None = None

    def remove_expired(self) -> None:
        """Delete what has expired, in short transactions."""
        self._drain(lambda tx: SessionRepository(tx).remove_expired())
        self._drain(lambda tx: IdempotencyKeyRepository(tx).remove_expired())
        self._drain(lambda tx: forget_progress(tx, ended_before=self.seconds))
        self._drain(lambda tx: DeliveryRepository(tx).remove_expired(older_than=self.seconds))
        self._drain(lambda tx: WebhookRepository(tx).remove_expired())
        self._forget_results()
        self._drain(lambda tx: AuditRepository(tx).remove_expired(older_than=self.seconds_of_audit))
        self._drain(
            lambda tx: RecordedPredictionRepository(tx).remove_expired(older_than=self.seconds_of_recorded_predictions)
        )
        self._forget_entries()
        if self.seconds_of_jobs is not None:
            self._forget_jobs(self.seconds_of_jobs)

    def _forget_results(self) -> None:
        """Delete files of predictions; record their numbers at the end."""
        expired = Counter[str]()
        try:
            while True:
                with self.transaction() as tx:
                    removed = ResultRepository(tx).remove_expired(older_than=self.seconds_of_results)
                if removed is None:
                    return
                expired[removed.owner] += removed.is_expired
        finally:
            if +expired:
                with self.transaction() as tx:
                    record_expired(tx, +expired)

    def _forget_jobs(self, seconds: float) -> None:
        """Delete jobs, except those whose version is there: its lineage names them; record their numbers at the end."""
        last: UUID | None = None
        forgotten = Counter[str]()
        try:
            while True:
                with self.transaction() as tx:
                    found = expired_jobs(tx, ended_before=seconds, after=last)
                    gone = forget_jobs(tx, set(found) - ModelRepository(tx).trained_by(found))
                forgotten += gone
                if not found:
                    return
                last = found[-1]
        finally:
            if forgotten:
                with self.transaction() as tx:
                    record_forgotten(tx, forgotten)

    def _forget_entries(self) -> None:
        """Delete ended entries, except those that are needed to find out how a job or an attempt ended."""
        before, needed = self.clock() - timedelta(seconds=self.seconds), 0
        while ended := self.entries.ended(before=before, skip=needed, limit=ENTRIES_AT_ONCE):
            with self.transaction() as tx:
                kept = BacklogRepository(tx).among(ended) | AttemptRepository(tx).pending_of(ended)
            self.entries.forget([entry for entry in ended if entry not in kept])
            needed += len(kept)

    def _drain(self, forget: Callable[[Transaction], bool]) -> None:
        found = True
        while found:
            with self.transaction() as tx:
                found = forget(tx)
