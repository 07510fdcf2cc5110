"""Attempts of deliveries, their schedule and signatures (Standard Webhooks, 1.0.0)."""

import hmac
import secrets
from base64 import b64decode, b64encode
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from relevance_bayes.records.webhooks import MessageType

MINUTE, HOUR = 60.0, 3600.0
PAUSES = (5.0, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, 24 * HOUR)
"""Seconds from each failed attempt to the next: ten attempts in 75 hours and a half."""

MAX_WEBHOOKS = 20
"""The most webhooks of one owner."""

SECRET_PREFIX = "whsec_"
GONE = 410
"""The status by which a receiver unsubscribes."""


def webhook_path(webhook_id: UUID | str) -> str:
    """Return the path of a webhook."""
    return f"/v1/webhooks/{webhook_id}"


@dataclass(frozen=True)
class DeliveryAttempt:
    """The data of one delivery attempt; `tries` is the number of attempts before it since the (re)delivery began.

    `traceparent` and `tracestate` are the trace context of what began the delivery.
    """

    delivery_id: UUID
    webhook_id: UUID
    event_id: UUID
    type: MessageType
    job_id: UUID | None
    created_at: datetime
    url: str
    enabled: bool
    tries: int
    secret: str = field(repr=False)
    traceparent: str | None = None
    alarm_id: UUID | None = None
    tracestate: str | None = None


def new_secret() -> str:
    """Return a secret of 256 random bits, in the form of the specification."""
    return SECRET_PREFIX + b64encode(secrets.token_bytes(32)).decode()


def signature(secret: str, message_id: str, timestamp: int, body: bytes) -> str:
    """Return the value of the header `webhook-signature`: HMAC-SHA256 of "id.timestamp.body"."""
    key = b64decode(secret.removeprefix(SECRET_PREFIX))
    return "v1," + b64encode(hmac.digest(key, f"{message_id}.{timestamp}.".encode() + body, "sha256")).decode()
