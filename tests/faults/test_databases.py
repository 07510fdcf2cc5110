"""A database that goes away, dies, is full, or is migrated twice at once."""

import os
import subprocess
import sys
import time

import pytest

from app.services import build
from app.settings import Settings
from tests import postgres
from tests.faults.conftest import AS_SHIPPED, ROOT, MakePlace, Place, on_sqlite
from tests.jobs.worker import trainers
from tests.live_workers import workers_alive
from tests.waiting import until


@pytest.mark.parametrize(("how", "seconds"), [("stopped", 4.0), ("killed", 15.0)])
def test_a_database_that_is_down_for_a_while_costs_no_job_a_start(
    lone_place: Place, mortal: postgres.MortalServer, how: str, seconds: float
) -> None:
    place = lone_place
    for _ in range(2):
        place.start_worker()
    until(lambda: len(workers_alive(place.settings)) == 2, seconds=60)
    job, queued = place.submit(trainers.marked), place.submit(trainers.quick)
    place.started()
    (mortal.stop if how == "stopped" else mortal.kill)()
    time.sleep(seconds)
    mortal.start()
    until(lambda: len(workers_alive(place.settings)) == 2, seconds=60)
    time.sleep(2 * place.settings.heartbeat_timeout_seconds)  # so long that each may judge again
    place.open_the_gate()
    ended = place.ended(job, seconds=60)
    assert (ended.state, ended.attempt) == ("succeeded", 1)
    assert place.versions(job) == 1
    assert place.ended(queued, seconds=60).state == "succeeded"


def test_a_fit_that_ends_while_the_database_is_down_is_recorded_when_it_is_back(
    lone_place: Place, mortal: postgres.MortalServer
) -> None:
    place = lone_place
    place.start_worker()
    job = place.submit(trainers.marked)
    (fit,) = place.started()
    mortal.kill()
    place.open_the_gate()
    time.sleep(5.0)
    mortal.start()
    ended = place.ended(job, seconds=60)
    assert (ended.state, ended.attempt) == ("succeeded", 1)
    assert place.versions(job) == 1
    assert place.started() == [fit]


@on_sqlite
def test_a_version_that_finds_no_space_is_recorded_when_there_is_some(make_place: MakePlace) -> None:
    place = make_place()
    place.start_worker()
    job = place.submit(trainers.heavy)
    place.started()
    (place.marks / trainers.FULL).touch()
    place.open_the_gate()
    time.sleep(3.0)  # the fit ends at once
    assert place.look(job).state == "running"
    (place.marks / trainers.FULL).unlink()
    ended = place.ended(job)
    assert (ended.state, ended.attempt) == ("succeeded", 1)
    assert place.versions(job) == 1


def test_two_processes_that_migrate_at_once_both_end_well(empty_database_url: str) -> None:
    program = [sys.executable, *AS_SHIPPED[:2], "migrate"]
    given = os.environ | {"RELEVANCE_DATABASE_URL": empty_database_url}
    both = [subprocess.Popen(program, cwd=ROOT, env=given, stderr=subprocess.PIPE) for _ in range(2)]
    messages = [process.communicate(timeout=120)[1].decode() for process in both]
    assert [process.returncode for process in both] == [0, 0], messages
    parts = build(Settings(database_url=empty_database_url))
    assert parts.ready().migrated
    parts.close()
