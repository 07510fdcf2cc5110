import logging

import pytest

from app.jobs.worker.worker import LATE_SECONDS, SUMMARY_SECONDS, DatabaseOutage

REFUSED = "connection refused"
UNREACHABLE, BACK = "the database is unreachable", "the database is reachable again"
FAILING = "connections to the database fail, though it is reachable"


class Clock:
    """Monotonic seconds that pass when a test advances them."""

    def __init__(self) -> None:
        self.seconds = 1000.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def clock(caplog: pytest.LogCaptureFixture) -> Clock:
    caplog.set_level(logging.INFO)
    return Clock()


def test_an_outage_is_a_line_when_it_begins_and_one_when_it_ends(
    clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    outage = DatabaseOutage(now=clock)
    outage.end()
    for _ in range(100):
        outage.begin(REFUSED)
        outage.report(REFUSED)
        clock.seconds += 0.3
    outage.end()
    outage.end()
    assert caplog.messages == [UNREACHABLE, BACK]
    first, last = (vars(record) for record in caplog.records)
    assert (first["levelname"], first["reason"]) == ("WARNING", REFUSED)
    assert (last["levelname"], last["seconds"], last["failures"]) == ("INFO", 30.0, 200)


def test_each_outage_has_its_lines(clock: Clock, caplog: pytest.LogCaptureFixture) -> None:
    outage = DatabaseOutage(now=clock)
    for _ in range(2):
        outage.begin(REFUSED)
        outage.end()
    assert caplog.messages == [UNREACHABLE, BACK] * 2


def test_failures_of_connections_to_a_database_that_can_be_reached_are_a_line_a_minute(
    clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    outage = DatabaseOutage(now=clock)
    for _ in range(3):
        for _ in range(int(SUMMARY_SECONDS)):
            outage.report(REFUSED)
            outage.end()
            clock.seconds += 1.0
    assert caplog.messages == [FAILING] * 3
    failures = [vars(record)["failures"] for record in caplog.records]
    assert failures == [1, SUMMARY_SECONDS, SUMMARY_SECONDS]


def test_failures_soon_after_an_outage_are_no_news(clock: Clock, caplog: pytest.LogCaptureFixture) -> None:
    outage = DatabaseOutage(now=clock)
    outage.begin(REFUSED)
    outage.end()
    clock.seconds += LATE_SECONDS
    outage.report(REFUSED)
    outage.end()
    assert caplog.messages == [UNREACHABLE, BACK]
    clock.seconds += 0.1
    outage.report(REFUSED)
    outage.end()
    assert caplog.messages == [UNREACHABLE, BACK, FAILING]
