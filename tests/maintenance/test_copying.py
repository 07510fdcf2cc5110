"""Copies of a database in the other kind, and back."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import inspect, text

from app.database import snapshots
from app.database.snapshots import contents_of
from app.errors import UnavailableError
from app.jobs.queue import client as queue_migrations
from app.maintenance.administration import Base
from app.maintenance.backups import NotEmptyError, copy_database
from app.settings import Settings
from tests.applications import closing_engine
from tests.conftest import DATABASES, migrated_database
from tests.stored_service import fill, responses

OWN = {"alembic_version", "compatible_revisions", "dbos_migrations", "dbos.dbos_migrations", "dbos.event_dispatch_kv"}
"""Tables of migrations, which each database has from its own, and one that DBOS no longer uses."""


@pytest.fixture
def other_url(database: str, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of a migrated, empty database of the other kind, where there is one."""
    (tmp_path / "other").mkdir()
    other = DATABASES[len(DATABASES) - 1 - DATABASES.index(database)]
    with migrated_database(other, request, tmp_path / "other") as url:
        yield url


def settings(url: str) -> Settings:
    return Settings(database_url=url)


def rows(url: str) -> dict[str, int]:
    with closing_engine(url) as engine:
        return {name.removeprefix("dbos."): n for name, n in contents_of(engine).rows.items() if name not in OWN}


def test_the_service_responds_the_same_from_a_copy(database_url: str, other_url: str) -> None:
    key = fill(database_url)
    stored, before = rows(database_url), responses(database_url, key)
    tables = copy_database(settings(database_url), settings(other_url))
    assert {table.name: table.rows for table in tables} == stored == rows(other_url)
    assert sum(table.rows for table in tables) > 20
    assert len({table.sha256 for table in tables if table.rows}) == sum(1 for table in tables if table.rows)
    assert responses(other_url, key) == before
    with closing_engine(other_url) as engine, engine.connect() as connection:
        schema = "dbos." if engine.dialect.name == "postgresql" else ""
        query = text(f"SELECT count(*) FROM {schema}workflow_status WHERE attributes IS NULL")
        assert connection.execute(query).scalar_one() == stored["workflow_status"] > 0


def test_a_copy_of_a_copy_has_the_same_digests(
    database_url: str, other_url: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    fill(database_url)
    first = copy_database(settings(database_url), settings(other_url))
    (tmp_path / "back").mkdir()
    with migrated_database("sqlite", request, tmp_path / "back") as back:
        assert copy_database(settings(other_url), settings(back)) == first


def test_every_column_is_copied(database_url: str) -> None:
    of_queue, own = queue_migrations.tables(), snapshots.shapes(Base.metadata)
    with closing_engine(database_url) as engine:
        for table in (*own, *of_queue):
            schema = table.schema if engine.dialect.name == "postgresql" else None
            found = {column["name"] for column in inspect(engine).get_columns(table.name, schema)}
            assert found - table.types.keys() <= {"request"}, table.name
    assert rows(database_url).keys() == {table.name for table in (*own, *of_queue)}


def test_nothing_is_copied_into_content(database_url: str, other_url: str) -> None:
    fill(database_url)
    fill(other_url)
    before = rows(other_url)
    with pytest.raises(NotEmptyError, match="copy into an empty database"):
        copy_database(settings(database_url), settings(other_url))
    assert rows(other_url) == before


def test_nothing_is_copied_while_a_process_uses_the_database(database_url: str, other_url: str) -> None:
    fill(database_url)
    with closing_engine(database_url) as engine, engine.connect() as connection:
        connection.execute(text("SELECT count(*) FROM datasets"))
        with pytest.raises(UnavailableError, match="stop the service first"):
            copy_database(settings(database_url), settings(other_url))
    assert rows(other_url)["datasets"] == 0


def test_an_earlier_revision_is_not_copied(empty_database_url: str, other_url: str) -> None:
    with pytest.raises(UnavailableError, match="run `relevance migrate` first"):
        copy_database(settings(empty_database_url), settings(other_url))


def test_a_copy_that_differs_is_undone(database_url: str, other_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(database_url)
    with closing_engine(other_url) as engine, engine.begin() as connection:
        if engine.dialect.name == "postgresql":
            connection.execute(text("CREATE RULE lose AS ON INSERT TO dataset_blocks DO INSTEAD NOTHING"))
        else:
            connection.execute(
                text(
                    "CREATE TRIGGER lose AFTER INSERT ON dataset_blocks "
                    "BEGIN UPDATE dataset_blocks SET content = x'00'; END"
                )
            )
    with pytest.raises(UnavailableError, match="The copy of dataset_blocks differs: 1 rows were copied"):
        copy_database(settings(database_url), settings(other_url))
    assert rows(other_url)["datasets"] == 0


def test_rows_are_copied_in_batches(database_url: str, other_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(database_url)
    monkeypatch.setattr(snapshots, "BATCH_ROWS", 2)
    monkeypatch.setattr(snapshots, "BATCH_ROWS_OF_BYTES", 1)
    copy_database(settings(database_url), settings(other_url))
    assert rows(other_url) == rows(database_url)
