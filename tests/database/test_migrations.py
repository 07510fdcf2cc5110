from concurrent.futures import ThreadPoolExecutor

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Engine, inspect, text
from sqlalchemy.exc import DBAPIError

from app.database.base import Base
from app.database.engine import make_engine
from app.database.migrations import downgrade, is_own, migrate
from app.database.revision import is_migrated
from app.errors import UnavailableError


def test_the_migrations_build_what_the_tables_declare(engine: Engine) -> None:
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"include_name": is_own, "compare_type": True})
        assert compare_metadata(context, Base.metadata) == []


def test_tables_of_the_engine_that_runs_jobs_are_left_alone(engine: Engine) -> None:
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE of_somebody_else (id TEXT PRIMARY KEY)"))
        context = MigrationContext.configure(connection, opts={"include_name": is_own, "compare_type": True})
        assert compare_metadata(context, Base.metadata) == []


def test_a_missing_column_is_noticed(engine: Engine) -> None:
    with engine.begin() as connection:
        connection.execute(text("ALTER TABLE workers DROP COLUMN left_at"))
        context = MigrationContext.configure(connection, opts={"include_name": is_own, "compare_type": True})
        assert len(compare_metadata(context, Base.metadata)) == 1


@pytest.mark.thorough
def test_down_leaves_nothing_and_up_again_works(engine: Engine) -> None:
    assert is_migrated(engine)
    downgrade(engine)
    assert set(Base.metadata.tables).isdisjoint(inspect(engine).get_table_names())
    assert not is_migrated(engine)
    migrate(engine)
    assert is_migrated(engine)
    assert set(Base.metadata.tables) <= set(inspect(engine).get_table_names())


def test_one_revision_back_is_not_migrated(engine: Engine) -> None:
    downgrade(engine, "-1")
    assert not is_migrated(engine)


def test_migrating_twice_changes_nothing(engine: Engine) -> None:
    migrate(engine)
    assert is_migrated(engine)


def test_an_empty_database_is_not_migrated(empty_database_url: str) -> None:
    engine = make_engine(empty_database_url)
    assert not is_migrated(engine)
    engine.dispose()


@pytest.mark.thorough
def test_two_migrations_at_once_both_end_well(empty_database_url: str) -> None:
    engines = [make_engine(empty_database_url) for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(migrate, engines, timeout=60))
    assert all(map(is_migrated, engines))
    for engine in engines:
        engine.dispose()


def test_a_migration_that_fails_leaves_nothing_behind(empty_database_url: str) -> None:
    engine = make_engine(empty_database_url)
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE workers (executor TEXT)"))
    with pytest.raises(DBAPIError, match="workers"):
        migrate(engine)
    assert inspect(engine).get_table_names() == ["workers"]
    engine.dispose()


def test_a_database_that_is_not_there_is_unavailable() -> None:
    engine = make_engine("postgresql://nobody@127.0.0.1:1/nothing")
    with pytest.raises(UnavailableError):
        is_migrated(engine)
    engine.dispose()


def test_foreign_keys_are_on_again_after_a_migration_of_sqlite(sqlite_template: object) -> None:
    engine = make_engine(f"sqlite:///{sqlite_template}")
    migrate(engine)
    with engine.connect() as connection:
        assert connection.exec_driver_sql("PRAGMA foreign_keys").scalar_one() == 1
    engine.dispose()
