"""The versions of a job and the rows of its dataset, with reports of progress."""

from collections.abc import Iterator
from uuid import UUID

from app.database.transaction import Transaction
from app.datasets.repository import DatasetRepository
from app.jobs.records import Job
from app.jobs.worker.attempts import Attempt, Pace
from app.prediction import ServedVersion
from app.prediction.serving import Stored, serve, stored
from app.prediction.usage_counts import Counts
from app.registry.records import Version
from app.registry.repository import ModelRepository
from relevance_bayes.tables.columns import Block, block_rows
from relevance_bayes.types.jobs import Progress

PROGRESS_SECONDS = 1.0


def version_at_hand(attempt: Attempt, job: Job, number: int) -> ServedVersion:
    """Return a loaded version of the job's model; raises Interrupted."""

    def read(tx: Transaction) -> tuple[Version, Stored]:
        version = ModelRepository(tx).version(job.owner, job.for_model, number)
        return version, stored(tx, version)

    version, kept = attempt.records.retry(read)
    return serve(version, kept, Counts())


def reported_blocks(attempt: Attempt, job: Job, *, phase: str) -> Iterator[Block]:
    """Yield the blocks of the job's dataset, and report the finished rows before the next one.

    Raises Superseded, Interrupted.
    """
    dataset_id: UUID = job.dataset_id
    dataset = attempt.records.retry(lambda tx: DatasetRepository(tx).get(job.owner, dataset_id))
    pace = Pace(PROGRESS_SECONDS)
    for first_row, block in attempt.blocks(dataset_id):
        yield block
        if pace.is_due():
            attempt.report(Progress(phase, first_row + block_rows(block), dataset.rows, "rows"))
