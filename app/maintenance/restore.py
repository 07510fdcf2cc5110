"""Restoring a backup into the database that the settings name."""

import os
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

from app import administration
from app.database import postgresql_dumps, revision, sqlite_files
from app.database.contents import Contents, contents_of
from app.database.engine import make_engine
from app.database.migrations import has_migration
from app.database.snapshots import check_unused, contents_of_file, path_of, url_of_file
from app.maintenance.archive import BackupError, Manifest, NotEmptyError, database_blocks, verify_archive
from app.maintenance.database_url import check_url
from app.maintenance.staging import put_in_place, staging
from app.settings import Settings
from app.tables import Base

QUEUES = frozenset({"workflow_status", "dbos.workflow_status"})
"""The table of queued work, which may be of another program that uses DBOS in the same database."""

IGNORED = frozenset({"rate_demands", "workers"})
"""Tables that a database without content may have rows in."""


def refuse_content(contents: Contents, remedy: str) -> None:
    """Raise NotEmptyError where a table of the service, or the queue, has rows."""
    filled = sorted(table for table in (Base.metadata.tables.keys() | QUEUES) - IGNORED if contents.rows.get(table))
    if filled:
        raise NotEmptyError(f"The database is not empty ({', '.join(filled)}): {remedy}")


@dataclass(frozen=True)
class Restored:
    """A restored backup; `migrated_from` is its revision where that was not the one that this release expects."""

    manifest: Manifest
    migrated_from: str | None


def verify(path: Path) -> Manifest:
    """Return the manifest of a whole backup that this release restores; raises BackupError."""
    manifest = verify_archive(path)
    if not has_migration(manifest.revision):
        raise BackupError(
            f"The backup is of a newer release: {manifest.service_version}, with the migration {manifest.revision!r}. "
            "Restore it by that release or a later one."
        )
    return manifest


def restore(settings: Settings, path: Path, *, replaces: bool = False) -> Restored:
    """Verify a backup, restore it into the database of the settings, and migrate that to this release.

    A database with content is replaced only where `replaces`. All or nothing is restored, and positions that clients
    have among the changes of jobs are refused afterwards. Raises BackupError, NotEmptyError, NotInstalledError,
    UnavailableError.
    """
    check_url(settings)
    manifest = verify(path)
    kind = settings.url.get_backend_name()
    if manifest.database != kind:
        raise BackupError(
            f"The backup is of {manifest.database}, and RELEVANCE_DATABASE_URL names a database of {kind}. Restore it "
            "into one of its kind; `relevance copy-database` copies a SQLite database to PostgreSQL."
        )
    into = _into_sqlite if kind == "sqlite" else _into_postgresql
    into(settings, path, manifest, replaces=replaces)
    return Restored(manifest, None if manifest.revision == revision.EXPECTED else manifest.revision)


def _into_sqlite(settings: Settings, backup: Path, manifest: Manifest, *, replaces: bool) -> None:
    path = path_of(settings.url).resolve()  # a link to the file stays
    exists = path.exists() and path.stat().st_size > 0
    if exists and not replaces:
        refuse_content(contents_of_file(path), "`--replace` replaces its content.")
    try:
        with staging(path) as folder:
            staged = folder / "database"
            with staged.open("wb") as file:
                for block in database_blocks(backup, manifest):
                    file.write(block)
            sqlite_files.check_file(staged)
            administration.migrate_tables(url_of_file(staged))
            administration.renew_change_epochs(url_of_file(staged))
            sqlite_files.make_single_file(staged)
            with sqlite_files.unused_file(path) if exists else nullcontext():
                if exists:
                    before = path.stat()
                    os.chown(staged, before.st_uid, before.st_gid)
                    staged.chmod(before.st_mode)
                else:
                    sqlite_files.remove_logs(path)
                put_in_place(staged, path)
    except OSError as error:
        raise BackupError(f"The backup can't be restored: {error}.") from error


def _into_postgresql(settings: Settings, backup: Path, manifest: Manifest, *, replaces: bool) -> None:
    engine = make_engine(settings.url, password_file=settings.database_password_file)
    try:
        there = contents_of(engine)
        if not replaces:
            refuse_content(there, "`--replace` replaces its content.")
        if unknown := sorted(there.rows.keys() - manifest.rows.keys()):
            raise NotEmptyError(
                f"The database has tables that the backup has not: {', '.join(unknown)}. Restore into an empty one."
            )
        if there.rows:
            check_unused(engine)
        postgresql_dumps.restore(engine, database_blocks(backup, manifest), replaces=bool(there.rows))
        administration.migrate_tables(settings.url, settings.database_password_file)
        administration.renew_change_epochs(settings.url, settings.database_password_file)
    finally:
        engine.dispose()
