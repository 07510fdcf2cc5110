"""The spans of jobs: one for each attempt, in the trace of the request that submitted the job."""

from uuid import UUID

from app.jobs.attempts import EarlierAttempts
from app.tracing.spans import Span, Tracer


def start_attempt(tracer: Tracer, job_id: UUID, earlier: EarlierAttempts) -> Span:
    """Start the span of a job's next attempt, with links to the attempt before it and to the job that it repeats."""
    links = (earlier.traces.attempt, earlier.traces.retried)
    return tracer.start(
        f"process {earlier.job.kind}",
        "consumer",
        {
            "messaging.system": "relevance",
            "messaging.operation.name": "process",
            "messaging.operation.type": "process",
            "messaging.destination.name": earlier.job.kind,
            "messaging.message.id": str(job_id),
            "relevance.job.attempt": earlier.job.attempt + 1,
        },
        parent=earlier.traces.submission,
        state=earlier.traces.state,
        links=[link for link in links if link is not None],
    )
