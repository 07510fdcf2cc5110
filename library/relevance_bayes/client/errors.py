"""The one error that a client raises."""

from dataclasses import dataclass

NOT_REACHABLE = "not-reachable"
"""The `type` of the problem that there is no service to say what the problem is."""

CONNECTION_LOST = "connection-lost"
"""The `type` of the problem that the service was there, and no answer came: what was asked may have been done."""

KEY_IN_USE = "/problems/idempotency-key-in-use"


@dataclass(frozen=True)
class Place:
    """One thing wrong in what was sent: where (JSON pointer; row from 0 and column; line of a file from 1) and what."""

    detail: str
    pointer: str | None = None
    parameter: str | None = None
    header: str | None = None
    row: int | None = None
    column: str | None = None
    line: int | None = None

    def __str__(self) -> str:
        named = (
            ("", self.pointer),
            ("?", self.parameter),
            ("header ", self.header),
            ("line ", self.line),
            ("row ", self.row),
            ("column ", self.column),
        )
        where = ", ".join(f"{name}{value}" for name, value in named if value not in (None, ""))
        return f"{where}: {self.detail}" if where else self.detail


@dataclass(frozen=True)
class Problem:
    """Why there is no answer, or why a job failed (RFC 9457). `status` is None where it is not that of an answer."""

    title: str
    detail: str
    status: int | None = None
    type: str = "about:blank"
    instance: str | None = None
    errors: tuple[Place, ...] = ()
    request_id: str | None = None

    def __str__(self) -> str:
        said = self.detail or self.title
        return "\n".join([said, *(f"  {place}" for place in self.errors if place.detail not in said)])


class ClientError(Exception):
    """The service refused, or could not be reached; `problem` says why."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(str(problem))
        self.problem = problem
