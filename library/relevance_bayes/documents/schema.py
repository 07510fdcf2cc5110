"""What a document holds, member by member: `docs/exports.md` says what each means.

Sizes that have to go together, and what else can't be said of one member alone, are checked by
`relevance_bayes.documents.validation`.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal, TypeAlias

import numpy as np
from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    FailFast,
    Field,
    FiniteFloat,
    GetCoreSchemaHandler,
    JsonValue,
    SerializationInfo,
    Tag,
    TypeAdapter,
    ValidatorFunctionWrapHandler,
)
from pydantic_core import CoreSchema, core_schema

from relevance_bayes.core.algorithms.state import Termination
from relevance_bayes.core.kernels import Kernel
from relevance_bayes.core.likelihoods import BernoulliPerClass, Likelihood
from relevance_bayes.core.marginal import EvidenceKind
from relevance_bayes.core.types import Array, Indices
from relevance_bayes.plans.names import MODEL_NAME
from relevance_bayes.types.values import ColumnKind, Label

FORMAT: Literal["relevance-version"] = "relevance-version"
FORMAT_VERSION: Literal[3] = 3

GREATEST_COUNT = 2**53

Positive = Annotated[FiniteFloat, Field(gt=0.0)]
NotNegative = Annotated[FiniteFloat, Field(ge=0.0)]
Count = Annotated[int, Field(ge=0, le=GREATEST_COUNT)]


class FirstFault(FailFast):
    """Of an array the first fault is enough: a million of them would take more memory than the array."""

    def __hash__(self) -> int:
        """Alike, as they are equal: unions ask for it."""
        return hash(FirstFault)


@dataclass(frozen=True)
class Listed:
    """An annotation of arrays: lists of this type in JSON, where each number is checked, and arrays taken as they are.

    A document on its way out, or out of the database, has arrays, of which JSON makes lists again.
    """

    lists: object

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Return the schema of the lists, around which arrays pass."""
        return core_schema.no_info_wrap_validator_function(
            _array_or_checked,
            handler.generate_schema(self.lists),
            serialization=core_schema.plain_serializer_function_ser_schema(_written, info_arg=True),
        )


def _array_or_checked(value: object, check: ValidatorFunctionWrapHandler) -> object:
    return value if isinstance(value, np.ndarray) else check(value)


def _written(value: object, info: SerializationInfo[object]) -> object:
    return value.tolist() if info.mode == "json" and isinstance(value, np.ndarray) else value


Numbers: TypeAlias = list[float] | Array
Rows: TypeAlias = list[list[float]] | Array

Vector = Annotated[Numbers, Listed(Annotated[list[FiniteFloat], FirstFault()])]
PositiveVector = Annotated[Numbers, Listed(Annotated[list[Positive], FirstFault()])]
Matrix = Annotated[Rows, Listed(Annotated[list[Annotated[list[FiniteFloat], FirstFault()]], FirstFault()])]
PositiveMatrix = Annotated[Rows, Listed(Annotated[list[Annotated[list[Positive], FirstFault()]], FirstFault()])]
Places = Annotated[list[int] | Indices, Listed(Annotated[list[Count], FirstFault()])]


class Part(BaseModel):
    """A piece of a document, without members of unknown names."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class SourcePart(Part):
    """The version that was exported, by its names there."""

    model: Annotated[str, Field(pattern=f"^{MODEL_NAME.pattern}$")]
    version: Annotated[int, Field(ge=1, le=2**31 - 1)]
    created_at: datetime


class NumberInput(Part):
    """(value - shift) / scale, booleans as 0 and 1, timestamps in seconds since 1970 UTC."""

    name: str
    kind: Literal["number", "boolean", "timestamp"]
    shift: FiniteFloat
    scale: Positive
    fill: FiniteFloat | None
    indicator: bool


class CategoryInput(Part):
    """A 0/1 column for each category."""

    name: str
    kind: Literal["category"]
    categories: Annotated[list[str], FirstFault()]
    fill: Vector | None
    indicator: bool


class TargetPart(Part):
    """What is predicted, and in which units."""

    name: str
    kind: ColumnKind
    shift: FiniteFloat
    scale: Positive
    classes: Annotated[list[Label], FirstFault()]
    logarithmic: bool
    noise_column: str | None


class TermPart(Part):
    """An input that a kernel sees apart from all others."""

    input: Count
    share: Annotated[float, Field(gt=0.0, lt=1.0)]


class KernelPart(Part):
    """k(u(x), u(z)), one for each centre z."""

    type: Literal["kernel"]
    kernel: Annotated[Kernel, Field(discriminator="type")]
    terms: Annotated[list[TermPart], FirstFault()]
    widths: PositiveVector
    skew: Vector | None
    tail: Vector | None
    centres: Matrix


class BiasPart(Part):
    """The function 1."""

    type: Literal["bias"]


class InputsPart(Part):
    """Columns of X themselves."""

    type: Literal["inputs"]
    columns: Places


class StepsPart(Part):
    """1 where an input reaches a place."""

    type: Literal["steps"]
    inputs: Places
    locations: Vector


class WavesPart(Part):
    """Cosines of inputs."""

    type: Literal["fourier"]
    inputs: Places
    origins: Vector
    frequencies: Vector
    phases: Vector


class SplinesPart(Part):
    """B-splines of inputs."""

    type: Literal["b_splines"]
    degree: Annotated[int, Field(ge=1, le=7)]
    inputs: Places
    locations: Vector
    scales: PositiveVector


class WaveletsPart(Part):
    """Waves under a Gaussian."""

    type: Literal["gabor"]
    centres: Matrix
    scales: PositiveVector
    frequencies: Matrix
    phases: Vector


SinglePart: TypeAlias = KernelPart | BiasPart | InputsPart | StepsPart | WavesPart | SplinesPart | WaveletsPart


class GroupPart(Part):
    """Functions that see only some columns of X."""

    type: Literal["group"]
    columns: Places
    of: Annotated[SinglePart, Field(discriminator="type")]


FunctionsPart: TypeAlias = SinglePart | GroupPart


class AugmentationPart(Part):
    """What error bars away from the data are made of, under independent weights."""

    functions: KernelPart
    spread: NotNegative
    precisions: PositiveVector | None


class EvidencePart(Part):
    """The log marginal likelihood in the units of t, in nats, and apart from it what else the fit maximised."""

    value: FiniteFloat
    kind: EvidenceKind
    log_hyperprior: FiniteFloat | None
    price: NotNegative


class ModelPart(Part):
    """The functions, their weights' posterior, and what scatters about them."""

    likelihood: Annotated[Likelihood, Field(discriminator="type")]
    functions: Annotated[list[Annotated[FunctionsPart, Field(discriminator="type")]], FirstFault()]
    mean: Vector | Matrix
    covariance: Matrix
    alpha: PositiveVector
    gamma: Vector
    noise_sd: NotNegative | None
    signal_variance: Positive | None
    augmentation: AugmentationPart | None
    rows: Annotated[Count, Field(ge=1)]
    candidates: Count
    evidence: EvidencePart | None = None
    log_marginal_likelihood: FiniteFloat | None = Field(
        default=None,
        exclude=True,
        description="In documents of format version 1 in the place of `evidence`.",
    )
    last_gain: FiniteFloat | None
    next_gain: FiniteFloat | None
    termination: Annotated[str, Field(max_length=100)]
    jitter: Positive | None = None
    log_noise: "LogNoisePart | None" = None


class LogNoisePart(Part):
    """The log variance of noise that depends on the inputs; it lies between `least` and `greatest` everywhere."""

    model: ModelPart
    min: FiniteFloat
    max: FiniteFloat


class PoolPart(Part):
    """Several models whose predictive densities are multiplied, each to the power of its weight."""

    weights: Annotated[Numbers, Listed(Annotated[list[Annotated[float, Field(gt=0.0, le=1.0)]], FirstFault()])]
    members: Annotated[list[ModelPart], FirstFault()]


class PerClassPart(Part):
    """A model for each class against all others, in the order of the classes, and the likelihood of all together."""

    likelihood: BernoulliPerClass
    members: Annotated[list[ModelPart], FirstFault()]


def _one_or_several(value: object) -> str:
    match value:
        case PoolPart() | {"members": _, "weights": _}:
            return "several"
        case PerClassPart() | {"members": _, "likelihood": _}:
            return "per_class"
        case {"members": _}:
            return "several"
        case _:
            return "one"


LearnedPart = Annotated[
    Annotated[ModelPart, Tag("one")] | Annotated[PoolPart, Tag("several")] | Annotated[PerClassPart, Tag("per_class")],
    Discriminator(_one_or_several),
]


class TermsPart(Part):
    """The terms of a known function, each with widths of its own, and a constant."""

    centres: Matrix
    coefficients: Vector
    widths: PositiveMatrix
    constant: FiniteFloat


class ReachedPart(Part):
    """What so many functions miss."""

    functions: Count
    error: NotNegative


class ImagePart(Part):
    """A constant and wavelets over pixels, whose centres are (row, column), and how far they are from the image."""

    height: Count
    width: Count
    constant: FiniteFloat
    wavelets: WaveletsPart
    weights: Vector
    sds: Vector
    alpha: PositiveVector
    error: NotNegative
    noise_sd: NotNegative
    candidates: Count
    path: list[ReachedPart]
    termination: Termination


class ComponentsPart(Part):
    """The rows that carry components, how usual other rows are beside them, and the noise."""

    functions: KernelPart
    weights: PositiveVector
    noise_variance: Positive
    log_marginal_likelihood: FiniteFloat
    log_densities: Vector


Inputs = Annotated[list[Annotated[NumberInput | CategoryInput, Field(discriminator="kind")]], FirstFault()]
Report = Annotated[
    dict[str, JsonValue],
    Field(
        description="What the training told of itself. Of this, a prediction needs `class_rows` alone, and those where "
        "it names `class_priors`."
    ),
]


class SupervisedContent(Part):
    """What predicts numbers or classes."""

    task: Literal["regression", "classification"]
    inputs: Inputs
    target: TargetPart
    model: LearnedPart


class ApproximationContent(Part):
    """The terms of a known function."""

    task: Literal["approximation"]
    inputs: Inputs
    model: TermsPart


class ImageContent(Part):
    """The code of an image, which is stored and not exported."""

    task: Literal["image"]
    inputs: Inputs
    model: ImagePart


class ComponentsContent(Part):
    """Components of rows."""

    task: Literal["components"]
    inputs: Inputs
    model: ComponentsPart


Content: TypeAlias = SupervisedContent | ApproximationContent | ImageContent | ComponentsContent
"""What a version predicts with: that is stored of it, beside its report, and stands in its document."""

CONTENT: TypeAdapter[Content] = TypeAdapter(Annotated[Content, Field(discriminator="task")])


class DocumentBase(Part):
    """What every document begins with; its `task` says what else there is."""

    format: Literal["relevance-version"]
    format_version: Literal[1, 2, 3]
    source: SourcePart


class SupervisedDocument(SupervisedContent, DocumentBase):
    """A version that predicts numbers or classes."""

    report: Report


class ApproximationDocument(ApproximationContent, DocumentBase):
    """A known function, told by few terms."""

    report: Report


class ComponentsDocument(ComponentsContent, DocumentBase):
    """Components of rows, which tell how new a row is."""

    report: Report


VersionDocument: TypeAlias = Annotated[
    SupervisedDocument | ApproximationDocument | ComponentsDocument, Field(discriminator="task")
]

DOCUMENT: TypeAdapter[VersionDocument] = TypeAdapter(VersionDocument)
