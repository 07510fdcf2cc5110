"""The rows that a version was trained on, recognised in another dataset by the values of their inputs and target."""

from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy as np

from app.database.transaction import Transaction
from app.datasets.records import Dataset
from app.datasets.repository import DatasetRepository
from app.errors import TrainingFailedError
from app.jobs.records import Job
from app.jobs.worker.attempts import JobAttempt
from app.registry.records import Version
from relevance_bayes.core.types import Mask
from relevance_bayes.records.errors import NotFoundError
from relevance_bayes.tables.columns import Block, block_rows
from relevance_bayes.tasks.rows import Ranks, content_hash
from relevance_bayes.tasks.supervised.materialise import training_rows
from relevance_bayes.tasks.supervised.report import SupervisedReport
from relevance_bayes.tasks.supervised.request import SupervisedPlan

KEY_SEED = 0


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """The keys (N,), sorted, of the rows that a version was trained on: a hash of their inputs and target."""

    names: tuple[str, ...]
    keys: Ranks

    def mask(self, block: Block) -> Mask:
        """Which rows (N,) of a block are among them."""
        return np.isin(content_hash(block, self.names, KEY_SEED), self.keys)


KnownRows: TypeAlias = TrainingRows | None
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
    return TrainingRows(names, np.unique(keys)) if len(keys) == report.rows else None


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
