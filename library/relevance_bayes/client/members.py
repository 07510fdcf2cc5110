"""Calls on the members of a project."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass

from relevance_bayes.client.calls import Calls, M, call, listing
from relevance_bayes.client.paths import part
from relevance_bayes.records.members import KeysOfMember, Member, MemberState, Project, RemovedMember, Role
from relevance_bayes.records.pages import Page


@dataclass(frozen=True)
class Members(Calls[M]):
    """Members of the project of the client; every method raises ClientError as those of `Client` do."""

    @listing
    def all(self, state: MemberState = "member") -> AsyncGenerator[Member, None]:
        """Return all members, or all owners that are invited, by subject."""
        return self.http.pages(Page[Member], "/v1/members", {"state": state})

    @call
    async def get(self, subject: str) -> Member:
        """Return a member, or an owner that is invited."""
        return await self.http.get(Member, _member_path(subject))

    @call
    async def put(self, subject: str, role: Role) -> Member:
        """Invite a member, or change its role; `subject` is the owner of its API keys, or that its tokens have."""
        return await self.http.put(Member, _member_path(subject), {"role": role}, headers={})

    @call
    async def delete(self, subject: str, *, keys: KeysOfMember = "revoke") -> RemovedMember:
        """Remove a member, and revoke the API keys that it has made in the project, unless they are to be kept."""
        return await self.http.deleted(RemovedMember, _member_path(subject), {"keys": keys})

    @listing
    def invitations(self) -> AsyncGenerator[Project, None]:
        """Return the projects to which the owner of the client's key is invited, by name."""
        return self.http.pages(Page[Project], "/v1/projects", {"state": "invited"})

    @call
    async def accept(self, project: str) -> Project:
        """Accept the invitation to a project, and return the project."""
        return await self.http.put(Project, _project_path(project), None, headers={})

    @call
    async def leave(self, project: str) -> None:
        """Leave a project, or decline the invitation to it; API keys made there are revoked."""
        await self.http.delete(_project_path(project))


def _project_path(name: str) -> str:
    return f"/v1/projects/{part(name)}"


def _member_path(subject: str) -> str:
    return f"/v1/members/{part(subject)}"
