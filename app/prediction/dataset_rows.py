"""The rows of a dataset for a version: the columns that it reads, and those rows that it was trained on."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias
from uuid import UUID

import numpy as np

from app.database.transaction import Transaction
from app.datasets.records import Dataset
from app.datasets.repository import DatasetRepository
from app.errors import TrainingFailedError
from app.jobs.records import Job
from app.jobs.worker.attempts import JobAttempt, Pace
from app.prediction import ServedVersion
from app.prediction.served_versions import Stored, serve, stored
from app.prediction.usage_counts import Counts
from app.registry.records import Version
from app.registry.repository import ModelRepository
from relevance_bayes.core.types import Mask
from relevance_bayes.records.errors import Fault, InvalidRequestError, NotFoundError
from relevance_bayes.records.jobs import Progress
from relevance_bayes.records.values import ColumnKind
from relevance_bayes.tables.columns import Block, block_rows
from relevance_bayes.tasks.rows import Ranks, content_hash
from relevance_bayes.tasks.supervised.materialise import training_rows
from relevance_bayes.tasks.supervised.report import SupervisedReport
from relevance_bayes.tasks.supervised.request import SupervisedPlan


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


KEY_SEED = 0


@dataclass(frozen=True, eq=False)
class _TrainingRows:
    """The keys (N,), sorted, of the rows that a version was trained on: a hash of their inputs and target."""

    names: tuple[str, ...]
    keys: Ranks

    def mask(self, block: Block) -> Mask:
        """Which rows (N,) of a block are among them."""
        return np.isin(content_hash(block, self.names, KEY_SEED), self.keys)


KnownRows: TypeAlias = _TrainingRows | None
"""None where they are not known: the version was imported, or its training dataset is deleted."""


def training_rows_of(attempt: JobAttempt, job: Job, version: Version) -> KnownRows:
    """The rows that a version of the job's model was trained on, from its dataset and its split.

    Raises Superseded, Interrupted.
    """
    report = version.report
    if not isinstance(report, SupervisedReport) or report.imported is not None:
        return None
    dataset = attempt.records.retry(partial(_dataset, job.owner, report))
    if dataset is None or dataset.digest != report.dataset_digest:
        return None
    names = _names(report.plan)
    blocks = training_rows(report.plan, lambda: attempt.blocks(report.dataset_id))
    try:
        found = [content_hash(block, names, KEY_SEED) for block in blocks]
    except TrainingFailedError:  # the dataset was deleted while it was read
        return None
    keys = np.concatenate(found) if found else np.empty(0, np.uint64)
    # Fewer where the dataset was deleted while it was read.
    return _TrainingRows(names, np.unique(keys)) if len(keys) == report.rows else None


def seen_rows(block: Block, *versions: KnownRows) -> Mask:
    """Which rows (N,) of a block at least one of the versions was trained on, as far as that is known."""
    seen = np.zeros(block_rows(block), np.bool_)
    for rows in versions:
        if rows is not None:
            seen |= rows.mask(block)
    return seen


def _names(plan: SupervisedPlan) -> tuple[str, ...]:
    return (plan.target, *(column.name for column in plan.inputs))


def _dataset(owner: str, report: SupervisedReport, tx: Transaction) -> Dataset | None:
    try:
        return DatasetRepository(tx).get(owner, report.dataset_id)
    except NotFoundError:
        return None
