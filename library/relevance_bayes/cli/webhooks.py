"""`relevance webhooks`: who is told when a training has ended."""

from collections.abc import Sequence
from itertools import islice

from relevance_bayes.cli.console import echo
from relevance_bayes.cli.rendering import number, print_facts, print_json, print_table, time_text
from relevance_bayes.client import Relevance
from relevance_bayes.types.webhooks import EVENT_TYPES, Delivery


def add_webhook(client: Relevance, url: str, ends: Sequence[str], description: str | None, *, as_json: bool) -> None:
    """A new one, with its secret."""
    events = [event for event in EVENT_TYPES if event.rpartition(".")[2] in ends] or None
    made = client.webhooks.create(url, events=events, description=description)
    if as_json:
        print_json(made)
        return
    print_facts([("webhook", made.id), ("url", made.url), ("told of", ", ".join(made.events)), ("secret", made.secret)])
    echo("Keep the secret: it is not shown again.")


def list_webhooks(client: Relevance, *, as_json: bool) -> None:
    """All of them."""
    webhooks = tuple(client.webhooks.all())
    if as_json:
        print_json(webhooks)
        return
    rows = (
        (one.id, one.url, ", ".join(one.events), "" if one.enabled else "disabled", one.description or "")
        for one in webhooks
    )
    print_table(("webhook", "url", "told of", "", "description"), rows, if_none="No webhooks.")


def remove_webhook(client: Relevance, webhook_id: str) -> None:
    """Have one told no more."""
    client.webhooks.delete(webhook_id)
    echo(f"Webhook {webhook_id} is told no more.")


def list_deliveries(client: Relevance, webhook_id: str, *, limit: int, as_json: bool) -> None:
    """Print the newest deliveries, with what came back last."""
    deliveries = tuple(islice(client.webhooks.deliveries(webhook_id), limit))
    if as_json:
        print_json(deliveries)
        return
    rows = (
        (one.id, one.type, one.job_id or "", time_text(one.created_at), one.state, str(len(one.attempts)), _last(one))
        for one in deliveries
    )
    print_table(("delivery", "event", "job", "created", "state", "attempts", "last"), rows, if_none="No deliveries.")


def try_webhook(client: Relevance, webhook_id: str, *, as_json: bool) -> None:
    """Send it a message that tells of nothing."""
    delivery = client.webhooks.test(webhook_id)
    if as_json:
        print_json(delivery)
    else:
        echo(f"Delivery {delivery.id} is made: `relevance webhooks deliveries {webhook_id}` shows what came back.")


def redeliver(client: Relevance, webhook_id: str, delivery_id: str, *, as_json: bool) -> None:
    """Tell a webhook again."""
    delivery = client.webhooks.redeliver(webhook_id, delivery_id)
    if as_json:
        print_json(delivery)
    else:
        echo(f"Delivery {delivery.id} is made again.")


def _last(delivery: Delivery) -> str:
    if not delivery.attempts:
        return ""
    last = delivery.attempts[-1]
    return f"{last.error or last.status} after {number(last.seconds)} s"
