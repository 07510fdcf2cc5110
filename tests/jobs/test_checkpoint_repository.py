import numpy as np
import pytest
from sqlalchemy import Engine, update
from sqlalchemy.orm import Session

from app.database.transaction import OpenTransaction
from app.jobs.checkpoint_repository import CheckpointRepository
from app.jobs.records import Checkpoint, Claim
from app.jobs.repository import JobRepository
from app.jobs.tables import JobCheckpointRow, JobRow
from relevance_bayes.records.jobs import Progress
from tests import samples

HERE = "this program"


def checkpoint(value: float, *, by: str = HERE) -> Checkpoint:
    return Checkpoint(by, (None, np.array([value])))


def value_of(transaction: OpenTransaction, job_id: object, *, by: str = HERE) -> tuple[int, float] | None:
    with transaction() as tx:
        kept = CheckpointRepository(tx).find(job_id, by=by)  # type: ignore[arg-type]
    if kept is None:
        return None
    mark = kept.checkpoint.fit_log[1]
    assert isinstance(mark, np.ndarray)
    return kept.resumption.attempt, float(mark[0])


def test_the_newest_takes_the_place_of_the_one_before(transaction: OpenTransaction) -> None:
    job_id = samples.running_job(transaction)
    assert value_of(transaction, job_id) is None
    for value in (1.0, 2.0):
        with transaction() as tx:
            assert CheckpointRepository(tx).keep(job_id, 1, checkpoint(value))
        assert value_of(transaction, job_id) == (1, value)
    with transaction() as tx:
        JobRepository(tx).claim(job_id)
        assert CheckpointRepository(tx).keep(job_id, 2, checkpoint(3.0))
    assert value_of(transaction, job_id) == (2, 3.0)


def test_a_job_that_comes_further_each_time_is_not_given_up(transaction: OpenTransaction) -> None:
    job_id = samples.queued_job(transaction)
    for attempt in range(1, 7):
        with transaction() as tx:
            assert JobRepository(tx).claim(job_id) == Claim(attempt)
            CheckpointRepository(tx).keep(job_id, attempt, checkpoint(float(attempt)))
    for attempt in (7, 8):
        with transaction() as tx:
            assert JobRepository(tx).claim(job_id) == Claim(attempt)
    with transaction() as tx:
        assert JobRepository(tx).claim(job_id) == Claim(8, spent=True)


def test_the_death_of_an_attempt_is_recorded_once_with_its_progress_and_checkpoint(
    transaction: OpenTransaction,
) -> None:
    job_id = samples.running_job(transaction)
    recorded = []
    for _ in range(2):  # the outcome of the first commit may be unknown
        with transaction() as tx:
            recorded.append(JobRepository(tx).progress(job_id, 1, Progress("fit", 1, None, "rounds", share=0.3)))
            recorded.append(CheckpointRepository(tx).keep(job_id, 1, checkpoint(1.0)))
            JobRepository(tx).died(job_id, 1, "ended by signal 11")
    assert recorded == [True, True, False, False]
    with transaction() as tx:
        events = JobRepository(tx).events(samples.OWNER, job_id, limit=100, after=0)
        assert len([event for event in events if event.progress is not None]) == 1
        assert tx.session.get_one(JobRow, job_id).deaths == 1


def test_a_superseded_start_keeps_nothing(transaction: OpenTransaction) -> None:
    job_id = samples.running_job(transaction)
    with transaction() as tx:
        JobRepository(tx).claim(job_id)
        assert not CheckpointRepository(tx).keep(job_id, 1, checkpoint(1.0))
    assert value_of(transaction, job_id) is None


def test_another_program_finds_nothing(transaction: OpenTransaction) -> None:
    job_id = samples.running_job(transaction)
    with transaction() as tx:
        CheckpointRepository(tx).keep(job_id, 1, checkpoint(1.0))
    assert value_of(transaction, job_id, by="another") is None


def test_it_is_removed_with_the_end_of_its_job_and_not_kept_after_it(transaction: OpenTransaction) -> None:
    job_id = samples.running_job(transaction)
    with transaction() as tx:
        CheckpointRepository(tx).keep(job_id, 1, checkpoint(1.0))
        JobRepository(tx).fail(job_id, 1, samples.PROBLEM)
    assert value_of(transaction, job_id) is None
    with transaction() as tx:
        assert not CheckpointRepository(tx).keep(job_id, 1, checkpoint(2.0))


@pytest.mark.parametrize("damage", [b"", b"RLVC and no more"])
def test_one_that_can_not_be_read_is_none(transaction: OpenTransaction, engine: Engine, damage: bytes) -> None:
    job_id = samples.running_job(transaction)
    with transaction() as tx:
        CheckpointRepository(tx).keep(job_id, 1, checkpoint(1.0))
    with Session(engine) as session:
        session.execute(update(JobCheckpointRow).values(content=damage))
        session.commit()
    assert value_of(transaction, job_id) is None
