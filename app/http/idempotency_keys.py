"""Answers that are given again to a request that comes again."""

from dataclasses import dataclass

from app.domain.idempotency import RequestKey, StoredResponse
from app.storage.repositories import IdempotencyKeyRepository
from app.storage.transaction import OpenTransaction


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
