"""Stored responses to requests with an idempotency key."""

from dataclasses import dataclass

from app.domain.idempotency import RequestKey, StoredResponse
from app.domain.ports import OpenUnitOfWork


@dataclass(frozen=True)
class Idempotency:
    """The responses to requests with a key; the services that create resources store them in the same transaction."""

    open_uow: OpenUnitOfWork

    def stored_response(self, key: RequestKey) -> StoredResponse | None:
        """Return the response to the first request with this key, None if this is the first.

        Raises KeyReusedError where the first was another request, KeyInUseError while it is in progress.
        """
        with self.open_uow() as uow:
            return uow.keys.find(key)
