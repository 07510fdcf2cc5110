"""Jobs that score, on a real database, with versions that were not learned."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from threading import Event
from uuid import UUID

import numpy as np
import pytest
from sqlalchemy import Engine

from app.domain.datasets import Dataset
from app.domain.jobs import Job
from app.domain.models import NewVersion
from app.domain.ports import OpenUnitOfWork
from app.domain.requests import EvaluationRequest
from app.domain.scoring import ClassResult, Evaluation, JudgedNumbers, NumberResult, NumberScores
from app.domain.starts import MOST_STARTS, Claim
from app.domain.tables import (
    Block,
    BooleanColumn,
    CategoryColumn,
    Column,
    ColumnKind,
    NumberColumn,
    TimestampColumn,
    block_rows,
)
from app.services.answering import judge
from app.services.ingest import Ingest
from app.services.jobs import Jobs
from app.services.scoring import Scoring
from app.storage.unit_of_work import now, unit_of_work
from app.worker.attempts import Records
from app.worker.scoring.run import Scorer
from tests.narrowing import of_kind
from tests.ports.queue import ListedQueue
from tests.services.in_memory import InMemoryQueue
from tests.services.small_models import small_version
from tests.services.test_answering import served

OWNER = "ada"
ROWS = 12


def table() -> Block:
    """Twelve rows, of which one has no target and one an input that is not there."""
    draw = np.random.default_rng(3)
    x, y = draw.normal(size=ROWS), draw.normal(10.0, 2.0, ROWS)
    x[1], y[4] = np.nan, np.nan
    colours = draw.integers(0, 2, ROWS).astype(np.int32)
    return {"x": NumberColumn(x), "colour": CategoryColumn(colours, ("red", "blue")), "y": NumberColumn(y)}


def pieces(block: Block, rows: int = 5) -> Iterator[Block]:
    """The same in blocks."""
    for first in range(0, block_rows(block), rows):
        yield {name: _taken(column, slice(first, first + rows)) for name, column in block.items()}


def _taken(column: Column, rows: slice[int, int]) -> Column:
    match column:
        case CategoryColumn():
            return replace(column, codes=column.codes[rows])
        case BooleanColumn():
            return replace(column, values=column.values[rows])
        case NumberColumn() | TimestampColumn():
            return replace(column, values=column.values[rows])


@dataclass
class Bench:
    """A scorer on a real database with a version of `small`."""

    open_uow: OpenUnitOfWork
    stopping: Event
    run: Scorer

    def dataset(self, block: Block, *, target: ColumnKind = "number") -> Dataset:
        kinds: tuple[ColumnKind, ...] = ("number", "category", target)
        return Ingest(self.open_uow, now).receive(
            OWNER, "things", names=tuple(block), kinds=kinds, blocks=pieces(block)
        )

    def version(self, made: NewVersion) -> None:
        with self.open_uow() as uow:
            uow.models.add(OWNER, made)

    def evaluation(self, block: Block | None = None) -> UUID:
        dataset = self.dataset(table() if block is None else block)
        return Scoring(self.open_uow, now).submit(OWNER, EvaluationRequest(dataset.id, "small")).id

    def look(self, job_id: UUID) -> Job:
        return Jobs(self.open_uow, InMemoryQueue()).get(OWNER, job_id)


@pytest.fixture
def bench(engine: Engine) -> Bench:
    open_uow, stopping = unit_of_work(engine, ListedQueue), Event()
    bench = Bench(open_uow, stopping, Scorer(Records(open_uow, stopping)))
    bench.version(small_version())
    return bench


def test_an_evaluation_tells_what_all_rows_together_are_worth(bench: Bench) -> None:
    job_id = bench.evaluation()
    assert bench.run(job_id)
    job = bench.look(job_id)
    found = of_kind(Evaluation, job.result)
    figures = of_kind(NumberResult, found.figures)
    assert (job.state, job.kind, figures.rows, found.without_target, found.unanswered) == (
        "succeeded",
        "evaluation",
        ROWS - 2,
        1,
        1,
    )
    (judged,) = judge(served(small_version()), table()).judged
    whole = NumberScores.of(of_kind(JudgedNumbers, judged)).result()
    assert (figures.rmse, figures.nll) == pytest.approx((whole.rmse, whole.nll))
    assert figures.standardised == whole.standardised
    assert job.progress is not None
    assert (job.progress.phase, job.progress.total, job.progress.unit) == ("evaluate", ROWS, "rows")


def test_it_runs_once(bench: Bench) -> None:
    job_id = bench.evaluation()
    assert bench.run(job_id)
    first = bench.look(job_id)
    assert bench.run(job_id)
    assert bench.look(job_id) == first


def test_classes_have_figures_of_their_own(bench: Bench) -> None:
    bench.version(small_version("classification", name="classes"))
    labels = BooleanColumn(np.array([0, 1] * (ROWS // 2), np.int8))
    dataset = bench.dataset({**table(), "y": labels}, target="boolean")
    job_id = Scoring(bench.open_uow, now).submit(OWNER, EvaluationRequest(dataset.id, "classes", 1)).id
    assert bench.run(job_id)
    figures = of_kind(ClassResult, of_kind(Evaluation, bench.look(job_id).result).figures)
    assert (figures.rows, figures.classes, figures.unknown) == (ROWS - 1, (False, True), 0)
    assert sum(map(sum, figures.confusion)) == ROWS - 1


def test_a_cancelled_one_ends_without_a_result(bench: Bench) -> None:
    job_id = bench.evaluation()
    with bench.open_uow() as uow:
        assert uow.jobs.claim(job_id) == Claim(1)
        uow.jobs.request_cancel(OWNER, job_id)
    assert bench.run(job_id)
    job = bench.look(job_id)
    assert (job.state, job.result) == ("cancelled", None)


def test_a_worker_that_stops_hands_it_back(bench: Bench) -> None:
    job_id = bench.evaluation()
    bench.stopping.set()
    assert not bench.run(job_id)
    assert bench.look(job_id).state == "queued"
    bench.stopping.clear()
    assert bench.run(job_id)
    assert bench.look(job_id).attempt == 1


def test_one_whose_workers_died_each_time_fails(bench: Bench) -> None:
    job_id = bench.evaluation()
    for number in range(MOST_STARTS):
        with bench.open_uow() as uow:
            assert uow.jobs.claim(job_id) == Claim(number + 1)
    assert bench.run(job_id)
    job = bench.look(job_id)
    assert job.error is not None
    assert (job.state, job.error.kind) == ("failed", "worker-died")


def test_a_start_that_another_one_took_over_from_records_nothing(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    job_id = bench.evaluation()

    def overtaken(*_: object, **__: object) -> object:
        with bench.open_uow() as uow:
            assert uow.jobs.claim(job_id) == Claim(2)
        return judge(served(small_version()), table())

    monkeypatch.setattr("app.worker.scoring.evaluate.judge", overtaken)
    assert not bench.run(job_id)
    job = bench.look(job_id)
    assert (job.state, job.attempt, job.result) == ("running", 2, None)
