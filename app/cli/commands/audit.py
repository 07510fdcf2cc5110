"""The audit: `relevance audit`."""

from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal

import typer

Owner = Annotated[str, typer.Option(metavar="NAME", help="The owner of the resources.")]
Action = Annotated[str | None, typer.Option(metavar="NAME", help="Only this action, such as key.created.")]
Actor = Annotated[str | None, typer.Option(metavar="ID", help="Only changes by this actor.")]
Resource = Annotated[str | None, typer.Option(metavar="PATH", help="Only changes of this path.")]
Since = Annotated[datetime | None, typer.Option(help="Only entries at this time (UTC) or later.")]
Until = Annotated[datetime | None, typer.Option(help="Only entries before this time (UTC).")]

audit = typer.Typer(help="Who changed what and when, in the database that the settings name.", no_args_is_help=True)


@audit.command("list")
def list_entries(
    *,
    owner: Owner = "local",
    action: Action = None,
    actor: Actor = None,
    resource: Resource = None,
    since: Since = None,
    until: Until = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="The maximum number of entries.")] = 50,
) -> None:
    """List the newest entries."""
    from app.cli.audit import list_entries, selected

    list_entries(owner, selected(action, actor, resource, since, until), limit=limit)


@audit.command()
def export(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="The file to write; - is standard output.")],
    *,
    owner: Owner = "local",
    action: Action = None,
    actor: Actor = None,
    resource: Resource = None,
    since: Since = None,
    until: Until = None,
    written: Annotated[Literal["ndjson", "csv"], typer.Option("--format", help="The format.")] = "ndjson",
) -> None:
    """Export entries, oldest first."""
    from app.cli.audit import export, selected

    export(path, owner, selected(action, actor, resource, since, until), written=written)


@audit.command()
def verify(
    *,
    owner: Annotated[
        str | None,
        typer.Option(metavar="NAME", show_default="all", help="The owner whose chain is verified."),
    ] = None,
    checkpoints: Annotated[
        Path | None, typer.Option(metavar="FILE", help="An earlier output of `relevance audit verify --json`.")
    ] = None,
    heads: Annotated[
        Path | None,
        typer.Option(metavar="FILE", show_default="that of the settings", help="A file of heads, or a copy of one."),
    ] = None,
    file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="An export without filters, verified in place of the database.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, to be kept as checkpoints.")] = False,
) -> None:
    """Verify that no entry was changed, inserted or deleted; ends with exit code 1 where one was.

    Only heads or checkpoints that are kept elsewhere show that somebody who can write to the database has replaced
    entries with all hashes, or deleted the newest ones.
    """
    from app.cli.audit import verify

    verify(owner, checkpoints=checkpoints, heads=heads, file=file, as_json=as_json)
