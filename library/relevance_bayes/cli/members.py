"""`relevance members set`: an owner of the project is invited."""

from typing import Annotated

import typer

from relevance_bayes.cli.connection import service
from relevance_bayes.cli.console import echo
from relevance_bayes.cli.options import HERE, AsJson, Url
from relevance_bayes.cli.rendering import print_json
from relevance_bayes.records.members import Role

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
