"""The use of a worker's slots."""

from uuid import UUID, uuid4

from app.jobs.records import WorkerUse
from app.jobs.worker.pool import Slots


def test_slots_count_the_fits_that_run_and_their_seconds_until_now() -> None:
    seconds = 0.0
    slots = Slots(3, clock=lambda: seconds)
    assert slots.use() == WorkerUse(slots=3, running=0, busy_seconds=0.0)
    with slots.taken():
        seconds = 2.0
        with slots.taken():
            seconds = 3.0
            assert slots.use() == WorkerUse(slots=3, running=2, busy_seconds=4.0)
        seconds = 5.0
        assert slots.use() == WorkerUse(slots=3, running=1, busy_seconds=6.0)
    seconds = 100.0
    assert slots.use() == WorkerUse(slots=3, running=0, busy_seconds=6.0)


def test_a_job_that_fails_leaves_its_slot() -> None:
    slots, job = Slots(1), uuid4()
    ran: list[UUID] = []

    def run(job_id: UUID) -> bool:
        assert slots.use().running == 1
        ran.append(job_id)
        return False

    assert not slots.counted(run)(job)
    assert (ran, slots.use().running) == ([job], 0)
