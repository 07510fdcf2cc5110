"""Transactions that are retried while the database is away."""

from collections.abc import Callable
from threading import Event
from typing import TypeVar

from app.domain.ports import OpenUnitOfWork, UnitOfWork
from app.errors import UnavailableError

RETRY_SECONDS = 1.0

T = TypeVar("T")


class Interrupted(Exception):
    """The worker is to stop: what it was doing stays unfinished, for others."""


def retry(open_uow: OpenUnitOfWork, action: Callable[[UnitOfWork], T], *, stopping: Event) -> T:
    """Do it in a transaction, again and again while the database is away; raises Interrupted once `stopping` is set."""
    while True:
        try:
            with open_uow() as uow:
                return action(uow)
        except UnavailableError:
            if stopping.wait(RETRY_SECONDS):
                raise Interrupted from None
