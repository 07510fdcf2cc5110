"""Input columns of a model, columns left out, and the treatment of missing values."""

from dataclasses import dataclass
from typing import Literal

from relevance_bayes.types.json_schema import wire
from relevance_bayes.types.values import ColumnKind

Missing = Literal["error", "drop_rows", "indicator"]


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
