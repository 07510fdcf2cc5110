"""Transactions that are retried during an outage of the database."""

from collections.abc import Callable
from threading import Event
from typing import TypeVar

from app.database.transaction import OpenTransaction, Transaction
from app.errors import UnavailableError

RETRY_SECONDS = 1.0

T = TypeVar("T")


class Interrupted(Exception):
    """The worker stops: the current operation is left unfinished for another worker."""


def retry(transaction: OpenTransaction, action: Callable[[Transaction], T], *, stopping: Event) -> T:
    """Run an action in a transaction, retried during an outage; raises Interrupted once `stopping` is set."""
    while True:
        try:
            with transaction() as tx:
                return action(tx)
        except UnavailableError:
            if stopping.wait(RETRY_SECONDS):
                raise Interrupted from None
