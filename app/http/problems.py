"""The table from errors to problems (RFC 9457), and their responses."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass

import orjson
from pydantic import BaseModel, Field
from starlette.responses import Response
from starlette.types import Scope

from app.database.frame import NewerReleaseError
from app.errors import (
    ClientLeftError,
    ConflictError,
    CrossSiteError,
    GoneError,
    InUseError,
    KeyInUseError,
    KeyReusedError,
    MalformedBodyError,
    MisdirectedError,
    NotInstalledError,
    PreconditionFailedError,
    QuotaExceededError,
    RateLimitError,
    StorageFullError,
    TooLargeError,
    TooManyJobsError,
    TrainingFailedError,
    TrainingTimeError,
    UnauthenticatedError,
    UnavailableError,
)
from app.http.paths import INFERENCE, is_below, path_of
from relevance_bayes.records.errors import (
    Fault,
    InvalidDataError,
    InvalidRequestError,
    NotFoundError,
    RelevanceError,
    sentence,
)

PROBLEM_JSON = "application/problem+json"
MAX_ERRORS = 100
"""The maximum number of entries of a problem's `errors`; above it, the detail has their number."""

REQUEST_ID = "request_id"
"""The key of a request's id in its scope's state."""


@dataclass(frozen=True)
class ProblemKind:
    """A kind of problem: its HTTP status, its stable name for programs, its title for people."""

    status: int
    slug: str
    title: str

    @property
    def type(self) -> str:
        """Return the problem's `type`, a reference relative to the service."""
        return f"/problems/{self.slug}"

    def members(self, detail: str, errors: Sequence[Mapping[str, object]]) -> dict[str, object]:
        """Return a problem of this kind that is not a response, such as that of a row."""
        return {"type": self.type, "title": self.title, "status": self.status, "detail": detail, "errors": errors}


UNAUTHENTICATED = ProblemKind(401, "unauthenticated", "Unauthenticated")
FORBIDDEN = ProblemKind(403, "insufficient-scope", "Insufficient scope")
UNAVAILABLE = ProblemKind(503, "unavailable", "Service unavailable")

KINDS: Mapping[type[RelevanceError], ProblemKind] = {
    MalformedBodyError: ProblemKind(400, "malformed-body", "Malformed body"),
    UnauthenticatedError: UNAUTHENTICATED,
    CrossSiteError: ProblemKind(403, "cross-site-request", "Cross-site request"),
    QuotaExceededError: ProblemKind(403, "quota-exceeded", "Quota exceeded"),
    NotFoundError: ProblemKind(404, "not-found", "Not found"),
    ConflictError: ProblemKind(409, "conflict", "Conflict"),
    InUseError: ProblemKind(409, "in-use", "Resource in use"),
    GoneError: ProblemKind(410, "gone", "Gone"),
    PreconditionFailedError: ProblemKind(412, "precondition-failed", "Precondition failed"),
    TooLargeError: ProblemKind(413, "too-large", "Content too large"),
    MisdirectedError: ProblemKind(421, "misdirected-request", "Misdirected request"),
    InvalidRequestError: ProblemKind(422, "invalid-request", "Invalid request"),
    InvalidDataError: ProblemKind(422, "invalid-data", "Invalid data"),
    TrainingFailedError: ProblemKind(422, "training-failed", "Training failed"),
    KeyReusedError: ProblemKind(422, "idempotency-key-reused", "Idempotency key reused"),
    KeyInUseError: ProblemKind(409, "idempotency-key-in-use", "Idempotency key in use"),
    TooManyJobsError: ProblemKind(429, "too-many-jobs", "Too many unfinished jobs"),
    RateLimitError: ProblemKind(429, "rate-limit-exceeded", "Rate limit exceeded"),
    TrainingTimeError: ProblemKind(429, "training-time-exceeded", "Training time exceeded"),
    ClientLeftError: ProblemKind(499, "client-closed-request", "Client closed request"),
    NotInstalledError: ProblemKind(501, "not-installed", "Not installed"),
    UnavailableError: UNAVAILABLE,
    NewerReleaseError: UNAVAILABLE,
    StorageFullError: ProblemKind(507, "insufficient-storage", "Insufficient storage"),
}

UNEXPECTED = ProblemKind(500, "unexpected", "Internal error")

FRAMEWORK: Mapping[int, ProblemKind] = {
    400: KINDS[MalformedBodyError],
    404: KINDS[NotFoundError],
    405: ProblemKind(405, "method-not-allowed", "Method not allowed"),
    406: ProblemKind(406, "not-acceptable", "Not acceptable"),
    412: KINDS[PreconditionFailedError],
    413: KINDS[TooLargeError],
    415: ProblemKind(415, "unsupported-media-type", "Unsupported media type"),
    416: ProblemKind(416, "range-not-satisfiable", "Range not satisfiable"),
    422: KINDS[InvalidRequestError],
    503: KINDS[UnavailableError],
}
"""Kinds for statuses that the framework or routes raise without an error of the service."""

RETRY_AFTER_SECONDS: Mapping[ProblemKind, int] = {
    KINDS[UnavailableError]: 2,
    KINDS[KeyInUseError]: 2,
    KINDS[TooManyJobsError]: 10,
    KINDS[StorageFullError]: 60,
}
"""Retry-After, in seconds, by the kinds for which a retry can succeed."""


def kind_of(error: RelevanceError) -> ProblemKind:
    """Return the kind of an error: its own, or its nearest ancestor's."""
    return next((KINDS[cls] for cls in type(error).__mro__ if cls in KINDS), UNEXPECTED)


def fault_members(fault: Fault) -> dict[str, object]:
    """Return a fault as an entry of a problem's `errors`, without absent members."""
    named: tuple[tuple[str, object], ...] = (
        ("pointer", fault.pointer),
        ("parameter", fault.parameter),
        ("header", fault.header),
        ("row", fault.row),
        ("column", fault.column),
        ("line", fault.line),
        ("sheet_row", fault.sheet_row),
        ("ambiguity", None if fault.ambiguity is None else asdict(fault.ambiguity)),
        ("detail", sentence(fault.detail)),
    )
    return {name: value for name, value in named if value is not None}


def problem_response(
    scope: Scope,
    kind: ProblemKind,
    *,
    detail: str,
    errors: Iterable[Mapping[str, object]] = (),
    headers: Mapping[str, str] | None = None,
) -> Response:
    """Return the response for a problem with a request."""
    listed = list(errors)
    if len(listed) > MAX_ERRORS:
        detail = f"{detail} The first {MAX_ERRORS} of {len(listed)} errors are listed."
    problem = {
        "type": kind.type,
        "title": kind.title,
        "status": kind.status,
        "detail": detail,
        "instance": scope["path"],
        "errors": listed[:MAX_ERRORS],
        "request_id": scope.get("state", {}).get(REQUEST_ID),
    }
    if is_below(path_of(scope), INFERENCE):
        # The protocol's clients read `error`, from plain JSON; its status for an invalid request is 400.
        status = 400 if kind.status == 422 else kind.status
        content = orjson.dumps({"error": detail, **problem, "status": status}, default=str)
        return Response(content, status, headers=headers, media_type="application/json")
    content = orjson.dumps(problem, default=str)
    return Response(content, kind.status, headers=headers, media_type=PROBLEM_JSON)


def error_response(scope: Scope, error: RelevanceError) -> Response:
    """Return the response to one of the service's own errors."""
    kind = kind_of(error)
    seconds = error.retry_after if isinstance(error, RateLimitError) else RETRY_AFTER_SECONDS.get(kind)
    headers = None if seconds is None else {"Retry-After": str(seconds)}
    if kind is UNAUTHENTICATED:
        headers = {"WWW-Authenticate": "Bearer"}
    errors = map(fault_members, error.faults)
    return problem_response(scope, kind, detail=sentence(error.detail), errors=errors, headers=headers)


class ProblemOut(BaseModel):
    """An error response (`application/problem+json`)."""

    type: str = Field(description="The kind of problem, for machines: `/problems/...`.")
    title: str
    status: int
    detail: str = Field(description="What is wrong in this request, and how to correct it.")
    instance: str = Field(description="The path of the request.")
    errors: list[Fault]
    request_id: str | None


class InferenceProblemOut(ProblemOut):
    """A problem with the member `error`, the only one that clients of the Open Inference Protocol read."""

    error: str = Field(description="The `detail`.")
