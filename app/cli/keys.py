"""`relevance keys`: API keys, created in the database itself."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Annotated
from uuid import UUID

import typer

from app.accounts.service import ApiKeys
from app.cli.config import database_in_reach, usable_settings
from app.database.keyset import PageRequest
from app.maintenance import administration
from relevance_bayes.cli.console import echo, refuse
from relevance_bayes.cli.rendering import print_facts, print_table, time_text
from relevance_bayes.records.errors import RelevanceError
from relevance_bayes.records.keys import KEY_SCOPES, ApiKey

PAGE = 1_000


class Scope(StrEnum):
    """The scopes of keys; typer has no lists of literals."""

    PREDICT = "predict"
    READ = "read"
    TRAIN = "train"
    ADMIN = "admin"


KeyId = Annotated[str, typer.Argument(metavar="KEY", help="The id of the key.")]
Owner = Annotated[str, typer.Option(metavar="NAME", help="The owner whose resources the key sees.")]


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
    given = scope or (Scope.PREDICT, Scope.READ, Scope.TRAIN)
    scopes = tuple(one for one in KEY_SCOPES if one in given)
    expires_at = None if days is None else datetime.now(UTC) + timedelta(days=days)
    with _keys() as keys:
        _show(*keys.create(owner, name, scopes=scopes, expires_at=expires_at))


def list_keys(*, owner: Owner = "local") -> None:
    """List API keys, without their secrets."""
    now, rows = datetime.now(UTC), []
    with _keys() as keys:
        part: PageRequest | None = PageRequest(PAGE)
        while part is not None:
            page = keys.page(owner, part)
            rows += [_row(key, now) for key in page.items]
            part = None if page.next is None else PageRequest(PAGE, page.next)
    header = ("key", "name", "begins with", "scopes", "created", "expires", "state")
    print_table(header, rows, if_none=f"There is no API key of the owner {owner!r}.")


def rotate(
    key: KeyId,
    *,
    hours: Annotated[float, typer.Option(min=0.0, help="The hours for which the old key stays valid.")] = 24.0,
    owner: Owner = "local",
) -> None:
    """Create a key with the name and scopes of KEY, which expires when all clients can have the new one."""
    with _keys() as keys:
        _show(*keys.rotate(owner, _id(key), overlap=timedelta(hours=hours)))
        echo(f"The key before it is valid for {hours:g} more hours.")


def revoke(key: KeyId, *, owner: Owner = "local") -> None:
    """Revoke an API key: the service refuses it within two seconds."""
    with _keys() as keys:
        revoked = keys.revoke(owner, _id(key))
    echo(f"Revoked {revoked.name!r} ({revoked.prefix}...).")


@contextmanager
def _keys() -> Iterator[ApiKeys]:
    """The keys of the database, which is created or migrated first where it is a SQLite file; raises typer.Exit."""
    settings = usable_settings()
    try:
        with database_in_reach(settings):
            if settings.url.get_backend_name() == "sqlite":
                administration.migrate(settings)
            with administration.api_keys(settings) as keys:
                yield keys
    except RelevanceError as error:
        refuse(str(error.detail))


def _id(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        refuse(f"Expected the id of an API key, as `relevance keys list` shows it; got {text!r}.")


def _show(key: ApiKey, secret: str) -> None:
    facts = [
        ("key", key.id),
        ("name", key.name),
        ("scopes", ", ".join(key.scopes)),
        ("expires", _time(key.expires_at)),
        ("secret", secret),
    ]
    print_facts(facts)
    echo("Keep the secret: it is not shown again. Clients send it as RELEVANCE_API_KEY.")


def _row(key: ApiKey, now: datetime) -> tuple[str, ...]:
    state = "revoked" if key.revoked_at is not None else "valid" if key.is_valid(now) else "expired"
    times = time_text(key.created_at), _time(key.expires_at)
    return key.id, key.name, key.prefix, ", ".join(key.scopes), *times, state


def _time(at: datetime | None) -> str:
    return "never" if at is None else time_text(at)
