"""Raw columns to the matrix X and back to the user's units: the only road, made from the training rows' statistics."""

from dataclasses import dataclass

from app.domain.tables import Label


@dataclass(frozen=True)
class EncodedNumber:
    """A number, boolean (0 and 1) or timestamp (seconds UTC): (value - shift) / scale.

    `fill` replaces a missing value (before shift and scale), None where gaps are refused; `indicator`: a 0/1 column "was missing" follows.
    """

    name: str
    kind: str
    shift: float
    scale: float
    fill: float | None
    indicator: bool


@dataclass(frozen=True)
class EncodedCategory:
    """One 0/1 column for each of `categories`, in order; `indicator`: a missing one is all zeros and a 0/1 column "was missing" follows."""

    name: str
    categories: tuple[str, ...]
    indicator: bool


EncodedInput = EncodedNumber | EncodedCategory


@dataclass(frozen=True)
class EncodedTarget:
    """Regression: t = (y - shift)/scale, `classes` empty. Classification: t = 1.0 for classes[1], 0.0 for classes[0]."""

    name: str
    kind: str
    shift: float
    scale: float
    classes: tuple[Label, ...]


@dataclass(frozen=True)
class Encoding:
    """Inputs in the order of X's columns, and the target."""

    inputs: tuple[EncodedInput, ...]
    target: EncodedTarget
