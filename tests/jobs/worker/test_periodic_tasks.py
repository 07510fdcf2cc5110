from threading import Event

from app.errors import UnavailableError
from app.jobs.worker.outage import DatabaseOutage
from app.jobs.worker.periodic_tasks import PeriodicTasks


def test_the_first_periodic_task_is_done_at_once() -> None:
    done = Event()
    periodic = PeriodicTasks([done.set], every=3600.0, outage=DatabaseOutage())
    periodic.start()
    assert done.wait(10)
    periodic.stop()


def test_a_periodic_task_is_done_again_also_after_the_database_was_away() -> None:
    again = Event()
    calls: list[None] = []

    def task() -> None:
        calls.append(None)
        if len(calls) == 1:
            raise UnavailableError("The database is away.")
        again.set()

    periodic = PeriodicTasks([task], every=0.01, outage=DatabaseOutage())
    periodic.start()
    assert again.wait(10)
    periodic.stop()
