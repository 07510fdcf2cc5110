"""Errors of requests, each named for what is wrong."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from relevance_bayes.records.annotations import is_none, wire

ReadingOption: TypeAlias = Literal["decimal", "thousands", "date_format", "header"]
"""The options that choose one of several readings of a file."""


@dataclass(frozen=True)
class PossibleReading:
    """A reading of a cell, and the option of uploads and predictions that chooses it."""

    __pydantic_config__ = wire()

    option: ReadingOption
    value: str
    """The value of the option."""
    meaning: str
    """The cell in this reading, such as "2025-04-03 with the day first"."""


@dataclass(frozen=True)
class Ambiguity:
    """A cell, or the first line of a file, that has several readings."""

    __pydantic_config__ = wire()

    cell: str
    readings: tuple[PossibleReading, ...]

    @property
    def detail(self) -> str:
        """Return a sentence about the readings and their options, after what has the cell."""
        meanings = " and ".join(one.meaning for one in self.readings)
        remedies = " or ".join(f'{one.option}="{one.value}"' for one in self.readings)
        return f"has {self.cell}, which is {meanings}; set {remedies}."


@dataclass(frozen=True)
class Fault:
    """A fault and its place: a JSON pointer, parameter, header, row of the data (from 0), column, line of a file or row
    of a sheet (from 1). `ambiguity` has the readings of a cell that has several."""

    __pydantic_config__ = wire(is_sparse=True)

    detail: str
    pointer: str | None = None
    parameter: str | None = None
    header: str | None = None
    row: int | None = None
    column: str | None = None
    line: int | None = None
    sheet_row: int | None = None
    ambiguity: Ambiguity | None = field(default=None, metadata={"exclude_if": is_none})

    @property
    def row_names(self) -> tuple[str, ...]:
        """Return the names of the row in messages, all from 1, the nearest to the file first."""
        data = None if self.row is None else self.row + 1
        named = (("line {}", self.line), ("row {} of the sheet", self.sheet_row), ("row {} of the data", data))
        return tuple(text.format(number) for text, number in named if number is not None)

    def __str__(self) -> str:
        named = (("", self.pointer), ("?", self.parameter), ("header ", self.header))
        places = [f"{name}{value}" for name, value in named if value not in (None, "")]
        column = () if self.column in (None, "") else (f"column {self.column}",)
        where = ", ".join((*places, *self.row_names, *column))
        return f"{where}: {self.detail}" if where else self.detail


@dataclass(frozen=True, kw_only=True)
class ProblemDetails:
    """The members that all problems have (RFC 9457)."""

    type: str
    title: str
    detail: str


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


class TooLargeError(RelevanceError):
    """Raised for a body, a table or a batch above the limit."""


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
