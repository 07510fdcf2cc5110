"""A job may run for so many seconds, in all its starts together; nothing else counts."""

from dataclasses import replace
from functools import partial

import pytest

from app.jobs.repository import JobRepository
from app.jobs.worker.attempts import RECORD_SECONDS, Records, RunningTime
from app.tasks.runner import Runner
from tests.jobs.worker import trainers
from tests.jobs.worker.bench import Bench, Running
from tests.waiting import until

STARTS = 3


def limited(bench: Bench, seconds: float) -> Runner:
    """The bench's runner with a limit of so many seconds."""
    records = bench.run.records
    return replace(bench.run, records=Records(records.transaction, records.stopping, seconds))


def test_a_fit_that_runs_for_longer_than_the_limit_fails_as_timed_out(bench: Bench) -> None:
    job_id = bench.queued(trainers.endless)
    assert limited(bench, 0.5)(job_id)
    job = bench.look(job_id)
    assert job.error is not None
    assert (job.state, job.attempt, job.error.kind) == ("failed", 1, "timed-out")
    assert "RELEVANCE_JOB_TIMEOUT_SECONDS" in job.error.detail


def test_a_fit_that_holds_the_interpreter_is_ended_too(bench: Bench) -> None:
    job_id = bench.queued(trainers.stuck)
    running = Running(limited(bench, 0.5), job_id)
    assert running.ended(seconds=10.0)
    job = bench.look(job_id)
    assert job.error is not None
    assert job.error.kind == "timed-out"


@pytest.mark.thorough
def test_the_seconds_of_starts_that_were_interrupted_are_added_up(bench: Bench) -> None:
    job_id = bench.queued(trainers.endless)

    def has_attempt(number: int) -> bool:
        return bench.look(job_id).attempt == number

    for attempt in range(1, STARTS + 1):
        running = bench.begin(job_id)
        until(partial(has_attempt, attempt))
        bench.run.records.stopping.wait(0.3)
        bench.run.records.stopping.set()
        assert running.ended() is False
        bench.run.records.stopping.clear()
    with bench.transaction() as tx:
        earlier = JobRepository(tx).earlier_starts(job_id)
    assert earlier is not None
    assert earlier.seconds >= STARTS * 0.3
    assert limited(bench, earlier.seconds)(job_id)
    job = bench.look(job_id)
    assert job.error is not None
    assert (job.attempt, job.error.kind) == (STARTS + 1, "timed-out")


@pytest.mark.thorough
def test_the_seconds_of_a_start_whose_process_died_count(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.jobs.repository.MAX_STARTS", 1)
    job_id = bench.queued(trainers.dying)
    assert bench.run(job_id)
    with bench.transaction() as tx:
        earlier = JobRepository(tx).earlier_starts(job_id)
    assert earlier is not None
    assert earlier.seconds > 0.0


def test_the_seconds_of_a_start_are_recorded_while_it_runs(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.jobs.worker.attempts.RECORD_SECONDS", 0.1)
    job_id = bench.queued(trainers.endless)
    running = bench.begin(job_id)

    def recorded() -> float:
        with bench.transaction() as tx:
            earlier = JobRepository(tx).earlier_starts(job_id)
        return 0.0 if earlier is None else earlier.seconds

    until(lambda: recorded() > 0.3)
    bench.run.records.stopping.set()
    assert running.ended() is False


def test_time_in_the_queue_and_between_a_death_and_the_next_start_does_not_count(bench: Bench) -> None:
    job_id = bench.queued(trainers.quick)
    with bench.transaction() as tx:
        JobRepository(tx).claim(job_id)  # by a worker that died after a second, an hour ago or so
        JobRepository(tx).record_running_time(job_id, 1, 1.0)
    assert limited(bench, 60.0)(job_id)
    job = bench.look(job_id)
    assert (job.state, job.attempt) == ("succeeded", 2)


def test_an_attempt_that_was_superseded_records_no_seconds(bench: Bench) -> None:
    job_id = bench.queued(trainers.quick)
    for _ in range(2):
        with bench.transaction() as tx:
            JobRepository(tx).claim(job_id)
    with bench.transaction() as tx:
        JobRepository(tx).record_running_time(job_id, 1, 100.0)
        earlier = JobRepository(tx).earlier_starts(job_id)
    assert earlier is not None
    assert (earlier.job.attempt, earlier.seconds) == (2, 0.0)


def test_an_attempt_records_its_running_time_once_per_interval(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [1000.0]
    begun = bench.run.records.begin(bench.queued(trainers.quick))
    assert begun is not None
    attempt = replace(begun, running=RunningTime(now=lambda: clock[0]))

    def recorded() -> float:
        with bench.transaction() as tx:
            earlier = JobRepository(tx).earlier_starts(attempt.job_id)
        assert earlier is not None
        return earlier.seconds

    seen: list[float] = []
    for seconds in (RECORD_SECONDS, 1.0, RECORD_SECONDS - 1.0):
        clock[0] += seconds
        attempt.look()
        seen.append(recorded())
    assert seen == [RECORD_SECONDS, RECORD_SECONDS, 2 * RECORD_SECONDS]
