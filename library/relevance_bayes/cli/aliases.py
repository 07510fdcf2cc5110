"""`relevance aliases`: names for versions, which move."""

from itertools import islice

from relevance_bayes.cli.console import echo
from relevance_bayes.cli.rendering import print_json, print_table, time_text
from relevance_bayes.client import Relevance


def move_alias(
    client: Relevance, model: str, alias: str, version: int | str, reason: str | None, *, new: bool, as_json: bool
) -> None:
    """Point one to a version."""
    moved = client.aliases.move(model, alias, version, reason=reason, new=new)
    print_json(moved) if as_json else echo(f"{moved.model}@{moved.alias} is version {moved.version}.")


def list_aliases(client: Relevance, model: str, *, as_json: bool) -> None:
    """All of a model's."""
    aliases = tuple(client.aliases.all(model))
    if as_json:
        print_json(aliases)
        return
    rows = ((one.alias, str(one.version), time_text(one.moved_at), one.moved_by, one.reason or "") for one in aliases)
    print_table(("alias", "version", "since", "by", "why"), rows, if_none="No aliases.")


def remove_alias(client: Relevance, model: str, alias: str, reason: str | None) -> None:
    """Have one point nowhere."""
    client.aliases.delete(model, alias, reason=reason)
    echo(f"{model}@{alias} points nowhere any more.")


def show_history(client: Relevance, model: str, alias: str, *, limit: int, as_json: bool) -> None:
    """Print the moves of an alias, newest first."""
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
