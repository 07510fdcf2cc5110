"""Backups of the database, which have all that a deployment keeps, restored or copied to another database."""

import fcntl
import hashlib
import io
import os
import shutil
import tarfile
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from math import inf
from pathlib import Path
from typing import IO, Literal, TypeAlias

from pydantic import SecretStr, TypeAdapter, ValidationError

from app import __version__
from app.database import revision, snapshots
from app.database.engine import make_engine
from app.database.migrations import has_migration
from app.database.snapshots import (
    Contents,
    CopiedTable,
    check_unused,
    contents_of,
    contents_of_file,
    copy_rows,
    path_of,
    shapes,
    url_of_file,
    write_snapshot,
)
from app.errors import UnavailableError
from app.jobs.queue import client as queue_migrations
from app.maintenance import administration
from app.maintenance.administration import Base
from app.settings import Settings
from relevance_bayes.records.errors import RelevanceError

DRIVERS = frozenset({"sqlite", "sqlite+pysqlite", "postgresql+psycopg"})


def reason_against(settings: Settings) -> str | None:
    """Return why the URL of the database can't be used; None where it can."""
    if isinstance(settings.shown_database_url, SecretStr):
        return "it is not a URL"
    try:
        driver = settings.url.drivername
    except OSError as failure:
        return f"{failure.filename} can't be read: {failure.strerror}"
    if driver in DRIVERS:
        return None
    return f"expected a database of SQLite or PostgreSQL, as in sqlite:/// or postgresql+psycopg://, got {driver}"


def check_url(settings: Settings) -> None:
    """Raise UnavailableError where the URL of the database can't be used."""
    if (reason := reason_against(settings)) is not None:
        raise UnavailableError(f"The URL of the database can't be used: {reason}.")


PREFIX, LOCK = ".relevance-partial-", "lock"


@contextmanager
def staging(beside: Path) -> Iterator[Path]:
    """Create a folder in the folder of a path, on its file system; it is removed at the end of the block."""
    for left in beside.parent.glob(f"{PREFIX}*"):
        with suppress(OSError), (left / LOCK).open("r+b") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(left)
    with (
        tempfile.TemporaryDirectory(prefix=PREFIX, dir=beside.parent) as name,
        (Path(name) / LOCK).open("wb") as lock,
    ):
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield Path(name)


def put_in_place(file: Path, path: Path) -> None:
    """Move a whole file to its path, durably and in one step."""
    with file.open("rb") as written:
        os.fsync(written.fileno())
    file.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


class BackupError(RelevanceError):
    """The backup can't be written, or the file is not a whole backup that this release restores."""


class NotEmptyError(RelevanceError):
    """The database to write into has content."""


FORMAT_VERSION = 1
MANIFEST = "manifest.json"
SEAL = "manifest.json.sha256"
"""The digest of the manifest, as sha256sum prints it."""

MAX_MANIFEST_BYTES = 2**20
BLOCK_BYTES = 2**20

Database: TypeAlias = Literal["sqlite", "postgresql"]
PARTS: Mapping[Database, str] = {"sqlite": "database.sqlite3", "postgresql": "database.dump"}
"""The name of the database's file: a SQLite file, or an archive of pg_dump."""


@dataclass(frozen=True)
class Manifest:
    """The facts about a backup. `rows` are the numbers of rows by table; `revision` is the last applied migration."""

    created_at: datetime
    service_version: str
    database: Database
    database_version: str
    revision: str
    rows: Mapping[str, int]
    bytes: int = 0
    sha256: str = ""
    format_version: int = FORMAT_VERSION


MEMBERS, MANIFESTS = TypeAdapter(dict[str, object]), TypeAdapter(Manifest)


def write_archive(path: Path, manifest: Manifest, database: Path) -> Manifest:
    """Write an archive of a database's file, durably; return the manifest with its size and digest."""
    with database.open("rb") as content:
        digest = hashlib.file_digest(content, "sha256").hexdigest()
    whole = replace(manifest, bytes=database.stat().st_size, sha256=digest)
    written = MANIFESTS.dump_json(whole, indent=2) + b"\n"
    seal = f"{hashlib.sha256(written).hexdigest()}  {MANIFEST}\n".encode()
    # A backup has the digests of keys and the secrets of webhooks: only its owner may read it.
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file, tarfile.open(fileobj=file, mode="w", format=tarfile.PAX_FORMAT) as tar:
        _add(tar, MANIFEST, io.BytesIO(written), len(written), manifest.created_at)
        with database.open("rb") as content:
            _add(tar, PARTS[manifest.database], content, whole.bytes, manifest.created_at)
        _add(tar, SEAL, io.BytesIO(seal), len(seal), manifest.created_at)
        tar.close()
        file.flush()
        os.fsync(descriptor)
    return whole


def _add(tar: tarfile.TarFile, name: str, content: IO[bytes], size: int, at: datetime) -> None:
    member = tarfile.TarInfo(name)
    member.size, member.mode, member.mtime = size, 0o600, int(at.timestamp())
    tar.addfile(member, content)


def verify_archive(path: Path) -> Manifest:
    """Return the manifest of an archive whose every part has the recorded digest; raises BackupError."""
    with _opened(path) as tar:
        manifest, written = _manifest(tar)
        digest = hashlib.sha256()
        for block in _blocks(tar, PARTS[manifest.database]):
            digest.update(block)
        if digest.hexdigest() != manifest.sha256:
            raise BackupError(f"{path} is damaged: its database does not have the digest of its manifest.")
        seal = b"".join(_blocks(tar, SEAL, max_bytes=MAX_MANIFEST_BYTES)).split()
        if seal != [hashlib.sha256(written).hexdigest().encode(), MANIFEST.encode()]:
            raise BackupError(f"{path} is damaged: its manifest does not have the digest at the end of the archive.")
    return manifest


def database_blocks(path: Path, manifest: Manifest) -> Iterator[bytes]:
    """Yield the content of the database's file; raises BackupError."""
    with _opened(path) as tar:
        yield from _blocks(tar, PARTS[manifest.database])


@contextmanager
def _opened(path: Path) -> Iterator[tarfile.TarFile]:
    try:
        with tarfile.open(path, mode="r:") as tar:
            yield tar
    except tarfile.TarError as error:
        raise BackupError(f"{path} is not a whole backup: {error}.") from error
    except OSError as error:
        raise BackupError(f"{path} can't be read: {error.strerror}.") from error


def _blocks(tar: tarfile.TarFile, name: str, *, max_bytes: float = inf) -> Iterator[bytes]:
    """Yield the content of a member, which is never written below its name; raises BackupError for a link or a device,
    and for more than so many bytes."""
    member = next((one for one in tar.getmembers() if one.name == name), None)
    if member is None:
        raise BackupError(f"{tar.name!s} is not a whole backup: {name} is missing.")
    content = tar.extractfile(member) if member.isreg() and not member.issparse() else None
    if content is None or member.size > max_bytes:
        raise BackupError(f"{tar.name!s} is not a backup: its member {name} is not a file, or too large.")
    while block := content.read(BLOCK_BYTES):
        yield block


def _manifest(tar: tarfile.TarFile) -> tuple[Manifest, bytes]:
    """Return the manifest, and its bytes."""
    first = tar.next()
    if first is None or first.name != MANIFEST or first.size > MAX_MANIFEST_BYTES:
        raise BackupError(f"{tar.name!s} is not a backup: expected {MANIFEST} as the first member of a tar file.")
    written = b"".join(_blocks(tar, MANIFEST, max_bytes=MAX_MANIFEST_BYTES))
    try:
        found = MEMBERS.validate_json(written).get("format_version")
        if found != FORMAT_VERSION:
            raise BackupError(f"Expected a backup of format version {FORMAT_VERSION}, got {found!r}: use its release.")
        manifest = MANIFESTS.validate_json(written)
    except ValidationError as error:
        raise BackupError(f"{tar.name!s} is damaged: its manifest can't be read.") from error
    return manifest, written


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


QUEUES = frozenset({"workflow_status", "dbos.workflow_status"})
"""The table of queued work, which may be of another program that uses DBOS in the same database."""

IGNORED = frozenset({"rate_demands", "workers"})
"""Tables that a database without content may have rows in."""


def _refuse_content(contents: Contents, remedy: str) -> None:
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
        _refuse_content(contents_of_file(path), "`--replace` replaces its content.")
    try:
        with staging(path) as folder:
            staged = folder / "database"
            with staged.open("wb") as file:
                for block in database_blocks(backup, manifest):
                    file.write(block)
            snapshots.check_file(staged)
            administration.migrate_tables(url_of_file(staged))
            administration.renew_change_epochs(url_of_file(staged))
            snapshots.make_single_file(staged)
            with snapshots.unused_file(path) if exists else nullcontext():
                if exists:
                    before = path.stat()
                    os.chown(staged, before.st_uid, before.st_gid)
                    staged.chmod(before.st_mode)
                else:
                    snapshots.remove_logs(path)
                put_in_place(staged, path)
    except OSError as error:
        raise BackupError(f"The backup can't be restored: {error}.") from error


def _into_postgresql(settings: Settings, backup: Path, manifest: Manifest, *, replaces: bool) -> None:
    engine = make_engine(settings.url, password_file=settings.database_password_file)
    try:
        there = contents_of(engine)
        if not replaces:
            _refuse_content(there, "`--replace` replaces its content.")
        if unknown := sorted(there.rows.keys() - manifest.rows.keys()):
            raise NotEmptyError(
                f"The database has tables that the backup has not: {', '.join(unknown)}. Restore into an empty one."
            )
        if there.rows:
            check_unused(engine)
        snapshots.restore(engine, database_blocks(backup, manifest), replaces=bool(there.rows))
        administration.migrate_tables(settings.url, settings.database_password_file)
        administration.renew_change_epochs(settings.url, settings.database_password_file)
    finally:
        engine.dispose()


def copy_database(settings: Settings, target: Settings) -> tuple[CopiedTable, ...]:
    """Copy all rows of the settings' database, the queue's included, into another database without content.

    The tables are created first. All or nothing is copied, and compared. The service must not run. Raises
    NotEmptyError, UnavailableError.
    """
    check_url(settings)
    check_url(target)
    source_engine = make_engine(settings.url, password_file=settings.database_password_file)
    target_engine = make_engine(target.url, password_file=target.database_password_file, creates=True)
    try:
        check_unused(source_engine)
        if not revision.is_current(source_engine):
            raise UnavailableError(
                "The database is not at the revision of this release: run `relevance migrate` first."
            )
        _refuse_content(contents_of(target_engine), "copy into an empty database.")
        check_unused(target_engine)
        administration.migrate_tables(target.url, target.database_password_file)
        return copy_rows(source_engine, target_engine, (*shapes(Base.metadata), *queue_migrations.tables()))
    finally:
        source_engine.dispose()
        target_engine.dispose()
