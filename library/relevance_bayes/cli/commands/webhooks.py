"""Who is told when a training has ended."""

from enum import StrEnum
from typing import Annotated

import typer

from relevance_bayes.cli.commands.options import HERE, AsJson, Url

WebhookId = Annotated[str, typer.Argument(metavar="WEBHOOK", help="The webhook's id.")]


class End(StrEnum):
    """The ends of a training."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"


def add(
    address: Annotated[str, typer.Argument(metavar="URL", help="Where messages are sent.")],
    *,
    event: Annotated[
        list[End] | None, typer.Option(help="Send messages of this end of a job; repeat for more. All by default.")
    ] = None,
    description: Annotated[str | None, typer.Option(help="What it is for.")] = None,
    as_json: AsJson = False,
    url: Url = HERE,
) -> None:
    """Add a webhook at URL, and show, this once, the secret that its messages are signed with."""
    from relevance_bayes.cli.connection import service
    from relevance_bayes.cli.webhooks import add_webhook

    with service(url) as client:
        add_webhook(client, address, [str(end) for end in event or ()], description, as_json=as_json)


def list_webhooks(*, as_json: AsJson = False, url: Url = HERE) -> None:
    """List webhooks."""
    from relevance_bayes.cli.connection import service
    from relevance_bayes.cli.webhooks import list_webhooks

    with service(url) as client:
        list_webhooks(client, as_json=as_json)


def remove(webhook: WebhookId, *, url: Url = HERE) -> None:
    """Remove WEBHOOK and its deliveries."""
    from relevance_bayes.cli.connection import service
    from relevance_bayes.cli.webhooks import remove_webhook

    with service(url) as client:
        remove_webhook(client, webhook)


def deliveries(
    webhook: WebhookId,
    *,
    limit: Annotated[int, typer.Option(help="Most deliveries to list.", min=1)] = 20,
    as_json: AsJson = False,
    url: Url = HERE,
) -> None:
    """List the deliveries to WEBHOOK and their responses."""
    from relevance_bayes.cli.connection import service
    from relevance_bayes.cli.webhooks import list_deliveries

    with service(url) as client:
        list_deliveries(client, webhook, limit=limit, as_json=as_json)


def try_out(webhook: WebhookId, *, as_json: AsJson = False, url: Url = HERE) -> None:
    """Send WEBHOOK a signed test message."""
    from relevance_bayes.cli.connection import service
    from relevance_bayes.cli.webhooks import try_webhook

    with service(url) as client:
        try_webhook(client, webhook, as_json=as_json)


def redeliver(
    webhook: WebhookId,
    delivery: Annotated[str, typer.Argument(metavar="DELIVERY", help="The delivery's id.")],
    *,
    as_json: AsJson = False,
    url: Url = HERE,
) -> None:
    """Deliver again to WEBHOOK."""
    from relevance_bayes.cli.connection import service
    from relevance_bayes.cli.webhooks import redeliver

    with service(url) as client:
        redeliver(client, webhook, delivery, as_json=as_json)
