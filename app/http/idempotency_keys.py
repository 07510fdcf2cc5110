"""Answers that are given again to a request that comes again."""

from dataclasses import dataclass

from app.database.transaction import OpenTransaction
from app.http.idempotency_records import RequestKey, StoredResponse
from app.http.key_repository import IdempotencyKeyRepository


@dataclass(frozen=True)
class Idempotency:
    """The responses to requests with a key; the services that make things keep it, each with what it made."""

    transaction: OpenTransaction

    def stored_response(self, key: RequestKey) -> StoredResponse | None:
        """Return the response to the first request with this key, None where this is the first.

        Raises KeyReusedError when that was another request, KeyInUseError when it is still being done.
        """
        with self.transaction() as tx:
            return IdempotencyKeyRepository(tx).find(key)
