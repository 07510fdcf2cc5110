"""API keys: `relevance keys`."""

from enum import StrEnum
from typing import Annotated

import typer


class Scope(StrEnum):
    """The scopes of keys."""

    PREDICT = "predict"
    READ = "read"
    TRAIN = "train"
    ADMIN = "admin"


KeyId = Annotated[str, typer.Argument(metavar="KEY", help="The id of the key.")]
Owner = Annotated[str, typer.Option(metavar="NAME", help="The owner whose resources the key sees.")]

keys = typer.Typer(help="API keys, in the database that the settings name.", no_args_is_help=True)


@keys.command()
def create(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What the key is for.")],
    *,
    scope: Annotated[
        list[Scope] | None,
        typer.Option(
            show_default="predict, read, train", help="Its scopes; admin permits everything. May be repeated."
        ),
    ] = None,
    days: Annotated[
        float | None, typer.Option(min=0.0, show_default="never", help="The days after which it expires.")
    ] = None,
    owner: Owner = "local",
) -> None:
    """Create an API key and show it, once."""
    from app.cli.keys import create

    scopes = tuple(scope or (Scope.PREDICT, Scope.READ, Scope.TRAIN))
    create(name, scopes=scopes, days=days, owner=owner)


@keys.command("list")
def list_keys(*, owner: Owner = "local") -> None:
    """List API keys, without their secrets."""
    from app.cli.keys import list_keys

    list_keys(owner=owner)


@keys.command()
def rotate(
    key: KeyId,
    *,
    hours: Annotated[float, typer.Option(min=0.0, help="The hours for which the old key stays valid.")] = 24.0,
    owner: Owner = "local",
) -> None:
    """Create a key with the name and scopes of KEY, which expires when all clients can have the new one."""
    from app.cli.keys import rotate

    rotate(key, hours=hours, owner=owner)


@keys.command()
def revoke(key: KeyId, *, owner: Owner = "local") -> None:
    """Revoke an API key: the service refuses it within two seconds."""
    from app.cli.keys import revoke

    revoke(key, owner=owner)
