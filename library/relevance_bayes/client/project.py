"""Calls on the members and the webhooks of a project."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass

from relevance_bayes.client.calls import Calls, M, call, listing
from relevance_bayes.client.http import part
from relevance_bayes.client.responses import Json
from relevance_bayes.records.json import Page, exclude_none
from relevance_bayes.records.members import KeysOfMember, Member, MemberState, Project, RemovedMember, Role
from relevance_bayes.records.webhooks import Delivery, EventType, NewWebhook, Webhook


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


@dataclass(frozen=True)
class Webhooks(Calls[M]):
    """Webhooks for the ends of jobs and for alarms; every method raises ClientError as those of `Client` do."""

    @call
    async def create(
        self, url: str, *, events: Sequence[EventType] | None = None, description: str | None = None
    ) -> NewWebhook:
        """Create a webhook, for all events unless `events` are given; its secret is only in this response."""
        requested: Mapping[str, Json] = {
            "url": url,
            "events": None if events is None else list(events),
            "description": description,
        }
        return await self.http.create(NewWebhook, "/v1/webhooks", exclude_none(requested))

    @listing
    def all(self) -> AsyncGenerator[Webhook, None]:
        """Return all webhooks, newest first."""
        return self.http.pages(Page[Webhook], "/v1/webhooks")

    @call
    async def get(self, webhook_id: str) -> Webhook:
        """Return a webhook."""
        return await self.http.get(Webhook, _webhook_path(webhook_id))

    @call
    async def update(
        self,
        webhook_id: str,
        *,
        url: str | None = None,
        events: Sequence[EventType] | None = None,
        enabled: bool | None = None,
    ) -> Webhook:
        """Change the given members; the secret does not change."""
        requested: Mapping[str, Json] = {
            "url": url,
            "events": None if events is None else list(events),
            "enabled": enabled,
        }
        return await self.http.patch(Webhook, _webhook_path(webhook_id), exclude_none(requested))

    @call
    async def delete(self, webhook_id: str) -> None:
        """Delete a webhook."""
        await self.http.delete(_webhook_path(webhook_id))

    @listing
    def deliveries(self, webhook_id: str) -> AsyncGenerator[Delivery, None]:
        """Return its deliveries, newest first."""
        return self.http.pages(Page[Delivery], f"{_webhook_path(webhook_id)}/deliveries")

    @call
    async def test(self, webhook_id: str) -> Delivery:
        """Send a signed message of type `webhook.test` now; its outcome is in `deliveries`."""
        return await self.http.post(Delivery, f"{_webhook_path(webhook_id)}/test")

    @call
    async def redeliver(self, webhook_id: str, delivery_id: str) -> Delivery:
        """Send a delivery again now."""
        return await self.http.post(Delivery, f"{_webhook_path(webhook_id)}/deliveries/{part(delivery_id)}/redeliver")


def _webhook_path(webhook_id: str) -> str:
    return f"/v1/webhooks/{part(webhook_id)}"
