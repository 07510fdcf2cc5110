"""`relevance aliases`: names of versions, which can be moved."""

from itertools import islice
from typing import Annotated

import typer

from relevance_bayes.cli.connection import service
from relevance_bayes.cli.console import echo
from relevance_bayes.cli.options import HERE, AsJson, Url
from relevance_bayes.cli.rendering import print_json, print_table, time_text

Model = Annotated[str, typer.Argument(metavar="MODEL", help="The name of the model.")]
AliasName = Annotated[str, typer.Argument(metavar="ALIAS", help="The name of the alias, as in MODEL@ALIAS.")]
Reason = Annotated[str | None, typer.Option(metavar="TEXT", help="The reason, which the history keeps.")]


def move(
    model: Model,
    alias: AliasName,
    version: Annotated[str, typer.Argument(metavar="VERSION", help="The number of a version, or another alias of it.")],
    *,
    reason: Reason = None,
    new: Annotated[bool, typer.Option("--new", help="Fail if there is such an alias already.")] = False,
    as_json: AsJson = False,
    url: Url = HERE,
) -> None:
    """Point ALIAS of MODEL to VERSION."""
    to = int(version) if version.isdecimal() else version
    with service(url) as client:
        moved = client.aliases.move(model, alias, to, reason=reason, new=new)
        print_json(moved) if as_json else echo(f"{moved.model}@{moved.alias} is version {moved.version}.")


def list_aliases(model: Model, *, as_json: AsJson = False, url: Url = HERE) -> None:
    """List the aliases of MODEL."""
    with service(url) as client:
        aliases = tuple(client.aliases.all(model))
        if as_json:
            print_json(aliases)
            return
        rows = (
            (one.alias, str(one.version), time_text(one.moved_at), one.moved_by, one.reason or "") for one in aliases
        )
        print_table(("alias", "version", "since", "by", "why"), rows, if_none="No aliases.")


def unset(model: Model, alias: AliasName, *, reason: Reason = None, url: Url = HERE) -> None:
    """Remove ALIAS of MODEL; its version and its history stay."""
    with service(url) as client:
        client.aliases.delete(model, alias, reason=reason)
        echo(f"{model}@{alias} is removed.")


def history(
    model: Model,
    alias: AliasName,
    *,
    limit: Annotated[int, typer.Option(help="The largest number of moves to list.", min=1)] = 20,
    as_json: AsJson = False,
    url: Url = HERE,
) -> None:
    """List the moves of ALIAS of MODEL, newest first."""
    with service(url) as client:
        moves = tuple(islice(client.aliases.history(model, alias), limit))
        if as_json:
            print_json(moves)
            return
        rows = (
            (time_text(one.at), one.by, _number(one.from_version), _number(one.to_version), one.reason or "")
            for one in moves
        )
        print_table(("at", "by", "from", "to", "why"), rows, if_none="No moves.")


def _number(version: int | None) -> str:
    return "-" if version is None else str(version)
