"""`relevance backup` and `relevance restore`."""

from pathlib import Path
from typing import Annotated

import typer

from app.cli.database import AsJson, usable_settings
from app.database.revision import EXPECTED
from app.maintenance import backup as backups
from app.maintenance import restore as restoring
from app.maintenance.archive import Manifest
from relevance_bayes.cli.console import echo, refuse
from relevance_bayes.cli.rendering import print_facts, print_json, time_text
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
