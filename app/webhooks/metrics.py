"""The metrics of webhooks, from the database."""

from collections.abc import Iterator

from app.database.transaction import Transaction
from app.jobs.metrics import OLDEST, QUEUED
from app.metrics.families import Sample
from app.webhooks.delivery_repository import DeliveryRepository

QUEUE = "webhooks"


def webhook_metrics(tx: Transaction) -> Iterator[Sample]:
    """Yield the number of pending deliveries and the age of the oldest one that is due."""
    pending, age = DeliveryRepository(tx).backlog()
    yield Sample(QUEUED, (QUEUE,), (pending,))
    yield Sample(OLDEST, (QUEUE,), (age,))
