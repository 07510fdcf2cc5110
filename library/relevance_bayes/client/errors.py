"""The one error that a client raises."""

from dataclasses import dataclass

from relevance_bayes.types.errors import Fault, listed
from relevance_bayes.types.jobs import JobBase

NOT_REACHABLE = "not-reachable"
"""The `type` of the problem that no service responds at the address."""

CONNECTION_LOST = "connection-lost"
"""The `type` of the problem that the service was there, and no response came: the request may have been done."""

KEY_IN_USE = "/problems/idempotency-key-in-use"


@dataclass(frozen=True)
class Problem:
    """Why there is no answer (RFC 9457). `status` is None where none came."""

    title: str
    detail: str
    status: int | None = None
    type: str = "about:blank"
    instance: str | None = None
    errors: tuple[Fault, ...] = ()
    request_id: str | None = None

    @classmethod
    def of_job(cls, job: JobBase) -> "Problem":
        """Why nothing came of a job."""
        error = job.error
        if error is None:
            return cls(title="No result", detail=f"The job has ended as {job.state}.")
        return cls(
            title=error.title, detail=error.detail, type=error.type, instance=error.instance, errors=error.errors
        )

    def __str__(self) -> str:
        return listed(self.detail or self.title, self.errors)


class ClientError(Exception):
    """The service refused, or could not be reached: `problem` is the reason."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(str(problem))
        self.problem = problem
