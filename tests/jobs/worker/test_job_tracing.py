"""The spans of jobs: an attempt is one, in the trace of the submission; a fit is one within it."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from uuid import UUID

import pytest

from app.jobs.repository import JobRepository
from app.tasks.runner import Start
from app.tracing.opentelemetry_tracer import OpenTelemetryTracer
from app.tracing.spans import CURRENT, Span, span_scope
from relevance_bayes.tasks.fit import Trainer
from tests.collector import Collected, Collector, collecting
from tests.jobs.worker import trainers
from tests.jobs.worker.bench import OWNER, Bench, Running
from tests.waiting import until

PARENT, STATE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "vendor=1,other=2"
"""The trace context of the client that submits jobs."""


@dataclass
class Traced:
    """A bench whose runner traces, and what its collector got."""

    bench: Bench
    collector: Collector
    tracer: OpenTelemetryTracer

    def submitted(self, trainer: Trainer) -> tuple[UUID, Span]:
        """A job that was queued within a span, and the span."""
        with span_scope():
            span = self.tracer.start("POST", "server", {}, parent=PARENT, state=STATE)
            CURRENT.set(span)
            return self.bench.queued(trainer), span

    def attempts(self, count: int) -> list[Collected]:
        return self.collector.wait(count, messaging_operation_name="process")

    def fits(self, count: int) -> list[Collected]:
        self.collector.wait(count)
        until(lambda: len([span for span in self.collector.spans if span.name == "fit"]) >= count)
        return [span for span in self.collector.found() if span.name == "fit"]


@pytest.fixture
def traced(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> Iterator[Traced]:
    with collecting() as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
        monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "50")
        tracer = OpenTelemetryTracer("relevance-worker")
        records = replace(bench.run.records, tracer=tracer)
        with span_scope():
            yield Traced(replace(bench, run=replace(bench.run, records=records)), collector, tracer)
        tracer.close()


def test_an_attempt_is_a_span_of_the_submissions_trace_and_the_fit_one_within_it(traced: Traced) -> None:
    job_id, submission = traced.submitted(trainers.quick)
    assert traced.bench.run(job_id)
    (attempt,) = traced.attempts(1)
    assert (attempt.name, attempt.kind, attempt.is_error) == ("process training", "consumer", False)
    assert (attempt.trace_id, attempt.parent, attempt.links) == (submission.trace_id, submission.span_id, ())
    assert attempt.attributes["messaging.message.id"] == str(job_id)
    assert attempt.attributes["messaging.destination.name"] == "training"
    assert attempt.attributes["relevance.job.attempt"] == 1
    assert attempt.attributes["relevance.job.outcome"] == "succeeded"
    (fit,) = traced.fits(1)
    assert (fit.kind, fit.trace_id, fit.parent) == ("internal", submission.trace_id, attempt.span_id)
    assert fit.attributes["relevance.fit.resumed"] is False
    assert int(fit.attributes["process.pid"]) != int(fit.resource["process.pid"])
    assert attempt.seconds >= fit.seconds > 0


def test_a_job_that_was_submitted_without_a_trace_has_one_of_its_own(traced: Traced) -> None:
    assert traced.bench.run(traced.bench.queued(trainers.quick))
    (attempt,) = traced.attempts(1)
    assert (attempt.parent, attempt.links) == ("", ())


def test_a_failed_job_is_an_error_with_its_reason(traced: Traced) -> None:
    job_id, _ = traced.submitted(trainers.refusing)
    assert traced.bench.run(job_id)
    (attempt,), (fit,) = traced.attempts(1), traced.fits(1)
    assert (attempt.is_error, attempt.attributes["error.type"]) == (True, "constant-target")
    assert attempt.attributes["relevance.job.outcome"] == "failed"
    assert fit.is_error


@pytest.mark.thorough
def test_a_fit_whose_process_dies_is_an_error_and_the_next_attempt_links_to_it(traced: Traced) -> None:
    job_id, submission = traced.submitted(trainers.dying)
    assert traced.bench.run(job_id)
    attempts = traced.attempts(3)
    assert [span.attributes["relevance.job.attempt"] for span in attempts] == [1, 2, 3]
    assert [span.attributes["relevance.job.outcome"] for span in attempts] == ["died"] * 3
    assert {span.parent for span in attempts} == {submission.span_id}
    assert [span.links for span in attempts] == [(), (attempts[0].context,), (attempts[1].context,)]
    assert [span.attributes["error.type"] for span in traced.fits(3)] == ["ChildDied"] * 3


@pytest.mark.thorough
def test_a_job_that_is_interrupted_links_to_its_earlier_attempt(traced: Traced) -> None:
    job_id, submission = traced.submitted(trainers.endless)
    running = Running(traced.bench.run, job_id)
    until(lambda: traced.bench.look(job_id).progress is not None, seconds=30)
    traced.bench.run.records.stopping.set()
    assert not running.ended()
    traced.bench.run.records.stopping.clear()
    again = Running(traced.bench.run, job_id)
    until(lambda: traced.bench.look(job_id).attempt == 2, seconds=30)
    with traced.bench.transaction() as tx:
        JobRepository(tx).request_cancel(OWNER, job_id)
    assert again.ended()
    first, second = traced.attempts(2)
    assert [span.attributes["relevance.job.outcome"] for span in (first, second)] == ["interrupted", "cancelled"]
    assert (second.trace_id, second.parent) == (submission.trace_id, submission.span_id)
    assert second.links == (first.context,)
    assert not first.is_error
    fit = traced.fits(1)[0]
    assert ([name for name, _ in fit.events], fit.is_error) == (["phase"], False)


def test_the_trace_context_of_a_job_is_in_the_transaction_of_its_submission(traced: Traced) -> None:
    job_id, submission = traced.submitted(trainers.quick)
    with traced.bench.transaction() as tx:
        earlier = JobRepository(tx).earlier_starts(job_id)
    assert earlier is not None
    assert (earlier.traces.submission, earlier.traces.attempt) == (submission.traceparent, None)
    assert earlier.traces.state == STATE


def test_the_spans_of_a_job_have_the_tracestate_of_its_submission(traced: Traced) -> None:
    job_id, _ = traced.submitted(trainers.quick)
    assert traced.bench.run(job_id)
    (attempt,), (fit,) = traced.attempts(1), traced.fits(1)
    assert attempt.state == fit.state == STATE


def test_an_exception_ends_the_span_of_its_attempt(traced: Traced, monkeypatch: pytest.MonkeyPatch) -> None:
    job_id, _ = traced.submitted(trainers.quick)

    def fail(*_: object) -> None:
        raise RuntimeError("unexpected")

    monkeypatch.setattr(Start, "record", fail)
    with pytest.raises(RuntimeError, match="unexpected"), span_scope():
        traced.bench.run(job_id)
    (attempt,) = traced.attempts(1)
    assert (attempt.is_error, attempt.attributes["error.type"]) == (True, "RuntimeError")
    assert CURRENT.get().traceparent is None
