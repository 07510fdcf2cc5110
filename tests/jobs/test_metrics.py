"""The metrics of jobs from the database: what waits, what runs, and totals of what has ended."""

from datetime import timedelta

from app.database.transaction import OpenTransaction
from app.jobs.metrics import BUSY, DURATIONS, ENDED, JOBS, OLDEST, QUEUED, SLOTS, WORKERS, job_metrics
from app.jobs.records import JobEnded, WorkerUse
from app.jobs.repository import JobRepository
from app.jobs.statistics_repository import BOUNDS, TotalRepository, WorkerRepository
from app.metrics import Family
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


def test_workers_are_counted_by_what_they_do(transaction: OpenTransaction) -> None:
    with transaction() as tx:
        workers = WorkerRepository(tx)
        workers.record_heartbeat("unmeasured")
        workers.record_heartbeat("one", use=WorkerUse(slots=4, running=0, busy_seconds=0.0))
        workers.record_heartbeat("one", use=WorkerUse(slots=4, running=3, busy_seconds=7.5))
        workers.record_heartbeat("two", use=WorkerUse(slots=2, running=0, busy_seconds=1.0))
        workers.record_heartbeat("left", use=WorkerUse(slots=2, running=2, busy_seconds=1.0))
        workers.leave("left")
    numbers = found(transaction)
    assert [numbers[(WORKERS, (state,))] for state in ("busy", "idle", "silent")] == [(1,), (2,), (0,)]
    assert [numbers[(SLOTS, (state,))] for state in ("busy", "idle")] == [(3,), (3,)]
    assert {labels: value for (family, labels), value in numbers.items() if family == BUSY} == {
        ("one",): (7.5,),
        ("two",): (1.0,),
    }
    with transaction() as tx:
        late = {(one.family, one.labels): one.numbers for one in job_metrics(-1.0)(tx)}
    assert [late[(WORKERS, (state,))] for state in ("busy", "idle", "silent")] == [(0,), (0,), (3,)]
    assert [late[(SLOTS, (state,))] for state in ("busy", "idle")] == [(0,), (0,)]
