"""A worker that dies in the middle of a batch prediction: another one goes on, and the file is the same."""

import os
import signal
from collections.abc import Iterator

import numpy as np

from app.formats.streams import TableStream
from app.identity import BUILT_IN_OWNER
from app.jobs.records import Job
from app.prediction.batch_jobs import RESULT
from app.prediction.result_repository import ResultRepository
from app.registry.repository import ModelRepository
from relevance_bayes.records.batch_predictions import BatchPredicted, BatchPredictionIn
from relevance_bayes.tables.columns import Block, CategoryArray, NumberArray
from tests.faults.conftest import AS_SHIPPED, MakePlace, Place
from tests.narrowing import of_kind
from tests.small_models import small_version
from tests.waiting import until

ROWS, ROWS_OF_A_BLOCK = 60_000, 2_000


def blocks() -> Iterator[Block]:
    draws = np.random.default_rng(0)
    for first in range(0, ROWS, ROWS_OF_A_BLOCK):
        yield {
            "id": NumberArray(np.arange(first, first + ROWS_OF_A_BLOCK, dtype=np.float64)),
            "x": NumberArray(draws.normal(size=ROWS_OF_A_BLOCK)),
            "colour": CategoryArray(draws.integers(0, 2, ROWS_OF_A_BLOCK).astype(np.int32), ("red", "blue")),
        }


def file_of(place: Place, job: Job) -> bytes:
    _, size = place.parts.batch_predictions.size(BUILT_IN_OWNER, job.id)
    return b"".join(place.parts.batch_predictions.content(job.id, 0, size - 1))


def test_what_a_killed_worker_has_written_is_continued_to_the_same_bytes(make_place: MakePlace) -> None:
    place = make_place()
    transaction = place.parts.base.transaction
    with transaction() as tx:
        ModelRepository(tx).add(BUILT_IN_OWNER, small_version())
    dataset = place.parts.ingest.receive(
        BUILT_IN_OWNER,
        "things",
        TableStream(names=("id", "x", "colour"), kinds=("number", "number", "category"), blocks=blocks()),
    ).dataset
    request = BatchPredictionIn(dataset_id=dataset.id, model="small", format="parquet", keep=("id",))
    job = place.parts.batch_predictions.submit(BUILT_IN_OWNER, request)

    def rows() -> int:
        with transaction() as tx:
            kept = ResultRepository(tx).find(job.id)
        return 0 if kept is None else kept.reached.rows

    worker = place.start_worker(AS_SHIPPED)
    until(lambda: rows() > 0, seconds=30)
    os.kill(worker.pid, signal.SIGKILL)
    worker.wait()
    written = rows()
    assert 0 < written < ROWS
    place.start_worker(AS_SHIPPED)
    ended = place.ended(job, seconds=60)
    assert (ended.state, ended.attempt) == ("succeeded", 2)
    assert ended.resumed_from is not None
    assert of_kind(BatchPredicted, RESULT.read_optional(ended.result)).rows == ROWS
    full = place.parts.batch_predictions.submit(BUILT_IN_OWNER, request)
    assert place.ended(full, seconds=60).attempt == 1
    assert file_of(place, job) == file_of(place, full)
