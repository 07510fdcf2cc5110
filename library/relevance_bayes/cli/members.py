"""`relevance members` and `relevance projects`: owners that share a project."""

from typing import Annotated

import typer

from relevance_bayes.cli.connection import service
from relevance_bayes.cli.console import echo
from relevance_bayes.cli.options import HERE, AsJson, Url
from relevance_bayes.cli.rendering import print_json, print_table, time_text
from relevance_bayes.records.members import Role

Subject = Annotated[
    str, typer.Argument(metavar="SUBJECT", help="The owner of the member's API keys, or that its tokens have.")
]

ProjectName = Annotated[str, typer.Argument(metavar="PROJECT", help="The owner of the project.")]
Invited = Annotated[bool, typer.Option("--invited", help="List invitations that are not accepted yet.")]


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


def accept(name: ProjectName, *, as_json: AsJson = False, url: Url = HERE) -> None:
    """Accept the invitation to PROJECT."""
    with service(url) as client:
        accepted = client.members.accept(name)
        print_json(accepted) if as_json else echo(
            f"The owner of the API key has the role {accepted.role} in the project {accepted.name}."
        )


def leave(name: ProjectName, *, url: Url = HERE) -> None:
    """Leave PROJECT, or decline the invitation to it."""
    with service(url) as client:
        client.members.leave(name)
        echo(f"The owner of the API key is no member of {name}; the API keys that it made there are revoked.")


def list_members(*, invited: Invited = False, as_json: AsJson = False, url: Url = HERE) -> None:
    """List the members of the project."""
    with service(url) as client:
        members = tuple(client.members.all("invited" if invited else "member"))
        if as_json:
            print_json(members)
            return
        rows = ((one.subject, one.role, time_text(one.created_at)) for one in members)
        print_table(("member", "role", "since"), rows, if_none="No members.")


def remove(
    subject: Subject,
    *,
    keep_keys: Annotated[
        bool, typer.Option("--keep-keys", help="Keep the API keys that the member has made in the project.")
    ] = False,
    as_json: AsJson = False,
    url: Url = HERE,
) -> None:
    """Remove SUBJECT from the project.

    The API keys that it has made there are revoked.
    """
    with service(url) as client:
        removed = client.members.delete(subject, keys="keep" if keep_keys else "revoke")
        if as_json:
            print_json(removed)
            return
        echo(f"{subject} is no member any more. What it created stays: see `relevance webhooks list`.")
        for key in removed.keys:
            echo(f"The API key {key.name!r} ({key.prefix}...) is {'valid' if keep_keys else 'revoked'}.")


def projects(*, invited: Invited = False, as_json: AsJson = False, url: Url = HERE) -> None:
    """List the projects in which the API key may act."""
    with service(url) as client:
        projects = tuple(client.members.invitations() if invited else client.projects())
        if as_json:
            print_json(projects)
            return
        rows = ((one.name, one.role, ", ".join(one.scopes)) for one in projects)
        print_table(("project", "role", "scopes"), rows, if_none="No projects.")
