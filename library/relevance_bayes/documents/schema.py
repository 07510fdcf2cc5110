"""The schema of exported documents; `docs/reference/document.md` describes its members.

`relevance_bayes.documents.validation` checks consistent sizes, and all conditions on more than one member.
"""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Literal, TypeAlias

from pydantic import Field, TypeAdapter

from relevance_bayes.core.algorithms.state import Termination
from relevance_bayes.documents.learned_schema import LearnedPart
from relevance_bayes.documents.numbers import (
    Count,
    Finite,
    Matrix,
    NotNegative,
    Positive,
    PositiveMatrix,
    PositiveVector,
    Vector,
)
from relevance_bayes.documents.parts import FIRST_FAULT, KernelPart, Part, WaveletsPart
from relevance_bayes.plans.supervised import MODEL_NAME
from relevance_bayes.records.annotations import OneOf
from relevance_bayes.records.values import ColumnKind, Label, Period

FORMAT: Literal["relevance-version"] = "relevance-version"
FORMAT_VERSION: Literal[1] = 1


@dataclass(frozen=True, kw_only=True)
class SourcePart(Part):
    """The original version, by its names there."""

    model: Annotated[str, Field(pattern=f"^{MODEL_NAME.pattern}$")]
    version: Annotated[int, Field(ge=1, le=2**31 - 1)]
    created_at: datetime


@dataclass(frozen=True, kw_only=True)
class NumberInput(Part):
    """(value - shift) / scale, booleans as 0 and 1, timestamps in seconds since 1970 UTC."""

    name: str
    kind: Literal["number", "boolean", "timestamp"]
    shift: Finite
    scale: Positive
    fill: Finite | None
    indicator: bool


@dataclass(frozen=True, kw_only=True)
class CalendarInput(Part):
    """A timestamp as a number, (seconds - shift) / scale, then a sine and a cosine of its position in each period."""

    name: str
    kind: Literal["calendar"]
    shift: Finite
    scale: Positive
    fill: Finite | None
    indicator: bool
    periods: list[Period]


@dataclass(frozen=True, kw_only=True)
class LogarithmInput(Part):
    """The logarithm with a sign of a number, (sign(value) log(1 + |value|/unit) - shift) / scale."""

    name: str
    kind: Literal["logarithm"]
    shift: Finite
    scale: Positive
    fill: Finite | None
    indicator: bool
    unit: Positive


@dataclass(frozen=True, kw_only=True)
class CategoryInput(Part):
    """A 0/1 column for each category."""

    name: str
    kind: Literal["category"]
    categories: Annotated[list[str], FIRST_FAULT]
    fill: Vector | None
    indicator: bool


@dataclass(frozen=True, kw_only=True)
class EffectsInput(Part):
    """A column for each output, with the effect of a text on the target; 0 for texts that are not `categories`."""

    name: str
    kind: Literal["effects"]
    categories: Annotated[list[str], FIRST_FAULT]
    effects: Matrix
    fill: Finite | None
    indicator: bool


@dataclass(frozen=True, kw_only=True)
class TargetPart(Part):
    """The target and its units."""

    name: str
    kind: ColumnKind
    shift: Finite
    scale: Positive
    classes: Annotated[list[Label], FIRST_FAULT]
    logarithmic: bool
    noise_column: str | None


@dataclass(frozen=True, kw_only=True)
class TermsPart(Part):
    """The terms of an approximation, each with its own widths, and a constant."""

    centres: Matrix
    coefficients: Vector
    widths: PositiveMatrix
    constant: Finite


@dataclass(frozen=True, kw_only=True)
class ReachedPart(Part):
    """The error with this number of functions."""

    functions: Count
    error: NotNegative


@dataclass(frozen=True, kw_only=True)
class ImagePart(Part):
    """A constant and wavelets over pixels, whose centres are (row, column), and their error."""

    height: Count
    width: Count
    constant: Finite
    wavelets: WaveletsPart
    weights: Vector
    sds: Vector
    alpha: PositiveVector
    error: NotNegative
    noise_sd: NotNegative
    candidates: Count
    path: list[ReachedPart]
    termination: Termination


@dataclass(frozen=True, kw_only=True)
class ComponentsPart(Part):
    """The rows that carry components, the densities of other rows, and the noise."""

    functions: KernelPart
    weights: PositiveVector
    noise_variance: Positive
    log_marginal_likelihood: Finite
    log_densities: Vector


InputPart: TypeAlias = NumberInput | CalendarInput | LogarithmInput | CategoryInput | EffectsInput
Inputs = Annotated[list[Annotated[InputPart, OneOf("kind")]], FIRST_FAULT]
Report: TypeAlias = dict[str, object]
"""Plain JSON."""

REPORT = {
    "description": "The report of the training. Predictions need only `class_rows`, and these only with `class_priors`."
}


@dataclass(frozen=True, kw_only=True)
class SupervisedContent(Part):
    """The content of a supervised predictor."""

    task: Literal["regression", "classification"]
    inputs: Inputs
    target: TargetPart
    model: LearnedPart


@dataclass(frozen=True, kw_only=True)
class ApproximationContent(Part):
    """The terms of an approximation."""

    task: Literal["approximation"]
    inputs: Inputs
    model: TermsPart


@dataclass(frozen=True, kw_only=True)
class ImageContent(Part):
    """The code of an image, which is stored but not exported."""

    task: Literal["image"]
    inputs: Inputs
    model: ImagePart


@dataclass(frozen=True, kw_only=True)
class ComponentsContent(Part):
    """Principal components."""

    task: Literal["components"]
    inputs: Inputs
    model: ComponentsPart


Content: TypeAlias = SupervisedContent | ApproximationContent | ImageContent | ComponentsContent
"""The content of a predictor: stored next to the report, and part of the document."""

CONTENT: TypeAdapter[Content] = TypeAdapter(Annotated[Content, OneOf("task")])


@dataclass(frozen=True, kw_only=True)
class DocumentBase(Part):
    """The members of all documents; `task` determines the others."""

    format: Literal["relevance-version"]
    format_version: Literal[1]
    source: SourcePart


@dataclass(frozen=True, kw_only=True)
class SupervisedDocument(SupervisedContent, DocumentBase):
    """A version that predicts numbers or classes."""

    report: Report = field(metadata=REPORT)


@dataclass(frozen=True, kw_only=True)
class ApproximationDocument(ApproximationContent, DocumentBase):
    """An approximation of a known function by few terms."""

    report: Report = field(metadata=REPORT)


@dataclass(frozen=True, kw_only=True)
class ComponentsDocument(ComponentsContent, DocumentBase):
    """Principal components, with the novelty of rows."""

    report: Report = field(metadata=REPORT)


VersionDocument: TypeAlias = Annotated[SupervisedDocument | ApproximationDocument | ComponentsDocument, OneOf("task")]

DOCUMENT: TypeAdapter[VersionDocument] = TypeAdapter(VersionDocument)
