from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from uuid import UUID

import numpy as np
import pytest
from sqlalchemy import Engine, event

from app.database.transaction import OpenTransaction, Transaction
from app.errors import UnavailableError
from app.jobs.checkpoint_repository import CheckpointRepository
from app.jobs.records import Checkpoint, Claim
from app.jobs.repository import JobRepository
from app.jobs.worker import attempts
from app.jobs.worker.attempts import Records
from app.registry.repository import ModelRepository
from app.registry.version_repository import VectorRepository
from app.tasks import runner
from relevance_bayes.core.kernels import Gaussian
from relevance_bayes.core.models.fitting import LogEntry
from relevance_bayes.core.selection import train
from relevance_bayes.records.jobs import Progress
from relevance_bayes.records.reports import Evidence, InputWarp, InputWidth
from relevance_bayes.tasks.supervised.report import Hyperparameters, SupervisedPredictor
from relevance_bayes.tasks.supervised.request import Validation
from tests.jobs.worker import trainers
from tests.jobs.worker.bench import OWNER, PROGRAM, Bench, Running
from tests.narrowing import of_data, of_kind
from tests.waiting import until


@dataclass
class Flaky:
    """Transactions on a database that is away every other time, `failures` times in all."""

    transaction: OpenTransaction
    failures: int
    requested: int = 0

    def __call__(self) -> AbstractContextManager[Transaction]:
        self.requested += 1
        if self.failures and self.requested % 2:
            self.failures -= 1
            raise UnavailableError("The database is away.")
        return self.transaction()


def test_a_successful_fit_is_recorded_in_the_users_units_with_the_users_rows(bench: Bench) -> None:
    dataset = bench.dataset()
    job_id = bench.queued(trainers.quick, dataset, holdout=0.25)
    assert bench.run(job_id)
    job = bench.look(job_id)
    assert (job.state, job.attempt, job.version, job.error) == ("succeeded", 1, 1, None)
    with bench.transaction() as tx:
        version = ModelRepository(tx).version(OWNER, "things")
        vectors = VectorRepository(tx).page(version.id, limit=10, after=None, sort="number").items
        scale = of_kind(SupervisedPredictor, ModelRepository(tx).predictor(version.id)).encoding.target.scale
    report = of_data(version.report)
    assert 1.0 < scale <= 2.0
    assert (report.dataset_id, report.dataset_digest) == (dataset.id, dataset.digest)
    assert (report.rows, report.rows_held_out, report.functions, report.candidates) == (9, 3, 3, 10)
    (member,) = report.members
    assert (member.kernel, member.weight, member.functions) == (Gaussian(), 1.0, 3)
    found = member.hyperparameters
    assert found == Hyperparameters(noise_sd=found.noise_sd, widths=(InputWidth(None, 0.5),))
    assert found.noise_sd == pytest.approx(0.5 * scale)
    assert report.evidence is not None
    assert report.evidence.value == pytest.approx(-10.0 - 9 * np.log(scale))
    assert replace(report.evidence, value=0.0) == Evidence(0.0, "exact", 0.0, 0.0)
    assert (member.evidence_unreduced, member.score, report.integrated_evidence, report.alternatives) == (
        None,
        None,
        None,
        (),
    )
    assert report.metrics == {"holdout": pytest.approx({"rmse": 2.0 * scale, "nll": 1.0 + np.log(scale)})}
    assert not any(vector.optimised for vector in vectors)
    assert [(vector.number, vector.kind) for vector in vectors] == [(1, "gaussian"), (2, "gaussian"), (3, "bias")]
    for vector in vectors[:2]:
        assert vector.row is not None
        assert vector.inputs == {"size": vector.row, "colour": "blue" if vector.row % 2 else "red"}
    assert (vectors[2].row, vectors[2].inputs) == (None, None)
    assert [vector.weight_sd for vector in vectors] == [1.0, 2.0, 3.0]


def test_figures_of_folds_are_recorded_in_the_users_units_with_the_rows_measured(bench: Bench) -> None:
    assert bench.run(bench.queued(trainers.quick, validation=Validation(4)))
    with bench.transaction() as tx:
        report = of_data(ModelRepository(tx).version(OWNER, "things").report)
    expected = {"mae": 1.5 * 2.0, "nll": 0.5 + np.log(2.0), "rows": 8.0}
    assert report.metrics == {"validation": pytest.approx(expected)}
    assert report.plan.validation == Validation(4)


def test_what_a_process_learned_is_reported_by_the_names_of_the_inputs(bench: Bench) -> None:
    assert bench.run(bench.queued(trainers.process))
    with bench.transaction() as tx:
        version = ModelRepository(tx).version(OWNER, "things")
        vectors = VectorRepository(tx).page(version.id, limit=10, after=None, sort="number").items
    report = of_data(version.report)
    found = report.hyperparameters
    assert found.widths == (
        InputWidth("size", 3.0),
        InputWidth("colour=blue", 0.5),
        InputWidth("colour=red", 2.0),
    )
    assert InputWarp("colour=red", 0.1, 0.0) in found.warps
    assert found.signal_sd == pytest.approx(0.5 * 2.0)
    assert (found.last_gain, found.next_gain) == (4.5, 0.5)
    assert [(vector.kind, vector.input, vector.optimised) for vector in vectors] == [
        ("gaussian", None, False),
        ("gaussian", None, True),
        ("bias", None, False),
        ("input", "size", False),
        ("input", "colour=blue", False),
    ]
    assert [vector.inputs is None for vector in vectors] == [False, False, True, True, True]
    assert [vector.row is None for vector in vectors] == [False, False, True, True, True]


def test_the_first_and_the_last_step_are_events_in_the_users_units(bench: Bench) -> None:
    job_id = bench.queued(trainers.quick)
    assert bench.run(job_id)
    with bench.transaction() as tx:
        events = JobRepository(tx).events(OWNER, job_id, limit=100, after=0)
    reported = [event.progress for event in events if event.progress is not None]
    assert [(one.phase, one.completed, one.functions) for one in reported] == [("fit", 0, 0), ("fit", 1, 1)]
    assert [one.noise_sd for one in reported] == pytest.approx([0.5 * 2.0] * 2)
    assert bench.look(job_id).progress == replace(reported[-1], share=1.0, seconds_left=0.0)


def test_a_short_training_takes_few_transactions_and_statements(
    bench: Bench, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (attempts, runner):  # checks of a slow machine's fit are not counted
        monkeypatch.setattr(module, "LOOK_SECONDS", 1000.0)
    monkeypatch.setattr(runner, "REPORT_SECONDS", 1000.0)
    counted = Flaky(bench.transaction, failures=0)
    run = replace(bench.run, records=replace(bench.run.records, transaction=counted))
    job_id = bench.queued(trainers.quick)
    statements: list[str] = []

    def count(*executed: object) -> None:
        statements.append(str(executed[2]))

    event.listen(engine, "before_cursor_execute", count)
    try:
        assert run(job_id)
    finally:
        event.remove(engine, "before_cursor_execute", count)
    # The claim, the dataset with its first block, two further blocks, the first event, a row of a function in another
    # block, the end with the last event.
    assert counted.requested == 7
    assert len(statements) == (31 if engine.dialect.name == "sqlite" else 35), "\n".join(statements)


def test_the_core_itself_ends_a_job(bench: Bench) -> None:
    job_id = bench.queued(train)
    assert bench.run(job_id)
    assert bench.look(job_id).state == "succeeded"


def test_a_refusal_of_the_core_fails_the_job_and_states_what_to_do(bench: Bench) -> None:
    job_id = bench.queued(trainers.refusing)
    assert bench.run(job_id)
    job = bench.look(job_id)
    assert (job.state, job.attempt) == ("failed", 1)
    assert job.error is not None
    assert job.error.kind == "constant-target"
    assert job.error.detail.startswith("all 7 targets are 3.0: choose a target")


def test_a_fault_in_the_child_fails_the_job_and_is_logged(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    job_id = bench.queued(trainers.broken)
    assert bench.run(job_id)
    job = bench.look(job_id)
    assert job.state == "failed"
    assert job.error is not None
    assert job.error.kind == "internal-error"
    assert "ZeroDivisionError" not in job.error.detail
    assert "in the depths" in str([vars(record) for record in caplog.records])


def test_rows_that_cannot_be_learned_from_fail_the_job_before_a_child_is_taken(bench: Bench) -> None:
    job_id = bench.queued(trainers.stuck)
    assert replace(bench.run, max_cells=1)(job_id)
    job = bench.look(job_id)
    assert job.error is not None
    assert (job.state, job.error.kind) == ("failed", "too-large")


@pytest.mark.thorough
def test_a_fit_that_is_killed_each_time_is_started_three_times(bench: Bench) -> None:
    job_id = bench.queued(trainers.dying)
    assert bench.run(job_id)
    job = bench.look(job_id)
    assert (job.state, job.attempt) == ("failed", 3)
    assert job.error is not None
    assert job.error.kind == "worker-died"
    assert "memory" in job.error.detail
    assert "started 3 times" in job.error.detail
    assert "ended by signal 9" in job.error.detail


def test_the_last_words_of_a_fits_process_are_reported(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.jobs.repository.MAX_STARTS", 1)
    job_id = bench.queued(trainers.crashing)
    assert bench.run(job_id)
    job = bench.look(job_id)
    assert job.error is not None
    assert "Segmentation fault" in job.error.detail
    assert "memory" not in job.error.detail


def test_a_job_whose_workers_died_states_how_far_it_was(bench: Bench) -> None:
    job_id = bench.queued(trainers.quick)
    for attempt in (1, 2, 3):
        with bench.transaction() as tx:
            JobRepository(tx).claim(job_id)
            JobRepository(tx).progress(job_id, attempt, Progress("width search", 12, 65, "fits"))
    assert bench.run(job_id)
    job = bench.look(job_id)
    assert job.error is not None
    assert "its worker stopped without a word, the last time in phase 'width search' after 12 of 65 fits. " in (
        job.error.detail
    )
    assert "most often" not in job.error.detail


def kept(bench: Bench, job_id: UUID) -> tuple[LogEntry, ...] | None:
    with bench.transaction() as tx:
        found = CheckpointRepository(tx).find(job_id, by=PROGRAM)
    return None if found is None else found.checkpoint.fit_log


def test_a_start_goes_on_from_what_the_one_before_it_had_kept(bench: Bench) -> None:
    job_id = bench.queued(trainers.resting)
    running = Running(replace(bench.run, keep_seconds=0.0), job_id)
    until(lambda: kept(bench, job_id) is not None, seconds=30)
    bench.run.records.stopping.set()
    assert running.ended() is False
    bench.run.records.stopping.clear()
    assert bench.run(job_id)
    job = bench.look(job_id)
    assert (job.state, job.attempt) == ("succeeded", 2)
    assert job.resumed_from is not None
    assert job.resumed_from.attempt == 1
    assert job.transitions[1].resumed_from is None
    assert kept(bench, job_id) is None


def test_what_another_program_kept_is_left_alone(bench: Bench) -> None:
    job_id = bench.queued(trainers.quick)
    with bench.transaction() as tx:
        JobRepository(tx).claim(job_id)
        assert CheckpointRepository(tx).keep(job_id, 1, Checkpoint("another", (np.ones(1),)))
    assert bench.run(job_id)
    job = bench.look(job_id)
    assert (job.state, job.attempt, job.resumed_from) == ("succeeded", 2, None)


def test_what_was_received_last_is_kept_at_the_end_of_a_start(bench: Bench) -> None:
    job_id = bench.queued(trainers.resting)
    running = bench.begin(job_id)

    def has_rested() -> bool:
        progress = bench.look(job_id).progress
        return progress is not None and progress.completed == 2

    until(has_rested, seconds=30)
    assert kept(bench, job_id) is None
    bench.run.records.stopping.set()
    assert running.ended() is False
    assert kept(bench, job_id)


def test_to_be_interrupted_costs_no_start(bench: Bench) -> None:
    job_id = bench.queued(trainers.endless)

    def has_attempt(number: int) -> bool:
        return bench.look(job_id).attempt == number

    for attempt in range(1, 6):
        bench.run.records.stopping.clear()
        running = bench.begin(job_id)
        until(partial(has_attempt, attempt), seconds=30)
        bench.run.records.stopping.set()
        assert running.ended() is False
    with bench.transaction() as tx:
        assert JobRepository(tx).claim(job_id) == Claim(6)


def test_starts_on_workers_that_died_count_too(bench: Bench) -> None:
    job_id = bench.queued(trainers.quick)
    for _ in range(3):
        with bench.transaction() as tx:
            JobRepository(tx).claim(job_id)
    assert bench.run(job_id)
    job = bench.look(job_id)
    assert job.error is not None
    assert (job.state, job.error.kind) == ("failed", "worker-died")


@pytest.mark.thorough
def test_a_cancelled_job_ends_within_a_second(bench: Bench) -> None:
    job_id = bench.queued(trainers.endless)
    running = bench.begin(job_id)
    until(lambda: bench.look(job_id).progress is not None, seconds=30)
    with bench.transaction() as tx:
        JobRepository(tx).request_cancel(OWNER, job_id)
    assert running.ended(seconds=1.0)
    assert bench.look(job_id).state == "cancelled"


def test_a_job_that_was_cancelled_while_no_worker_had_it_ends_as_cancelled(bench: Bench) -> None:
    job_id = bench.queued(trainers.stuck)
    with bench.transaction() as tx:
        JobRepository(tx).claim(job_id)  # by a worker that died since
        JobRepository(tx).request_cancel(OWNER, job_id)
    assert bench.run(job_id)
    assert bench.look(job_id).state == "cancelled"


def test_a_start_that_was_superseded_stops_and_records_nothing(bench: Bench) -> None:
    job_id = bench.queued(trainers.endless)
    running = bench.begin(job_id)
    until(lambda: bench.look(job_id).progress is not None, seconds=30)
    with bench.transaction() as tx:
        assert JobRepository(tx).claim(job_id) == Claim(2)
    assert running.ended() is False
    assert (bench.look(job_id).state, bench.look(job_id).attempt) == ("running", 2)


def test_a_worker_that_stops_leaves_its_job_to_others(bench: Bench) -> None:
    job_id = bench.queued(trainers.endless)
    running = bench.begin(job_id)
    until(lambda: bench.look(job_id).progress is not None, seconds=30)
    bench.run.records.stopping.set()
    assert running.ended(seconds=2.0) is False
    assert bench.look(job_id).state == "running"


def test_a_worker_that_stops_claims_nothing(bench: Bench) -> None:
    job_id = bench.queued(trainers.stuck)
    bench.run.records.stopping.set()
    assert not bench.run(job_id)
    assert bench.look(job_id).state == "queued"


def test_a_job_that_has_ended_is_not_run_again(bench: Bench) -> None:
    job_id = bench.queued(trainers.stuck)
    with bench.transaction() as tx:
        JobRepository(tx).request_cancel(OWNER, job_id)
    assert bench.run(job_id)
    assert bench.look(job_id).attempt == 0


def test_a_database_that_is_away_now_and_then_costs_no_start(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.jobs.worker.attempts.RETRY_SECONDS", 0.01)
    job_id = bench.queued(trainers.quick)
    flaky = Flaky(bench.transaction, failures=20)
    assert replace(bench.run, records=Records(flaky, bench.run.records.stopping))(job_id)
    assert flaky.failures < 20 - 5
    assert (bench.look(job_id).state, bench.look(job_id).attempt) == ("succeeded", 1)


def test_progress_that_could_not_be_recorded_is_recorded_with_the_end(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (attempts, runner):  # checks of a slow machine's fit would be transactions too
        monkeypatch.setattr(module, "LOOK_SECONDS", 1000.0)
    monkeypatch.setattr(runner, "REPORT_SECONDS", 1000.0)
    requested = count(1)

    def transaction() -> AbstractContextManager[Transaction]:
        if next(requested) == 5:  # the claim, the dataset with its first block, two further blocks, the event
            raise UnavailableError("The database is away.")
        return bench.transaction()

    job_id = bench.queued(trainers.broken)
    assert replace(bench.run, records=Records(transaction, bench.run.records.stopping))(job_id)
    with bench.transaction() as tx:
        events = JobRepository(tx).events(OWNER, job_id, limit=100, after=0)
    assert [event.progress.completed for event in events if event.progress is not None] == [0]


def test_a_name_that_came_to_mean_something_else_fails_the_job(bench: Bench) -> None:
    dataset = bench.dataset()
    first, second = (bench.queued(trainers.quick, dataset, inputs=inputs) for inputs in (("size",), ("size", "colour")))
    assert bench.run(first)
    assert bench.run(second)
    assert bench.look(first).state == "succeeded"
    job = bench.look(second)
    assert job.error is not None
    assert (job.state, job.error.kind) == ("failed", "model-conflict")
    assert "things" in job.error.detail
