"""Answers that are given again to a request that comes again."""

from dataclasses import dataclass

from app.domain.idempotency import RequestKey, StoredResponse
from app.domain.ports import OpenUnitOfWork


@dataclass(frozen=True)
class Idempotency:
    """The responses to requests with a key; the services that make things keep it, each with what it made."""

    open_uow: OpenUnitOfWork

    def stored_response(self, key: RequestKey) -> StoredResponse | None:
        """Return the response to the first request with this key, None where this is the first.

        Raises KeyReusedError when that was another request, KeyInUseError when it is still being done.
        """
        with self.open_uow() as uow:
            return uow.keys.find(key)
