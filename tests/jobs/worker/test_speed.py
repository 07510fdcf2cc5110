"""The speed of a worker's core, and the speed that submitted trainings are priced by."""

import numpy as np
import pytest

from app.database.transaction import OpenTransaction
from app.jobs.statistics_repository import WorkerRepository
from app.jobs.worker.worker import MATRICES, SIZE, calculate, measured_speed, squares

MIN_MAPPED = 128 * 2**10
"""The bytes from which glibc's malloc has the kernel map an array, until one has been freed."""


def test_a_speed_is_a_positive_number() -> None:
    assert 0.0 < measured_speed() < np.inf


def test_the_calculation_is_always_the_same() -> None:
    first, second = calculate(squares()[-1]), calculate(squares()[-1])
    assert squares().shape == (MATRICES, SIZE, SIZE)
    assert first.tobytes() == second.tobytes()


def test_the_calculation_is_that_of_cholesky_factors() -> None:
    distances = squares()[1]
    kernels = np.exp(-distances) + np.eye(SIZE)
    assert calculate(distances) == pytest.approx(np.exp(-np.square(np.linalg.cholesky(kernels))))


def test_no_array_of_the_calculation_is_mapped_by_the_kernel() -> None:
    """A fresh process would take half as long again for memory, and a fit, whose process keeps it, would not."""
    assert squares()[0].nbytes < MIN_MAPPED


def test_the_speed_of_several_workers_is_their_mean(transaction: OpenTransaction) -> None:
    with transaction() as tx:
        workers = WorkerRepository(tx)
        workers.record_heartbeat("a", speed=1.0)
        workers.record_heartbeat("b", speed=2.0)
        workers.record_heartbeat("unmeasured")
        assert workers.speed(within=60.0) == pytest.approx(1.5)


def test_workers_that_left_have_no_speed(transaction: OpenTransaction) -> None:
    with transaction() as tx:
        workers = WorkerRepository(tx)
        workers.record_heartbeat("a", speed=1.0)
        workers.leave("a")
        assert workers.speed(within=60.0) is None
