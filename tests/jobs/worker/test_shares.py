"""The shares of cores and memory that fits have."""

import subprocess
import sys
from contextlib import ExitStack

import pytest

from app.jobs.worker.pool import FitShares, Share, allocated_bytes, limit_process

GIB = 2**30


class Machine:
    """Processes that have allocated memory, and their limits."""

    def __init__(
        self, cores: int = 4, memory: int = 3 * GIB, slots: int = 4, max_of_one: int | None = None, program: int = 0
    ) -> None:
        self.used: dict[int, int] = {}
        self.limits: dict[int, int] = {}
        self.shares = FitShares(
            cores,
            memory,
            slots=slots,
            max_of_one=max_of_one,
            program=program,
            used=lambda pid: self.used.get(pid, 0),
            limit=self.limits.__setitem__,
        )


def test_a_fit_alone_has_all_cores_and_all_the_memory_for_fits() -> None:
    machine = Machine()
    for need in (None, GIB // 4, 100 * GIB):
        with machine.shares.requested(need) as one:
            assert one.admitted() == Share(4, 3 * GIB)


def test_fits_share_what_they_have_not_reserved_and_the_limits_add_up_to_the_memory() -> None:
    machine = Machine()
    with machine.shares.requested(GIB) as one:
        assert one.admitted() == Share(4, 3 * GIB)
        one.run_in(1)
        with machine.shares.requested(GIB // 2) as two:
            assert two.admitted() == Share(2, GIB // 2 + 3 * GIB // 4)
            assert machine.limits == {1: GIB + 3 * GIB // 4}
        assert machine.limits == {1: 3 * GIB}


def test_a_fit_has_its_estimate_beside_the_memory_of_its_program() -> None:
    machine = Machine(memory=3 * GIB, program=GIB // 4)
    with machine.shares.requested(GIB) as one, machine.shares.requested(GIB + GIB // 2) as two:
        assert one.admitted() == Share(4, 3 * GIB)
        assert two.admitted() == Share(2, 2 * GIB - GIB // 4)
        assert one.share == Share(2, GIB + GIB // 4)
    machine = Machine(memory=3 * GIB, program=GIB // 4)
    with machine.shares.requested(GIB) as one, machine.shares.requested(2 * GIB) as two:
        assert one.admitted() is not None
        assert two.admitted() is None


def test_a_fit_whose_estimate_does_not_fit_waits_and_those_behind_it_too() -> None:
    machine = Machine()
    with ExitStack() as first, ExitStack() as others:
        one = first.enter_context(machine.shares.requested(2 * GIB))
        large, small = (others.enter_context(machine.shares.requested(need)) for need in (2 * GIB, GIB // 8))
        assert one.admitted() is not None
        assert large.admitted() is None
        assert small.admitted() is None  # it would fit, and came later
        first.close()
        assert small.admitted() is None
        assert large.admitted() == Share(4, 3 * GIB)
        assert small.admitted() is not None


def test_what_a_fit_has_allocated_beyond_its_estimate_is_reserved_for_it() -> None:
    machine = Machine()
    with machine.shares.requested(GIB // 4) as one:
        assert one.admitted() is not None
        one.run_in(1)
        machine.used[1] = 2 * GIB
        with machine.shares.requested(2 * GIB) as two:
            assert two.admitted() is None
            machine.used[1] = GIB // 2
            assert two.admitted() is not None
            assert machine.limits[1] >= GIB // 2


def test_a_fit_without_an_estimate_reserves_the_share_of_a_slot() -> None:
    machine = Machine(slots=3)
    with machine.shares.requested(None) as one, machine.shares.requested(None) as two:
        assert one.admitted() is not None
        assert two.admitted() == Share(2, 3 * GIB // 2)
        with machine.shares.requested(GIB + 1) as three:
            assert three.admitted() is None


def test_no_fit_has_more_than_the_setting() -> None:
    machine = Machine(max_of_one=GIB)
    with machine.shares.requested(None) as one:
        assert one.admitted() == Share(4, GIB)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits data")
def test_the_limit_of_a_running_process_can_be_lowered_and_raised_again() -> None:
    program = """
import sys
for line in sys.stdin:
    try:
        bytearray(int(line))
        print("allocated", flush=True)
    except MemoryError:
        print("refused", flush=True)
"""
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None

        def allocate(size: int) -> str:
            assert process.stdin is not None
            assert process.stdout is not None
            print(size, file=process.stdin, flush=True)
            return process.stdout.readline().strip()

        assert allocate(GIB // 4) == "allocated"
        before = allocated_bytes(process.pid)
        assert 0 < before < GIB // 4
        limit_process(process.pid, before + GIB // 8)
        assert allocate(GIB // 4) == "refused"
        limit_process(process.pid, before + GIB)
        assert allocate(GIB // 4) == "allocated"
        process.stdin.close()
    limit_process(process.pid, GIB)  # it has ended
    assert allocated_bytes(process.pid) == 0
