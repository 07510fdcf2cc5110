"""Single values of tables, the kinds of their columns, and the tasks."""

import json
from typing import Literal

ColumnKind = Literal["number", "boolean", "category", "timestamp"]

AnyTask = Literal["regression", "classification", "approximation", "image", "components"]
"""The values of `task` in jobs and versions."""

Label = str | int | float | bool
"""A class, in the JSON type in which it came."""

Cell = str | int | float | bool | None
"""One value of a row, as JSON has it; None is missing."""


def text_of(label: Label) -> str:
    """A text as it is, a number or boolean as JSON writes it."""
    return label if isinstance(label, str) else json.dumps(label)
