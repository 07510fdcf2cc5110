"""Names for versions, which move."""

from typing import Annotated

import typer

from relevance_bayes.cli.commands.options import HERE, AsJson, Url

Model = Annotated[str, typer.Argument(metavar="MODEL", help="The model's name.")]
AliasName = Annotated[str, typer.Argument(metavar="ALIAS", help="As in MODEL@ALIAS.")]
Reason = Annotated[str | None, typer.Option(help="The reason, kept in the history.")]


def move(
    model: Model,
    alias: AliasName,
    version: Annotated[str, typer.Argument(metavar="VERSION", help="Its number, or another alias of it.")],
    *,
    reason: Reason = None,
    new: Annotated[bool, typer.Option("--new", help="Only if there is no such alias.")] = False,
    as_json: AsJson = False,
    url: Url = HERE,
) -> None:
    """Point ALIAS of MODEL to VERSION."""
    from relevance_bayes.cli.aliases import move_alias
    from relevance_bayes.cli.connection import service

    to = int(version) if version.isdecimal() else version
    with service(url) as client:
        move_alias(client, model, alias, to, reason, new=new, as_json=as_json)


def list_aliases(model: Model, *, as_json: AsJson = False, url: Url = HERE) -> None:
    """List the aliases of MODEL."""
    from relevance_bayes.cli.aliases import list_aliases
    from relevance_bayes.cli.connection import service

    with service(url) as client:
        list_aliases(client, model, as_json=as_json)


def unset(model: Model, alias: AliasName, *, reason: Reason = None, url: Url = HERE) -> None:
    """Remove ALIAS of MODEL; versions stay, and so does its history."""
    from relevance_bayes.cli.aliases import remove_alias
    from relevance_bayes.cli.connection import service

    with service(url) as client:
        remove_alias(client, model, alias, reason)


def history(
    model: Model,
    alias: AliasName,
    *,
    limit: Annotated[int, typer.Option(help="Most moves to list.", min=1)] = 20,
    as_json: AsJson = False,
    url: Url = HERE,
) -> None:
    """List the moves of ALIAS of MODEL, newest first: who moved it, and why."""
    from relevance_bayes.cli.aliases import show_history
    from relevance_bayes.cli.connection import service

    with service(url) as client:
        show_history(client, model, alias, limit=limit, as_json=as_json)
