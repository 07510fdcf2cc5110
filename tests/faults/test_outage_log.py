"""An outage of the database is two lines of a worker's log: one when it begins, one when it ends."""

import time

import pytest

from tests import postgres
from tests.faults.conftest import Place
from tests.jobs.worker import trainers
from tests.waiting import until

AWAY, BACK = "the database is unreachable", "the database is reachable again"


@pytest.mark.parametrize(
    ("how", "seconds", "times"),
    [("killed", 16.0, 1), ("stopped", 4.0, 2), pytest.param("stopped", 16.0, 2, marks=pytest.mark.long)],
)
def test_an_outage_is_two_lines_of_a_workers_log(
    lone_place: Place, mortal: postgres.MortalServer, how: str, seconds: float, times: int
) -> None:
    place = lone_place
    place.start_worker()
    job = place.submit(trainers.marked)
    place.started()
    for number in range(1, times + 1):
        (mortal.stop if how == "stopped" else mortal.kill)()
        time.sleep(seconds)
        assert place.other_events(0) == [AWAY, BACK] * (number - 1) + [AWAY]
        mortal.start()
        until(lambda: place.other_events(0)[-1] == BACK, seconds=30)
        time.sleep(1.0)
        assert place.other_events(0) == [AWAY, BACK] * number
    place.open_the_gate()
    assert place.ended(job).attempt == 1
