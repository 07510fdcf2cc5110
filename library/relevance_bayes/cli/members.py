"""`relevance members` and `relevance projects`: owners that share a project."""

from enum import StrEnum
from typing import Annotated

import typer

from relevance_bayes.cli.connection import service
from relevance_bayes.cli.console import echo
from relevance_bayes.cli.options import HERE, AsJson, Url
from relevance_bayes.cli.rendering import print_json, print_table, time_text

Subject = Annotated[
    str, typer.Argument(metavar="SUBJECT", help="The owner of the member's API keys, or that its tokens have.")
]


class RoleName(StrEnum):
    """The roles of members."""

    VIEWER = "viewer"
    EDITOR = "editor"
    ADMIN = "admin"


def put(
    subject: Subject,
    *,
    role: Annotated[
        RoleName,
        typer.Option(help="viewer reads and predicts, editor trains too, admin manages members and API keys too."),
    ] = RoleName.VIEWER,
    as_json: AsJson = False,
    url: Url = HERE,
) -> None:
    """Add SUBJECT to the project, or change its role."""
    with service(url) as client:
        member = client.members.put(subject, role.value)
        print_json(member) if as_json else echo(f"{member.subject} is a member with the role {member.role}.")


def list_members(*, as_json: AsJson = False, url: Url = HERE) -> None:
    """List the members of the project."""
    with service(url) as client:
        members = tuple(client.members.all())
        if as_json:
            print_json(members)
            return
        rows = ((one.subject, one.role, time_text(one.created_at)) for one in members)
        print_table(("member", "role", "since"), rows, if_none="No members.")


def remove(subject: Subject, *, url: Url = HERE) -> None:
    """Remove SUBJECT from the project."""
    with service(url) as client:
        client.members.delete(subject)
        echo(f"{subject} is no member any more. What it created stays: see `relevance webhooks list` and the API keys.")


def projects(*, as_json: AsJson = False, url: Url = HERE) -> None:
    """List the projects in which the API key may act."""
    with service(url) as client:
        projects = tuple(client.projects())
        if as_json:
            print_json(projects)
            return
        rows = ((one.name, one.role, ", ".join(one.scopes)) for one in projects)
        print_table(("project", "role", "scopes"), rows, if_none="No projects.")
