from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeAlias

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Engine, inspect, text
from sqlalchemy.exc import DBAPIError

from app.database import migrations
from app.database.base import Base
from app.database.engine import make_engine
from app.database.migrations import downgrade, is_own, migrate
from app.database.revision import EXPECTED, is_migrated
from app.errors import UnavailableError

Schema: TypeAlias = dict[tuple[str, str], list[str]]


def schema(engine: Engine) -> Schema:
    """The parts of each table that the service declares, as a database has them, in an order of their own."""
    inspector, names = inspect(engine), [*Base.metadata.tables]
    parts: dict[str, Mapping[tuple[str | None, str], object]] = {
        "columns": inspector.get_multi_columns(filter_names=names),
        "primary key": inspector.get_multi_pk_constraint(filter_names=names),
        "unique": inspector.get_multi_unique_constraints(filter_names=names),
        "checks": inspector.get_multi_check_constraints(filter_names=names),
        "foreign keys": inspector.get_multi_foreign_keys(filter_names=names),
        "indexes": inspector.get_multi_indexes(filter_names=names),
    }
    return {
        (table, kind): sorted(map(shown, found if isinstance(found, list) else [found]))
        for kind, by_table in parts.items()
        for (_, table), found in by_table.items()
    }


def shown(value: object) -> str:
    """Types and conditions as their SQL, within dictionaries too."""
    return str({key: shown(one) for key, one in sorted(value.items())} if isinstance(value, dict) else value)


def test_the_migrations_build_what_the_tables_declare(engine: Engine, empty_database_url: str) -> None:
    other = make_engine(empty_database_url, creates=True)
    Base.metadata.create_all(other)
    declared = schema(other)
    other.dispose()
    assert {table for table, _ in declared} == set(Base.metadata.tables)
    assert schema(engine) == declared, "write a migration of what differs: see docs/how-to/upgrades.md"


CHANGES = {
    "a column": "ALTER TABLE workers DROP COLUMN left_at",
    "a nullable column": "ALTER TABLE workers ADD COLUMN added TEXT",
    "an index": "DROP INDEX ix_datasets_owner_id",
    "the columns of an index": "DROP INDEX ix_models_owner_id;CREATE INDEX ix_models_owner_id ON models (owner)",
    "a table": "DROP TABLE job_totals",
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_difference_is_noticed(engine: Engine, change: str) -> None:
    before = schema(engine)
    with engine.begin() as connection:
        for statement in change.split(";"):
            connection.execute(text(statement))
    assert schema(engine) != before


CHANGES_OF_POSTGRESQL = {
    "a default": "ALTER TABLE datasets ALTER stored_bytes SET DEFAULT 1",
    "a type": "ALTER TABLE datasets ALTER stored_bytes TYPE INTEGER",
    "a check": "ALTER TABLE models DROP CONSTRAINT ck_models_counts",
    "a uniqueness": "ALTER TABLE models DROP CONSTRAINT uq_models_owner_name",
    "a foreign key": "ALTER TABLE posteriors DROP CONSTRAINT fk_posteriors_version_id_model_versions",
}


@pytest.mark.parametrize("database", ["postgresql"])
@pytest.mark.parametrize("change", CHANGES_OF_POSTGRESQL.values(), ids=CHANGES_OF_POSTGRESQL)
def test_a_difference_is_noticed_on_postgresql(engine: Engine, change: str) -> None:
    before = schema(engine)
    with engine.begin() as connection:
        connection.execute(text(change))
    assert schema(engine) != before


def test_alembic_leaves_tables_alone_that_are_not_of_the_service(engine: Engine) -> None:
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE of_somebody_else (id TEXT PRIMARY KEY)"))
        context = MigrationContext.configure(connection, opts={"include_name": is_own, "compare_type": True})
        assert compare_metadata(context, Base.metadata) == []


def test_revisions_are_consecutive_numbers_and_files_begin_with_theirs() -> None:
    scripts = [*migrations._scripts_to(EXPECTED)][::-1]
    assert [script.revision for script in scripts] == [f"{number:04}" for number in range(1, len(scripts) + 1)]
    assert all(Path(script.path).name.startswith(f"{script.revision}_") for script in scripts)
    assert {Path(script.path).name for script in scripts} == {
        path.name for path in (migrations._scripts() / "versions").glob("*.py")
    }


@pytest.mark.thorough
def test_down_leaves_nothing_and_up_again_works(engine: Engine) -> None:
    assert is_migrated(engine)
    downgrade(engine)
    assert set(Base.metadata.tables).isdisjoint(inspect(engine).get_table_names())
    assert not is_migrated(engine)
    migrate(engine)
    assert is_migrated(engine)
    assert set(Base.metadata.tables) <= set(inspect(engine).get_table_names())


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
