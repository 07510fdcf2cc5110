"""`relevance webhooks`: URLs that receive a message at the end of a job."""

from enum import StrEnum
from itertools import islice
from typing import Annotated

import typer

from relevance_bayes.cli.connection import service
from relevance_bayes.cli.console import echo
from relevance_bayes.cli.options import HERE, AsJson, Url
from relevance_bayes.cli.rendering import number, print_facts, print_json, print_table, time_text
from relevance_bayes.records.webhooks import EVENT_TYPES, Delivery

WebhookId = Annotated[str, typer.Argument(metavar="WEBHOOK", help="The id of the webhook.")]


class End(StrEnum):
    """The ends of a job."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"


def add(
    address: Annotated[str, typer.Argument(metavar="URL", help="The address to send messages to.")],
    *,
    event: Annotated[
        list[End] | None,
        typer.Option(show_default="all", help="The end of a job to send messages of. May be repeated."),
    ] = None,
    description: Annotated[str | None, typer.Option(metavar="TEXT", help="A description of the webhook.")] = None,
    as_json: AsJson = False,
    url: Url = HERE,
) -> None:
    """Add a webhook at URL and show the secret of its messages.

    Messages are signed with the secret, which is not shown again.
    """
    with service(url) as client:
        types = [one for one in EVENT_TYPES if one.rpartition(".")[2] in (event or ())] or None
        made = client.webhooks.create(address, events=types, description=description)
        if as_json:
            print_json(made)
            return
        print_facts(
            [("webhook", made.id), ("url", made.url), ("events", ", ".join(made.events)), ("secret", made.secret)]
        )
        echo("Keep the secret: it is not shown again.")


def list_webhooks(*, as_json: AsJson = False, url: Url = HERE) -> None:
    """List webhooks."""
    with service(url) as client:
        webhooks = tuple(client.webhooks.all())
        if as_json:
            print_json(webhooks)
            return
        rows = (
            (one.id, one.url, ", ".join(one.events), "" if one.enabled else "disabled", one.description or "")
            for one in webhooks
        )
        print_table(("webhook", "url", "events", "", "description"), rows, if_none="No webhooks.")


def update(
    webhook: WebhookId,
    *,
    address: Annotated[
        str | None, typer.Option(metavar="URL", show_default="unchanged", help="The address to send messages to.")
    ] = None,
    event: Annotated[
        list[End] | None,
        typer.Option(show_default="unchanged", help="The end of a job to send messages of. May be repeated."),
    ] = None,
    enabled: Annotated[
        bool | None, typer.Option("--enable/--disable", show_default="unchanged", help="Send messages, or none.")
    ] = None,
    as_json: AsJson = False,
    url: Url = HERE,
) -> None:
    """Change WEBHOOK; its secret does not change."""
    with service(url) as client:
        types = [one for one in EVENT_TYPES if one.rpartition(".")[2] in (event or ())] or None
        changed = client.webhooks.update(webhook, url=address, events=types, enabled=enabled)
        if as_json:
            print_json(changed)
            return
        state = "enabled" if changed.enabled else "disabled"
        echo(f"Webhook {changed.id} is {state}: {', '.join(changed.events)} to {changed.url}.")


def remove(webhook: WebhookId, *, url: Url = HERE) -> None:
    """Remove WEBHOOK and its deliveries."""
    with service(url) as client:
        client.webhooks.delete(webhook)
        echo(f"Webhook {webhook} is removed.")


def deliveries(
    webhook: WebhookId,
    *,
    limit: Annotated[int, typer.Option(help="The largest number of deliveries to list.", min=1)] = 20,
    as_json: AsJson = False,
    url: Url = HERE,
) -> None:
    """List the deliveries to WEBHOOK and their responses."""
    with service(url) as client:
        deliveries = tuple(islice(client.webhooks.deliveries(webhook), limit))
        if as_json:
            print_json(deliveries)
            return
        rows = (
            (
                one.id,
                one.type,
                one.job_id or "",
                time_text(one.created_at),
                one.state,
                str(len(one.attempts)),
                _last(one),
            )
            for one in deliveries
        )
        print_table(
            ("delivery", "event", "job", "created", "state", "attempts", "last"), rows, if_none="No deliveries."
        )


def try_out(webhook: WebhookId, *, as_json: AsJson = False, url: Url = HERE) -> None:
    """Send WEBHOOK a signed test message."""
    with service(url) as client:
        delivery = client.webhooks.test(webhook)
        if as_json:
            print_json(delivery)
        else:
            echo(f"Delivery {delivery.id} is made: `relevance webhooks deliveries {webhook}` shows what came back.")


def redeliver(
    webhook: WebhookId,
    delivery: Annotated[str, typer.Argument(metavar="DELIVERY", help="The id of the delivery.")],
    *,
    as_json: AsJson = False,
    url: Url = HERE,
) -> None:
    """Send DELIVERY to WEBHOOK again."""
    with service(url) as client:
        made = client.webhooks.redeliver(webhook, delivery)
        if as_json:
            print_json(made)
        else:
            echo(f"Delivery {made.id} is made again.")


def _last(delivery: Delivery) -> str:
    if not delivery.attempts:
        return ""
    last = delivery.attempts[-1]
    return f"{last.error or last.status} after {number(last.seconds)} s"
