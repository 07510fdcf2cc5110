"""The log has one line for each event of a job."""

import logging
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias, get_args

import pytest

from app.jobs.checkpoint_repository import CheckpointRepository
from app.jobs.repository import JobRepository
from app.jobs.worker.attempts import Records
from app.jobs.worker.job_log import Outcome
from tests.jobs.worker import trainers
from tests.jobs.worker.bench import OWNER, Bench, Running
from tests.waiting import until

Line: TypeAlias = tuple[object, ...]


def events(caplog: pytest.LogCaptureFixture) -> list[Line]:
    """Message, kind, attempt and outcome of each line about a job, each with a job's id and its seconds."""
    lines = [vars(record) for record in caplog.records if record.name == "app.jobs.worker.job_log"]
    assert all(len(str(line["job_id"])) == 36 and "seconds" in line for line in lines)
    return [(line["msg"], line["kind"], line["attempt"], line["outcome"]) for line in lines]


@pytest.fixture(autouse=True)
def info(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "app.jobs.worker.job_log")


def started(attempt: int = 1) -> Line:
    return ("job started" if attempt == 1 else "job resumed", "training", attempt, "running")


def ended(outcome: str, attempt: int = 1) -> Line:
    return ("job ended", "training", attempt, outcome)


def test_a_job_that_succeeds_is_logged_when_it_starts_and_when_it_ends(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    job_id = bench.queued(trainers.quick)
    assert bench.run(job_id)
    assert bench.run(job_id)  # as the engine may, once more
    assert events(caplog) == [started(), ended("succeeded")]
    line = vars(caplog.records[-1])
    assert line["job_id"] == str(job_id)
    assert 0.0 < line["seconds"] < 30.0


def test_a_job_that_fails_is_logged_with_its_reason(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    assert bench.run(bench.queued(trainers.refusing))
    assert events(caplog) == [started(), ended("failed")]
    assert vars(caplog.records[-1])["reason"] == "constant-target"


def test_a_job_past_its_time_limit_is_logged_as_timed_out(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    records = bench.run.records
    run = replace(bench.run, records=Records(records.transaction, records.stopping, 0.3))
    assert run(bench.queued(trainers.endless))
    assert events(caplog) == [started(), ended("timed_out")]


def test_a_job_that_is_cancelled_is_logged(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    job_id = bench.queued(trainers.endless)
    running = bench.begin(job_id)
    until(lambda: bench.look(job_id).progress is not None, seconds=30)
    with bench.transaction() as tx:
        JobRepository(tx).request_cancel(OWNER, job_id)
    assert running.ended()
    assert events(caplog) == [started(), ended("cancelled")]


@pytest.mark.thorough
def test_a_job_that_is_interrupted_and_resumed_is_logged(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    job_id = bench.queued(trainers.resting)
    running = Running(replace(bench.run, keep_seconds=0.0), job_id)

    def has_checkpoint() -> bool:
        with bench.transaction() as tx:
            return CheckpointRepository(tx).find(job_id, by=bench.run.program) is not None

    until(has_checkpoint, seconds=30)
    bench.run.records.stopping.set()
    assert running.ended() is False
    bench.run.records.stopping.clear()
    assert bench.run(job_id)
    interrupted: Line = ("job interrupted", "training", 1, "interrupted")
    assert events(caplog) == [started(), interrupted, started(2), ended("succeeded", 2)]
    resumed = next(vars(record) for record in caplog.records if record.msg == "job resumed")
    assert resumed["resumed_from"] == 1


def test_each_death_of_a_jobs_process_is_logged_once(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    assert bench.run(bench.queued(trainers.dying))
    starts = [(started(attempt), ("job died", "training", attempt, "died")) for attempt in (1, 2, 3)]
    assert events(caplog) == [line for start in starts for line in start] + [ended("failed", 3)]
    deaths = [record for record in caplog.records if record.msg == "job died"]
    assert {record.levelno for record in deaths} == {logging.WARNING}
    assert {vars(record)["reason"] for record in deaths} == {"ended by signal 9"}


def test_the_death_of_a_jobs_worker_is_logged_by_the_worker_that_resumes_it(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    job_id = bench.queued(trainers.quick)
    with bench.transaction() as tx:
        JobRepository(tx).claim(job_id)
        JobRepository(tx).record_running_time(job_id, 1, 4.5)
    assert bench.run(job_id)
    assert events(caplog) == [("job died", "training", 1, "died"), started(2), ended("succeeded", 2)]
    assert vars(caplog.records[0])["seconds"] == 4.5
    assert vars(caplog.records[-1])["seconds"] > 4.5


@pytest.mark.thorough
def test_a_start_that_was_superseded_is_logged(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    job_id = bench.queued(trainers.endless)
    running = bench.begin(job_id)
    until(lambda: bench.look(job_id).progress is not None, seconds=30)
    with bench.transaction() as tx:
        JobRepository(tx).claim(job_id)
    assert running.ended() is False
    assert events(caplog) == [started(), ("job superseded", "training", 1, "superseded")]


def test_the_documents_name_each_outcome() -> None:
    table = (Path(__file__).parents[3] / "docs" / "how-to" / "operations.md").read_text()
    assert [outcome for outcome in get_args(Outcome) if f"`{outcome}`" not in table] == []
