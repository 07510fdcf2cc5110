"""`relevance keys` and `relevance limits`: API keys and limits of owners, in the database itself."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Annotated, TypeAlias
from uuid import UUID

import typer

from app.accounts.limits import NO_LIMIT, OwnersWithLimits
from app.accounts.service import ApiKeys
from app.cli.config import database_in_reach, usable_settings
from app.database.keyset import PageRequest
from app.maintenance import administration
from relevance_bayes.cli.console import echo, refuse
from relevance_bayes.cli.rendering import print_facts, print_table, time_text
from relevance_bayes.records.accounts import KEY_SCOPES, LIMIT_NAMES, MAX_LIMIT, ApiKey, LimitedOwner
from relevance_bayes.records.errors import RelevanceError

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


DEFAULT = "default"

OwnerArgument = Annotated[str, typer.Argument(metavar="OWNER", help="The owner.")]
Limit: TypeAlias = str | None


def _option(text: str) -> typer.models.OptionInfo:
    option: typer.models.OptionInfo = typer.Option(
        metavar="N|none|default", show_default="unchanged", help=f"The maximum {text}."
    )
    return option


def show(owner: OwnerArgument = "local") -> None:
    """Show the limits of an owner, and what it uses."""
    with _owners() as owners:
        _show_limits(owners.get(owner))


def list_owners() -> None:
    """List the owners for which limits are set; all others have those of the settings."""
    with _owners() as owners:
        rows = [(one.owner, ", ".join(f"{name} {_limit(one, name)}" for name in one.own)) for one in owners.all()]
    print_table(("owner", "limits"), rows, if_none="No limits are set for any owner.")


def set_limits(
    owner: OwnerArgument,
    *,
    requests_per_second: Annotated[Limit, _option("number of requests a second")] = None,
    rows_per_second: Annotated[Limit, _option("number of predicted rows a second")] = None,
    datasets: Annotated[Limit, _option("number of datasets")] = None,
    dataset_bytes: Annotated[Limit, _option("size of all datasets together, in bytes")] = None,
    models: Annotated[Limit, _option("number of models")] = None,
    unfinished_jobs: Annotated[Limit, _option("number of queued and running jobs")] = None,
    training_seconds_per_day: Annotated[Limit, _option("time for which training jobs run in a day")] = None,
) -> None:
    """Set limits of an owner: a number, `none`, or `default` for the limit of the settings."""
    given = {
        "requests_per_second": requests_per_second,
        "rows_per_second": rows_per_second,
        "datasets": datasets,
        "dataset_bytes": dataset_bytes,
        "models": models,
        "unfinished_jobs": unfinished_jobs,
        "training_seconds_per_day": training_seconds_per_day,
    }
    named = {name: text for name, text in given.items() if text is not None}
    limits = {name: _read(name, text) for name, text in named.items() if text != DEFAULT}
    with _owners() as owners:
        _show_limits(owners.change(owner, limits, reset=[name for name, text in named.items() if text == DEFAULT]))


def reset(owner: OwnerArgument) -> None:
    """Remove the limits that are set for an owner: it has those of the settings."""
    with _owners() as owners:
        _show_limits(owners.replace(owner, {}))


@contextmanager
def _owners() -> Iterator[OwnersWithLimits]:
    """The limits in the database, which is created or migrated first where it is a SQLite file; raises typer.Exit."""
    settings = usable_settings()
    try:
        with database_in_reach(settings):
            if settings.url.get_backend_name() == "sqlite":
                administration.migrate(settings)
            with administration.limited_owners(settings) as owners:
                yield owners
    except RelevanceError as error:
        refuse(str(error.detail))


def _read(name: str, text: str) -> int | None:
    if text == NO_LIMIT:
        return None
    minimum = 1 if name.endswith("per_second") else 0
    if not (text.isascii() and text.isdigit() and minimum <= int(text[:17]) <= MAX_LIMIT):
        option = name.replace("_", "-")
        refuse(f"--{option}: expected an integer from {minimum} to {MAX_LIMIT:,}, `none` or `default`; got {text!r}.")
    return int(text)


def _show_limits(found: LimitedOwner) -> None:
    use = vars(found.use)
    rows = [
        (
            name.replace("_", " "),
            _limit(found, name),
            "this owner" if name in found.own else "settings",
            f"{use[name]:,}" if name in use else "",
        )
        for name in LIMIT_NAMES
    ]
    echo(f"Owner {found.owner}:")
    print_table(("what", "limit", "set for", "in use"), rows, if_none="")


def _limit(found: LimitedOwner, name: str) -> str:
    limit = vars(found.limits)[name]
    return NO_LIMIT if limit is None else f"{limit:,}"
