"""The routes of webhooks and their deliveries."""

from dataclasses import replace
from functools import partial
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Header, Query, Request, Response
from pydantic import TypeAdapter

from app.http.bodies import read_strictly
from app.http.dependencies import JsonBody, Owner, Services, ServicesDependency, identifier
from app.http.idempotency import Idempotency, Key, named, once
from app.http.idempotency_records import Keyed, StoredResponse
from app.http.lists import DeliveriesQuery, ListQuery
from app.http.negotiation import AcceptsJson, media_type_of, to_json
from app.http.openapi import json_body, problems
from app.webhooks.messages import AlarmMessageOut, MessageOut, TestMessageOut
from app.webhooks.service import WebhookService
from relevance_bayes.records.json import Page
from relevance_bayes.records.webhooks import (
    ALARM_EVENT_TYPES,
    EVENT_TYPES,
    TEST,
    Delivery,
    NewWebhook,
    Webhook,
    WebhookChange,
    WebhookRequest,
)

NEW_WEBHOOK: TypeAdapter[NewWebhook] = TypeAdapter(NewWebhook)
WEBHOOK: TypeAdapter[WebhookRequest] = TypeAdapter(WebhookRequest)
WEBHOOK_CHANGE: TypeAdapter[WebhookChange] = TypeAdapter(WebhookChange)

router = APIRouter(prefix="/v1/webhooks", tags=["Webhooks"], dependencies=[AcceptsJson])
messages = APIRouter()
"""The messages that webhooks receive, for the OpenAPI document."""


@router.post(
    "",
    status_code=201,
    summary="Create a webhook",
    response_model=NewWebhook,
    openapi_extra=json_body("WebhookIn"),
    responses=problems(400, 406, 409, 413, 415, 422),
)
def register(request: Request, body: JsonBody, owner: Owner, services: ServicesDependency, key: Key) -> Response:
    """Register a URL for messages about ended jobs. Only this response has the secret that signs them."""

    def create(keyed: Keyed[Webhook] | None) -> Webhook:
        return services[WebhookService].register(owner, read_strictly(WEBHOOK, body), keyed)

    content_type = media_type_of(request.headers.get("content-type", "")).encode()
    requested_before = named(request, owner, key, content_type, body)
    return once(
        services[Idempotency], requested_before, _registered, create, shown=partial(_with_secret, owner, services)
    )


def _registered(webhook: Webhook) -> StoredResponse:
    """Return the response without the secret, which is stored in one place only, and deleted with the webhook."""
    made = NewWebhook(**vars(webhook), secret="")
    headers = (
        ("Location", f"/v1/webhooks/{webhook.id}"),
        ("Cache-Control", "no-store"),
        ("Content-Type", "application/json"),
    )
    return StoredResponse(201, headers, to_json(made))


def _with_secret(owner: str, services: Services, kept: StoredResponse) -> StoredResponse:
    made = NEW_WEBHOOK.validate_json(kept.content)
    return replace(kept, content=to_json(replace(made, secret=services[WebhookService].secret(owner, UUID(made.id)))))


@router.get("", summary="List webhooks", responses=problems(406, 422))
def webhooks(owner: Owner, services: ServicesDependency, query: Annotated[ListQuery, Query()]) -> Page[Webhook]:
    """List webhooks by age."""
    page = services[WebhookService].page(owner, query.part)
    return Page.of(page.items, page.next)


@router.get("/{webhook_id}", summary="Get a webhook", responses=problems(404, 406))
def webhook(webhook_id: str, owner: Owner, services: ServicesDependency) -> Webhook:
    """Get a webhook, without its secret."""
    return services[WebhookService].get(owner, identifier(webhook_id, "webhook"))


@router.patch(
    "/{webhook_id}",
    summary="Update a webhook",
    openapi_extra=json_body("WebhookChangeIn"),
    responses=problems(400, 404, 406, 413, 415, 422),
)
def change(webhook_id: str, body: JsonBody, owner: Owner, services: ServicesDependency) -> Webhook:
    """Change a webhook's URL or events, or enable or disable it; the secret stays."""
    requested = read_strictly(WEBHOOK_CHANGE, body)
    return services[WebhookService].change(owner, identifier(webhook_id, "webhook"), requested)


@router.delete("/{webhook_id}", status_code=204, summary="Remove a webhook", responses=problems(404, 406))
def remove(webhook_id: str, owner: Owner, services: ServicesDependency) -> None:
    """Delete a webhook and its deliveries; it receives no more messages."""
    services[WebhookService].remove(owner, identifier(webhook_id, "webhook"))


@router.get("/{webhook_id}/deliveries", summary="List the deliveries of a webhook", responses=problems(404, 406, 422))
def deliveries(
    webhook_id: str, owner: Owner, services: ServicesDependency, query: Annotated[DeliveriesQuery, Query()]
) -> Page[Delivery]:
    """List a webhook's deliveries by age, each with its attempts."""
    page = services[WebhookService].deliveries(owner, identifier(webhook_id, "webhook"), query.part, state=query.state)
    return Page.of(page.items, page.next)


@router.post("/{webhook_id}/test", status_code=202, summary="Test a webhook", responses=problems(404, 406, 409))
def try_webhook(webhook_id: str, owner: Owner, services: ServicesDependency) -> Delivery:
    """Send a signed message of type `webhook.test`, whatever the events of the webhook; retried like any other."""
    return services[WebhookService].test(owner, identifier(webhook_id, "webhook"))


@router.post(
    "/{webhook_id}/deliveries/{delivery_id}/redeliver",
    status_code=202,
    summary="Redeliver a message",
    responses=problems(404, 406, 409),
)
def redeliver(webhook_id: str, delivery_id: str, owner: Owner, services: ServicesDependency) -> Delivery:
    """Send a message again, now, with the retries of a new one; its `webhook-id` is the same."""
    required, again = identifier(webhook_id, "webhook"), identifier(delivery_id, "delivery")
    return services[WebhookService].redeliver(owner, required, again)


def _sent(
    _body: MessageOut,
    webhook_id: Annotated[str, Header(description="The event's id, the same in every attempt.")],
    webhook_timestamp: Annotated[int, Header(description="The time of this attempt, in Unix seconds.")],
    webhook_signature: Annotated[str, Header(description='"v1," and HMAC-SHA256 of "id.timestamp.body", in base 64.')],
) -> None:
    """A job has ended. Respond with any status from 200 to 299 to accept the message, or with 410 to unsubscribe."""


def _alarmed(
    _body: AlarmMessageOut,
    webhook_id: Annotated[str, Header(description="The event's id, the same in every attempt.")],
    webhook_timestamp: Annotated[int, Header(description="The time of this attempt, in Unix seconds.")],
    webhook_signature: Annotated[str, Header(description='"v1," and HMAC-SHA256 of "id.timestamp.body", in base 64.')],
) -> None:
    """An alarm of a model was raised or cleared: respond as to any other message."""


def _tried(
    _body: TestMessageOut,
    webhook_id: Annotated[str, Header(description="The event's id, the same in every attempt.")],
    webhook_timestamp: Annotated[int, Header(description="The time of this attempt, in Unix seconds.")],
    webhook_signature: Annotated[str, Header(description='"v1," and HMAC-SHA256 of "id.timestamp.body", in base 64.')],
) -> None:
    """A test of the webhook: respond as to any other message."""


messages.add_api_route(TEST, _tried, methods=["POST"], summary=TEST, tags=["Webhooks"], operation_id=TEST)
for event in EVENT_TYPES:
    receive = _alarmed if event in ALARM_EVENT_TYPES else _sent
    messages.add_api_route(event, receive, methods=["POST"], summary=event, tags=["Webhooks"], operation_id=event)
