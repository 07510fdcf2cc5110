"""The archive of a backup: whole, or refused."""

import hashlib
import io
import subprocess
import tarfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from app.maintenance.backups import (
    BLOCK_BYTES,
    MAX_MANIFEST_BYTES,
    BackupError,
    Manifest,
    database_blocks,
    verify_archive,
    write_archive,
)

CONTENT = bytes(range(256)) * 9
MANIFEST = Manifest(datetime(2026, 5, 1, 12, tzinfo=UTC), "0.1.0", "sqlite", "3.45.0", "0001", {"datasets": 3})


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    path, database = tmp_path / "backup.tar", tmp_path / "database"
    database.write_bytes(CONTENT)
    write_archive(path, MANIFEST, database)
    return path


def content(path: Path, manifest: Manifest) -> bytes:
    return b"".join(database_blocks(path, manifest))


def test_an_archive_is_read_as_it_was_written(archive: Path) -> None:
    manifest = verify_archive(archive)
    assert (manifest.created_at, manifest.rows, manifest.bytes) == (MANIFEST.created_at, {"datasets": 3}, len(CONTENT))
    assert manifest.sha256 == hashlib.sha256(CONTENT).hexdigest()
    assert content(archive, manifest) == CONTENT


def test_an_archive_is_larger_than_a_block(tmp_path: Path) -> None:
    large = b"\x00\xff" * BLOCK_BYTES
    (tmp_path / "database").write_bytes(large)
    manifest = write_archive(tmp_path / "backup.tar", MANIFEST, tmp_path / "database")
    assert verify_archive(tmp_path / "backup.tar") == manifest
    assert content(tmp_path / "backup.tar", manifest) == large


def test_only_the_owner_of_an_archive_reads_it(archive: Path) -> None:
    assert archive.stat().st_mode & 0o777 == 0o600


def test_tar_and_sha256sum_verify_an_archive_too(archive: Path) -> None:
    subprocess.run(["tar", "xf", archive], cwd=archive.parent, check=True)
    subprocess.run(["sha256sum", "--quiet", "-c", "manifest.json.sha256"], cwd=archive.parent, check=True)
    assert (archive.parent / "database.sqlite3").read_bytes() == CONTENT


def test_an_archive_that_was_cut_off_is_refused(archive: Path) -> None:
    full = archive.read_bytes()
    with tarfile.open(archive) as tar:
        end = tar.getmembers()[-1].offset_data + 64
    for size in (*range(0, end, 97), end):
        archive.write_bytes(full[:size])
        with pytest.raises(BackupError):
            verify_archive(archive)


def test_a_changed_byte_is_found_or_has_no_effect(archive: Path) -> None:
    full, found = archive.read_bytes(), verify_archive(archive)
    refused = 0
    for place in range(0, len(full), 31):
        archive.write_bytes(full[:place] + bytes([full[place] ^ 0x21]) + full[place + 1 :])
        try:
            manifest = verify_archive(archive)
        except BackupError:
            refused += 1
        else:
            assert (manifest, content(archive, manifest)) == (found, CONTENT)
    assert refused > len(CONTENT) / 31


def test_each_changed_byte_of_the_manifest_is_found(archive: Path) -> None:
    full = archive.read_bytes()
    with tarfile.open(archive) as tar:
        member = tar.getmember("manifest.json")
    for place in range(member.offset_data, member.offset_data + member.size):
        archive.write_bytes(full[:place] + bytes([full[place] ^ 0x01]) + full[place + 1 :])
        with pytest.raises(BackupError):
            verify_archive(archive)


def test_another_format_version_is_refused(archive: Path) -> None:
    archive.write_bytes(archive.read_bytes().replace(b'"format_version": 1', b'"format_version": 2'))
    with pytest.raises(BackupError, match="Expected a backup of format version 1, got 2"):
        verify_archive(archive)


@pytest.mark.parametrize("written", [b"", b"SQLite format 3\x00", b"\x00" * 10_240], ids=["empty", "database", "zeros"])
def test_what_is_no_backup_is_refused(tmp_path: Path, written: bytes) -> None:
    (tmp_path / "file").write_bytes(written)
    with pytest.raises(BackupError, match="not a"):
        verify_archive(tmp_path / "file")


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BackupError, match="No such file"):
        verify_archive(tmp_path / "file")


Member = Callable[[str], tarfile.TarInfo]


def linked(kind: bytes, target: str) -> Member:
    def made(name: str) -> tarfile.TarInfo:
        member = tarfile.TarInfo(name)
        member.type, member.linkname = kind, target
        return member

    return made


HOSTILE: dict[str, tuple[str, Member]] = {
    "a symbolic link to a file": ("database.sqlite3", linked(tarfile.SYMTYPE, "/etc/passwd")),
    "a symbolic link above": ("database.sqlite3", linked(tarfile.SYMTYPE, "../../etc/passwd")),
    "a link to itself": ("database.sqlite3", linked(tarfile.SYMTYPE, "database.sqlite3")),
    "a hard link": ("database.sqlite3", linked(tarfile.LNKTYPE, "/etc/passwd")),
    "a hard link to itself": ("database.sqlite3", linked(tarfile.LNKTYPE, "database.sqlite3")),
    "a device": ("database.sqlite3", linked(tarfile.CHRTYPE, "")),
    "a pipe": ("database.sqlite3", linked(tarfile.FIFOTYPE, "")),
    "a folder": ("database.sqlite3", linked(tarfile.DIRTYPE, "")),
    "a manifest that is a link": ("manifest.json", linked(tarfile.SYMTYPE, "manifest.json")),
    "a digest that is a link": ("manifest.json.sha256", linked(tarfile.SYMTYPE, "manifest.json.sha256")),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_member_that_is_no_file_is_refused(archive: Path, tmp_path: Path, kind: str) -> None:
    replaced, member = HOSTILE[kind]
    path = tmp_path / "hostile.tar"
    with tarfile.open(archive) as original, tarfile.open(path, "w") as hostile:
        for one in original.getmembers():
            if one.name == replaced:
                hostile.addfile(member(one.name))
            else:
                hostile.addfile(one, original.extractfile(one))
    with pytest.raises(BackupError):
        verify_archive(path)


@pytest.mark.parametrize("name", ["../evil", "/evil", "a/../../evil", "evil"])
def test_members_that_no_backup_has_are_written_nowhere(archive: Path, tmp_path: Path, name: str) -> None:
    path, folder = tmp_path / "hostile.tar", tmp_path / "folder"
    folder.mkdir()
    with tarfile.open(archive) as original, tarfile.open(path, "w") as hostile:
        for one in original.getmembers():
            hostile.addfile(one, original.extractfile(one))
            evil = tarfile.TarInfo(name if name.startswith("../") else f"{folder}{name}" if name[0] == "/" else name)
            evil.size = 4
            hostile.addfile(evil, io.BytesIO(b"evil"))
    before = sorted(tmp_path.rglob("*"))
    assert content(path, verify_archive(path)) == CONTENT
    assert sorted(tmp_path.rglob("*")) == before


def test_a_manifest_that_occurs_again_is_the_first_one_and_is_bounded(archive: Path, tmp_path: Path) -> None:
    path = tmp_path / "hostile.tar"
    with tarfile.open(archive) as original, tarfile.open(path, "w") as hostile:
        for one in original.getmembers():
            hostile.addfile(one, original.extractfile(one))
        again = tarfile.TarInfo("manifest.json")
        again.size = 2 * MAX_MANIFEST_BYTES
        hostile.addfile(again, io.BytesIO(bytes(again.size)))
    assert verify_archive(path).rows == MANIFEST.rows
