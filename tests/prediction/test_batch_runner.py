"""Batch predictions on a real database, with versions that were not learned."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from threading import Event
from uuid import UUID

import numpy as np
import pytest
from sqlalchemy import Engine

from app.database.transaction import OpenTransaction, Transaction, now, open_transactions
from app.datasets.ingest import Ingest
from app.errors import ConflictError, GoneError
from app.evaluation.runner import Scorer
from app.formats import BATCH_FORMATS, named
from app.formats.streams import FlatTable, TableStream, errors_by_row, faulty_rows
from app.jobs.records import Job
from app.jobs.service import JobService
from app.jobs.worker.attempts import Records
from app.prediction import PredictRequest, predict
from app.prediction import batch_runner as under_test
from app.prediction.batch_jobs import PREDICTION, RESULT, BatchPredictionService
from app.prediction.result_repository import ResultRepository
from app.prediction.served_versions import ServedVersions
from app.registry.repository import ModelRepository
from relevance_bayes.records.batch_predictions import BatchPredicted, BatchPredictionIn
from relevance_bayes.records.errors import InvalidRequestError, NotFoundError
from relevance_bayes.tables.columns import Block, CategoryArray, NumberArray, block_rows, taken
from tests.doubles.queue import ListedQueue, RecordingQueue
from tests.formats.flat import Flat
from tests.narrowing import of_kind
from tests.served_versions import served
from tests.small_models import small_version
from tests.table_files import FILES, table_of

OWNER = "ada"
HERE = "this program"
ROWS = 23
FAR = 7


class Killed(BaseException):
    """Raised by a start that dies."""


def table(*, far: bool = True) -> Block:
    """Rows of which one has an input too far from the training data."""
    draw = np.random.default_rng(3)
    x = draw.normal(size=ROWS)
    if far:
        x[FAR] = 1e300
    colours = draw.integers(0, 2, ROWS).astype(np.int32)
    return {
        "id": NumberArray(np.arange(ROWS, dtype=np.float64)),
        "x": NumberArray(x),
        "colour": CategoryArray(colours, ("red", "blue")),
    }


def blocks(block: Block) -> Iterator[Block]:
    for first in range(0, block_rows(block), 10):
        yield {name: taken(column, slice(first, first + 10)) for name, column in block.items()}


@dataclass
class Bench:
    """A scorer on a real database with a version of `small`, and a client of its files."""

    transaction: OpenTransaction
    stopping: Event

    @property
    def batches(self) -> BatchPredictionService:
        return BatchPredictionService(self.transaction, ServedVersions(self.transaction, 10**6), now)

    def dataset(self, block: Block | None = None) -> UUID:
        made = (
            Ingest(self.transaction, now)
            .receive(
                OWNER,
                "things",
                TableStream(
                    names=("id", "x", "colour"),
                    kinds=("number", "number", "category"),
                    blocks=blocks(table() if block is None else block),
                ),
            )
            .dataset
        )
        return made.id

    def queued(self, coded: str = "csv", dataset: UUID | None = None) -> UUID:
        dataset = self.dataset() if dataset is None else dataset
        return self.batches.submit(
            OWNER, BatchPredictionIn(dataset_id=dataset, model="small", format=coded, keep=("id",))
        ).id

    def run(self, job_id: UUID, *, by: str = HERE) -> bool:
        return Scorer(Records(self.transaction, self.stopping), by)(job_id)

    def killed(self, job_id: UUID, *, after: int) -> bool:
        """Return whether a run died at its commit of this number, counted from 0."""
        left = after

        @contextmanager
        def opened() -> Iterator[Transaction]:
            nonlocal left
            if left == 0:
                raise Killed
            left -= 1
            with self.transaction() as tx:
                yield tx

        try:
            Scorer(Records(opened, self.stopping), HERE)(job_id)
        except Killed:
            return True
        return False

    def look(self, job_id: UUID) -> Job:
        return JobService(self.transaction, RecordingQueue()).get(OWNER, job_id)

    def file(self, job_id: UUID) -> bytes:
        _, size = self.batches.size(OWNER, job_id)
        content = b"".join(self.batches.content(job_id, 0, size - 1))
        assert len(content) == size
        return content


@pytest.fixture
def bench(engine: Engine) -> Bench:
    bench = Bench(open_transactions(engine, ListedQueue), Event())
    with bench.transaction() as tx:
        ModelRepository(tx).add(OWNER, small_version())
    return bench


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of four rows, in pieces of 400 bytes."""
    monkeypatch.setattr(under_test, "MAX_CELLS_AT_ONCE", 4 * 11)
    monkeypatch.setattr(under_test, "MAX_BYTES_OF_A_PIECE", 400)


@pytest.mark.usefixtures("small_parts")
def test_formulas_in_a_file_of_csv_are_escaped_where_that_is_requested(bench: Bench) -> None:
    """The texts and names of columns that are kept; the small version's numbers stay."""
    notes = CategoryArray(np.zeros(ROWS, np.int32), ("=1+1",))
    block = {**table(far=False), "-note": notes, "@id": NumberArray(-np.arange(ROWS, dtype=np.float64))}
    made = (
        Ingest(bench.transaction, now)
        .receive(
            OWNER,
            "things",
            TableStream(
                names=tuple(block), kinds=("number", "number", "category", "category", "number"), blocks=blocks(block)
            ),
        )
        .dataset
    )
    plain, safe = (
        BatchPredictionIn(
            dataset_id=made.id, model="small", keep=("-note", "@id"), outputs=("mean",), csv_escape_formulas=escapes
        )
        for escapes in (False, True)
    )
    lines = []
    for request in (plain, safe):
        job_id = bench.batches.submit(OWNER, request).id
        assert bench.run(job_id)
        lines.append(bench.file(job_id).splitlines())
    assert lines[0][0] == b'"-note","@id","mean","error"'
    assert lines[1][0] == b'"\'-note","\'@id","mean","error"'
    assert lines[1][1:] == [line.replace(b"=1+1", b"'=1+1") for line in lines[0][1:]]
    assert lines[1][2].startswith((b"'=1+1,-1,", b'"\'=1+1",-1,'))


@pytest.mark.thorough
@pytest.mark.parametrize("coded", FILES)
@pytest.mark.usefixtures("small_parts")
def test_a_file_holds_what_a_predict_call_returns_and_the_columns_kept_before_it(bench: Bench, coded: str) -> None:
    job_id = bench.queued(coded)
    assert bench.run(job_id)
    job = bench.look(job_id)
    assert job.state == "succeeded"
    made = of_kind(BatchPredicted, RESULT.read_optional(job.result))
    content = bench.file(job_id)
    assert made == BatchPredicted(ROWS, 1, len(content))
    version = served(small_version())
    found = predict(version, PredictRequest(table()))
    columns = found.columns(("mean", "sd", "variance", "interval", "support"))
    reported = FlatTable(columns, faulty_rows(ROWS, found.faults), errors_by_row(found.faults), {})
    pieces = named(BATCH_FORMATS, coded).write(Flat(reported))
    kept = table_of(coded, content)
    assert kept.column("id").to_pylist() == [*range(ROWS)]
    assert kept.drop_columns(["id"]).equals(table_of(coded, b"".join(pieces)))
    assert kept.column_names == [*PREDICTION.read(job)[1].columns]
    assert job.progress is not None
    assert (job.progress.total, job.progress.unit) == (ROWS, "rows")


@pytest.mark.thorough
@pytest.mark.parametrize("coded", FILES)
@pytest.mark.usefixtures("small_parts")
def test_a_start_that_dies_is_continued_to_the_same_bytes(bench: Bench, coded: str) -> None:
    dataset = bench.dataset()
    full, broken = bench.queued(coded, dataset), bench.queued(coded, dataset)
    assert bench.run(full)
    deaths = [bench.killed(broken, after=commits) for commits in (12, 17, 19, 22, 25)]
    assert sum(deaths) > 2
    assert bench.run(broken)
    assert bench.look(broken).attempt > 3
    assert bench.file(broken) == bench.file(full)


@pytest.mark.usefixtures("small_parts")
def test_rows_that_were_predicted_are_not_predicted_again(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    job_id, requested = bench.queued(), 0
    assert bench.killed(job_id, after=17)

    def counting(*arguments: object) -> object:
        nonlocal requested
        requested += 1
        return predict(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(under_test, "predict", counting)
    assert bench.run(job_id)
    job = bench.look(job_id)
    assert (job.state, job.attempt) == ("succeeded", 2)
    assert 0 < requested < 7
    assert job.resumed_from is not None
    assert job.resumed_from.attempt == 1


@pytest.mark.usefixtures("small_parts")
def test_another_program_begins_anew(bench: Bench) -> None:
    job_id = bench.queued()
    assert bench.killed(job_id, after=17)
    assert bench.run(job_id, by="another")
    assert bench.look(job_id).resumed_from is None
    other = bench.queued()
    assert bench.run(other)
    assert bench.file(job_id) == bench.file(other)


def test_a_bad_row_ends_the_job_where_it_is_to_be_refused(bench: Bench) -> None:
    request = BatchPredictionIn(dataset_id=bench.dataset(), model="small", on_error="fail")
    job_id = bench.batches.submit(OWNER, request).id
    assert bench.run(job_id)
    job = bench.look(job_id)
    assert job.state == "failed"
    assert job.error is not None
    assert (job.error.kind, [(fault.row, fault.column) for fault in job.error.faults]) == (
        "unanswerable-rows",
        [(FAR, "x")],
    )
    with pytest.raises(ConflictError, match="failed"):
        bench.batches.size(OWNER, job_id)


def test_sound_rows_need_no_column_of_errors_where_these_are_refused(bench: Bench) -> None:
    request = BatchPredictionIn(
        dataset_id=bench.dataset(table(far=False)), model="small", on_error="fail", outputs=("mean",)
    )
    job_id = bench.batches.submit(OWNER, request).id
    assert bench.run(job_id)
    assert table_of("csv", bench.file(job_id)).column_names == ["mean"]


def test_some_bytes_of_a_file_are_those_of_the_whole(bench: Bench, small_parts: None) -> None:
    job_id = bench.queued()
    assert bench.run(job_id)
    full = bench.file(job_id)
    for first, last in ((0, 0), (99, 100), (150, 450), (len(full) - 1, len(full) - 1)):
        assert b"".join(bench.batches.content(job_id, first, last)) == full[first : last + 1]


def test_a_job_that_was_cancelled_writes_no_more(bench: Bench) -> None:
    job_id = bench.queued()
    assert bench.killed(job_id, after=6)
    JobService(bench.transaction, RecordingQueue()).cancel(OWNER, job_id)
    assert bench.run(job_id)
    assert bench.look(job_id).state == "cancelled"
    with pytest.raises(ConflictError, match="cancelled"):
        bench.batches.size(OWNER, job_id)


def test_a_worker_that_is_to_stop_hands_it_back(bench: Bench) -> None:
    job_id = bench.queued()
    bench.stopping.set()
    assert not bench.run(job_id)
    bench.stopping.clear()
    assert bench.run(job_id)
    assert bench.look(job_id).state == "succeeded"


def test_a_removed_file_is_not_found_and_neither_is_a_job(bench: Bench) -> None:
    job_id = bench.queued()
    with pytest.raises(ConflictError, match="queued"):
        bench.batches.size(OWNER, job_id)
    with pytest.raises(ConflictError, match="queued"):
        bench.batches.remove(OWNER, job_id)
    assert bench.run(job_id)
    with bench.transaction() as tx:
        ResultRepository(tx).forget(job_id)
    with pytest.raises(GoneError):
        bench.batches.size(OWNER, job_id)
    with pytest.raises(GoneError):
        [*bench.batches.content(job_id, 0, 9)]
    bench.batches.remove(OWNER, job_id)
    with pytest.raises(NotFoundError):
        bench.look(job_id)


@pytest.mark.parametrize(
    ("changed", "pointer"),
    [
        ({"keep": ("size",)}, "/keep/0"),
        ({"keep": ("id", "id")}, "/keep/1"),
        ({"outputs": ("probabilities",)}, "/outputs/0"),
        ({"components": 2}, "/components"),
    ],
)
def test_what_can_not_be_written_is_refused_before_it_is_queued(
    bench: Bench, changed: dict[str, object], pointer: str
) -> None:
    request = replace(BatchPredictionIn(dataset_id=bench.dataset(), model="small"), **changed)  # type: ignore[arg-type]
    with pytest.raises(InvalidRequestError) as refused:
        bench.batches.submit(OWNER, request)
    assert [fault.pointer for fault in refused.value.faults] == [pointer]
