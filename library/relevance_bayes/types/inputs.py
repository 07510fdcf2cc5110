"""The columns that a model reads, and those that it leaves out."""

from dataclasses import dataclass

from relevance_bayes.types.json_schema import wire
from relevance_bayes.types.values import ColumnKind


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
