"""The columns that a model reads, those that it leaves out, and what becomes of gaps."""

from dataclasses import dataclass
from typing import Literal

from relevance_bayes.types.json_schema import wire
from relevance_bayes.types.values import ColumnKind

Missing = Literal["error", "drop_rows", "indicator"]


@dataclass(frozen=True)
class InputColumn:
    """A raw column that the model reads; `categories` in the order in which they are one-hot encoded."""

    __pydantic_config__ = wire()

    name: str
    kind: ColumnKind
    categories: tuple[str, ...] = ()


@dataclass(frozen=True)
class IgnoredColumn:
    """A column left out, and why."""

    __pydantic_config__ = wire()

    name: str
    reason: str
