"""Errors of requests, each named for what is wrong."""

from collections.abc import Sequence
from dataclasses import dataclass

from relevance_bayes.types.json_schema import wire


@dataclass(frozen=True)
class Fault:
    """A fault and its place: a JSON pointer, parameter, header, row (from 0) and column, or line (from 1)."""

    __pydantic_config__ = wire(is_sparse=True)

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


def listed(detail: str, faults: Sequence[Fault]) -> str:
    """Return the detail, with a line for each fault that it does not contain."""
    return "\n".join([detail, *(f"  {fault}" for fault in faults if fault.detail not in detail)])


def sentence(text: str) -> str:
    """Return a text with a capital at its beginning and a full stop at its end."""
    ended = text if text.endswith((".", "!", "?")) else f"{text}."
    return ended[:1].upper() + ended[1:]


class RelevanceError(Exception):
    """The base class of the service's own errors; `detail` is a sentence for the user, `faults` have its places."""

    def __init__(self, detail: str, faults: Sequence[Fault] = ()) -> None:
        super().__init__(detail)
        self.detail = detail
        self.faults = tuple(faults)


class InvalidRequestError(RelevanceError):
    """Raised for an invalid request, or one that contradicts its dataset."""


class InvalidDataError(RelevanceError):
    """Raised for rows that are invalid in their format."""


class NotFoundError(RelevanceError):
    """Raised for a resource that does not exist, or not for this owner."""


def pointer(path: tuple[str | int, ...]) -> str:
    """Return the JSON pointer (RFC 6901) of a path of keys and indices."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)


class ConflictError(RelevanceError):
    """The request conflicts with the current state of a resource."""


class TrainingFailedError(RelevanceError):
    """A fit that cannot succeed; `kind` is a stable slug, the detail states the remedy."""

    def __init__(self, detail: str, *, kind: str = "training-failed", faults: Sequence[Fault] = ()) -> None:
        super().__init__(detail, faults)
        self.kind = kind
