"""`relevance migrate`: its plan, what it did, and its refusal beside processes that can't use the new tables."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine, text

from app import __version__
from app.database.engine import make_engine
from app.database.migrations import migrate, plan
from app.database.revision import EXPECTED, is_current, running_processes
from app.database.transaction import open_transactions
from app.http.process_repository import ProcessHeartbeat
from app.jobs.statistics_repository import WorkerRepository
from tests.commands import Run
from tests.doubles.queue import ListedQueue
from tests.later_revisions import with_later_revisions
from tests.waiting import until

NOW = {"sqlite": "strftime('%Y-%m-%d %H:%M:%f000', 'now')", "postgresql": "clock_timestamp()"}


@pytest.fixture
def engine(empty_database_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    """An empty database, which `relevance` finds in the environment."""
    monkeypatch.setenv("RELEVANCE_DATABASE_URL", empty_database_url)
    engine = make_engine(empty_database_url, creates=True)
    yield engine
    engine.dispose()


@pytest.fixture
def contract(engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A contract step after the expanding 0002, on a database that the release before that has migrated."""
    migrate(engine)
    return with_later_revisions(tmp_path, monkeypatch, None, "0003")


def send_heartbeat(engine: Engine, executor: str) -> None:
    """A heartbeat of a worker of the release before."""
    now = NOW[engine.dialect.name]
    with engine.begin() as connection:
        values = f"'{executor}', {now}, '1.0.0', '0001'"
        connection.execute(text(f"INSERT INTO workers (executor, heartbeat_at, release, revision) VALUES ({values})"))


def test_an_empty_database_is_planned_and_made(run: Run, engine: Engine) -> None:
    planned = run("migrate", "--plan")
    assert planned.exit_code == 0, planned.output
    (line,) = planned.stdout.splitlines()
    assert not is_current(engine)
    made = run("migrate")
    assert made.exit_code == 0, made.output
    created, end = made.stdout.splitlines()
    assert line.endswith(f" is empty: its tables would be created, at {EXPECTED}.")
    assert created == "Created the tables."
    assert end.endswith(f" is up to date, at {EXPECTED}, for release {__version__}.")
    assert is_current(engine)
    assert run("migrate").stdout.splitlines() == [end]
    assert run("migrate", "--plan").stdout.splitlines()[0].endswith(f"is at {EXPECTED}: nothing is to be done.")


def test_each_migration_is_a_line(run: Run, engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    migrate(engine)
    with_later_revisions(tmp_path, monkeypatch, None, None)
    first, second, _ = run("migrate").stdout.splitlines()
    assert (first, second) == ("Migrated: 0002 (expands): Revision 0002.", "Migrated: 0003 (expands): Revision 0003.")


def test_a_contract_step_is_refused_while_a_worker_runs_that_cannot_serve_after_it(
    run: Run, engine: Engine, contract: str
) -> None:
    send_heartbeat(engine, "old:1")
    planned = run("migrate", "--plan")
    assert planned.exit_code == 1
    assert f"  {contract} (contracts: releases before {contract} can't serve): " in planned.stdout
    assert planned.stdout.splitlines()[-1] == "  worker old:1 of release 1.0.0"
    refused = run("migrate")
    assert refused.exit_code == 1
    assert "  worker old:1 of release 1.0.0" in refused.stderr.splitlines()
    assert "--force" in refused.stderr
    assert not is_current(engine)
    forced = run("migrate", "--force")
    assert forced.exit_code == 0, forced.output
    assert is_current(engine)


@pytest.mark.usefixtures("contract")
def test_a_worker_that_left_or_sends_no_heartbeat_does_not_prevent_it(run: Run, engine: Engine) -> None:
    send_heartbeat(engine, "left:1")
    send_heartbeat(engine, "dead:1")
    with engine.begin() as connection:
        connection.execute(text("UPDATE workers SET left_at = heartbeat_at WHERE executor = 'left:1'"))
        connection.execute(text("UPDATE workers SET heartbeat_at = '2026-01-01 00:00:00' WHERE executor = 'dead:1'"))
    assert run("migrate").exit_code == 0


def test_an_expanding_step_is_taken_beside_processes_that_serve_after_it(
    run: Run, engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    migrate(engine)
    with_later_revisions(tmp_path, monkeypatch, None)
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
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    migrate(engine)
    heartbeat = ProcessHeartbeat(open_transactions(engine, ListedQueue), process="here:2", interval=60.0)
    heartbeat.record()
    with_later_revisions(tmp_path / "expands", monkeypatch, None)
    assert plan(engine, silence_seconds=60.0).incompatible == ()
    with_later_revisions(tmp_path / "contracts", monkeypatch, "0003")
    (named,) = plan(engine, silence_seconds=60.0).incompatible
    assert (named.kind, named.name, named.release) == ("API process", "here:2", __version__)
