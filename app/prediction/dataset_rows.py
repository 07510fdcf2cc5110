"""Plans about a version, the columns that it reads of a dataset, and its rows with reports of progress."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from uuid import UUID

from app.database.transaction import Transaction
from app.datasets.records import Dataset
from app.datasets.repository import DatasetRepository
from app.jobs.records import Job
from app.jobs.worker.attempts import JobAttempt, Pace
from app.prediction import ServedVersion
from app.prediction.serving import Stored, serve, stored
from app.prediction.usage_counts import Counts
from app.registry.records import Version
from app.registry.repository import ModelRepository
from relevance_bayes.records.errors import Fault, InvalidRequestError
from relevance_bayes.records.jobs import Progress
from relevance_bayes.records.values import ColumnKind
from relevance_bayes.tables.columns import Block, block_rows


@dataclass(frozen=True)
class VersionPlan:
    """A request, resolved to the number of a version."""

    model: str
    version: int


def refuse_unfit(
    required: Mapping[str, ColumnKind], dataset: Dataset, *, optional: Mapping[str, ColumnKind] | None = None
) -> None:
    """Raises InvalidRequestError unless a dataset has the columns that a version reads, as the kinds that they are."""
    known = {column.name: column.kind for column in dataset.columns}
    there = {name: kind for name, kind in (optional or {}).items() if name in known}
    faults = [Fault(detail, pointer="/dataset_id") for detail in _unfit({**required, **there}, known)]
    if faults:
        more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
        raise InvalidRequestError(f"{faults[0].detail.removesuffix('.')}{more}.", faults)


def _unfit(required: Mapping[str, ColumnKind], known: Mapping[str, ColumnKind]) -> Iterator[str]:
    for name, kind in required.items():
        if name not in known:
            yield f"The dataset has no column {name!r}, which the version reads."
        elif known[name] != kind:
            yield f"Column {name!r} of the dataset is of kind {known[name]}, the version's is {kind}."


PROGRESS_SECONDS = 1.0


def version_at_hand(attempt: JobAttempt, job: Job, number: int) -> ServedVersion:
    """Return a loaded version of the job's model; raises Interrupted."""

    def read(tx: Transaction) -> tuple[Version, Stored]:
        version = ModelRepository(tx).version(job.owner, job.for_model, number)
        return version, stored(tx, version)

    version, kept = attempt.records.retry(read)
    return serve(version, kept, Counts())


def reported_blocks(attempt: JobAttempt, job: Job, *, phase: str) -> Iterator[Block]:
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
