"""`relevance limits`: the limits of owners, in the database itself."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, TypeAlias

import typer

from app.cli.config import database_in_reach, usable_settings
from app.limits.service import NO_LIMIT, OwnersWithLimits
from app.maintenance import administration
from relevance_bayes.cli.console import echo, refuse
from relevance_bayes.cli.rendering import print_table
from relevance_bayes.records.errors import RelevanceError
from relevance_bayes.records.limits import LIMIT_NAMES, MAX_LIMIT, LimitedOwner

DEFAULT = "default"

Owner = Annotated[str, typer.Argument(metavar="OWNER", help="The owner.")]
Limit: TypeAlias = str | None


def _option(text: str) -> typer.models.OptionInfo:
    option: typer.models.OptionInfo = typer.Option(
        metavar="N|none|default", show_default="unchanged", help=f"The maximum {text}."
    )
    return option


def show(owner: Owner = "local") -> None:
    """Show the limits of an owner, and what it uses."""
    with _owners() as owners:
        _show(owners.get(owner))


def list_owners() -> None:
    """List the owners for which limits are set; all others have those of the settings."""
    with _owners() as owners:
        rows = [(one.owner, ", ".join(f"{name} {_limit(one, name)}" for name in one.own)) for one in owners.all()]
    print_table(("owner", "limits"), rows, if_none="No limits are set for any owner.")


def set_limits(
    owner: Owner,
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
        _show(owners.change(owner, limits, reset=[name for name, text in named.items() if text == DEFAULT]))


def reset(owner: Owner) -> None:
    """Remove the limits that are set for an owner: it has those of the settings."""
    with _owners() as owners:
        _show(owners.replace(owner, {}))


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


def _show(found: LimitedOwner) -> None:
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
