"""The metrics of jobs from the database: what waits, what runs, and totals of what has ended."""

from datetime import timedelta

from app.database.transaction import OpenTransaction
from app.jobs.metrics import DURATIONS, ENDED, JOBS, OLDEST, QUEUED, WORKERS, job_metrics
from app.jobs.records import JobEnded
from app.jobs.repository import JobRepository
from app.jobs.total_repository import BOUNDS, TotalRepository
from app.jobs.worker_repository import WorkerRepository
from app.metrics.families import Family
from app.registry.submission import submit
from tests import samples


def found(transaction: OpenTransaction) -> dict[tuple[Family, tuple[str, ...]], tuple[float, ...]]:
    with transaction() as tx:
        return {(one.family, one.labels): one.numbers for one in job_metrics(7.0)(tx)}


def test_a_job_moves_from_its_queue_to_its_outcome(transaction: OpenTransaction) -> None:
    job = samples.new_job(samples.stored_dataset(transaction).id)
    with transaction() as tx:
        submit(tx, job)
    queued = found(transaction)
    assert queued[(JOBS, ("training", "queued"))] == queued[(QUEUED, ("training",))] == (1,)
    assert queued[(OLDEST, ("training",))] > (0,)
    assert queued[(OLDEST, ("scoring",))] == (0,)
    with transaction() as tx:
        assert JobRepository(tx).claim(job.id) is not None
    running = found(transaction)
    assert running[(JOBS, ("training", "running"))] == (1,)
    assert running[(QUEUED, ("training",))] == running[(ENDED, ("training", "cancelled"))] == (0,)
    with transaction() as tx:
        assert JobRepository(tx).cancelled(job.id, 1)
    ended = found(transaction)
    assert ended[(JOBS, ("training", "running"))] == (0,)
    assert ended[(ENDED, ("training", "cancelled"))] == (1,)
    *counts, seconds = ended[(DURATIONS, ("training",))]
    assert (sum(counts), seconds) == (1, 1.0)  # the clock went on by one second in between


def test_a_job_that_never_started_has_no_duration(transaction: OpenTransaction) -> None:
    job = samples.new_job(samples.stored_dataset(transaction).id)
    with transaction() as tx:
        submit(tx, job)
    with transaction() as tx:
        JobRepository(tx).request_cancel(samples.OWNER, job.id)
    ended = found(transaction)
    assert ended[(ENDED, ("training", "cancelled"))] == (1,)
    assert not any(ended[(DURATIONS, ("training",))])


def test_durations_count_in_their_buckets(transaction: OpenTransaction) -> None:
    job = samples.new_job(samples.stored_dataset(transaction).id)
    durations = (0.1, 0.2, 5.0, 5.5, BOUNDS[-1] + 1, -3.0)
    for state in ("succeeded", "failed"):
        with transaction() as tx:
            for seconds in durations:
                began = samples.AT - timedelta(seconds=seconds)
                ended = JobEnded(job.id, samples.OWNER, "evaluation", state, samples.AT, began)
                TotalRepository(tx).add(ended)
    numbers = found(transaction)
    *counts, seconds = numbers[(DURATIONS, ("evaluation",))]
    expected = dict.fromkeys((*BOUNDS, None), 0) | {0.1: 4, 0.25: 2, 5.0: 2, 10.0: 2, None: 2}
    assert counts == list(expected.values())
    assert abs(seconds - 2 * sum(durations[:-1])) < 1e-6
    assert numbers[(ENDED, ("evaluation", "failed"))] == numbers[(ENDED, ("evaluation", "succeeded"))] == (6,)


def test_totals_outlive_their_jobs(transaction: OpenTransaction) -> None:
    job = samples.new_job(samples.stored_dataset(transaction).id)
    with transaction() as tx:
        TotalRepository(tx).add(JobEnded(job.id, samples.OWNER, "promotion", "failed", samples.AT, samples.AT))
    assert found(transaction)[(ENDED, ("promotion", "failed"))] == (1,)


def test_workers_are_those_with_a_recent_heartbeat_that_have_not_left(transaction: OpenTransaction) -> None:
    with transaction() as tx:
        for executor in ("one", "two", "three"):
            WorkerRepository(tx).record_heartbeat(executor)
        WorkerRepository(tx).leave("two")
    assert found(transaction)[(WORKERS, ())] == (2,)
