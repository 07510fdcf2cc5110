"""An authenticator of one key."""

from collections.abc import Collection
from dataclasses import dataclass

from app.http.authentication import secret_of
from app.identity import LOCAL, Principal


@dataclass(frozen=True)
class OneKey:
    """Knows one key, without a database."""

    secret: str
    principal: Principal = LOCAL

    def known(self, authorizations: Collection[bytes], session: bytes | None = None) -> Principal | None:
        return self.principal if secret_of(authorizations) == self.secret.encode() else None

    async def authenticate(self, authorizations: Collection[bytes], session: bytes | None = None) -> Principal | None:
        return self.known(authorizations)

    def known_session(self, session: bytes) -> Principal | None:
        return None

    def known_acting(self, principal: Principal, project: bytes) -> Principal | None:
        return principal if project.decode() == principal.owner else None

    async def acting(self, principal: Principal, project: bytes) -> Principal | None:
        return self.known_acting(principal, project)

    async def is_open(self) -> bool:
        return False

    @property
    def needs_keys(self) -> bool:
        return True
