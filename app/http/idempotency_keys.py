"""Stored responses to requests with an idempotency key."""

from dataclasses import dataclass

from app.database.transaction import OpenTransaction
from app.http.idempotency_records import RequestKey, StoredResponse
from app.http.key_repository import IdempotencyKeyRepository


@dataclass(frozen=True)
class Idempotency:
    """The responses to requests with a key; the services that create resources store them in the same transaction."""

    transaction: OpenTransaction

    def stored_response(self, key: RequestKey) -> StoredResponse | None:
        """Return the response to the first request with this key, None if this is the first.

        Raises KeyReusedError where the first was another request, KeyInUseError while it is in progress.
        """
        with self.transaction() as tx:
            return IdempotencyKeyRepository(tx).find(key)
