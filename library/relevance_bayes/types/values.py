"""Values of tables, kinds of columns, and tasks."""

import json
from typing import Literal

ColumnKind = Literal["number", "boolean", "category", "timestamp"]

AnyTask = Literal["regression", "classification", "approximation", "image", "components"]
"""The values of `task` in jobs and versions."""

Label = str | int | float | bool
"""A class, in the JSON type of the training data."""

Cell = str | int | float | bool | None
"""A cell of a row in JSON; None is missing."""


def text_of(label: Label) -> str:
    """Return a text unchanged, a number or boolean as JSON writes it."""
    return label if isinstance(label, str) else json.dumps(label)
