"""Jobs that score, on a real database: evaluations, and what all of them share."""

from dataclasses import replace

import numpy as np
import pytest

from app.evaluation.jobs import EVALUATION_RESULT
from app.evaluation.metrics.numbers import NumberScores
from app.jobs.records import MAX_STARTS, Claim
from app.jobs.repository import JobRepository
from app.prediction import ServedVersion, evaluate_block
from relevance_bayes.records.evaluations import (
    ClassDiagnostics,
    ClassMetrics,
    EvaluationRequest,
    EvaluationResult,
    NumberDiagnostics,
    NumberMetrics,
)
from relevance_bayes.tables.columns import Block, BooleanArray
from relevance_bayes.tasks.prediction import LabelledBlock, LabelledNumbers
from tests.narrowing import of_kind
from tests.scoring_bench import OWNER, ROWS, Bench, table
from tests.served_versions import served
from tests.small_models import small_version


def test_an_evaluation_reports_what_all_rows_together_are_worth(bench: Bench) -> None:
    job_id = bench.evaluation()
    assert bench.run(job_id)
    job = bench.look(job_id)
    found = of_kind(EvaluationResult, EVALUATION_RESULT.read_optional(job.result))
    metrics, diagnostics = of_kind(NumberMetrics, found.metrics), of_kind(NumberDiagnostics, found.diagnostics)
    assert (job.state, job.kind, found.rows, found.rows_without_target, found.rows_not_predicted) == (
        "succeeded",
        "evaluation",
        ROWS - 1,
        1,
        0,
    )
    first, second = evaluate_block(served(small_version()), table()).labelled  # the second is averaged over
    parts = [NumberScores.of(of_kind(LabelledNumbers, one)) for one in (first, second)]
    full = (parts[0] + parts[1]).result()
    assert (metrics.rmse, metrics.nll) == pytest.approx((full.metrics.rmse, full.metrics.nll))
    assert diagnostics == full.diagnostics
    assert job.progress is not None
    assert (job.progress.phase, job.progress.total, job.progress.unit) == ("evaluate", ROWS, "rows")


def test_it_runs_once(bench: Bench) -> None:
    job_id = bench.evaluation()
    assert bench.run(job_id)
    first = bench.look(job_id)
    assert bench.run(job_id)
    assert bench.look(job_id) == first


def test_classes_have_figures_of_their_own(bench: Bench) -> None:
    bench.version(small_version("classification", name="classes"))
    labels = BooleanArray(np.array([0, 1] * (ROWS // 2), np.int8))
    dataset = bench.dataset({**table(), "y": labels}, target="boolean")
    job_id = bench.queued(EvaluationRequest(dataset.id, "classes", version=1))
    assert bench.run(job_id)
    found = of_kind(EvaluationResult, EVALUATION_RESULT.read_optional(bench.look(job_id).result))
    metrics, diagnostics = of_kind(ClassMetrics, found.metrics), of_kind(ClassDiagnostics, found.diagnostics)
    assert (found.rows, diagnostics.classes, metrics.rows_of_unknown_class) == (ROWS, (False, True), 0)
    assert sum(map(sum, diagnostics.confusion)) == ROWS


def test_the_positive_class_of_a_version_has_metrics(bench: Bench) -> None:
    version = small_version("classification", name="classes")
    plan = replace(version.report.plan, positive_class=False)
    bench.version(replace(version, report=replace(version.report, plan=plan)))
    labels = BooleanArray(np.array([0, 1] * (ROWS // 2), np.int8))
    dataset = bench.dataset({**table(), "y": labels}, target="boolean")
    job_id = bench.queued(EvaluationRequest(dataset.id, "classes", version=1))
    assert bench.run(job_id)
    stored = of_kind(EvaluationResult, EVALUATION_RESULT.read_optional(bench.look(job_id).result))
    positive = of_kind(ClassMetrics, stored.metrics).positive
    assert positive is not None
    confusion = np.array(of_kind(ClassDiagnostics, stored.diagnostics).confusion)
    assert (positive.label, positive.rows) == (False, confusion[0].sum())
    assert positive.recall == pytest.approx(confusion[0, 0] / confusion[0].sum())


def test_a_cancelled_one_ends_without_a_result(bench: Bench) -> None:
    job_id = bench.evaluation()
    with bench.transaction() as tx:
        assert JobRepository(tx).claim(job_id) == Claim(1)
        JobRepository(tx).request_cancel(OWNER, job_id)
    assert bench.run(job_id)
    job = bench.look(job_id)
    assert (job.state, job.result) == ("cancelled", None)


def test_a_worker_that_stops_hands_it_back(bench: Bench) -> None:
    job_id = bench.evaluation()
    bench.stopping.set()
    assert not bench.run(job_id)
    assert bench.look(job_id).state == "queued"
    bench.stopping.clear()
    assert bench.run(job_id)
    assert bench.look(job_id).attempt == 1


def test_one_that_is_interrupted_between_two_blocks_has_not_died(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    job_id = bench.evaluation()

    def last(version: ServedVersion, block: Block) -> LabelledBlock:
        bench.stopping.set()
        return evaluate_block(version, block)

    monkeypatch.setattr("app.evaluation.evaluate.evaluate_block", last)
    for _ in range(MAX_STARTS + 1):
        assert not bench.run(job_id)
        bench.stopping.clear()
    job = bench.look(job_id)
    assert (job.state, job.attempt) == ("running", MAX_STARTS + 1)


def test_one_whose_workers_died_each_time_fails(bench: Bench) -> None:
    job_id = bench.evaluation()
    for number in range(MAX_STARTS):
        with bench.transaction() as tx:
            assert JobRepository(tx).claim(job_id) == Claim(number + 1)
    assert bench.run(job_id)
    job = bench.look(job_id)
    assert job.error is not None
    assert (job.state, job.error.kind) == ("failed", "worker-died")


def test_a_start_that_another_one_took_over_from_records_nothing(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    job_id = bench.evaluation()

    def overtaken(version: ServedVersion, block: Block) -> LabelledBlock:
        with bench.transaction() as tx:
            assert JobRepository(tx).claim(job_id) == Claim(2)
        return evaluate_block(version, block)

    monkeypatch.setattr("app.evaluation.evaluate.evaluate_block", overtaken)
    assert not bench.run(job_id)
    job = bench.look(job_id)
    assert (job.state, job.attempt, job.result) == ("running", 2, None)
