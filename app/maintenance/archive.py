"""The archive of a backup: a tar file of the database, a manifest with its digest, and the digest of the manifest.

The digest of the manifest is the last member, so that an archive that was cut off is not taken for a whole one."""

import hashlib
import io
import os
import tarfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from math import inf
from pathlib import Path
from typing import IO, Literal, TypeAlias

from pydantic import TypeAdapter, ValidationError

from relevance_bayes.records.errors import RelevanceError


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
