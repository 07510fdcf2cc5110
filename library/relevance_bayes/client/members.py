"""Calls on the members of a project."""

from collections.abc import Iterator
from dataclasses import dataclass

from relevance_bayes.client.http import Http
from relevance_bayes.client.paths import part
from relevance_bayes.types.members import Member, Role
from relevance_bayes.types.pages import Page


@dataclass(frozen=True)
class Members:
    """Members of the project of the client; every method raises ClientError as those of `Relevance` do."""

    http: Http

    def all(self) -> Iterator[Member]:
        """Return all members, by subject."""
        return self.http.pages(Page[Member], "/v1/members")

    def get(self, subject: str) -> Member:
        """Return a member."""
        return self.http.get(Member, _path(subject))

    def put(self, subject: str, role: Role) -> Member:
        """Add a member, or change its role; `subject` is the owner of its API keys, or that its tokens have."""
        return self.http.put(Member, _path(subject), {"role": role}, headers={})

    def delete(self, subject: str) -> None:
        """Remove a member; what it created in the project stays."""
        self.http.delete(_path(subject))


def _path(subject: str) -> str:
    return f"/v1/members/{part(subject)}"
