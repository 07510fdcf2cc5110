"""Jobs that score are logged and limited as trainings are."""

import logging
from dataclasses import replace
from time import sleep

import pytest

from app.jobs.worker.attempts import Records
from app.prediction import ServedVersion, evaluate_block
from relevance_bayes.tables.columns import Block
from relevance_bayes.tasks.prediction import LabelledBlock
from tests.scoring_bench import Bench


def events(caplog: pytest.LogCaptureFixture) -> list[tuple[object, ...]]:
    lines = [vars(record) for record in caplog.records if record.name == "app.jobs.worker.job_log"]
    return [(line["msg"], line["kind"], line["attempt"], line["outcome"]) for line in lines]


@pytest.fixture(autouse=True)
def info(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "app.jobs.worker.job_log")


def test_an_evaluation_is_logged_when_it_starts_and_when_it_ends(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    assert bench.run(bench.evaluation())
    assert events(caplog) == [("job started", "evaluation", 1, "running"), ("job ended", "evaluation", 1, "succeeded")]


def test_an_evaluation_that_is_interrupted_is_logged(
    bench: Bench, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def last(version: ServedVersion, block: Block) -> LabelledBlock:
        bench.stopping.set()
        return evaluate_block(version, block)

    monkeypatch.setattr("app.evaluation.evaluate.evaluate_block", last)
    assert not bench.run(bench.evaluation())
    assert [event[0] for event in events(caplog)] == ["job started", "job interrupted"]


def test_an_evaluation_past_its_time_limit_fails_as_timed_out(
    bench: Bench, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slow(version: ServedVersion, block: Block) -> LabelledBlock:
        sleep(0.2)
        return evaluate_block(version, block)

    monkeypatch.setattr("app.evaluation.evaluate.evaluate_block", slow)
    job_id = bench.evaluation()
    assert replace(bench.run, records=Records(bench.transaction, bench.stopping, 0.1))(job_id)
    job = bench.look(job_id)
    assert job.error is not None
    assert (job.state, job.error.kind) == ("failed", "timed-out")
    assert events(caplog)[-1] == ("job ended", "evaluation", 1, "timed_out")
