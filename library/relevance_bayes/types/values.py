"""Values of tables and of JSON, columns and their kinds, and tasks."""

import json
from dataclasses import dataclass
from typing import Literal

from relevance_bayes.types.json_schema import wire

ColumnKind = Literal["number", "boolean", "category", "timestamp"]

AnyTask = Literal["regression", "classification", "approximation", "image", "components"]
"""The values of `task` in jobs and versions."""

Period = Literal["year", "week", "day"]
"""The periods within which the position of a point in time may be an input."""

Missing = Literal["error", "drop_rows", "indicator"]
"""The treatment of missing values."""

Label = str | int | float | bool
"""A class, in the JSON type of the training data."""

Cell = str | int | float | bool | None
"""A cell of a row in JSON; None is missing."""

Json = str | int | float | bool | None | list["Json"] | dict[str, "Json"]
"""A JSON value."""

Choice = dict[str, object]
"""A member of one of the API's unions, discriminated by its `type` (or `by`)."""


def text_of(label: Label) -> str:
    """Return a text unchanged, a number or boolean as JSON writes it."""
    return label if isinstance(label, str) else json.dumps(label)


@dataclass(frozen=True)
class InputColumn:
    """An input column; `categories` are in the order of their one-hot encoding."""

    __pydantic_config__ = wire()

    name: str
    kind: ColumnKind
    categories: tuple[str, ...] = ()


@dataclass(frozen=True)
class IgnoredColumn:
    """A column left out, and the reason."""

    __pydantic_config__ = wire()

    name: str
    reason: str
