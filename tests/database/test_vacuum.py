"""The space of deleted rows."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import Engine, text

from app.database import vacuum
from app.database.engine import make_engine
from app.database.snapshots import copy_file
from app.database.vacuum import MIN_KEPT_PAGES, file_size, return_unused
from tests.commands import Run, runner

ROWS, BYTES = 2_000, 8_000


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "relevance.db"


def engine_of(path: Path) -> Engine:
    return make_engine(f"sqlite:///{path}", creates=True)


def filled_and_emptied(engine: Engine) -> None:
    """Write 16 MB into a table, and delete them."""
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE large (content BLOB)"))
        connection.execute(text(f"INSERT INTO large VALUES (zeroblob({BYTES}))"), [{}] * ROWS)
    with engine.begin() as connection:
        connection.execute(text("DELETE FROM large"))


def test_a_new_file_returns_the_pages_that_no_row_uses(path: Path) -> None:
    engine = engine_of(path)
    filled_and_emptied(engine)
    before = file_size(engine)
    assert before is not None
    assert before.unused_bytes > ROWS * BYTES
    returned = return_unused(engine)
    after = file_size(engine)
    assert after is not None
    assert before.bytes - after.bytes >= returned * 4096 > 12_000_000  # some are of the map of pages
    assert after.unused_bytes == MIN_KEPT_PAGES * 4096
    assert return_unused(engine) == 0
    with engine.begin() as connection:  # connections of the pool begin transactions as before
        connection.execute(text("INSERT INTO large VALUES (NULL)"))
    engine.dispose()
    assert path.stat().st_size == after.bytes


def test_pages_are_returned_in_short_transactions(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vacuum, "PAGES_AT_ONCE", 100)
    engine = engine_of(path)
    filled_and_emptied(engine)
    assert return_unused(engine) > 3_000
    engine.dispose()


def test_a_file_without_incremental_vacuum_returns_pages_once_it_was_vacuumed(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE of_before (x)")
        connection.commit()
    engine = engine_of(path)
    filled_and_emptied(engine)
    assert return_unused(engine) == 0
    vacuum.vacuum(engine)
    size = file_size(engine)
    assert size is not None
    assert (size.unused_bytes, size.bytes < 100_000) == (0, True)
    with engine.begin() as connection:
        connection.execute(text("DROP TABLE large"))
    filled_and_emptied(engine)
    assert return_unused(engine) > 3_000
    engine.dispose()


def test_a_backup_has_no_unused_pages(path: Path, tmp_path: Path) -> None:
    engine = engine_of(path)
    filled_and_emptied(engine)
    copy_file(path, tmp_path / "copy")
    engine.dispose()
    assert path.stat().st_size > ROWS * BYTES
    assert (tmp_path / "copy").stat().st_size < 100_000


def test_the_command_states_the_sizes(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = engine_of(path)
    filled_and_emptied(engine)
    monkeypatch.setenv("RELEVANCE_DATABASE_URL", f"sqlite:///{path}")
    run: Run = runner(monkeypatch)
    done = run("vacuum")
    engine.dispose()
    assert done.exit_code == 0, done.output
    assert " MiB unused," in done.stdout
    assert done.stdout.endswith("are now 0.0 MiB.\n")


def test_either_database_is_vacuumed(engine: Engine) -> None:
    vacuum.vacuum(engine)
    assert (file_size(engine) is None) is (engine.dialect.name == "postgresql")
    return_unused(engine)


@pytest.mark.parametrize("database", ["postgresql"])
def test_sessions_of_postgresql_have_the_name_of_what_uses_them(engine: Engine) -> None:
    without = engine.url.set(query={})
    for named, name in (
        (make_engine(without, session_name="relevance api"), "relevance api"),
        (make_engine(without), "relevance command"),
    ):
        with named.connect() as connection:
            assert connection.execute(text("SHOW application_name")).scalar_one() == name
        named.dispose()
    own = make_engine(engine.url.set(query={"application_name": "mine"}), session_name="relevance api")
    with own.connect() as connection:
        assert connection.execute(text("SHOW application_name")).scalar_one() == "mine"
    own.dispose()
