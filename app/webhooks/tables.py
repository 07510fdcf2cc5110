"""The tables of webhooks, deliveries and attempts."""

from datetime import datetime
from uuid import UUID

from pydantic import TypeAdapter
from sqlalchemy import CheckConstraint, ForeignKey, Index, text
from sqlalchemy.orm import Mapped, mapped_column

from app.database.base import Base, Columns, Document, one_of
from relevance_bayes.records.webhooks import EVENT_TYPES, TEST, Attempt, DeliveryState, EventType, MessageType

PENDING = "state = 'pending'"


class WebhookRow(Base):
    """A webhook; `events` is JSON. The secret is stored as plain text, since it signs messages.

    A removed one (`deleted_at`) is invisible, has no secret, and is deleted after its deliveries.
    """

    __tablename__ = "webhooks"
    __table_args__ = (Index(None, "owner", "id"),)

    id: Mapped[UUID] = mapped_column(primary_key=True)
    owner: Mapped[str]
    url: Mapped[str]
    description: Mapped[str | None]
    events: Mapped[str]
    secret: Mapped[str]
    enabled: Mapped[bool]
    created_at: Mapped[datetime]
    deleted_at: Mapped[datetime | None] = mapped_column(default=None)


class WebhookDeliveryRow(Base):
    """The delivery of one event to one webhook.

    `entry` is its newest queue entry, queued at `queued_at` by the database's clock to begin `delay` seconds later;
    `tries` counts the attempts since the (re)delivery began, `attempts` all of them. `traceparent` and `tracestate` are
    the trace context of what began it: an attempt of the job, or a request.
    """

    __tablename__ = "webhook_deliveries"
    __table_args__ = (
        CheckConstraint("state IN ('delivered', 'failed', 'pending')", name="state"),
        CheckConstraint(one_of("type", frozenset({*EVENT_TYPES, TEST})), name="type"),
        Index(None, "webhook_id", "id"),
        Index(None, "job_id"),
        Index(None, "alarm_id"),
        Index(None, "entry", unique=True),
        Index(
            "ix_webhook_deliveries_pending",
            "queued_at",
            sqlite_where=text(PENDING),
            postgresql_where=text(PENDING),
        ),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True)
    webhook_id: Mapped[UUID] = mapped_column(ForeignKey("webhooks.id", ondelete="CASCADE"))
    event_id: Mapped[UUID]
    type: Mapped[str]
    job_id: Mapped[UUID | None] = mapped_column(ForeignKey("jobs.id", ondelete="CASCADE"))
    created_at: Mapped[datetime]
    state: Mapped[str]
    entry: Mapped[UUID]
    queued_at: Mapped[datetime]
    delay: Mapped[float]
    tries: Mapped[int]
    attempts: Mapped[int]
    traceparent: Mapped[str | None] = mapped_column(default=None)
    alarm_id: Mapped[UUID | None] = mapped_column(ForeignKey("model_alarms.id", ondelete="CASCADE"), default=None)
    tracestate: Mapped[str | None] = mapped_column(default=None)


class WebhookAttemptRow(Base):
    """A delivery attempt, numbered within its delivery from 1; only the newest are kept."""

    __tablename__ = "webhook_attempts"
    __table_args__ = (CheckConstraint("(status IS NULL) <> (error IS NULL)", name="outcome"),)

    delivery_id: Mapped[UUID] = mapped_column(ForeignKey("webhook_deliveries.id", ondelete="CASCADE"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    at: Mapped[datetime]
    seconds: Mapped[float]
    status: Mapped[int | None]
    error: Mapped[str | None]


EVENTS: Document[tuple[EventType, ...]] = Document(TypeAdapter(tuple[EventType, ...]))
DELIVERY_STATE: TypeAdapter[DeliveryState] = TypeAdapter(DeliveryState)
MESSAGE_TYPE: TypeAdapter[MessageType] = TypeAdapter(MessageType)
ATTEMPT = Columns(Attempt)
