"""Backups of the database, which has all that a deployment keeps: datasets, jobs and their queue, versions, results.

Only settings, and the temporary files of running requests and fits, are outside of it.
"""

from datetime import UTC, datetime
from pathlib import Path

from app import __version__
from app.database.engine import make_engine
from app.database.snapshots import write_snapshot
from app.errors import UnavailableError
from app.maintenance.archive import BackupError, Manifest, write_archive
from app.maintenance.database_url import check_url
from app.maintenance.staging import put_in_place, staging
from app.settings import Settings


def backup(settings: Settings, path: Path) -> tuple[Path, Manifest]:
    """Write a backup to a path, or into a folder under a name with the time; return its path and its manifest.

    The service may run and write meanwhile. The archive appears at its path once it is whole. Raises BackupError,
    NotInstalledError, UnavailableError.
    """
    check_url(settings)
    now = datetime.now(UTC)
    if path.is_dir():
        path /= f"relevance-{now:%Y%m%dT%H%M%SZ}.tar"
    if path.exists():
        raise BackupError(f"{path} exists: choose another name.")
    engine = make_engine(settings.url, password_file=settings.database_password_file)
    try:
        with staging(path) as folder:
            database, archive = folder / "database", folder / "archive"
            found = write_snapshot(engine, database)
            if found.revision is None:
                raise UnavailableError("The database is not migrated: it has nothing to back up.")
            manifest = Manifest(now, __version__, found.database, found.version, found.revision, found.rows)
            manifest = write_archive(archive, manifest, database)
            put_in_place(archive, path)
    except OSError as error:
        raise BackupError(f"The backup can't be written: {error}.") from error
    finally:
        engine.dispose()
    return path, manifest
