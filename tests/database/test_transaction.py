import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import datetime
from pathlib import Path
from threading import Event, Thread, Timer

import pytest
from sqlalchemy import Engine, create_engine, text

from app.database.base import UtcDateTime
from app.database.engine import make_engine
from app.database.transaction import OpenTransaction, Transaction, open_transactions
from app.datasets.repository import DatasetRepository
from app.errors import UnavailableError
from app.jobs.repository import JobRepository
from app.jobs.statistics_repository import WorkerRepository
from app.registry.repository import ModelRepository
from app.registry.submission import submit
from app.tasks.service import finish_training
from relevance_bayes.records.errors import InvalidDataError, NotFoundError
from tests import postgres, samples
from tests.conftest import TEMPLATE
from tests.doubles.queue import ListedQueue


def _submitted(engine: Engine) -> int:
    with engine.connect() as connection:
        return int(connection.execute(text("SELECT count(*) FROM submitted")).scalar_one())


def test_a_job_and_its_queue_entry_share_one_fate(transaction: OpenTransaction, engine: Engine) -> None:
    dataset = samples.stored_dataset(transaction)
    with transaction() as tx:
        job = samples.new_job(dataset.id)
        submit(tx, job)
        tx.queue.submit(job.id, owner=samples.OWNER)
    assert _submitted(engine) == 1
    lost = samples.new_job(dataset.id)

    def submit_and_stumble() -> None:
        with transaction() as tx:
            submit(tx, lost)
            tx.queue.submit(lost.id, owner=samples.OWNER)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        submit_and_stumble()
    assert _submitted(engine) == 1
    with transaction() as tx:
        assert JobRepository(tx).find(lost.id) is None


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, SystemExit, NotFoundError])
def test_whatever_interrupts_a_transaction_undoes_it(
    transaction: OpenTransaction, interruption: type[BaseException]
) -> None:
    upload = samples.upload()

    def begin_and_stop() -> None:
        with transaction() as tx:
            DatasetRepository(tx).begin(upload)
            raise interruption("stopped")

    with pytest.raises(interruption, match="stopped"):
        begin_and_stop()
    with pytest.raises(NotFoundError), transaction() as tx:
        DatasetRepository(tx).append(upload.id, 0, 0, samples.block())


def test_a_unit_that_only_reads_does_not_wait_for_one_that_writes(transaction: OpenTransaction) -> None:
    dataset = samples.stored_dataset(transaction)
    with _writing(transaction) as release, transaction() as tx:
        assert DatasetRepository(tx).get(samples.OWNER, dataset.id) == dataset
        release.set()


def test_a_unit_that_writes_sees_what_was_committed_while_it_read(transaction: OpenTransaction) -> None:
    """Where SQLite promotes a transaction that began by reading it fails at once; ours begins with the write."""
    dataset = samples.stored_dataset(transaction)
    with transaction() as tx:
        DatasetRepository(tx).get(samples.OWNER, dataset.id)
        other = samples.stored_dataset(transaction)
        assert DatasetRepository(tx).get(samples.OWNER, other.id) == other
        DatasetRepository(tx).delete(samples.OWNER, other.id)


def test_a_unit_sees_its_own_changes(transaction: OpenTransaction) -> None:
    job_id = samples.queued_job(transaction)
    with transaction() as tx:
        assert JobRepository(tx).get(samples.OWNER, job_id).state == "queued"
        JobRepository(tx).claim(job_id)
        assert JobRepository(tx).get(samples.OWNER, job_id).state == "running"
        finish_training(tx, job_id, 1, samples.new_version())
        assert JobRepository(tx).get(samples.OWNER, job_id).version == 1
        assert ModelRepository(tx).get(samples.OWNER, "prices").latest == 1


def test_a_database_that_can_not_be_reached_is_unavailable() -> None:
    engine = make_engine("postgresql://nobody@127.0.0.1:1/nothing")
    with pytest.raises(UnavailableError, match="reached"), open_transactions(engine, ListedQueue)() as tx:
        WorkerRepository(tx).record_heartbeat("a")
    engine.dispose()


def test_a_database_without_tables_is_unavailable(empty_database_url: str) -> None:
    engine = make_engine(empty_database_url)
    with pytest.raises(UnavailableError, match="migrate"), open_transactions(engine, ListedQueue)() as tx:
        WorkerRepository(tx).record_heartbeat("a")
    engine.dispose()


def test_a_file_that_is_no_database_is_unavailable(tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("foreign") / "foreign.db"
    path.write_bytes(b"not a database, though longer than its header would be" * 100)
    engine = make_engine(f"sqlite:///{path}")
    with pytest.raises(UnavailableError), open_transactions(engine, ListedQueue)() as tx:
        WorkerRepository(tx).record_heartbeat("a")
    engine.dispose()


def test_a_busy_sqlite_file_is_unavailable_after_a_while(
    sqlite_template: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.database.engine.BUSY_MILLISECONDS", 10)
    engine = make_engine(f"sqlite:///{sqlite_template}")
    other = sqlite3.connect(str(sqlite_template), isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(UnavailableError), open_transactions(engine, ListedQueue)() as tx:
        WorkerRepository(tx).record_heartbeat("a")
    other.rollback()
    other.close()
    engine.dispose()


def test_a_lost_connection_is_unavailable_and_the_next_unit_works_again(postgres_server: postgres.Server) -> None:
    postgres_server.create("outage", TEMPLATE)
    engine = make_engine(postgres_server.url("outage"))
    transaction = open_transactions(engine, ListedQueue)

    def heartbeat_through_an_outage() -> None:
        with transaction() as tx:
            WorkerRepository(tx).record_heartbeat("a")
            postgres_server.allow_connections("outage", allowed=False)
            WorkerRepository(tx).record_heartbeat("b")

    with pytest.raises(UnavailableError):
        heartbeat_through_an_outage()
    with pytest.raises(UnavailableError), transaction() as tx:
        WorkerRepository(tx).record_heartbeat("a")
    postgres_server.allow_connections("outage", allowed=True)
    with transaction() as tx:
        assert WorkerRepository(tx).alive(within=60.0) == ()
        WorkerRepository(tx).record_heartbeat("a")
    engine.dispose()
    postgres_server.drop("outage")


def test_a_connection_that_died_while_idle_is_noticed_before_it_is_used(postgres_server: postgres.Server) -> None:
    postgres_server.create("idle", TEMPLATE)
    engine = make_engine(postgres_server.url("idle"))
    transaction = open_transactions(engine, ListedQueue)
    with transaction() as tx:
        WorkerRepository(tx).record_heartbeat("a")
    postgres_server.allow_connections("idle", allowed=False)
    postgres_server.allow_connections("idle", allowed=True)
    with transaction() as tx:
        WorkerRepository(tx).record_heartbeat("a")
    engine.dispose()
    postgres_server.drop("idle")


def test_a_process_that_freezes_within_a_transaction_stops_nobody_for_long(
    postgres_server: postgres.Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.database.engine.IDLE_MILLISECONDS", 200)
    postgres_server.create("frozen", TEMPLATE)
    engine = make_engine(postgres_server.url("frozen"))
    transaction = open_transactions(engine, ListedQueue)

    def freeze_while_another_wants_the_same_row() -> None:
        with transaction() as frozen:
            WorkerRepository(frozen).record_heartbeat("a")
            with transaction() as other:
                WorkerRepository(other).record_heartbeat("a")  # waits until the frozen one's session is ended

    with pytest.raises(UnavailableError):
        freeze_while_another_wants_the_same_row()
    with transaction() as tx:
        assert WorkerRepository(tx).alive(within=60.0) == ("a",)
    engine.dispose()
    postgres_server.drop("frozen")


def test_text_that_postgresql_can_not_keep_is_invalid_data(postgres_server: postgres.Server) -> None:
    postgres_server.create("nul", TEMPLATE)
    engine = make_engine(postgres_server.url("nul"))
    with pytest.raises(InvalidDataError), open_transactions(engine, ListedQueue)() as tx:
        DatasetRepository(tx).begin(samples.upload(name="a\x00b"))
    engine.dispose()
    postgres_server.drop("nul")


def test_sqlite_is_set_up_for_safety(sqlite_template: object) -> None:
    engine = make_engine(f"sqlite:///{sqlite_template}")
    with engine.connect() as connection:
        settings = {
            name: connection.exec_driver_sql(f"PRAGMA {name}").scalar_one()
            for name in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        }
    assert settings == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "busy_timeout": 30_000}
    engine.dispose()


def test_a_new_sqlite_file_that_another_process_is_writing_is_waited_for(tmp_path: Path) -> None:
    other = sqlite3.connect(tmp_path / "new.db", isolation_level=None, check_same_thread=False)
    other.execute("CREATE TABLE first (a)")
    other.execute("BEGIN IMMEDIATE")
    Timer(0.3, lambda: other.execute("COMMIT")).start()
    engine = make_engine(f"sqlite:///{tmp_path / 'new.db'}")
    with engine.connect() as connection:
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar_one() == "wal"
    engine.dispose()
    other.close()


def test_a_new_sqlite_file_that_stays_locked_is_unavailable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.database.engine.BUSY_MILLISECONDS", 10)
    other = sqlite3.connect(tmp_path / "new.db", isolation_level=None)
    other.execute("CREATE TABLE first (a)")
    other.execute("BEGIN IMMEDIATE")
    engine = make_engine(f"sqlite:///{tmp_path / 'new.db'}")
    with pytest.raises(UnavailableError), open_transactions(engine, ListedQueue)() as tx:
        WorkerRepository(tx).record_heartbeat("a")
    engine.dispose()
    other.close()


@pytest.fixture
def file(tmp_path: Path, sqlite_template: Path) -> Path:
    return Path(shutil.copyfile(sqlite_template, tmp_path / "relevance.db"))


@pytest.fixture
def file_engine(file: Path) -> Iterator[Engine]:
    engine = make_engine(f"sqlite:///{file}")
    yield engine
    engine.dispose()


def record_heartbeat(engine: Engine, name: str) -> tuple[str, ...]:
    """Note that a worker is alive; return all that are."""
    with open_transactions(engine, ListedQueue)() as tx:
        WorkerRepository(tx).record_heartbeat(name)
        return WorkerRepository(tx).alive(within=60.0)


def test_a_sqlite_file_that_is_not_there_is_unavailable_and_is_not_made(tmp_path: Path) -> None:
    engine = make_engine(f"sqlite:///{tmp_path / 'none.db'}")
    with pytest.raises(UnavailableError, match="migrate"):
        record_heartbeat(engine, "a")
    assert list(tmp_path.iterdir()) == []


def test_a_sqlite_file_that_was_moved_is_unavailable_until_it_is_back(file: Path, file_engine: Engine) -> None:
    record_heartbeat(file_engine, "a")
    with file_engine.connect():  # the pool has a connection that is in use and one that is idle
        record_heartbeat(file_engine, "b")
        moved = file.rename(file.with_suffix(".moved"))
        with pytest.raises(UnavailableError):
            record_heartbeat(file_engine, "c")
    assert not file.exists()
    moved.rename(file)
    assert record_heartbeat(file_engine, "d") == ("a", "b", "d")


def test_a_sqlite_file_in_place_of_another_is_the_one_that_is_used(file: Path, file_engine: Engine) -> None:
    other = Path(shutil.copyfile(file, file.with_suffix(".other")))
    with closing(sqlite3.connect(other)) as plain, plain:
        plain.execute("CREATE TABLE marked (a)")
    with file_engine.connect() as first, file_engine.connect() as second:
        assert [one.exec_driver_sql("SELECT count(*) FROM workers").scalar() for one in (first, second)] == [0, 0]
    other.replace(file)
    assert record_heartbeat(file_engine, "a") == ("a",)
    with file_engine.connect() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM marked").scalar() == 0


def test_a_time_without_its_zone_is_refused() -> None:
    dialect = create_engine("sqlite://").dialect
    with pytest.raises(ValueError, match="zone"):
        UtcDateTime().process_bind_param(datetime(2026, 1, 1), dialect)  # noqa: DTZ001


@contextmanager
def _writing(transaction: OpenTransaction) -> Iterator[Event]:
    """Another thread in the middle of a unit that has written; it goes on when the event is set."""
    wrote, release = Event(), Event()

    def write() -> None:
        with transaction() as tx:
            _write_something(tx)
            wrote.set()
            release.wait(20)

    thread = Thread(target=write)
    thread.start()
    try:
        assert wrote.wait(20)
        yield release
        assert release.is_set()
    finally:
        release.set()
        thread.join(30)


def _write_something(tx: Transaction) -> None:
    WorkerRepository(tx).record_heartbeat("somebody")
