"""The exception of the client."""

from dataclasses import dataclass

from relevance_bayes.records.errors import Fault, listed
from relevance_bayes.records.jobs import JobBase

NOT_REACHABLE = "not-reachable"
"""The `type` of the problem where the service can't be reached."""

CONNECTION_LOST = "connection-lost"
"""The `type` of the problem where the connection was lost before a response; the request may have been executed."""

KEY_IN_USE = "/problems/idempotency-key-in-use"


@dataclass(frozen=True)
class Problem:
    """A problem (RFC 9457). `status` is None without a response."""

    title: str
    detail: str
    status: int | None = None
    type: str = "about:blank"
    instance: str | None = None
    errors: tuple[Fault, ...] = ()
    request_id: str | None = None

    @classmethod
    def of_job(cls, job: JobBase) -> "Problem":
        """Return the problem of a job without a result."""
        error = job.error
        if error is None:
            return cls(title="No result", detail=f"The job has ended in state {job.state}.")
        return cls(
            title=error.title, detail=error.detail, type=error.type, instance=error.instance, errors=error.errors
        )

    def __str__(self) -> str:
        return listed(self.detail or self.title, self.errors)


class ClientError(Exception):
    """Raised where the service refuses a request or can't be reached; `problem` describes why.

    `retry_after`: the seconds after which a repetition may succeed, where the service gives them.
    """

    def __init__(self, problem: Problem, *, retry_after: float | None = None) -> None:
        super().__init__(str(problem))
        self.problem = problem
        self.retry_after = retry_after
