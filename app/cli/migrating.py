"""`relevance migrate` and `relevance vacuum`."""

from collections.abc import Iterator

import typer

from app import __version__, administration
from app.cli.database import database_in_reach
from app.database.revision import MigrationPlan, MigrationStep
from app.settings import Settings
from relevance_bayes.cli.console import echo, refuse

MEBIBYTE = 2**20


def migrate(settings: Settings, *, is_plan: bool, is_forced: bool) -> None:
    """Create the database's tables, or migrate them to this release, and print a line for each migration.

    With `is_plan` they are printed alone. While processes run that can't use the new tables, they are named; the
    migration is refused then, unless it `is_forced`. Raises typer.Exit.
    """
    with database_in_reach(settings):
        plan = administration.migration_plan(settings)
        blocks = bool(plan.incompatible)
        if is_plan:
            _show_plan(settings, plan)
            raise typer.Exit(1 if blocks else 0)
        if blocks and not is_forced:
            refuse("\n".join([*_incompatible(plan), "Stop them first, or migrate nevertheless by `--force`."]))
        administration.migrate(settings)
    for line in _done(plan):
        echo(line)
    echo(f"{settings.shown_url} is up to date, at {plan.after}, for release {__version__}.")


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


def vacuum(settings: Settings) -> None:
    """Vacuum the database, and print its size before and after that; raises typer.Exit."""
    with database_in_reach(settings):
        before, after = administration.vacuum(settings)
    if before is None or after is None:
        echo(f"Vacuumed and analysed the tables of {settings.shown_url}.")
        return
    unused = before.unused_bytes / MEBIBYTE
    echo(f"Vacuumed {settings.shown_url}: {before.bytes / MEBIBYTE:,.1f} MiB, of which {unused:,.1f} MiB unused,")
    echo(f"are now {after.bytes / MEBIBYTE:,.1f} MiB.")
