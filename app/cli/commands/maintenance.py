"""Maintenance: checks, backups, copies between databases."""

from pathlib import Path
from typing import Annotated

import typer

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


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
    from app.cli.backups import backup
    from app.cli.database import usable_settings

    backup(usable_settings(), path, as_json=as_json)


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
    from app.cli import backups
    from app.cli.database import usable_settings

    if verify:
        backups.verify(path, as_json=as_json)
    else:
        backups.restore(usable_settings(), path, replaces=replace, as_json=as_json)


def copy_database(
    target: Annotated[str, typer.Argument(metavar="URL", help="The database to copy into, which must be empty.")],
    *,
    as_json: AsJson = False,
) -> None:
    """Copy the database of the settings into another one, as from SQLite to PostgreSQL, and compare both.

    The service must not run.
    """
    from app.cli.copying import copy_database
    from app.cli.database import usable_settings

    copy_database(usable_settings(), target, as_json=as_json)


def vacuum() -> None:
    """Free the space of deleted rows.

    A SQLite file is written anew, without unused pages, for which it needs as much free space again; the service may
    run, and its writers wait. Of PostgreSQL the tables are vacuumed and analysed, as autovacuum does.
    """
    from app.cli.database import usable_settings
    from app.cli.migrating import vacuum

    vacuum(usable_settings())


def doctor(*, as_json: AsJson = False) -> None:
    """Check the settings, the database, the workers and the disks; each fault with its remedy.

    Ends with exit code 1 where there is an error.
    """
    from app.cli.doctor import show_findings

    show_findings(as_json=as_json)
