"""Migrations expand the tables, unless they are marked as contract steps: the release before them can still serve."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest
from alembic.operations import BatchOperations, Operations
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Boolean, Column, DateTime, Engine, ForeignKey, String, Text, Uuid, false

from app.database import migrations, revision
from app.database.migrations import downgrade, migrate
from app.database.revision import EXPECTED
from tests.database.expansion import refusals, tables
from tests.later_revisions import with_later_revisions


def unmarked(engine: Engine) -> list[str]:
    """The differences by expanding migrations after the first on which the release before them could not serve."""
    found = []
    for script in [*migrations._scripts_to(revision.EXPECTED)][-2::-1]:
        downgrade(engine, str(script.down_revision))
        with engine.connect() as connection:
            before = tables(connection)
        migrate(engine, script.revision)
        with engine.connect() as connection:
            after = tables(connection)
        if script.module.oldest_compatible is None:
            found += [f"{script.revision}: {refusal}" for refusal in refusals(before, after)]
    return found


def test_each_migration_declares_which_releases_can_serve_on_its_tables() -> None:
    scripts = [*migrations._scripts_to(EXPECTED)]
    known = {script.revision for script in scripts}
    for script in scripts:
        assert hasattr(script.module, "oldest_compatible"), script.revision
        assert script.module.oldest_compatible in {None, *known}, script.revision


def test_migrations_expand_the_tables_unless_they_are_contract_steps(engine: Engine) -> None:
    assert unmarked(engine) == []


@pytest.mark.parametrize(("marks", "found"), [(None, ["0003: workers.left_at is dropped or renamed"]), ("0003", [])])
def test_a_contract_step_that_is_not_marked_as_one_is_found(
    marks: str | None, found: list[str], engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert with_later_revisions(tmp_path, monkeypatch, None, marks) == "0003"
    (script,) = tmp_path.glob("migrations/versions/0003_*")
    up, down = script.read_text().split("def downgrade() -> None:\n")
    up = f"{up.rstrip()}\n    op.drop_column('workers', 'left_at')\n\n"
    down = f"    op.add_column('workers', sa.Column('left_at', sa.DateTime()))\n{down}"
    script.write_text(f"{up}def downgrade() -> None:\n{down}")
    migrate(engine)
    assert unmarked(engine) == found


Operation: TypeAlias = Callable[[Operations], object]


def in_workers(change: Callable[[BatchOperations], object]) -> Operation:
    def operation(op: Operations) -> None:
        with op.batch_alter_table("workers") as batch:
            change(batch)

    return operation


def create(op: Operations, ondelete: str | None = None) -> None:
    job = Column("job", Uuid, ForeignKey("jobs.id", ondelete=ondelete))
    op.create_table("added", Column("id", Uuid, primary_key=True), Column("must", Text, nullable=False), job)


REFUSED: dict[str, Operation] = {
    "rate_demands is dropped or renamed": lambda op: op.drop_table("rate_demands"),
    "workers is dropped or renamed": lambda op: op.rename_table("workers", "renamed"),
    "workers.left_at is dropped or renamed": in_workers(lambda batch: batch.drop_column("left_at")),
    "workers.added is NOT NULL without a default": in_workers(
        lambda batch: batch.add_column(Column("added", Text, nullable=False))
    ),
    "workers.executor is VARCHAR(9), was TEXT": in_workers(
        lambda batch: batch.alter_column("executor", type_=String(9))
    ),
    "workers.left_at is NOT NULL, and was not": in_workers(
        lambda batch: batch.alter_column("left_at", nullable=False, existing_type=DateTime(timezone=True))
    ),
    "workers.heartbeat_at is unique, and was not": lambda op: op.create_index(
        "one", "workers", ["heartbeat_at"], unique=True
    ),
    "workers has the check": in_workers(lambda batch: batch.create_check_constraint("one", "executor > 'a'")),
    "datasets has the check": lambda op: _states(op, "'deleted', 'ready', 'uploading', 'waiting'"),
    "sessions.owner has a new foreign key to workers": lambda op: _with_foreign_key(op),
    "added.job keeps rows of jobs from being deleted": lambda op: create(op),
}

ALLOWED: dict[str, Operation] = {
    "a nullable column": in_workers(lambda batch: batch.add_column(Column("added", Text))),
    "a column with a default": lambda op: op.add_column(
        "workers", Column("added", Boolean, nullable=False, server_default=false())
    ),
    "an index": lambda op: op.create_index("one", "workers", ["heartbeat_at"]),
    "a unique index of a new, nullable column": lambda op: _with_unique_column(op),
    "a table": lambda op: create(op, ondelete="CASCADE"),
}


def _with_foreign_key(op: Operations) -> None:
    with op.batch_alter_table("sessions") as batch:
        batch.create_foreign_key("one", "workers", ["owner"], ["executor"])


def _with_unique_column(op: Operations) -> None:
    op.add_column("workers", Column("added", Text))
    op.create_index("one", "workers", ["added"], unique=True)


def _states(op: Operations, states: str) -> None:
    with op.batch_alter_table("datasets") as batch:
        batch.drop_constraint("ck_datasets_state", type_="check")
        batch.create_check_constraint("ck_datasets_state", f"state IN ({states})")


def found(engine: Engine, operation: Operation) -> list[str]:
    """The refusals of an operation."""
    with engine.begin() as connection:
        before = tables(connection)
        operation(Operations(MigrationContext.configure(connection)))
        return list(refusals(before, tables(connection)))


@pytest.mark.thorough
@pytest.mark.parametrize("refusal", REFUSED)
def test_what_the_release_before_could_not_serve_on_is_found(refusal: str, engine: Engine) -> None:
    refused = found(engine, REFUSED[refusal])
    assert any(one.startswith(refusal) for one in refused), refused


@pytest.mark.thorough
@pytest.mark.parametrize("operation", ALLOWED)
def test_what_the_release_before_can_serve_on_is_allowed(operation: str, engine: Engine) -> None:
    assert found(engine, ALLOWED[operation]) == []
