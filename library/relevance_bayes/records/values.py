"""Values of tables and of JSON, columns and their kinds, and tasks."""

import json
from dataclasses import dataclass, field
from typing import Literal

from relevance_bayes.records.annotations import is_none, wire

ColumnKind = Literal["number", "boolean", "category", "timestamp"]

AnyTask = Literal["regression", "classification", "approximation", "image", "components"]
"""The values of `task` in jobs and versions."""

Period = Literal["year", "week", "day"]
"""The periods within which the position of a point in time may be an input."""

Missing = Literal["error", "drop_rows", "indicator"]
"""The treatment of missing values."""

Task = Literal["regression", "classification"]

Dates = Literal["time", "calendar"]
"""The inputs of a timestamp: the time, or also the position within year, week and day where that predicts better."""

Text = Literal["leave_out", "target"]
"""The treatment of texts of more than 50 values: none, or by their effects on the target where these predict better."""

Effort = Literal["quick", "normal", "thorough"]
"""The effort of a training: one fit; all that is open, by five folds; or more of it, by ten."""

Prefer = Literal["accuracy", "small"]
"""Prefer more functions until little is lost, or fewer of them."""

Label = str | int | float | bool
"""A class, in the JSON type of the training data."""

Cell = str | int | float | bool | None
"""A cell of a row in JSON; None is missing."""

Json = str | int | float | bool | None | list["Json"] | dict[str, "Json"]
"""A JSON value."""


def text_of(label: Label) -> str:
    """Return a text unchanged, a number or boolean as JSON writes it."""
    return label if isinstance(label, str) else json.dumps(label)


DecimalMark = Literal[".", ","]
ThousandsMark = Literal[".", ",", " ", "'"]
TextEncoding = Literal["utf-8", "utf-16", "cp1252", "latin-1"]


@dataclass(frozen=True)
class NumberForm:
    """The form in which a file writes the numbers of a column: a unit before or after them, and their separators."""

    __pydantic_config__ = wire()

    prefix: str = ""
    suffix: str = ""
    decimal: DecimalMark = "."
    thousands: ThousandsMark | None = None
    """The separator of groups of three digits; a space is any blank, an apostrophe any apostrophe."""


@dataclass(frozen=True)
class InputColumn:
    """An input column; `categories` are in the order of their one-hot encoding.

    `form` is that of the numbers in the file of the training, with a unit or separators; it is read again in rows.
    """

    __pydantic_config__ = wire()

    name: str
    kind: ColumnKind
    categories: tuple[str, ...] = ()
    form: NumberForm | None = field(default=None, metadata={"exclude_if": is_none})


@dataclass(frozen=True)
class IgnoredColumn:
    """A column left out, and the reason."""

    __pydantic_config__ = wire()

    name: str
    reason: str


@dataclass(frozen=True)
class CategoryCount:
    """A text, and the number of rows with it."""

    __pydantic_config__ = wire()

    label: str
    count: int
