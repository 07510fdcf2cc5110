"""Backups of both databases, and what is restored from them."""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from threading import Event, Thread

import pytest
from sqlalchemy import make_url, text

from app import __version__
from app.database import migrations, snapshots
from app.database.revision import EXPECTED
from app.database.snapshots import contents_of
from app.errors import NotInstalledError, UnavailableError
from app.identity import BUILT_IN_OWNER, uuid7
from app.maintenance.backups import BackupError, NotEmptyError, backup, restore
from app.settings import Settings
from tests.applications import DATASET, SUBMIT, TABLE, closing_engine
from tests.later_revisions import with_later_revisions
from tests.small_database import SmallDatabase
from tests.stored_service import VERSIONS, client_of, fill, responses


def settings(url: str) -> Settings:
    return Settings(database_url=url)


def rows(url: str) -> dict[str, int]:
    with closing_engine(url) as engine:
        return dict(contents_of(engine).rows)


def put(url: str, count: int = 1) -> None:
    """Store some datasets."""
    with closing_engine(url) as engine:
        for _ in range(count):
            SmallDatabase(engine).put_dataset(replace(DATASET, id=uuid7(), owner=BUILT_IN_OWNER), TABLE)


@pytest.mark.thorough
def test_all_that_is_stored_is_restored(database_url: str, empty_database_url: str, tmp_path: Path) -> None:
    key = fill(database_url)
    before, stored = responses(database_url, key), rows(database_url)
    path, manifest = backup(settings(database_url), tmp_path / "backup.tar")
    assert (path, manifest.revision, manifest.rows) == (tmp_path / "backup.tar", EXPECTED, stored)
    restored = restore(settings(empty_database_url), path)
    assert (restored.manifest, restored.migrated_from) == (manifest, None)
    assert rows(empty_database_url) == stored
    assert len(before) > 2 * len(VERSIONS)
    assert responses(empty_database_url, key) == before


def test_positions_among_the_changes_of_jobs_are_refused_after_a_restore(database_url: str, tmp_path: Path) -> None:
    key = fill(database_url)
    stream = {"Accept": "text/event-stream"}
    path, _ = backup(settings(database_url), tmp_path / "backup.tar")
    with client_of(database_url, key) as client:
        last = client.get("/v1/jobs").json()["last_change"]
    restore(settings(database_url), path, replaces=True)
    with client_of(database_url, key) as client:
        assert client.post("/v1/training-jobs", json=SUBMIT).status_code == 202
        refused = client.get("/v1/jobs/events", headers={**stream, "Last-Event-ID": last})
        assert refused.status_code == 422
        assert refused.json()["errors"][0]["header"] == "Last-Event-ID"
        epoch, _, number = client.get("/v1/jobs").json()["last_change"].partition("-")
        assert (epoch != last.partition("-")[0], int(number)) == (True, 2)


def test_a_backup_is_consistent_while_others_write(database_url: str, empty_database_url: str, tmp_path: Path) -> None:
    ended, began = Event(), Event()

    def write() -> None:
        with closing_engine(database_url) as engine:
            while not ended.is_set():
                SmallDatabase(engine).put_dataset(replace(DATASET, id=uuid7(), owner=BUILT_IN_OWNER), TABLE, TABLE)
                began.set()

    writer = Thread(target=write)
    writer.start()
    try:
        assert began.wait(30)
        found = [backup(settings(database_url), tmp_path / f"{number}.tar")[1].rows for number in range(3)]
    finally:
        ended.set()
        writer.join()
    counts = [one["datasets"] for one in found]
    assert counts == sorted({*counts})
    assert [one["dataset_blocks"] for one in found] == [2 * count for count in counts]
    assert rows(database_url)["datasets"] >= counts[-1]
    restore(settings(empty_database_url), tmp_path / "2.tar")
    assert rows(empty_database_url) == found[-1]


def test_a_folder_gets_a_file_named_for_the_time(database_url: str, tmp_path: Path) -> None:
    folder = tmp_path / "backups"
    folder.mkdir()
    path, manifest = backup(settings(database_url), folder)
    assert [*folder.iterdir()] == [path]
    assert path.name == f"relevance-{manifest.created_at:%Y%m%dT%H%M%SZ}.tar"


def test_no_file_is_replaced_by_a_backup(database_url: str, tmp_path: Path) -> None:
    (tmp_path / "backup.tar").write_text("kept")
    with pytest.raises(BackupError, match="exists"):
        backup(settings(database_url), tmp_path / "backup.tar")
    assert (tmp_path / "backup.tar").read_text() == "kept"


def test_a_database_that_is_not_migrated_has_no_backup(empty_database_url: str, tmp_path: Path) -> None:
    with pytest.raises(UnavailableError, match="not migrated"):
        backup(settings(empty_database_url), tmp_path / "backup.tar")
    assert not (tmp_path / "backup.tar").exists()


def test_a_folder_that_is_missing_is_named(database_url: str, tmp_path: Path) -> None:
    with pytest.raises(BackupError, match="missing"):
        backup(settings(database_url), tmp_path / "missing" / "backup.tar")


def test_content_is_replaced_only_on_request(database_url: str, tmp_path: Path) -> None:
    put(database_url, 2)
    path, manifest = backup(settings(database_url), tmp_path / "backup.tar")
    put(database_url, 3)
    with pytest.raises(NotEmptyError, match=r"not empty \(dataset_blocks, datasets\)"):
        restore(settings(database_url), path)
    assert rows(database_url)["datasets"] == 5
    restore(settings(database_url), path, replaces=True)
    assert rows(database_url) == manifest.rows


def test_tables_without_content_are_replaced(database_url: str, tmp_path: Path) -> None:
    path, manifest = backup(settings(database_url), tmp_path / "backup.tar")
    restore(settings(database_url), path)
    assert rows(database_url) == manifest.rows


def test_a_database_in_use_is_not_replaced(database_url: str, tmp_path: Path) -> None:
    put(database_url)
    path, _ = backup(settings(database_url), tmp_path / "backup.tar")
    put(database_url)
    with closing_engine(database_url) as engine, engine.connect() as connection:
        connection.execute(text("SELECT count(*) FROM datasets"))
        with pytest.raises(UnavailableError, match="stop the service first"):
            restore(settings(database_url), path, replaces=True)
    assert rows(database_url)["datasets"] == 2


def test_a_damaged_backup_changes_nothing(database_url: str, empty_database_url: str, tmp_path: Path) -> None:
    put(database_url)
    path, _ = backup(settings(database_url), tmp_path / "backup.tar")
    written = bytearray(path.read_bytes())
    written[len(written) // 2] ^= 1
    path.write_bytes(written)
    for url, replaces in ((database_url, True), (empty_database_url, False)):
        before = rows(url)
        with pytest.raises(BackupError, match="damaged"):
            restore(settings(url), path, replaces=replaces)
        assert rows(url) == before


def test_a_backup_of_an_earlier_revision_is_migrated(
    database_url: str, empty_database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(database_url)
    path, manifest = backup(settings(database_url), tmp_path / "backup.tar")
    assert manifest.revision == EXPECTED
    later = with_later_revisions(tmp_path, monkeypatch, None)
    assert restore(settings(empty_database_url), path).migrated_from == EXPECTED
    with closing_engine(empty_database_url) as engine:
        found = contents_of(engine)
    assert (found.revision, found.rows["datasets"]) == (later, 1)


@pytest.mark.thorough
def test_tables_of_an_earlier_revision_are_replaced(
    database: str, database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(database_url)
    earlier, _ = backup(settings(database_url), tmp_path / "earlier.tar")
    with_later_revisions(tmp_path, monkeypatch, None)
    with closing_engine(database_url) as engine:
        migrations.migrate(engine)
    path, manifest = backup(settings(database_url), tmp_path / "backup.tar")
    with closing_engine(database_url) as engine:
        migrations.downgrade(engine, EXPECTED)
    restore(settings(database_url), path, replaces=True)
    assert rows(database_url) == manifest.rows
    if database == "postgresql":  # tables of later revisions would stay
        with pytest.raises(NotEmptyError, match=r"tables that the backup has not: .*\. Restore into an empty one"):
            restore(settings(database_url), earlier, replaces=True)
    else:
        restore(settings(database_url), earlier, replaces=True)
    assert rows(database_url) == manifest.rows


def test_a_backup_of_a_newer_release_is_refused(database_url: str, empty_database_url: str, tmp_path: Path) -> None:
    with closing_engine(database_url) as engine, engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    path, _ = backup(settings(database_url), tmp_path / "backup.tar")
    with pytest.raises(BackupError, match=rf"newer release: {re.escape(__version__)}, with the migration '9999'"):
        restore(settings(empty_database_url), path)
    assert rows(empty_database_url) == {}


@pytest.mark.parametrize("database", ["postgresql"])
def test_a_backup_of_the_other_database_is_refused(database_url: str, tmp_path: Path) -> None:
    path, _ = backup(settings(database_url), tmp_path / "backup.tar")
    with pytest.raises(BackupError, match="backup is of postgresql, and RELEVANCE_DATABASE_URL names a database of sq"):
        restore(settings(f"sqlite:///{tmp_path / 'other.db'}"), path)
    assert not (tmp_path / "other.db").exists()


@pytest.mark.parametrize("database", ["sqlite"])
def test_a_damaged_sqlite_file_has_no_backup(database_url: str, tmp_path: Path) -> None:
    put(database_url, 3)
    file = tmp_path / "relevance.db"
    content = bytearray(file.read_bytes())
    for start in range(8192, len(content), 4096):
        content[start : start + 16] = bytes(16)
    file.write_bytes(content)
    with pytest.raises(UnavailableError, match=r"damaged|copied"):
        backup(settings(database_url), tmp_path / "backup.tar")
    assert not (tmp_path / "backup.tar").exists()


@pytest.mark.parametrize("database", ["sqlite"])
def test_a_damaged_file_is_moved_away_before_a_restore(database_url: str, tmp_path: Path) -> None:
    path, manifest = backup(settings(database_url), tmp_path / "backup.tar")
    file = tmp_path / "relevance.db"
    file.write_bytes(b"damaged " * 1000)
    with pytest.raises(UnavailableError, match="move the file away where it is damaged"):
        restore(settings(database_url), path, replaces=True)
    file.rename(tmp_path / "damaged.db")
    restore(settings(database_url), path)
    assert rows(database_url) == manifest.rows


@pytest.mark.parametrize("database", ["sqlite"])
def test_the_log_of_a_file_that_is_removed_is_not_applied(database_url: str, tmp_path: Path) -> None:
    file, log = tmp_path / "relevance.db", tmp_path / "relevance.db-wal"
    path, manifest = backup(settings(database_url), tmp_path / "backup.tar")
    with closing_engine(database_url) as engine:
        SmallDatabase(engine).put_dataset(replace(DATASET, owner=BUILT_IN_OWNER), TABLE)
        left = log.read_bytes()
    file.unlink()
    assert len(left) > 4096
    log.write_bytes(left)
    restore(settings(database_url), path)
    assert rows(database_url) == manifest.rows


@pytest.mark.parametrize("database", ["sqlite"])
def test_a_restored_file_has_the_permissions_and_the_owner_of_the_one_before(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, _ = backup(settings(database_url), tmp_path / "backup.tar")
    (tmp_path / "relevance.db").chmod(0o640)
    before = (tmp_path / "relevance.db").stat()
    owners: list[tuple[int, int]] = []
    monkeypatch.setattr(os, "chown", lambda _path, user, group: owners.append((user, group)))
    restore(settings(database_url), path, replaces=True)
    assert (tmp_path / "relevance.db").stat().st_mode & 0o777 == 0o640
    assert owners == [(before.st_uid, before.st_gid)]


@pytest.mark.parametrize("database", ["sqlite"])
@pytest.mark.parametrize("exists", [True, False])
def test_a_link_to_a_file_stays_a_link(database_url: str, tmp_path: Path, *, exists: bool) -> None:
    path, manifest = backup(settings(database_url), tmp_path / "backup.tar")
    (tmp_path / "disk").mkdir()
    file, link = tmp_path / "disk" / "relevance.db", tmp_path / "relevance.db"
    link.rename(file)
    link.symlink_to(file)
    if not exists:
        file.unlink()
    restore(settings(database_url), path, replaces=exists)
    assert link.readlink() == file
    assert rows(f"sqlite:///{file}") == manifest.rows


@pytest.mark.parametrize("command", [backup, restore])
def test_a_database_of_another_kind_is_refused(
    database_url: str, tmp_path: Path, command: Callable[[Settings, Path], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, _ = backup(settings(database_url), tmp_path / "backup.tar")
    monkeypatch.chdir(tmp_path)
    before = {*tmp_path.iterdir()}
    for url in ("mysql://relevance:hunter2@127.0.0.1/other", "hunter2"):
        with pytest.raises(UnavailableError, match="URL of the database can't be used") as refused:
            command(settings(url), path if command is restore else tmp_path / "other.tar")
        assert "hunter2" not in refused.value.detail
    assert {*tmp_path.iterdir()} == before


@pytest.mark.parametrize("database", ["postgresql"])
def test_connections_of_other_roles_are_found(database_url: str) -> None:
    """PostgreSQL shows only the role and the database of them to a role without privileges."""
    role = f"role_{uuid7().hex}"
    with closing_engine(database_url) as engine, engine.connect() as connection:
        connection.execute(text(f"CREATE ROLE {role} LOGIN"))
        connection.commit()
        with closing_engine(make_url(database_url).set(username=role).render_as_string()) as other:
            assert snapshots.other_clients(other) == ("relevance relevance command",)
        connection.execute(text(f"DROP ROLE {role}"))
        connection.commit()


def test_queued_work_of_another_service_is_content(database_url: str, tmp_path: Path) -> None:
    path, _ = backup(settings(database_url), tmp_path / "backup.tar")
    with closing_engine(database_url) as engine, engine.begin() as connection:
        table = "dbos.workflow_status" if engine.dialect.name == "postgresql" else "workflow_status"
        connection.execute(text(f"INSERT INTO {table} (workflow_uuid, created_at, updated_at) VALUES ('w', 0, 0)"))
    before = rows(database_url)
    with pytest.raises(NotEmptyError, match=r"not empty \((dbos\.)?workflow_status\)"):
        restore(settings(database_url), path)
    assert rows(database_url) == before


def program_of_version(folder: Path, name: str, version: str) -> None:
    (folder / name).write_text(f"#!/bin/sh\necho '{name} (PostgreSQL) {version}'\n")
    (folder / name).chmod(0o755)


@pytest.mark.parametrize("database", ["postgresql"])
def test_a_missing_or_older_program_of_postgresql_is_named(
    database_url: str, empty_database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, _ = backup(settings(database_url), tmp_path / "backup.tar")
    programs = tmp_path / "bin"
    programs.mkdir()
    monkeypatch.setenv("PATH", str(programs))
    with pytest.raises(NotInstalledError, match=r"pg_dump is not on the PATH: Debian's package `postgresql-client`"):
        backup(settings(database_url), tmp_path / "other.tar")
    program_of_version(programs, "pg_dump", "9.6.24 (Debian 9.6.24-1)")
    with pytest.raises(NotInstalledError, match=r"of version '9', and the server of \d\d: .*`postgresql-client-\d\d`"):
        backup(settings(database_url), tmp_path / "other.tar")
    with pytest.raises(NotInstalledError, match="pg_restore is not on the PATH"):
        restore(settings(empty_database_url), path)
    program_of_version(programs, "pg_restore", "9.6.24")
    with pytest.raises(NotInstalledError, match="of version '9'"):
        restore(settings(empty_database_url), path)
    assert rows(empty_database_url) == {}


FAILING = """#!/bin/sh
case "$1" in --version) echo "pg_dump (PostgreSQL) 99.1"; exit;; esac
echo "$@" >"$(dirname "$0")/arguments"
echo "$PGPASSWORD" >"$(dirname "$0")/password"
echo "pg_dump: error: no space" >&2
exit 1
"""


@pytest.mark.parametrize("database", ["postgresql"])
def test_a_failing_program_is_quoted_and_gets_the_password_in_its_environment(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "pg_dump").write_text(FAILING)
    (programs / "pg_dump").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    with pytest.raises(UnavailableError, match="pg_dump failed:\npg_dump: error: no space"):
        backup(settings(database_url.replace("relevance@", "relevance:hunter2@")), tmp_path / "backup.tar")
    assert (programs / "password").read_text() == "hunter2\n"
    arguments = (programs / "arguments").read_text()
    assert "user=relevance" in arguments
    assert "hunter2" not in arguments
    assert not (tmp_path / "backup.tar").exists()


@pytest.mark.parametrize("database", ["postgresql"])
def test_tables_that_a_backup_lacks_are_kept(database_url: str, tmp_path: Path) -> None:
    path, _ = backup(settings(database_url), tmp_path / "backup.tar")
    with closing_engine(database_url) as engine, engine.begin() as connection:
        connection.execute(text("CREATE TABLE of_others (id integer)"))
    with pytest.raises(NotEmptyError, match=r"tables that the backup has not: of_others\."):
        restore(settings(database_url), path, replaces=True)


KILLED = """
import os, sys
from pathlib import Path
from app.maintenance import backups as module
from app.settings import Settings

def kill(*_arguments, **_options):
    os.kill(os.getpid(), 9)
    yield

module.{function} = kill if {at_once} else lambda *arguments, **options: next(kill())
module.{module}(Settings(), Path(sys.argv[1]){options})
"""


def killed(url: str, path: Path, module: str, function: str, *, options: str = "") -> None:
    """Back up or restore in a process that is killed in the place of a function."""
    code = KILLED.format(module=module, function=function, at_once=function == "database_blocks", options=options)
    environment = os.environ | {"RELEVANCE_DATABASE_URL": url}
    done = subprocess.run([sys.executable, "-c", code, str(path)], env=environment, capture_output=True, check=False)
    assert done.returncode == -9, done.stderr.decode()


@pytest.mark.thorough
@pytest.mark.parametrize("function", ["write_snapshot", "write_archive", "put_in_place"])
def test_a_killed_backup_leaves_nothing_that_looks_whole(database_url: str, tmp_path: Path, function: str) -> None:
    folder = tmp_path / "backups"
    folder.mkdir()
    killed(database_url, folder, "backup", function)
    assert [*folder.glob("*.tar")] == []
    (left,) = folder.iterdir()
    path, _ = backup(settings(database_url), folder)
    assert [*folder.iterdir()] == [path], left


@pytest.mark.thorough
@pytest.mark.parametrize("replaces", [False, True])
def test_a_killed_restore_leaves_the_database_as_it_was(
    database_url: str, empty_database_url: str, tmp_path: Path, *, replaces: bool
) -> None:
    put(database_url)
    path, manifest = backup(settings(database_url), tmp_path / "backup.tar")
    url = database_url if replaces else empty_database_url
    if replaces:
        put(url)
    before = rows(url)
    for function in ("database_blocks", "put_in_place") if url.startswith("sqlite") else ("database_blocks",):
        killed(url, path, "restore", function, options=", replaces=True" if replaces else "")
        assert rows(url) == before
    restore(settings(url), path, replaces=replaces)
    assert rows(url) == manifest.rows
    assert [*tmp_path.glob(".relevance*")] == []
