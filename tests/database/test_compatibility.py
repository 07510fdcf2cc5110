"""Which releases can serve on the tables of a revision, and that migrations expand them alone."""

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import Engine, text

from app.database import migrations, revision
from app.database.failures import is_lock_timeout
from app.database.migrations import compatible_with, downgrade, has_migration, migrate
from app.database.revision import COMPATIBLE, EXPECTED, TABLE, compatible_revisions, is_current, is_migrated
from app.errors import UnavailableError
from tests.later_revisions import with_later_revisions

LATER = "9999"


def as_of(engine: Engine, later: str, *compatible: str) -> None:
    """Let the tables be those of a later release."""
    with engine.begin() as connection:
        connection.execute(text(f"UPDATE {TABLE} SET version_num = :later"), {"later": later})
        connection.execute(text(f"DELETE FROM {COMPATIBLE}"))
        for one in compatible:
            connection.execute(text(f"INSERT INTO {COMPATIBLE} (revision) VALUES (:one)"), {"one": one})


def chain(*migrations: str, folder: Path) -> None:
    """Write migrations, each as its name and the lines after `down_revision`, the first first."""
    versions, before = folder / "versions", "None"
    versions.mkdir(parents=True)
    (folder / "env.py").touch()
    for one in migrations:
        name, _, lines = one.partition(":")
        content = f"revision = {name!r}\ndown_revision = {before}\n{lines}\ndef upgrade(): pass\n"
        (versions / f"{name}.py").write_text(content)
        before = repr(name)


def compatible(folder: Path, revision: str, patch: pytest.MonkeyPatch) -> set[str]:
    patch.setattr(migrations, "_scripts", lambda: folder)
    return set(compatible_with(revision))


EXPANDS = "oldest_compatible = None"


def test_the_releases_before_expanding_migrations_can_serve(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chain("first:", "second:", f"third:{EXPANDS}", f"fourth:{EXPANDS}", folder=tmp_path)
    assert compatible(tmp_path, "fourth", monkeypatch) == {"second", "third"}
    assert compatible(tmp_path, "third", monkeypatch) == {"second"}
    assert compatible(tmp_path, "second", monkeypatch) == set()


def test_a_contract_step_excludes_the_releases_before_the_one_that_it_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    contracts = "oldest_compatible = 'third'"
    chain("first:", f"second:{EXPANDS}", f"third:{EXPANDS}", f"fourth:{contracts}", f"fifth:{EXPANDS}", folder=tmp_path)
    assert compatible(tmp_path, "fifth", monkeypatch) == {"third", "fourth"}
    assert compatible(tmp_path, "fourth", monkeypatch) == {"third"}
    assert compatible(tmp_path, "third", monkeypatch) == {"first", "second"}


@pytest.fixture
def contracted(engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Engine:
    """A database of this release, of which the revisions are 0001, 0002, the contract step 0003, and 0004."""
    assert with_later_revisions(tmp_path, monkeypatch, None, "0003", None) == "0004"
    return engine


def test_a_database_stores_the_revisions_whose_releases_can_serve(contracted: Engine) -> None:
    for one, compatible in (("0001", set()), ("0002", {"0001"}), ("0003", set()), ("0004", {"0003"})):
        migrate(contracted, one)
        with contracted.connect() as connection:
            assert compatible_revisions(connection) == compatible_with(one) == compatible
    downgrade(contracted, "0002")
    with contracted.connect() as connection:
        assert compatible_revisions(connection) == {"0001"}


@pytest.mark.parametrize(("expected", "serves"), [("0004", True), ("0003", True), ("0002", False)])
def test_a_release_serves_on_later_tables_that_are_compatible_with_it(
    expected: str, serves: bool, contracted: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    migrate(contracted)
    monkeypatch.setattr(revision, "EXPECTED", expected)
    assert is_migrated(contracted) is serves
    assert is_current(contracted) is (expected == "0004")


def test_a_release_is_not_ready_on_earlier_tables(contracted: Engine) -> None:
    migrate(contracted, "0003")
    assert not is_migrated(contracted)


def test_a_release_that_does_not_know_the_revision_leaves_compatible_tables_alone(engine: Engine) -> None:
    as_of(engine, LATER, EXPECTED)
    assert not has_migration(LATER)
    migrate(engine)
    assert is_migrated(engine)
    with engine.connect() as connection:
        assert revision.revision_of(connection) == LATER


def test_a_release_refuses_to_migrate_later_tables_that_are_not_compatible(engine: Engine) -> None:
    as_of(engine, LATER)
    with pytest.raises(UnavailableError, match=f"newer release, at {LATER}, and this one can't use its tables"):
        migrate(engine)
    assert not is_migrated(engine)


@pytest.mark.parametrize("database", ["postgresql"])
def test_a_migration_does_not_wait_for_a_lock_before_others(contracted: Engine) -> None:
    """It tries again, and requests that come meanwhile are processed within half a second."""
    with ThreadPoolExecutor(1) as pool, contracted.connect() as connection:
        connection.execute(text("SELECT count(*) FROM jobs"))
        migration = pool.submit(migrate, contracted)
        for _ in range(20):
            with contracted.connect() as other:
                other.execute(text("SET LOCAL statement_timeout = 1000"))
                other.execute(text("SELECT count(*) FROM jobs"))
            time.sleep(0.05)
        assert not migration.done()
        connection.rollback()
        migration.result(timeout=30)
    assert is_migrated(contracted)


@pytest.mark.parametrize("database", ["postgresql"])
def test_a_migration_gives_up_where_a_lock_is_never_free(contracted: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(migrations, "MAX_WAIT_SECONDS", 0.0)
    with contracted.connect() as connection:
        connection.execute(text("SELECT count(*) FROM jobs"))
        with pytest.raises(UnavailableError) as refused:
            migrate(contracted)
        assert is_lock_timeout(refused.value)
    assert not is_current(contracted)
