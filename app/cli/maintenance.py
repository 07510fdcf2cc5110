"""`relevance backup`, `restore`, `copy-database`, `migrate`, `vacuum` and `doctor`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from app import __version__
from app.cli.config import AsJson, database_in_reach, unknown_variables, usable_settings
from app.database.revision import EXPECTED, MigrationPlan, MigrationStep
from app.maintenance import administration, backups
from app.maintenance import backups as copying
from app.maintenance import backups as restoring
from app.maintenance.backups import Manifest
from app.maintenance.doctor import Finding, error, examine, warning
from app.settings import Settings, SettingsError, read_settings
from relevance_bayes.cli.console import echo, refuse
from relevance_bayes.cli.rendering import print_facts, print_json, print_table, time_text
from relevance_bayes.records.errors import RelevanceError


def backup(
    path: Annotated[
        Path, typer.Argument(metavar="PATH", help="The file to write, or a folder: the file's name has the time then.")
    ],
    *,
    as_json: AsJson = False,
) -> None:
    """Back up the database into one file, while the service runs.

    The file has all that the service stores, the queue of jobs included. PostgreSQL needs pg_dump.
    """
    try:
        written, manifest = backups.backup(usable_settings(), path)
    except RelevanceError as error:
        refuse(error.detail)
    if as_json:
        print_json({"path": str(written), "manifest": manifest})
    else:
        echo(f"Wrote {written}.")
        _show(manifest)


def _verify(path: Path, *, as_json: bool) -> None:
    """Print the facts of a backup that can be restored; raises typer.Exit."""
    try:
        manifest = restoring.verify(path)
    except RelevanceError as error:
        refuse(error.detail)
    if as_json:
        print_json({"manifest": manifest})
    else:
        echo(f"{path} is whole and can be restored.")
        _show(manifest)


def restore(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="A file that `relevance backup` has written.")],
    *,
    replace: Annotated[bool, typer.Option("--replace", help="Replace the content of the database.")] = False,
    verify: Annotated[bool, typer.Option("--verify", help="Verify the backup, and restore nothing.")] = False,
    as_json: AsJson = False,
) -> None:
    """Restore a backup into the database of the settings, and migrate it to this release.

    The service must not run. PostgreSQL needs pg_restore, and an existing database.
    """
    if verify:
        _verify(path, as_json=as_json)
        return
    settings = usable_settings()
    try:
        restored = restoring.restore(settings, path, replaces=replace)
    except RelevanceError as error:
        refuse(error.detail)
    shown = settings.shown_database_url
    if as_json:
        print_json({"database": shown, "migrated_from": restored.migrated_from, "manifest": restored.manifest})
        return
    echo(f"Restored {path} into {shown}.")
    if restored.migrated_from is not None:
        echo(f"Migrated it from the revision {restored.migrated_from} to {EXPECTED}.")
    _show(restored.manifest)


def _show(manifest: Manifest) -> None:
    counted = (("datasets", "datasets"), ("jobs", "jobs"), ("versions", "model_versions"))
    print_facts(
        [
            ("created", time_text(manifest.created_at)),
            ("release", manifest.service_version),
            ("database", f"{manifest.database} {manifest.database_version}"),
            ("revision", manifest.revision),
            ("size", f"{manifest.bytes:,} bytes"),
            ("sha256", manifest.sha256),
            *((name, f"{manifest.rows.get(table, 0):,}") for name, table in counted),
        ]
    )


def copy_database(
    url: Annotated[str, typer.Argument(metavar="URL", help="The database to copy into, which must be empty.")],
    *,
    as_json: AsJson = False,
) -> None:
    """Copy the database of the settings into another one, as from SQLite to PostgreSQL, and compare both.

    The service must not run.
    """
    settings = usable_settings()
    target = settings.model_copy(update={"database_url": url, "database_password_file": None})
    shown = target.shown_database_url
    try:
        tables = copying.copy_database(settings, target)
    except RelevanceError as error:
        refuse(error.detail)
    if as_json:
        print_json({"database": shown, "tables": tables})
        return
    rows = [(table.name, f"{table.rows:,}", table.sha256) for table in tables]
    print_table(("table", "rows", "sha256 of the rows"), rows, if_none="")
    echo(f"Copied to {shown}; each table has the same rows in both databases.")
    echo("Start the service with this URL as RELEVANCE_DATABASE_URL.")


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


def doctor(*, as_json: AsJson = False) -> None:
    """Check the settings, the database, the workers and the disks; each fault with its remedy.

    Ends with exit code 1 where there is an error.
    """
    findings = []
    for finding in _findings():
        findings.append(finding)
        if not as_json:
            remedy = "" if finding.remedy is None else f". {finding.remedy}"
            echo(f"{finding.level:<8} {finding.check}: {finding.detail}{remedy}")
    if as_json:
        print_json({"findings": findings})
    if any(finding.level == "error" for finding in findings):
        raise typer.Exit(1)


def _findings() -> Iterator[Finding]:
    for variable in unknown_variables():
        yield warning("settings", f"{variable} is set, but no setting has this name", "Correct the name, or unset it.")
    try:
        settings = read_settings()
    except SettingsError as wrong:
        for fault in wrong.faults:
            yield error("settings", fault, "docs/reference/settings.md lists the settings.")
    else:
        yield from examine(settings)
