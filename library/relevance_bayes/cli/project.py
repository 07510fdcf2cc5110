"""`relevance members set`, `webhooks add` and `update`: who shares a project, and who is notified."""

from enum import StrEnum
from typing import Annotated

import typer

from relevance_bayes.cli.connection import service
from relevance_bayes.cli.console import echo
from relevance_bayes.cli.options import HERE, AsJson, Url
from relevance_bayes.cli.rendering import print_facts, print_json
from relevance_bayes.records.members import Role
from relevance_bayes.records.webhooks import EVENT_TYPES

Subject = Annotated[
    str, typer.Argument(metavar="SUBJECT", help="The owner of the member's API keys, or that its tokens have.")
]


def put(
    subject: Subject,
    *,
    role: Annotated[
        Role,
        typer.Option(help="viewer reads and predicts, editor trains too, admin manages members and API keys too."),
    ] = "viewer",
    as_json: AsJson = False,
    url: Url = HERE,
) -> None:
    """Invite SUBJECT to the project, or change its role."""
    with service(url) as client:
        member = client.members.put(subject, role)
        if as_json:
            print_json(member)
        elif member.state == "member":
            echo(f"{member.subject} is a member with the role {member.role}.")
        else:
            echo(f"{member.subject} is invited with the role {member.role}, and a member once it accepts.")


class End(StrEnum):
    """The ends of a job; typer has no lists of literals."""

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


def update(
    webhook: Annotated[str, typer.Argument(metavar="WEBHOOK", help="The id of the webhook.")],
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
