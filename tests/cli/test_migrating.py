"""`relevance migrate`: its plan, what it did, and its refusal beside processes that can't use the new tables."""

from collections.abc import Iterator

import pytest
from sqlalchemy import Engine, text

from app import __version__
from app.database import migrations, revision
from app.database.engine import make_engine
from app.database.migrations import compatible_with, downgrade, migrate, plan
from app.database.processes import running_processes
from app.database.revision import EXPECTED, MigrationStep, is_current
from app.database.transaction import open_transactions
from app.http.process_heartbeat import ProcessHeartbeat
from app.jobs.worker_repository import WorkerRepository
from tests.commands import Run
from tests.doubles.queue import ListedQueue
from tests.waiting import until

CONTRACT = "2026_12_16_outcomes"
"""A contract step: no release before it serves on the tables after it."""

BEFORE = "2026_12_15_trace_contexts"
NOW = {"sqlite": "strftime('%Y-%m-%d %H:%M:%f000', 'now')", "postgresql": "clock_timestamp()"}


@pytest.fixture
def engine(empty_database_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    """A database of the release before the contract step, which `relevance` finds in the environment."""
    monkeypatch.setenv("RELEVANCE_DATABASE_URL", empty_database_url)
    engine = make_engine(empty_database_url, creates=True)
    yield engine
    engine.dispose()


def send_heartbeat(engine: Engine, executor: str) -> None:
    """A heartbeat of a worker of a release from before heartbeats had one."""
    now = NOW[engine.dialect.name]
    with engine.begin() as connection:
        connection.execute(text(f"INSERT INTO workers (executor, heartbeat_at) VALUES ('{executor}', {now})"))


def test_an_empty_database_is_planned_and_made(run: Run, engine: Engine) -> None:
    planned = run("migrate", "--plan")
    assert planned.exit_code == 0, planned.output
    (line,) = planned.stdout.splitlines()
    assert not is_current(engine)
    made = run("migrate")
    assert made.exit_code == 0, made.output
    created, end = made.stdout.splitlines()
    n_migrations = int(created.removeprefix("Created the tables: ").removesuffix(" migrations."))
    assert line.endswith(f" is empty: {n_migrations} migrations create its tables, at {EXPECTED}.")
    assert end.endswith(f" is up to date, at {EXPECTED}, for release {__version__}.")
    assert is_current(engine)
    assert run("migrate").stdout.splitlines() == [end]
    assert run("migrate", "--plan").stdout.splitlines()[0].endswith(f"is at {EXPECTED}: nothing is to be done.")


def test_each_migration_is_a_line(run: Run, engine: Engine) -> None:
    migrate(engine)
    downgrade(engine, "-2")
    done = run("migrate").stdout.splitlines()
    assert len(done) == 3
    assert all(line.startswith("Migrated: 2026_12_") and "(expands): " in line for line in done[:2]), done


def test_a_contract_step_is_refused_while_a_worker_runs_that_cannot_serve_after_it(run: Run, engine: Engine) -> None:
    migrate(engine, BEFORE)
    send_heartbeat(engine, "old:1")
    planned = run("migrate", "--plan")
    assert planned.exit_code == 1
    assert f"  {CONTRACT} (contracts: releases before {CONTRACT} can't serve): " in planned.stdout
    assert planned.stdout.splitlines()[-1] == "  worker old:1 of an earlier release"
    refused = run("migrate")
    assert refused.exit_code == 1
    assert "  worker old:1 of an earlier release" in refused.stderr.splitlines()
    assert "--force" in refused.stderr
    assert not is_current(engine)
    forced = run("migrate", "--force")
    assert forced.exit_code == 0, forced.output
    assert is_current(engine)


def test_a_worker_that_left_or_sends_no_heartbeat_does_not_prevent_it(run: Run, engine: Engine) -> None:
    migrate(engine, BEFORE)
    send_heartbeat(engine, "left:1")
    send_heartbeat(engine, "dead:1")
    with engine.begin() as connection:
        connection.execute(text("UPDATE workers SET left_at = heartbeat_at WHERE executor = 'left:1'"))
        connection.execute(text("UPDATE workers SET heartbeat_at = '2026-01-01 00:00:00' WHERE executor = 'dead:1'"))
    assert run("migrate").exit_code == 0


def test_an_expanding_step_is_taken_beside_processes_that_serve_after_it(run: Run, engine: Engine) -> None:
    migrate(engine)
    downgrade(engine, "-1")
    assert EXPECTED not in compatible_with(EXPECTED)
    send_heartbeat(engine, "old:1")
    assert run("migrate").exit_code == 0
    assert is_current(engine)


def test_processes_have_their_release_and_the_revision_that_they_expect(engine: Engine) -> None:
    migrate(engine)
    transaction = open_transactions(engine, ListedQueue)
    with transaction() as tx:
        WorkerRepository(tx).record_heartbeat("here:1")
    heartbeat = ProcessHeartbeat(transaction, process="here:2", interval=0.01)
    heartbeat.start()

    def found() -> list[tuple[str, str | None, str | None]]:
        with engine.connect() as connection:
            return [(str(one), one.release, one.revision) for one in running_processes(connection, within=60.0)]

    worker = (f"worker here:1 of release {__version__}", __version__, EXPECTED)
    api = (f"API process here:2 of release {__version__}", __version__, EXPECTED)
    until(lambda: found() == [worker, api])
    heartbeat.close()
    assert found() == [worker]


def test_a_process_of_a_release_that_the_next_one_drops_is_named(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    migrate(engine)
    heartbeat = ProcessHeartbeat(open_transactions(engine, ListedQueue), process="here:2", interval=60.0)
    heartbeat.record()
    downgrade(engine, "-1")
    assert plan(engine, silence_seconds=60.0).incompatible == ()
    migrate(engine)
    heartbeat.record()
    monkeypatch.setattr(migrations, "EXPECTED", "2027_01_01_later")
    monkeypatch.setattr(revision, "EXPECTED", "2027_01_01_later")
    later = MigrationStep("2027_01_01_later", "A later one.", "2027_01_01_later")
    monkeypatch.setattr(migrations, "_pending", lambda before: (later,))
    monkeypatch.setattr(migrations, "compatible_with", lambda revision: frozenset[str]())
    (named,) = plan(engine, silence_seconds=60.0).incompatible
    assert (named.kind, named.name, named.release) == ("API process", "here:2", __version__)
