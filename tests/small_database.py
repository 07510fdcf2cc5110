"""A migrated SQLite file of a test's own, and what tests put into it."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from sqlite3 import Connection
from uuid import UUID

from sqlalchemy import Engine, delete, event, func, select, update
from sqlalchemy.orm import Session

from app.accounts.limit_repository import OwnerLimitsRepository
from app.audit.repository import store_changes
from app.database.engine import file_of, make_engine
from app.database.notifier import notify
from app.database.transaction import JobHoldRow, Transaction, open_transactions
from app.datasets.records import Dataset
from app.datasets.repository import COLUMNS, encode_block
from app.datasets.tables import DatasetBlockRow, DatasetRow
from app.errors import UnavailableError
from app.jobs import statistics_repository
from app.jobs.records import Job, JobFailure
from app.jobs.repository import PROBLEM, PROGRESS, JobRepository, row_of
from app.jobs.tables import JobRow, JobTransitionRow
from app.registry.records import Version
from app.registry.repository import ModelRepository
from app.registry.tables import ModelRow, ModelVersionRow
from app.webhooks.repository import SUBSCRIBERS
from relevance_bayes.records.jobs import FINISHED
from relevance_bayes.tables.columns import Block, block_rows
from relevance_bayes.tasks.union import NewVersion
from tests.doubles.queue import RecordingQueue
from tests.small_tables import NOW

FAILED = JobFailure("internal", "The service failed", "Try again.")


class SmallDatabase:
    """A database with a queue that records what it is given; it counts transactions, and refuses them on demand."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.queue = RecordingQueue()
        self.reachable = True
        self.opened = 0
        self._open = open_transactions(
            engine,
            lambda _: self.queue,
            clock=lambda: NOW,
            subscribers=(*statistics_repository.SUBSCRIBERS, *SUBSCRIBERS),
            store_changes=store_changes,
        )

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        if not self.reachable:
            raise UnavailableError("The database can't be reached.")
        self.opened += 1
        with self._open() as tx:
            yield tx

    def set_limits(self, owner: str, **limits: int | None) -> None:
        """Set the limits of an owner."""
        with self._open() as tx:
            OwnerLimitsRepository(tx).set(owner, limits)

    def put_dataset(self, dataset: Dataset, *blocks: Block) -> None:
        """Have a dataset that is ready, in place of the one with its id."""
        with Session(self.engine) as session, session.begin():
            session.execute(delete(DatasetRow).where(DatasetRow.id == dataset.id))
            row = DatasetRow(
                id=dataset.id,
                owner=dataset.owner,
                name=dataset.name,
                state="ready",
                created_at=dataset.created_at,
                written_at=dataset.created_at,
                rows=dataset.rows,
                digest=dataset.digest,
                columns=COLUMNS.write(dataset.columns),
                height=None if dataset.image is None else dataset.image.height,
                width=None if dataset.image is None else dataset.image.width,
            )
            session.add(row)
            session.flush()
            first = 0
            for number, block in enumerate(blocks):
                rows = block_rows(block)
                content = encode_block(block)
                session.add(
                    DatasetBlockRow(dataset_id=dataset.id, number=number, first_row=first, rows=rows, content=content)
                )
                first += rows

    def put_version(self, owner: str, made: NewVersion, *, number: int, job_id: UUID | None = None) -> Version:
        """Have a version under this number, made by this job."""
        with self._open() as tx:
            added = ModelRepository(tx).add(owner, made)
        with Session(self.engine) as session, session.begin():
            row = ModelVersionRow
            session.execute(update(row).where(row.id == added.id).values(number=number, job_id=job_id))
            session.execute(
                update(ModelRow).where(ModelRow.owner == owner, ModelRow.name == added.model).values(last_number=number)
            )
        with self._open() as tx:
            return ModelRepository(tx).version(owner, added.model, number)

    def put_job(self, job: Job) -> None:
        """Have a job as it is, in place of the one with its id; its transitions are its events."""
        with Session(self.engine) as session, session.begin():
            session.execute(delete(JobRow).where(JobRow.id == job.id))
            row = row_of(job)
            row.state, row.attempt, row.events = job.state, job.attempt, len(job.transitions)
            row.started_at, row.cancel_requested_at = job.started_at, job.cancel_requested_at
            row.finished_at = (job.finished_at or NOW) if job.state in FINISHED else None
            row.model, row.version, row.last_words = job.model, job.version, job.last_words
            row.progress = None if job.progress is None else PROGRESS.write(job.progress)
            row.error = PROBLEM.write(job.error or FAILED) if job.state == "failed" else None
            row.result = job.result
            session.add(row)
            session.flush()
            if job.state not in FINISHED:
                session.add(JobHoldRow(job_id=job.id, owner=job.owner, kind="dataset", resource=str(row.dataset_id)))
            for number, move in enumerate(job.transitions, start=1):
                session.add(
                    JobTransitionRow(
                        job_id=job.id,
                        number=number,
                        at=move.at,
                        state=move.state,
                        attempt=move.attempt,
                        reason=move.reason,
                        resumed_attempt=None if move.resumed_from is None else move.resumed_from.attempt,
                        resumed_at=None if move.resumed_from is None else move.resumed_from.at,
                    )
                )
            session.flush()
            notify(session.connection(), job.id)

    def job(self, job_id: UUID) -> Job:
        """A job of any owner."""
        with self._open() as tx:
            found = JobRepository(tx).find(job_id)
        assert found is not None
        return found

    def count(self, row: type[DatasetRow] | type[JobRow]) -> int:
        """The number of datasets or jobs, whatever their state."""
        with Session(self.engine) as session:
            return session.scalar(select(func.count()).select_from(row)) or 0


def small_engine(path: Path) -> Engine:
    """An engine for a file that each test replaces: what is compiled for one test serves the next."""
    engine = make_engine(f"sqlite:///{path}")

    @event.listens_for(engine, "connect")
    def set_up(connection: Connection, _entry: object) -> None:
        connection.execute("PRAGMA synchronous = OFF")  # no test outlives its machine

    return engine


@contextmanager
def replaced_database(engine: Engine, template: Path) -> Iterator[SmallDatabase]:
    """Put a copy of a template in place of the engine's file."""
    name = file_of(engine.url)
    assert name is not None
    for suffix in ("-wal", "-shm"):
        Path(name + suffix).unlink(missing_ok=True)
    shutil.copyfile(template, f"{name}-copy")
    Path(f"{name}-copy").replace(name)
    yield SmallDatabase(engine)
    engine.dispose()
