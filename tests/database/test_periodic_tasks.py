from threading import Event

from app.database.periodic_tasks import PeriodicTasks
from app.errors import UnavailableError
from app.jobs.worker.worker import DatabaseOutage


def test_the_first_periodic_task_is_done_at_once() -> None:
    done = Event()
    periodic = PeriodicTasks([done.set], every=3600.0, report=DatabaseOutage().report)
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

    periodic = PeriodicTasks([task], every=0.01, report=DatabaseOutage().report)
    periodic.start()
    assert again.wait(10)
    periodic.stop()


def test_tasks_run_once_more_after_the_stop_and_not_beside_a_running_one() -> None:
    calls: list[None] = []
    periodic = PeriodicTasks([lambda: calls.append(None)], every=3600.0, report=DatabaseOutage().report)
    periodic.start()
    periodic.stop()
    periodic.run_last(10.0)
    assert len(calls) in {1, 2}  # the thread may have been stopped before its first task
    entered, left = Event(), Event()

    def task() -> None:
        entered.set()
        left.wait(10)
        calls.append(None)

    calls.clear()
    periodic = PeriodicTasks([task], every=3600.0, report=DatabaseOutage().report)
    periodic.start()
    assert entered.wait(10)
    periodic.stop()
    periodic.run_last(0.01)
    assert calls == []
    left.set()
