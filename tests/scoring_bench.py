"""A scorer on a real database, with versions that were not learned."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from threading import Event
from uuid import UUID

import numpy as np
import pytest
from sqlalchemy import Engine

from app.database.transaction import OpenTransaction, now, open_transactions
from app.datasets.ingest import Ingest
from app.datasets.records import Dataset
from app.evaluation.runner import Scorer
from app.evaluation.service import EvaluationService, JudgingRequest
from app.formats.streams import TableStream
from app.jobs.records import Job
from app.jobs.service import JobService
from app.jobs.worker.attempts import Records
from app.registry.repository import ModelRepository
from app.webhooks.repository import SUBSCRIBERS
from relevance_bayes.core.types import Indices
from relevance_bayes.records.evaluations import EvaluationRequest
from relevance_bayes.records.values import ColumnKind
from relevance_bayes.tables.columns import (
    Block,
    BooleanArray,
    CategoryArray,
    Column,
    NumberArray,
    TimestampArray,
    block_rows,
)
from relevance_bayes.tasks.union import NewVersion
from tests.doubles.queue import ListedQueue, RecordingQueue
from tests.small_models import small_version

OWNER = "ada"
ROWS = 12


def table() -> Block:
    """Twelve rows, of which one has no target and one an input that is not there."""
    draw = np.random.default_rng(3)
    x, y = draw.normal(size=ROWS), draw.normal(10.0, 2.0, ROWS)
    x[1], y[4] = np.nan, np.nan
    colours = draw.integers(0, 2, ROWS).astype(np.int32)
    return {"x": NumberArray(x), "colour": CategoryArray(colours, ("red", "blue")), "y": NumberArray(y)}


def pieces(block: Block, rows: int = 5) -> Iterator[Block]:
    """The same in blocks."""
    for first in range(0, block_rows(block), rows):
        places = np.arange(first, min(first + rows, block_rows(block)))
        yield {name: _selected(column, places) for name, column in block.items()}


def _selected(column: Column, rows: Indices) -> Column:
    match column:
        case CategoryArray():
            return replace(column, codes=column.codes[rows])
        case BooleanArray():
            return replace(column, values=column.values[rows])
        case NumberArray() | TimestampArray():
            return replace(column, values=column.values[rows])


@dataclass
class Bench:
    """A scorer on a real database with a version of `small`."""

    transaction: OpenTransaction
    stopping: Event
    run: Scorer

    def dataset(self, block: Block, *, target: ColumnKind = "number") -> Dataset:
        kinds: tuple[ColumnKind, ...] = ("number", "category", target)
        return (
            Ingest(self.transaction, now)
            .receive(OWNER, "things", TableStream(names=tuple(block), kinds=kinds, blocks=pieces(block)))
            .dataset
        )

    def version(self, made: NewVersion) -> None:
        with self.transaction() as tx:
            ModelRepository(tx).add(OWNER, made)

    def queued(self, request: JudgingRequest) -> UUID:
        return EvaluationService(self.transaction, now).submit(OWNER, request).id

    def evaluation(self, block: Block | None = None) -> UUID:
        dataset = self.dataset(table() if block is None else block)
        return self.queued(EvaluationRequest(dataset.id, "small"))

    def look(self, job_id: UUID) -> Job:
        return JobService(self.transaction, RecordingQueue()).get(OWNER, job_id)


@pytest.fixture
def bench(engine: Engine) -> Bench:
    transaction, stopping = open_transactions(engine, ListedQueue, subscribers=SUBSCRIBERS), Event()
    bench = Bench(transaction, stopping, Scorer(Records(transaction, stopping), "this program"))
    bench.version(small_version())
    return bench
