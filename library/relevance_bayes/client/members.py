"""Calls on the members of a project."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass

from relevance_bayes.client.calls import Calls, M, call, listing
from relevance_bayes.client.paths import part
from relevance_bayes.types.members import Member, Role
from relevance_bayes.types.pages import Page


@dataclass(frozen=True)
class Members(Calls[M]):
    """Members of the project of the client; every method raises ClientError as those of `Client` do."""

    @listing
    def all(self) -> AsyncGenerator[Member, None]:
        """Return all members, by subject."""
        return self.http.pages(Page[Member], "/v1/members")

    @call
    async def get(self, subject: str) -> Member:
        """Return a member."""
        return await self.http.get(Member, _path(subject))

    @call
    async def put(self, subject: str, role: Role) -> Member:
        """Add a member, or change its role; `subject` is the owner of its API keys, or that its tokens have."""
        return await self.http.put(Member, _path(subject), {"role": role}, headers={})

    @call
    async def delete(self, subject: str) -> None:
        """Remove a member; what it created in the project stays."""
        await self.http.delete(_path(subject))


def _path(subject: str) -> str:
    return f"/v1/members/{part(subject)}"
