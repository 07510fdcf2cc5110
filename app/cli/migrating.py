"""`relevance migrate` and `relevance vacuum`."""

from collections.abc import Iterator
from typing import Annotated

import typer

from app import __version__, administration
from app.cli.database import database_in_reach, usable_settings
from app.database.revision import MigrationPlan, MigrationStep
from app.settings import Settings
from relevance_bayes.cli.console import echo, refuse

MEBIBYTE = 2**20


def migrate(
    *,
    plan: Annotated[bool, typer.Option("--plan", help="Print what would be done, and do nothing.")] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Migrate while processes run that can't use the new tables.")
    ] = False,
) -> None:
    """Create the database's tables, or migrate them to this release.

    While processes of releases run that can't use the new tables, it is refused: stop them first.
    """
    settings = usable_settings()
    with database_in_reach(settings):
        planned = administration.migration_plan(settings)
        blocks = bool(planned.incompatible)
        if plan:
            _show_plan(settings, planned)
            raise typer.Exit(1 if blocks else 0)
        if blocks and not force:
            refuse("\n".join([*_incompatible(planned), "Stop them first, or migrate nevertheless by `--force`."]))
        administration.migrate(settings)
    for line in _done(planned):
        echo(line)
    echo(f"{settings.shown_url} is up to date, at {planned.after}, for release {__version__}.")


def _show_plan(settings: Settings, plan: MigrationPlan) -> None:
    if not plan.steps:
        echo(f"{settings.shown_url} is at {plan.before}: nothing is to be done.")
        return
    if plan.before is None:
        echo(f"{settings.shown_url} is empty: its tables would be created, at {plan.after}.")
        return
    echo(f"{settings.shown_url} is at {plan.before}; to be run:")
    for step in plan.steps:
        echo(f"  {_line(step)}")
    for line in _incompatible(plan):
        echo(line)


def _done(plan: MigrationPlan) -> Iterator[str]:
    if plan.before is None:
        yield "Created the tables."
        return
    for step in plan.steps:
        yield f"Migrated: {_line(step)}"


def _line(step: MigrationStep) -> str:
    effect = f"contracts: releases before {step.oldest_compatible} can't serve" if step.is_contract else "expands"
    return f"{step.revision} ({effect}): {step.text}"


def _incompatible(plan: MigrationPlan) -> Iterator[str]:
    if plan.incompatible:
        yield f"These processes are running, and can't use the tables at {plan.after}:"
        for process in plan.incompatible:
            yield f"  {process}"


def vacuum() -> None:
    """Free the space of deleted rows.

    A SQLite file is written anew, without unused pages, for which it needs as much free space again; the service may
    run, and its writers wait. Of PostgreSQL the tables are vacuumed and analysed, as autovacuum does.
    """
    settings = usable_settings()
    with database_in_reach(settings):
        before, after = administration.vacuum(settings)
    if before is None or after is None:
        echo(f"Vacuumed and analysed the tables of {settings.shown_url}.")
        return
    unused = before.unused_bytes / MEBIBYTE
    echo(f"Vacuumed {settings.shown_url}: {before.bytes / MEBIBYTE:,.1f} MiB, of which {unused:,.1f} MiB unused,")
    echo(f"are now {after.bytes / MEBIBYTE:,.1f} MiB.")
