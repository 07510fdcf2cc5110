"""`relevance backup` and `relevance restore`."""

from pathlib import Path

from app.database.revision import EXPECTED
from app.maintenance import backup as backups
from app.maintenance import restore as restoring
from app.maintenance.archive import Manifest
from app.settings import Settings
from relevance_bayes.cli.console import echo, refuse
from relevance_bayes.cli.rendering import print_facts, print_json, time_text
from relevance_bayes.records.errors import RelevanceError


def backup(settings: Settings, path: Path, *, as_json: bool) -> None:
    """Write a backup and print its facts; raises typer.Exit."""
    try:
        written, manifest = backups.backup(settings, path)
    except RelevanceError as error:
        refuse(error.detail)
    if as_json:
        print_json({"path": str(written), "manifest": manifest})
    else:
        echo(f"Wrote {written}.")
        _show(manifest)


def verify(path: Path, *, as_json: bool) -> None:
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


def restore(settings: Settings, path: Path, *, replaces: bool, as_json: bool) -> None:
    """Restore a backup and print its facts; raises typer.Exit."""
    try:
        restored = restoring.restore(settings, path, replaces=replaces)
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
