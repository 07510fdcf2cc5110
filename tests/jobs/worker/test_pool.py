import ast
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path
from socket import socketpair
from tempfile import TemporaryFile

import numpy as np
import pytest

from app.jobs.child import MEBIBYTE, Failure, FitCheckpoint, Message
from app.jobs.worker import pool
from app.jobs.worker.pool import MAX_WORDS, Child, ChildDied, ChildPool
from relevance_bayes.core.basis import Bias, KernelBasis
from relevance_bayes.core.kernels.hyperparameters import FixedWidth
from relevance_bayes.core.likelihoods import GaussianNoise
from relevance_bayes.core.models.prediction import predict
from relevance_bayes.core.selection import Selection, Step, Trained, train
from relevance_bayes.tasks.fit import Fitted, Limits, Trainer
from relevance_bayes.tasks.supervised.fit import SupervisedFit
from tests.jobs.worker import trainers
from tests.narrowing import of_kind
from tests.processes import has_exited
from tests.waiting import until

SERVICE = (
    "app.registry",
    "app.database",
    "app.jobs.queue",
    "sqlalchemy",
    "dbos",
    "pydantic",
    "fastapi",
    "typer",
    "pyarrow",
)


@contextmanager
def another_pool() -> Iterator[ChildPool]:
    it = ChildPool(spare=1, limits=Limits(), trainer=trainers.CHOSEN)
    it.start()
    try:
        yield it
    finally:
        it.stop()


@contextmanager
def its_child(*, trainer: str = trainers.CHOSEN, threads: int = 1, memory: int | None = None) -> Iterator[Child]:
    """A child of a pool that keeps no other one ready."""
    spawned = ChildPool(spare=1, limits=Limits(threads, memory), trainer=trainer)._spawn()
    try:
        yield spawned
    finally:
        spawned.kill()


def test_children_write_standard_error_into_the_directory_of_the_pool(tmp_path: Path) -> None:
    spawned = ChildPool(spare=1, limits=Limits(), trainer=trainers.CHOSEN, directory=tmp_path)._spawn()
    try:
        assert Path(f"/proc/{spawned.pid}/fd/2").readlink().is_relative_to(tmp_path)
    finally:
        spawned.kill()


@pytest.fixture
def child(pool: ChildPool) -> Iterator[Child]:
    """One that ends with its test."""
    spawned = pool.take()
    yield spawned
    spawned.kill()


@pytest.fixture
def reused_child(pool: ChildPool) -> Iterator[Child]:
    """One for fits that end by themselves, after which it goes on to the next test."""
    spawned = pool.take()
    yield spawned
    pool.give_back(spawned)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Two inputs; three rows to train on and two held out."""
    path = tmp_path / "rows.f64"
    path.write_bytes(np.arange(30.0).astype("<f8").tobytes())
    return path


def fit(path: Path, trainer: Trainer) -> SupervisedFit:
    return SupervisedFit(
        path, training=3, held_out=2, inputs=2, selection=Selection(trainers.spec_of(trainer)), by="groups"
    )


def result(end: Message) -> Trained:
    """The result of a child."""
    return of_kind(Trained, of_kind(Fitted, end).result)


def messages(child: Child, fit: SupervisedFit) -> list[Message]:
    """All its messages on a fit, up to the end."""
    child.start(fit)
    sent_messages: list[Message] = []
    give_up = time.monotonic() + 30
    while not sent_messages or isinstance(sent_messages[-1], Step | FitCheckpoint):
        assert time.monotonic() < give_up
        message = child.receive(1.0)
        if message is not None:
            sent_messages.append(message)
    return sent_messages


@pytest.mark.thorough
def test_a_child_gets_the_rows_as_they_are_in_the_file(reused_child: Child, path: Path) -> None:
    (sent_messages,) = messages(reused_child, fit(path, trainers.reported))
    assert isinstance(sent_messages, Failure)
    assert ast.literal_eval(sent_messages.detail) == (
        [[0.0, 1.0], [6.0, 7.0], [12.0, 13.0]],
        [2.0, 8.0, 14.0],
        "groups",
        [4.0, 10.0, 16.0],
        ([[18.0, 19.0], [24.0, 25.0]], [20.0, 26.0]),
        0,
    )


def test_a_child_folds_as_its_fit_states(reused_child: Child, path: Path) -> None:
    order = fit(path, trainers.reported)
    folded = replace(order, selection=replace(order.selection, folds=3))
    (sent_messages,) = messages(reused_child, folded)
    assert isinstance(sent_messages, Failure)
    assert ast.literal_eval(sent_messages.detail)[-1] == 3


def test_the_core_learns_in_a_child(reused_child: Child, tmp_path: Path) -> None:
    draw = np.random.default_rng(0)
    x = draw.uniform(-3, 3, 40)
    t = np.sin(x) + 0.1 * draw.normal(size=40)
    path = tmp_path / "rows.f64"
    path.write_bytes(np.column_stack([x, t, *np.zeros((2, 40)), np.arange(40.0)]).astype("<f8").tobytes())
    *steps, end = messages(reused_child, SupervisedFit(path, 30, 10, 1, Selection(trainers.spec_of(train)), "random"))
    assert len(steps) >= 2
    trained = result(end)
    assert trained.model.rows == 30
    assert trained.scores["rmse"] < 0.3


def test_rows_bring_their_noise_where_the_likelihood_has_it_as_known(reused_child: Child, tmp_path: Path) -> None:
    x, sd = np.linspace(-3.0, 3.0, 40), np.geomspace(0.02, 0.4, 40)
    t = np.sin(x) + sd * np.random.default_rng(1).normal(size=40)
    path = tmp_path / "rows.f64"
    path.write_bytes(np.column_stack([x, t, sd, np.zeros(40), np.arange(40.0)]).astype("<f8").tobytes())
    basis = (KernelBasis(width=FixedWidth(1.0)), Bias())
    spec = replace(trainers.spec_of(train), basis=basis, likelihood=GaussianNoise("rows"))
    end = messages(reused_child, SupervisedFit(path, 30, 10, 1, Selection(spec), "random"))[-1]
    trained = result(end)
    assert trained.model.noise_sd == pytest.approx(float(np.sqrt(np.mean(sd[:30] ** 2))))
    expected = predict(trained.model, x[30:, None], sd[30:]).log_density(t[30:])
    assert trained.scores["nll"] == pytest.approx(-float(expected.mean()))


def test_steps_are_sent_seldom_but_the_first_and_the_last_and_shares_always(reused_child: Child, path: Path) -> None:
    *steps, end = messages(reused_child, fit(path, trainers.chatty))
    assert steps[0] == trainers.step(0)
    assert steps[-1] == trainers.step(999)
    assert replace(trainers.step(500), share=0.5) in steps
    assert len(steps) < 10
    assert isinstance(end, Fitted)


def test_the_first_step_of_each_phase_is_reported_at_once(reused_child: Child, tmp_path: Path) -> None:
    x = np.linspace(-3.0, 3.0, 40)
    path = tmp_path / "rows.f64"
    path.write_bytes(np.column_stack([x, np.sin(x), *np.zeros((2, 40)), np.arange(40.0)]).astype("<f8").tobytes())
    spec = replace(trainers.spec_of(train), basis=(KernelBasis(width=FixedWidth(1.0)), Bias()))
    *steps, end = messages(reused_child, SupervisedFit(path, 40, 0, 1, Selection(spec, folds=2), "random"))
    phases = [step.phase for step in steps if isinstance(step, Step)]
    assert list(dict.fromkeys(phases)) == ["fit", "validation", "done"]
    assert result(end).validation["rows"] == 40.0


def test_a_refusal_of_the_core_keeps_its_name_and_text(reused_child: Child, path: Path) -> None:
    end = messages(reused_child, fit(path, trainers.refusing))[-1]
    assert end == Failure("ConstantTargetError", "all 7 targets are 3.0")


def test_a_fault_comes_with_its_traceback(reused_child: Child, path: Path) -> None:
    end = messages(reused_child, fit(path, trainers.broken))[-1]
    assert isinstance(end, Failure)
    assert (end.error, end.detail) == ("ZeroDivisionError", "in the depths")
    assert end.traceback is not None
    assert "in broken" in end.traceback


def test_too_little_memory_is_reported(child: Child, path: Path) -> None:
    end = messages(child, fit(path, trainers.greedy))[-1]
    assert isinstance(end, Failure)
    assert end.error == "MemoryError"


def test_a_child_that_is_killed_from_outside_states_by_what(child: Child, path: Path) -> None:
    with pytest.raises(ChildDied, match="signal 9"):
        messages(child, fit(path, trainers.dying))


def test_a_child_that_closes_its_connection_and_goes_on_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.jobs.worker.pool.ENDING_SECONDS", 0.0)
    ours, theirs = socketpair()
    theirs.close()
    process = subprocess.Popen(["sleep", "60"])
    child = Child(process, Connection(ours.detach()), TemporaryFile())  # noqa: SIM115 - closed by `kill`
    with pytest.raises(ChildDied) as caught:
        child.receive(1.0)
    assert (caught.value.code, process.poll()) == (-signal.SIGKILL, -signal.SIGKILL)
    child.kill()


def test_a_child_that_cannot_begin_reports_it(path: Path) -> None:
    nothing = "tests.jobs.worker.trainers:nothing"
    with its_child(trainer=nothing) as child, pytest.raises(ChildDied, match="exit code 1"):
        messages(child, fit(path, trainers.quick))


@pytest.mark.parametrize("trainer", [trainers.endless, trainers.stuck], ids=["computing", "holding the interpreter"])
def test_a_child_has_exited_as_soon_as_it_is_killed(child: Child, path: Path, trainer: Trainer) -> None:
    child.start(fit(path, trainer))
    assert child.receive(30.0) == trainers.step(0)
    began = time.monotonic()
    child.kill()
    assert time.monotonic() - began < 1.0
    assert has_exited(child.pid)


def test_a_child_leaves_the_signals_of_a_terminal_to_its_worker(child: Child, path: Path) -> None:
    child.start(fit(path, trainers.endless))
    assert child.receive(30.0) is not None
    os.kill(child.pid, signal.SIGINT)
    os.kill(child.pid, signal.SIGTERM)
    assert child.receive(30.0) is not None
    assert child.is_alive


def test_a_child_imports_the_core_and_nothing_else_of_the_service(child: Child, path: Path) -> None:
    (sent_messages,) = messages(child, fit(path, trainers.imported))
    assert isinstance(sent_messages, Failure)
    modules = sent_messages.detail.split()
    assert "relevance_bayes.core.selection" in modules
    assert [name for name in modules if name.startswith(SERVICE)] == []


def test_a_fit_has_its_threads_and_linear_algebra_one_in_each(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    with its_child(threads=3) as child:
        assert messages(child, fit(path, trainers.threads)) == [Failure("DataError", "3 x 1")]


@pytest.mark.thorough
def test_an_operators_own_number_of_threads_of_linear_algebra_is_kept(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "5")
    with its_child(threads=3) as child:
        assert messages(child, fit(path, trainers.threads)) == [Failure("DataError", "3 x 5")]


def test_each_fit_has_a_child_of_its_own(pool: ChildPool) -> None:
    first, second = pool.take(), pool.take()
    assert first.pid != second.pid
    first.kill()
    second.kill()


def test_a_spare_child_that_died_is_never_handed_out(pool: ChildPool) -> None:
    spare = pool.take()
    until(lambda: not pool._ready.empty())
    dead = pool._ready.get()
    os.kill(dead.pid, signal.SIGKILL)
    until(lambda: not dead.is_alive)
    pool._ready.put(dead)
    living = pool.take()
    assert living.pid != dead.pid
    spare.kill()
    living.kill()


def test_a_child_whose_fit_was_short_does_the_next_one_too(pool: ChildPool, path: Path) -> None:
    children = set()
    for _ in range(6):
        child = pool.take()
        children.add(child)
        assert isinstance(messages(child, fit(path, trainers.quick))[-1], Fitted)
        pool.give_back(child)
    assert len(children) <= 2


def test_nothing_of_an_earlier_fit_is_received_in_the_next_one(reused_child: Child, path: Path) -> None:
    messages(reused_child, fit(path, trainers.quick))
    (sent_messages,) = messages(reused_child, fit(path, trainers.reported))
    assert isinstance(sent_messages, Failure)


def test_a_child_whose_fit_was_long_is_ended(pool: ChildPool, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.jobs.worker.pool.SHORT_SECONDS", 0.0)
    child = pool.take()
    messages(child, fit(path, trainers.quick))
    pool.give_back(child)
    assert has_exited(child.pid)


@pytest.mark.thorough
def test_a_child_ends_after_many_fits(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.jobs.worker.pool.MAX_FITS", 2)
    with its_child() as child:
        assert [_again(child, path) for _ in range(2)] == [True, False]


def _again(child: Child, path: Path) -> bool:
    messages(child, fit(path, trainers.quick))
    return child.reset()


@pytest.mark.thorough
def test_children_that_are_given_back_are_no_more_than_twice_the_spare_ones(path: Path) -> None:
    with another_pool() as pool:
        spawned = [pool.take() for _ in range(4)]
        for child in spawned:
            messages(child, fit(path, trainers.quick))
        until(lambda: not pool._ready.empty(), seconds=30)
        for child in spawned:
            pool.give_back(child)
        assert [has_exited(child.pid) for child in spawned] == [False, True, True, True]


def test_what_a_child_printed_in_an_earlier_fit_are_not_its_last_words(path: Path) -> None:
    with its_child() as child:
        child._stderr.write(b"heard long ago")
        child._stderr.flush()
        messages(child, fit(path, trainers.quick))
        assert child.reset()
        with pytest.raises(ChildDied) as died:
            messages(child, fit(path, trainers.dying))
    assert died.value.stderr == ""


@pytest.mark.thorough
def test_a_child_that_is_given_back_as_the_pool_stops_ends_too(path: Path) -> None:
    with another_pool() as pool:
        child = pool.take()
        messages(child, fit(path, trainers.quick))
    pool.give_back(child)
    assert has_exited(child.pid)


def test_no_child_outlives_its_pool() -> None:
    with another_pool() as pool:
        until(lambda: not pool._ready.empty(), seconds=30)
        spare = pool._ready.get()
        pool._ready.put(spare)
    assert has_exited(spare.pid)


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform != "linux", reason="other kernels take no notice of the limit")
def test_a_child_that_requests_more_memory_than_it_may_use_reports_it(path: Path) -> None:
    with its_child(memory=400 * MEBIBYTE) as limited:
        failure = messages(limited, fit(path, trainers.hungry))[-1]
    assert isinstance(failure, Failure)
    assert failure.error == "MemoryError"
    with its_child(memory=8192 * MEBIBYTE) as free:
        assert isinstance(messages(free, fit(path, trainers.hungry))[-1], Fitted)


@pytest.mark.thorough
def test_a_child_goes_on_where_the_checkpoint_of_another_ends(path: Path) -> None:
    given = fit(path, trainers.resting)
    with another_pool() as pool:
        first = pool.take()
        first.start(given)
        rested: FitCheckpoint | None = None
        while rested is None:
            message = first.receive(30.0)
            rested = message if isinstance(message, FitCheckpoint) else None
        first.kill()
        second = pool.take()
        second.start(given, rested.fit_log)
        assert isinstance(second.receive(30.0), Step)
        assert isinstance(second.receive(30.0), Fitted)
        second.kill()


def test_the_last_words_of_a_child_are_received(path: Path) -> None:
    with its_child() as child, pytest.raises(ChildDied) as died:
        messages(child, fit(path, trainers.crashing))
    assert died.value.code == -signal.SIGSEGV
    assert died.value.words == "Fatal Python error: Segmentation fault"
    assert "Current thread" in died.value.stderr


def test_without_a_fatal_error_the_last_line_is_the_last_words() -> None:
    assert ChildDied(1, "first\nsecond\n\n").words == "second"
    assert ChildDied(1, "").words == ""
    assert ChildDied(1, "x" * 10_000).words == "x" * MAX_WORDS


def test_a_child_is_started_once_the_system_permits_it(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    start, refused = subprocess.Popen, [OSError("Resource temporarily unavailable"), OSError("Too many open files")]

    def popen(*arguments: object, **options: object) -> object:
        if refused:
            raise refused.pop()
        return start(*arguments, **options)  # type: ignore[call-overload]

    monkeypatch.setattr(pool, "RETRY_SECONDS", 0.01)
    monkeypatch.setattr(subprocess, "Popen", popen)
    descriptors = len([*Path("/proc/self/fd").iterdir()])
    with another_pool() as it:
        child = it.take()
        assert child.is_alive
        assert caplog.messages.count("a process for fits can't be started") == 2
        child.kill()
    assert len([*Path("/proc/self/fd").iterdir()]) == descriptors
