"""Retention of deliveries: deletion in short transactions."""

from uuid import UUID

from sqlalchemy import Select, delete
from sqlalchemy.orm import Session

from app.database.changes import changed
from app.webhooks.tables import WebhookAttemptRow, WebhookDeliveryRow

DELIVERIES_AT_ONCE = 100


def forget_deliveries(session: Session, which: Select[UUID]) -> int:
    """Delete these deliveries with their attempts; return their number."""
    found = session.scalars(which).all()
    changed(session, delete(WebhookAttemptRow).where(WebhookAttemptRow.delivery_id.in_(found)))
    return changed(session, delete(WebhookDeliveryRow).where(WebhookDeliveryRow.id.in_(found)))
