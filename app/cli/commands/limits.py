"""Limits of owners: `relevance limits`."""

from typing import Annotated, TypeAlias

import typer

Owner = Annotated[str, typer.Argument(metavar="OWNER", help="The owner.")]
Limit: TypeAlias = str | None


def _option(text: str) -> typer.models.OptionInfo:
    option: typer.models.OptionInfo = typer.Option(
        metavar="N|none|default", show_default="unchanged", help=f"The maximum {text}."
    )
    return option


limits = typer.Typer(help="Limits of owners, in the database that the settings name.", no_args_is_help=True)


@limits.command()
def show(owner: Owner = "local") -> None:
    """Show the limits of an owner, and what it uses."""
    from app.cli.limits import show

    show(owner)


@limits.command("list")
def list_owners() -> None:
    """List the owners for which limits are set; all others have those of the settings."""
    from app.cli.limits import list_owners

    list_owners()


@limits.command("set")
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
    from app.cli.limits import set_limits

    given = {
        "requests_per_second": requests_per_second,
        "rows_per_second": rows_per_second,
        "datasets": datasets,
        "dataset_bytes": dataset_bytes,
        "models": models,
        "unfinished_jobs": unfinished_jobs,
        "training_seconds_per_day": training_seconds_per_day,
    }
    set_limits(owner, {name: text for name, text in given.items() if text is not None})


@limits.command()
def reset(owner: Owner) -> None:
    """Remove the limits that are set for an owner: it has those of the settings."""
    from app.cli.limits import reset

    reset(owner)
