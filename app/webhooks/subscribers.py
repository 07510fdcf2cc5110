"""Subscribers to events, called in the transaction that publishes them."""

from app.database.transaction import Subscriber, Transaction, on
from app.jobs.records import JobEnded
from app.webhooks.delivery_repository import DeliveryRepository


def _deliver(tx: Transaction, ended: JobEnded) -> None:
    DeliveryRepository(tx).begin(ended)


SUBSCRIBERS: tuple[Subscriber, ...] = (on(JobEnded, _deliver),)
