"""What follows from events, in the transaction that publishes them."""

from app.domain.jobs import JobEnded
from app.storage.repositories import DeliveryRepository
from app.storage.transaction import Subscriber, Transaction, on


def _deliver(tx: Transaction, ended: JobEnded) -> None:
    DeliveryRepository(tx).begin(ended)


SUBSCRIBERS: tuple[Subscriber, ...] = (on(JobEnded, _deliver),)
