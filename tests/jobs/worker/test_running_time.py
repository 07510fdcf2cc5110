from app.jobs.worker.attempts import RECORD_SECONDS, RunningTime


class Clock:
    """Monotonic seconds that pass when a test advances them."""

    def __init__(self) -> None:
        self.seconds = 1000.0

    def __call__(self) -> float:
        return self.seconds


def test_seconds_are_those_of_earlier_starts_and_of_this_one() -> None:
    clock = Clock()
    running = RunningTime(7.0, now=clock)
    assert running.seconds == 7.0
    clock.seconds += 3.0
    assert running.seconds == 10.0


def test_the_limit_is_exceeded_by_all_starts_together() -> None:
    clock = Clock()
    running = RunningTime(7.0, limit=10.0, now=clock)
    clock.seconds += 3.0
    assert not running.is_over()
    clock.seconds += 0.5
    assert running.is_over()


def test_a_record_is_due_every_few_seconds_and_not_at_once() -> None:
    clock = Clock()
    running = RunningTime(now=clock)
    assert not running.is_record_due()
    clock.seconds += RECORD_SECONDS
    assert running.is_record_due()
    running.recorded()
    assert not running.is_record_due()
