"""One delivery attempt of a message to a webhook, from its queue entry to the entry of the next attempt."""

import logging
import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from threading import Event
from typing import Protocol
from uuid import UUID

from app import __version__
from app.addresses import Allowance, Target, read_target
from app.database.transaction import Clock, OpenTransaction, Transaction
from app.jobs.records import Recovery
from app.jobs.repository import JobRepository
from app.jobs.worker.attempts import Interrupted, retry
from app.outcomes.alarm_repository import AlarmRepository
from app.tracing.spans import CURRENT, NO_TRACER, TRACEPARENT, TRACESTATE, Span, Tracer
from app.webhooks.attempt_repository import AttemptRepository
from app.webhooks.messages import alarm_message, job_message, trial_message
from app.webhooks.records import GONE, PAUSES, DeliveryAttempt, signature
from app.webhooks.repository import WebhookRepository
from app.webhooks.sending import Deadline, NotSent, post
from relevance_bayes.records.errors import InvalidRequestError
from relevance_bayes.records.webhooks import Attempt

logger = logging.getLogger(__name__)

LATER = 0.1
"""The most jitter of a retry's delay, as a share, so that deliveries which failed together are not retried together."""

OVERDUE_SECONDS = 60.0
OVERDUE_AT_ONCE = 1000


class Post(Protocol):
    """Sends one request, and returns the status."""

    def __call__(
        self, target: Target, headers: Mapping[str, str], body: bytes, *, allowed: Allowance, deadline: Deadline
    ) -> int: ...


@dataclass(frozen=True)
class Deliverer:
    """Makes delivery attempts, any number at a time; waits for a lost database before and after, in no transaction.

    Where a worker dies between the request and its record, another one makes the attempt again: delivery is at least
    once, with the same id. The `tracer` traces attempts, and receivers get the trace context of theirs.
    """

    transaction: OpenTransaction
    allowed: Allowance
    clock: Clock
    stopping: Event
    pauses: Sequence[float] = PAUSES
    post: Post = post
    tracer: Tracer = NO_TRACER

    def __call__(self, entry: UUID) -> bool:
        """Make the attempt of a queue entry; return False where it is interrupted."""
        try:
            if self.stopping.is_set():
                return False
            found = retry(self.transaction, lambda tx: _read(entry, tx), stopping=self.stopping)
            if found is not None:
                delivery_attempt, body = found
                attempt = self._traced_attempt(delivery_attempt, body)
                retry(
                    self.transaction,
                    lambda tx: self._record(entry, delivery_attempt, attempt, tx),
                    stopping=self.stopping,
                )
        except Interrupted:
            return False
        return True

    def _traced_attempt(self, delivery_attempt: DeliveryAttempt, body: bytes) -> Attempt:
        """Make the attempt in a span of its own, which ends with the queue entry where it is interrupted."""
        span = self.tracer.start(
            "POST",
            "client",
            {
                "http.request.method": "POST",
                "http.request.resend_count": delivery_attempt.tries,
                "relevance.webhook.id": str(delivery_attempt.webhook_id),
                "relevance.webhook.delivery_id": str(delivery_attempt.delivery_id),
            },
            parent=delivery_attempt.traceparent,
            state=delivery_attempt.tracestate,
        )
        CURRENT.set(span)
        attempt = self._attempt(delivery_attempt, body, span)
        if attempt.status is not None:
            span.set({"http.response.status_code": attempt.status})
        span.end(error=None if attempt.has_succeeded else str(attempt.error or attempt.status))
        return attempt

    def _attempt(self, delivery_attempt: DeliveryAttempt, body: bytes, span: Span) -> Attempt:
        at, began = self.clock(), time.monotonic()
        if not delivery_attempt.enabled:
            return Attempt(at, 0.0, error="disabled")
        given = int(at.timestamp())
        headers = {
            "User-Agent": f"Relevance/{__version__}",
            "webhook-id": str(delivery_attempt.event_id),
            "webhook-timestamp": str(given),
            "webhook-signature": signature(delivery_attempt.secret, str(delivery_attempt.event_id), given, body),
        }
        if span.traceparent is not None:
            headers[TRACEPARENT] = span.traceparent
            if span.tracestate is not None:
                headers[TRACESTATE] = span.tracestate
        try:
            target = read_target(delivery_attempt.url)
            span.set({"server.address": target.host, "server.port": target.port})
            status = self.post(target, headers, body, allowed=self.allowed, deadline=Deadline(self.stopping))
        except NotSent as error:
            return Attempt(at, time.monotonic() - began, error=error.reason)
        except InvalidRequestError:  # a URL that was allowed when it was registered
            return Attempt(at, time.monotonic() - began, error="address-refused")
        return Attempt(at, time.monotonic() - began, status=status)

    def _record(self, entry: UUID, delivery_attempt: DeliveryAttempt, attempt: Attempt, tx: Transaction) -> None:
        unwanted = attempt.status == GONE or attempt.error == "disabled"
        retry_in = None if unwanted else self.pause(delivery_attempt.tries)
        if not AttemptRepository(tx).record(entry, attempt, retry_in=retry_in):
            return
        if attempt.status == GONE:
            WebhookRepository(tx).disable(delivery_attempt.webhook_id)
        if not attempt.has_succeeded:
            logger.info(
                "webhook delivery attempt failed",
                extra={
                    "webhook": delivery_attempt.webhook_id,
                    "delivery": delivery_attempt.delivery_id,
                    "why": attempt.error or attempt.status,
                    "again_in": retry_in,
                },
            )

    def pause(self, tries: int) -> float | None:
        """Return the seconds to the next attempt after so many failed ones before this; None where it was the last."""
        if tries >= len(self.pauses):
            return None
        return self.pauses[tries] * (1 + LATER * random.random())


@dataclass(frozen=True)
class Finder:
    """Finds attempts whose queue entry ended or is missing, and queues them again."""

    deliverer: Deliverer
    recovery: Recovery

    def find(self) -> None:
        """Record each as a failed attempt; raises UnavailableError."""
        deliverer = self.deliverer
        with deliverer.transaction() as tx:
            late = dict(AttemptRepository(tx).overdue(seconds=OVERDUE_SECONDS, limit=OVERDUE_AT_ONCE))
        for entry in self.recovery.endings(list(late)):
            attempt = Attempt(deliverer.clock(), 0.0, error="interrupted")
            with deliverer.transaction() as tx:
                AttemptRepository(tx).record(entry, attempt, retry_in=deliverer.pause(late[entry]))
            logger.warning("webhook delivery attempt lost", extra={"entry": entry})


def _read(entry: UUID, tx: Transaction) -> tuple[DeliveryAttempt, bytes] | None:
    """Return the attempt of a queue entry, with its message."""
    delivery_attempt = AttemptRepository(tx).find(entry)
    if delivery_attempt is None:
        return None
    if delivery_attempt.alarm_id is not None:
        alarm = AlarmRepository(tx).find(delivery_attempt.alarm_id)
        return None if alarm is None else (delivery_attempt, alarm_message(delivery_attempt.type, alarm))
    if delivery_attempt.job_id is None:
        return delivery_attempt, trial_message(delivery_attempt.webhook_id, delivery_attempt.created_at)
    job = JobRepository(tx).find(delivery_attempt.job_id)
    return None if job is None else (delivery_attempt, job_message(delivery_attempt.type, job))
