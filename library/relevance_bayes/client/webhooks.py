"""Calls on webhooks."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from relevance_bayes.client.http import Http
from relevance_bayes.client.json import exclude_none
from relevance_bayes.client.paths import part
from relevance_bayes.client.responses import Json
from relevance_bayes.types.pages import Page
from relevance_bayes.types.webhooks import Delivery, EventType, NewWebhook, Webhook


@dataclass(frozen=True)
class Webhooks:
    """Webhooks for the ends of jobs and for alarms; every method raises ClientError as those of `Relevance` do."""

    http: Http

    def create(
        self, url: str, *, events: Sequence[EventType] | None = None, description: str | None = None
    ) -> NewWebhook:
        """Create a webhook, for all events unless `events` are given; its secret is only in this response."""
        requested: Mapping[str, Json] = {
            "url": url,
            "events": None if events is None else list(events),
            "description": description,
        }
        return self.http.create(NewWebhook, "/v1/webhooks", exclude_none(requested))

    def all(self) -> Iterator[Webhook]:
        """Return all webhooks, newest first."""
        return self.http.pages(Page[Webhook], "/v1/webhooks")

    def get(self, webhook_id: str) -> Webhook:
        """Return a webhook."""
        return self.http.get(Webhook, _path(webhook_id))

    def update(
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
        return self.http.patch(Webhook, _path(webhook_id), exclude_none(requested))

    def delete(self, webhook_id: str) -> None:
        """Delete a webhook."""
        self.http.delete(_path(webhook_id))

    def deliveries(self, webhook_id: str) -> Iterator[Delivery]:
        """Return its deliveries, newest first."""
        return self.http.pages(Page[Delivery], f"{_path(webhook_id)}/deliveries")

    def test(self, webhook_id: str) -> Delivery:
        """Send a signed message of type `webhook.test` now; its outcome is in `deliveries`."""
        return self.http.post(Delivery, f"{_path(webhook_id)}/test")

    def redeliver(self, webhook_id: str, delivery_id: str) -> Delivery:
        """Send a delivery again now."""
        return self.http.post(Delivery, f"{_path(webhook_id)}/deliveries/{part(delivery_id)}/redeliver")


def _path(webhook_id: str) -> str:
    return f"/v1/webhooks/{part(webhook_id)}"
