"""How each raw column stands in the matrix X, and the target in t: what a version remembers."""

from dataclasses import dataclass
from typing import Literal

from app.domain.tables import ColumnKind, Label


@dataclass(frozen=True)
class EncodedNumber:
    """A number, boolean (0 and 1) or timestamp (seconds UTC): (value - shift) / scale.

    `fill` replaces a missing value (before shift and scale), None where gaps are refused. With `indicator` a 0/1 column
    "was missing" follows.
    """

    name: str
    kind: Literal["number", "boolean", "timestamp"]
    shift: float
    scale: float
    fill: float | None
    indicator: bool

    @property
    def width(self) -> int:
        """How many columns of X it takes."""
        return 1 + self.indicator


@dataclass(frozen=True)
class EncodedCategory:
    """One 0/1 column for each of `categories`, in order.

    `fill`, one share for each category, stands for a missing one, None where gaps are refused. With `indicator` a 0/1
    column "was missing" follows.
    """

    name: str
    categories: tuple[str, ...]
    fill: tuple[float, ...] | None
    indicator: bool

    @property
    def width(self) -> int:
        """How many columns of X it takes."""
        return len(self.categories) + self.indicator


EncodedInput = EncodedNumber | EncodedCategory


@dataclass(frozen=True)
class EncodedTarget:
    """Regression: t = (y - shift)/scale, `classes` empty. Classification: t = 1 for classes[1], 0 for classes[0]."""

    name: str
    kind: ColumnKind
    shift: float
    scale: float
    classes: tuple[Label, ...]


@dataclass(frozen=True)
class Encoding:
    """Inputs in the order of X's columns, and the target."""

    inputs: tuple[EncodedInput, ...]
    target: EncodedTarget

    @property
    def width(self) -> int:
        """How many columns X has."""
        return sum(column.width for column in self.inputs)


def column_names(encoding: Encoding) -> tuple[str, ...]:
    """A name for each column of X: the raw column's, `colour=red` for a category, `age missing` for an indicator."""
    names: list[str] = []
    for column in encoding.inputs:
        match column:
            case EncodedNumber():
                names.append(column.name)
            case EncodedCategory():
                names.extend(f"{column.name}={category}" for category in column.categories)
        if column.indicator:
            names.append(f"{column.name} missing")
    return tuple(names)
