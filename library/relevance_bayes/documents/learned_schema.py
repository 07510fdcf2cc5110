"""The schema of what was learned, in exported documents: one model or several, with the posterior of each."""

from dataclasses import dataclass, field
from typing import Annotated, TypeAlias

from pydantic import Discriminator, Field, Tag

from relevance_bayes.core.evidence import EvidenceKind
from relevance_bayes.core.kernels import Kernel
from relevance_bayes.core.likelihoods import BernoulliPerClass, GaussianNoise, Hurdle, Likelihood
from relevance_bayes.documents.numbers import (
    Count,
    Finite,
    Matrix,
    NotNegative,
    Positive,
    PositiveVector,
    Shares,
    Vector,
)
from relevance_bayes.documents.parts import FIRST_FAULT, FunctionsPart, KernelPart, Part
from relevance_bayes.plans.requests.supervised import MAX_NEIGHBOURS
from relevance_bayes.records.annotations import OneOf

DegreesOfFreedom: TypeAlias = Annotated[float, Field(ge=1, le=400, allow_inf_nan=False)]

DEGREES_OF_FREEDOM = {"description": "Those of the Student's t that predictions are; null where they are Gaussian."}


@dataclass(frozen=True, kw_only=True)
class AugmentationPart(Part):
    """The augmentation that widens error bars away from the data, under independent weights."""

    functions: KernelPart
    spread: NotNegative
    precisions: PositiveVector | None


@dataclass(frozen=True, kw_only=True)
class EvidencePart(Part):
    """The log marginal likelihood in the units of t, in nats, and separately the other terms of the objective."""

    value: Finite
    kind: EvidenceKind
    log_hyperprior: Finite
    price: NotNegative


@dataclass(frozen=True, kw_only=True)
class ModelPart(Part):
    """The functions, their weights' posterior, and the likelihood."""

    likelihood: Annotated[Likelihood, OneOf("type")]
    functions: Annotated[list[Annotated[FunctionsPart, OneOf("type")]], FIRST_FAULT]
    mean: Vector | Matrix
    covariance: Matrix
    alpha: PositiveVector
    gamma: Vector
    noise_sd: NotNegative | None
    signal_variance: Positive | None
    augmentation: AugmentationPart | None
    rows: Annotated[Count, Field(ge=1)]
    candidates: Count
    evidence: EvidencePart
    last_gain: Finite | None
    next_gain: Finite | None
    termination: Annotated[str, Field(max_length=100)]
    jitter: Positive | None
    log_noise: "LogNoisePart | None"
    degrees_of_freedom: DegreesOfFreedom | None = field(metadata=DEGREES_OF_FREEDOM)
    input_range: "InputRangePart | None"


@dataclass(frozen=True, kw_only=True)
class InputRangePart(Part):
    """The bounds of each input, a column of X, within which the functions are evaluated."""

    lower: Vector
    upper: Vector


@dataclass(frozen=True, kw_only=True)
class LogNoisePart(Part):
    """The log noise variance, a function of the inputs, bounded by `min` and `max`."""

    model: ModelPart
    min: Finite
    max: Finite


@dataclass(frozen=True, kw_only=True)
class PoolPart(Part):
    """Several models whose predictive densities are multiplied, each to the power of its weight."""

    weights: Shares
    members: Annotated[list[ModelPart], FIRST_FAULT]
    degrees_of_freedom: DegreesOfFreedom | None = field(metadata=DEGREES_OF_FREEDOM)


@dataclass(frozen=True, kw_only=True)
class PerClassPart(Part):
    """A model for each class against all others, in the order of the classes, and the likelihood of all together."""

    likelihood: BernoulliPerClass
    members: Annotated[list[ModelPart], FIRST_FAULT]


@dataclass(frozen=True, kw_only=True)
class HurdlePart(Part):
    """A model of whether a target is 0, and one of the targets above 0, whose `rows` are fewer."""

    likelihood: Hurdle
    zero: ModelPart
    positive: ModelPart


@dataclass(frozen=True, kw_only=True)
class RowsPart(Part):
    """A block of rows: X (n, d), and t (n,) less `centre` and the trend's mean."""

    inputs: Matrix
    targets: Vector


@dataclass(frozen=True, kw_only=True)
class LocalPart(Part):
    """A nearest-neighbour process of the `rows`, and the sparse model whose residuals it describes.

    Its prior covariance is signal_variance k(u(x), u(z)), and f(x)' diag(1/alpha) f(z) of the `functions` f.
    """

    likelihood: GaussianNoise
    neighbours: Annotated[int, Field(ge=1, le=MAX_NEIGHBOURS)]
    kernel: Annotated[Kernel, OneOf("type")]
    widths: PositiveVector
    skew: Vector | None
    tail: Vector | None
    functions: Annotated[list[Annotated[FunctionsPart, OneOf("type")]], FIRST_FAULT]
    alpha: PositiveVector
    signal_variance: Positive
    noise_sd: Positive
    centre: Finite
    rows: Annotated[list[RowsPart], FIRST_FAULT]
    trend: ModelPart | None


def _one_or_several(value: object) -> str:
    if not isinstance(value, dict | Part):
        return "model"
    members = value if isinstance(value, dict) else vars(value)
    if "neighbours" in members:
        return "local"
    if "positive" in members:
        return "hurdle"
    if "members" not in members:
        return "model"
    return "per_class" if "likelihood" in members and "weights" not in members else "pool"


LearnedPart = Annotated[
    Annotated[ModelPart, Tag("model")]
    | Annotated[PoolPart, Tag("pool")]
    | Annotated[PerClassPart, Tag("per_class")]
    | Annotated[HurdlePart, Tag("hurdle")]
    | Annotated[LocalPart, Tag("local")],
    Discriminator(_one_or_several),
]
