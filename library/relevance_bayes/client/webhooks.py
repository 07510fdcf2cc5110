"""Calls on webhooks."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass

from relevance_bayes.client.calls import Calls, M, call, listing
from relevance_bayes.client.json import exclude_none
from relevance_bayes.client.paths import part
from relevance_bayes.client.responses import Json
from relevance_bayes.records.pages import Page
from relevance_bayes.records.webhooks import Delivery, EventType, NewWebhook, Webhook


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
