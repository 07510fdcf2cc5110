"""Transactions that are retried while the database is away."""

from collections.abc import Callable
from threading import Event
from typing import TypeVar

from app.database.transaction import OpenTransaction, Transaction
from app.errors import UnavailableError

RETRY_SECONDS = 1.0

T = TypeVar("T")


class Interrupted(Exception):
    """The worker is to stop: what it was doing stays unfinished, for others."""


def retry(transaction: OpenTransaction, action: Callable[[Transaction], T], *, stopping: Event) -> T:
    """Do it in a transaction, again and again while the database is away; raises Interrupted once `stopping` is set."""
    while True:
        try:
            with transaction() as tx:
                return action(tx)
        except UnavailableError:
            if stopping.wait(RETRY_SECONDS):
                raise Interrupted from None
