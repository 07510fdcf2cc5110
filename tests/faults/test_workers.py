"""Whatever a worker dies of, a job ends once, with one version."""

import os
import shutil
import signal
import time
from datetime import timedelta

import pytest

from app.identity import BUILT_IN_OWNER
from app.jobs.repository import JobRepository
from relevance_bayes.core.selection import train
from tests.collector import collecting
from tests.faults.conftest import AS_SHIPPED, MakePlace, mostly_on_postgresql, mostly_on_sqlite, on_sqlite
from tests.jobs.worker import trainers
from tests.live_workers import workers_alive
from tests.postgres import Server
from tests.processes import has_exited
from tests.waiting import until


@mostly_on_sqlite
def test_a_worker_that_is_started_again_where_it_was_killed_goes_on_at_once(make_place: MakePlace) -> None:
    place = make_place(interval=0.3, limit=600.0)  # nobody would be judged dead in this test's time
    killed = place.start_worker()
    job = place.submit(trainers.marked)
    place.started()
    killed.kill()
    killed.wait()
    place.start_worker()
    place.started(2)
    place.open_the_gate()
    ended = place.ended(job)
    assert (ended.state, ended.attempt) == ("succeeded", 2)
    assert place.versions(job) == 1


@mostly_on_postgresql
def test_a_worker_that_is_started_elsewhere_goes_on_within_30_seconds(make_place: MakePlace) -> None:
    place = make_place(interval=2.0, limit=7.0)  # as shipped
    killed = place.start_worker()
    job = place.submit(trainers.marked)
    place.started()
    killed.kill()
    killed.wait()
    before = set(workers_alive(place.settings))
    place.start_worker(RELEVANCE_SPOOL_DIRECTORY=str(place.folder / "elsewhere"))
    until(lambda: bool(set(workers_alive(place.settings)) - before), seconds=60)
    place.open_the_gate()
    ended = place.ended(job, seconds=30)
    assert (ended.state, ended.attempt) == ("succeeded", 2)
    assert place.versions(job) == 1


@mostly_on_postgresql
def test_a_worker_as_shipped_does_what_a_killed_one_began(make_place: MakePlace) -> None:
    place = make_place()
    killed = place.start_worker(AS_SHIPPED)
    job = place.submit(train, rows=4000)  # enough to be at it still once its progress is seen
    until(lambda: place.look(job).progress is not None, seconds=60)
    killed.kill()
    assert place.look(job).state == "running"
    place.start_worker(AS_SHIPPED)
    ended = place.ended(job, seconds=100)
    assert (ended.state, ended.attempt) == ("succeeded", 2)
    assert place.versions(job) == 1


def test_another_worker_takes_over_from_one_that_was_killed(make_place: MakePlace) -> None:
    place = make_place()
    place.start_worker()
    job = place.submit(trainers.marked)
    place.started()
    place.start_worker()
    place.workers[0].kill()
    place.started(2)
    place.open_the_gate()
    ended = place.ended(job)
    assert (ended.state, ended.attempt) == ("succeeded", 2)
    assert place.versions(job) == 1
    until(lambda: len(place.job_events(1)) == 3)
    assert place.job_events(0) == [("job started", 1)]
    assert place.job_events(1) == [("job died", 1), ("job resumed", 2), ("job ended", 2)]


@on_sqlite
def test_a_fit_dies_with_its_worker_also_when_it_holds_the_interpreter(make_place: MakePlace) -> None:
    place = make_place()
    worker = place.start_worker()
    place.submit(trainers.stuck)
    (fit,) = place.started()
    worker.kill()
    until(lambda: has_exited(fit), seconds=2)


def test_a_worker_that_shuts_down_hands_its_job_over_at_once(make_place: MakePlace) -> None:
    place = make_place(interval=0.3, limit=600.0)  # nobody would be judged dead in this test's time
    first = place.start_worker()
    job = place.submit(trainers.marked)
    (fit,) = place.started()
    place.start_worker()
    first.send_signal(signal.SIGTERM)
    assert first.wait(10) == 0
    assert has_exited(fit)
    assert place.job_events(0) == [("job started", 1), ("job interrupted", 1)]
    place.started(2)
    place.open_the_gate()
    assert place.ended(job).state == "succeeded"
    assert place.versions(job) == 1
    until(lambda: len(place.job_events(1)) == 2)
    assert place.job_events(1) == [("job resumed", 2), ("job ended", 2)]


def test_a_worker_frozen_past_the_limit_and_thawed_records_nothing_twice(make_place: MakePlace) -> None:
    place = make_place()
    frozen = place.start_worker()
    job = place.submit(trainers.marked)
    (fit,) = place.started()
    place.start_worker()
    place.freeze(frozen)
    place.started(2)
    place.open_the_gate()  # both fits end now, the first one's worker hears of it later
    assert place.ended(job).attempt == 2
    frozen.send_signal(signal.SIGCONT)
    until(lambda: has_exited(fit))
    assert place.versions(job) == 1
    assert place.look(job).state == "succeeded"


@mostly_on_postgresql
def test_a_cancelled_jobs_fit_ends_within_a_second_though_it_holds_the_interpreter(make_place: MakePlace) -> None:
    place = make_place()
    place.start_worker()
    job = place.submit(trainers.stuck)
    (fit,) = place.started()
    place.parts.jobs.cancel(BUILT_IN_OWNER, job.id)
    until(lambda: has_exited(fit), seconds=1.0)
    ended = place.ended(job, seconds=1.0)
    assert (ended.state, ended.version) == ("cancelled", None)


@on_sqlite
def test_a_fit_that_is_killed_is_started_again(make_place: MakePlace) -> None:
    place = make_place()
    place.start_worker()
    job = place.submit(trainers.marked)
    (fit,) = place.started()
    os.kill(fit, signal.SIGKILL)
    place.started(2)
    place.open_the_gate()
    ended = place.ended(job)
    assert (ended.state, ended.attempt) == ("succeeded", 2)
    assert place.versions(job) == 1


@on_sqlite
def test_what_a_killed_worker_had_written_down_is_removed_by_the_next(make_place: MakePlace) -> None:
    place = make_place()
    worker = place.start_worker()
    place.submit(trainers.marked)
    place.started()
    spool = place.folder / "spool"
    left = {path for path in spool.iterdir() if path.is_dir()}
    assert len(left) == 1
    worker.kill()
    worker.wait()
    place.start_worker()
    until(lambda: not any(path.exists() for path in left), seconds=60)


@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
def test_a_database_that_goes_away_costs_no_job_a_start(make_place: MakePlace, request: pytest.FixtureRequest) -> None:
    server: Server = request.getfixturevalue("postgres_server")
    place = make_place()
    name = str(place.settings.url.database)
    for _ in range(2):
        place.start_worker()
    until(lambda: len(workers_alive(place.settings)) == 2, seconds=60)
    job = place.submit(trainers.marked)
    place.started()
    server.allow_connections(name, allowed=False)
    time.sleep(3 * place.settings.heartbeat_timeout_seconds)  # so long that everybody seems silent afterwards
    server.allow_connections(name, allowed=True)
    until(lambda: len(workers_alive(place.settings)) == 2, seconds=60)
    time.sleep(2 * place.settings.heartbeat_timeout_seconds)  # so long that each may judge again
    place.open_the_gate()
    ended = place.ended(job)
    assert (ended.state, ended.attempt) == ("succeeded", 1)
    assert place.versions(job) == 1


@mostly_on_sqlite
def test_a_job_that_kills_its_worker_is_started_three_times_and_holds_up_nobody(make_place: MakePlace) -> None:
    place = make_place()
    place.start_worker()
    poison = place.submit(trainers.poisonous)
    others = [place.submit(trainers.quick) for _ in range(3)]

    def all_ended() -> bool:
        if place.workers[-1].poll() is not None:
            place.start_worker()
        return all(place.look(job).finished_at is not None for job in (poison, *others))

    until(all_ended, seconds=120)
    ended = place.look(poison)
    assert (ended.state, ended.attempt, len(place.started())) == ("failed", 3, 3)
    assert ended.error is not None
    assert ended.error.kind == "worker-died"
    assert "started 3 times" in ended.error.detail
    assert [place.look(job).state for job in others] == ["succeeded"] * 3


@mostly_on_postgresql
def test_a_worker_of_another_version_goes_on_with_a_job_from_its_beginning(make_place: MakePlace) -> None:
    place = make_place(checkpoint=0.0)
    place.start_worker()
    place.start_worker(RELEVANCE_TEST_OTHER_VERSION="1")
    until(lambda: len(workers_alive(place.settings)) == 2, seconds=60)
    jobs = [place.submit(trainers.marked) for _ in range(2)]
    place.started(2)
    place.workers[0].send_signal(signal.SIGTERM)  # as an upgrade does
    assert place.workers[0].wait(15) == 0
    place.open_the_gate()
    ended = [place.ended(job) for job in jobs]
    assert [job.state for job in ended] == ["succeeded"] * 2
    assert sorted(job.attempt for job in ended) == [1, 2]
    assert [job.resumed_from for job in ended] == [None, None]


def test_a_worker_whose_clock_is_an_hour_off_takes_over_from_nobody(make_place: MakePlace) -> None:
    """Heartbeats are judged by the database's clock."""
    faketime = shutil.which("faketime")
    assert faketime, "install it: apt-get install faketime"
    place = make_place()
    place.start_worker()
    job = place.submit(trainers.marked)
    place.started()
    ahead = (faketime, "--exclude-monotonic", "-f", "+3600s")
    place.start_worker(before=ahead)
    until(lambda: len(workers_alive(place.settings)) == 2, seconds=60)
    time.sleep(4 * place.settings.heartbeat_timeout_seconds)
    other = place.submit(trainers.quick)
    assert place.ended(other).state == "succeeded"
    place.open_the_gate()
    ended = place.ended(job)
    assert (ended.state, ended.attempt) == ("succeeded", 1)
    assert place.versions(job) == 1


@on_sqlite
def test_a_clock_that_steps_by_more_than_the_time_limit_ends_no_job(make_place: MakePlace) -> None:
    """The limit of a day counts running time; the worker's clock steps by 32 hours."""
    faketime = shutil.which("faketime")
    assert faketime, "install it: apt-get install faketime"
    place = make_place()
    offset = place.folder / "offset"
    offset.write_text("+0s")
    # The wrapper sets the offset once; without its variable the library reads the file at each look at the clock.
    stepping = (faketime, "--exclude-monotonic", "-f", "+0s", "env", "-u", "FAKETIME")
    place.start_worker(before=stepping, FAKETIME_TIMESTAMP_FILE=str(offset), FAKETIME_NO_CACHE="1")
    job = place.submit(trainers.marked)
    (fit,) = place.started()
    offset.write_text(f"+{32 * 3600}s")
    time.sleep(4 * place.settings.heartbeat_timeout_seconds)
    assert place.look(job).state == "running"
    place.open_the_gate()
    ended = place.ended(job)
    assert (ended.state, ended.attempt, place.started()) == ("succeeded", 1, [fit])
    assert ended.finished_at is not None
    assert ended.finished_at - ended.created_at > timedelta(hours=31)  # or else the clock has not stepped


@mostly_on_sqlite
def test_the_span_of_an_attempt_links_to_that_of_a_killed_worker(make_place: MakePlace) -> None:
    place = make_place()
    with collecting() as collector:
        url = collector.url
        killed = place.start_worker(RELEVANCE_TRACING="true", OTEL_EXPORTER_OTLP_ENDPOINT=url)
        job = place.submit(trainers.marked)
        place.started()
        with place.parts.base.transaction() as tx:
            earlier = JobRepository(tx).earlier_starts(job.id)
        killed.kill()
        killed.wait()
        place.start_worker(RELEVANCE_TRACING="true", OTEL_EXPORTER_OTLP_ENDPOINT=url)
        place.started(2)
        place.open_the_gate()
        assert place.ended(job).attempt == 2
        (attempt,) = collector.wait(messaging_message_id=str(job.id))
    assert earlier is not None
    assert earlier.traces.attempt is not None
    assert attempt.links == (tuple(earlier.traces.attempt.split("-")[1:3]),)
    assert attempt.attributes["relevance.job.attempt"] == 2
