"""The parts of a model: dictionaries of functions, and what was learned, with the posterior of each model.

`docs/reference/document.md` describes their members.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal, TypeAlias

import numpy as np
from pydantic import Discriminator, Field, Tag

from relevance_bayes.core.basis import (
    ConstantFunction,
    GroupFunctions,
    InputFunctions,
    KernelFunctions,
    SingleFunctions,
    evaluate,
)
from relevance_bayes.core.dictionaries import FourierFunctions, GaborFunctions, SplineFunctions, StepFunctions
from relevance_bayes.core.inference.posterior import Augmentation
from relevance_bayes.core.inference.process import ProcessRows
from relevance_bayes.core.kernels import Additive, Kernel
from relevance_bayes.core.kernels.covariance import Covariance
from relevance_bayes.core.kernels.hyperparameters import Hyperparameters, InputMap
from relevance_bayes.core.likelihoods import BernoulliPerClass, GaussianNoise, Hurdle, Likelihood
from relevance_bayes.core.models.classes import MIN_CLASSES, PerClass
from relevance_bayes.core.models.hurdle import HurdleModel
from relevance_bayes.core.models.local.model import LocalModel, LocalProcess
from relevance_bayes.core.models.local.neighbours import KERNELS, LocalKernel
from relevance_bayes.core.models.model import InputRange, LogNoise, Model
from relevance_bayes.core.models.pool import Pool
from relevance_bayes.core.types import Array
from relevance_bayes.documents.codec import (
    FIRST_FAULT,
    Columns,
    Count,
    CountOf,
    Dimensions,
    Finite,
    From,
    Matrix,
    NotNegative,
    Part,
    Positive,
    PositiveVector,
    Shares,
    Sizes,
    Vector,
    below,
    shaped,
    wrong,
)
from relevance_bayes.records.annotations import OneOf
from relevance_bayes.records.reports import Evidence, EvidenceKind
from relevance_bayes.tasks.supervised.request import MAX_NEIGHBOURS

MAX_LOG_NOISE = 600.0
"""The maximum log noise variance, in the target's encoded units, whose exponential is a finite float64."""

BLOCK_ROWS = 4_096
"""The number of rows of a block of a nearest-neighbour process."""


@dataclass(frozen=True, kw_only=True)
class TermPart(Part[tuple[int, float]]):
    """An input with a term of its own in an additive kernel."""

    input: Count
    share: Annotated[float, Field(gt=0.0, lt=1.0)]


@dataclass(frozen=True, kw_only=True)
class KernelPart(Part[KernelFunctions]):
    """k(u(x), u(z)), one for each centre z."""

    type: Literal["kernel"]
    kernel: Annotated[Kernel, OneOf("type")]
    terms: Annotated[list[TermPart], FIRST_FAULT]
    widths: PositiveVector
    skew: Annotated[Vector, Dimensions("inputs")] | None
    tail: Annotated[Vector, Dimensions("inputs")] | None
    centres: Annotated[Matrix, Dimensions("rows", "inputs")]

    @classmethod
    def attributes(cls, record: KernelFunctions) -> Mapping[str, object]:
        """Return the values of the members, with the terms of an additive kernel."""
        kernel, terms = record.kernel, list[TermPart]()
        if isinstance(kernel, Additive):
            pairs = zip(kernel.alone, kernel.shares, strict=True)
            kernel, terms = kernel.kernel, [TermPart(input=place, share=share) for place, share in pairs]
        return {**vars(record), **vars(record.input_map), "kernel": kernel, "terms": terms}

    def decode(self, sizes: Sizes, where: str) -> KernelFunctions:
        """Return kernel functions; the rows of their centres are not stored."""
        inputs = sizes["inputs"]
        if len(self.widths) not in {1, inputs}:
            raise wrong(f"{where}/widths", f"Expected one width, or one for each of {inputs}; got {len(self.widths)}.")
        return self.made(
            self.values(sizes, where)
            | {
                "kernel": self._termed(inputs, where),
                "input_map": InputMap(self.widths, self.skew, self.tail),
                "rows": np.arange(len(self.centres)),
            }
        )

    def _termed(self, inputs: int, where: str) -> Kernel | Additive:
        if not self.terms:
            return self.kernel
        if not isinstance(self.kernel, Covariance):
            raise wrong(f"{where}/terms", f'Expected no terms for the kernel "{self.kernel.type}".')
        alone, shares = tuple(term.input for term in self.terms), tuple(term.share for term in self.terms)
        below(alone, inputs, f"{where}/terms")
        if len(set(alone)) < len(alone) or len(alone) >= inputs or sum(shares) >= 1.0:
            detail = "Expected terms of distinct inputs, not of all of them, with shares that sum to less than 1"
            raise wrong(f"{where}/terms", f"{detail}.")
        return Additive(self.kernel, alone, shares)


@dataclass(frozen=True, kw_only=True)
class BiasPart(Part[ConstantFunction]):
    """The function 1."""

    type: Literal["bias"]


@dataclass(frozen=True, kw_only=True)
class InputsPart(Part[InputFunctions]):
    """Columns of X."""

    type: Literal["inputs"]
    columns: Columns


@dataclass(frozen=True, kw_only=True)
class StepsPart(Part[StepFunctions]):
    """Step functions of inputs, 1 above a position."""

    type: Literal["steps"]
    inputs: Annotated[Columns, Dimensions("functions")]
    locations: Annotated[Vector, Dimensions("functions"), From("places")]


@dataclass(frozen=True, kw_only=True)
class WavesPart(Part[FourierFunctions]):
    """Cosines of inputs."""

    type: Literal["fourier"]
    inputs: Annotated[Columns, Dimensions("functions")]
    origins: Annotated[Vector, Dimensions("functions")]
    frequencies: Annotated[Vector, Dimensions("functions")]
    phases: Annotated[Vector, Dimensions("functions")]


@dataclass(frozen=True, kw_only=True)
class SplinesPart(Part[SplineFunctions]):
    """B-splines of inputs."""

    type: Literal["b_splines"]
    degree: Annotated[int, Field(ge=1, le=7)]
    inputs: Annotated[Columns, Dimensions("functions")]
    locations: Annotated[Vector, Dimensions("functions"), From("places")]
    scales: Annotated[PositiveVector, Dimensions("functions"), From("spans")]


@dataclass(frozen=True, kw_only=True)
class WaveletsPart(Part[GaborFunctions]):
    """Waves under a Gaussian."""

    type: Literal["gabor"]
    centres: Annotated[Matrix, Dimensions("functions", "inputs")]
    scales: Annotated[PositiveVector, Dimensions("functions"), From("spans")]
    frequencies: Annotated[Matrix, Dimensions("functions", "inputs")]
    phases: Annotated[Vector, Dimensions("functions")]


SinglePart: TypeAlias = KernelPart | BiasPart | InputsPart | StepsPart | WavesPart | SplinesPart | WaveletsPart


@dataclass(frozen=True, kw_only=True)
class GroupPart(Part[GroupFunctions]):
    """Functions of only some columns of X."""

    type: Literal["group"]
    columns: Columns
    of: Annotated[SinglePart, OneOf("type")]

    def decode(self, sizes: Sizes, where: str) -> GroupFunctions:
        """Return the functions, whose inputs are these columns."""
        below(self.columns, sizes["inputs"], f"{where}/columns")
        if not len(self.columns) or len(set(self.columns.tolist())) < len(self.columns):
            raise wrong(f"{where}/columns", "Expected at least one column in a group, all distinct.")
        of: SingleFunctions = self.of.decode({**sizes, "inputs": len(self.columns)}, f"{where}/of")
        return GroupFunctions(self.columns, of)


FunctionsPart: TypeAlias = SinglePart | GroupPart
FunctionsList: TypeAlias = Annotated[list[Annotated[FunctionsPart, OneOf("type")]], FIRST_FAULT, CountOf("functions")]

DegreesOfFreedom: TypeAlias = Annotated[float, Field(ge=1, le=400, allow_inf_nan=False)]

DEGREES_OF_FREEDOM = {"description": "Those of the Student's t that predictions are; null where they are Gaussian."}


@dataclass(frozen=True, kw_only=True)
class AugmentationPart(Part[Augmentation]):
    """The augmentation that widens error bars away from the data, under independent weights."""

    functions: Annotated[KernelPart, CountOf("functions")]
    spread: NotNegative
    precisions: Annotated[PositiveVector, Dimensions("functions")] | None


@dataclass(frozen=True, kw_only=True)
class EvidencePart(Part[Evidence]):
    """The log marginal likelihood in the units of t, in nats, and separately the other terms of the objective."""

    value: Finite
    kind: EvidenceKind
    log_hyperprior: Finite
    price: NotNegative


@dataclass(frozen=True, kw_only=True)
class ModelPart(Part[Model]):
    """The functions, their weights' posterior, and the likelihood."""

    likelihood: Annotated[Likelihood, OneOf("type")]
    functions: FunctionsList
    mean: Vector | Matrix
    covariance: Annotated[Matrix, Dimensions("weights", "weights")]
    alpha: Annotated[PositiveVector, Dimensions("functions")]
    gamma: Annotated[Vector, Dimensions("functions")]
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

    @classmethod
    def attributes(cls, record: Model) -> Mapping[str, object]:
        """Return the values of the members, without gains that are not finite."""
        gains = {"last_gain": record.last_gain, "next_gain": record.next_gain}
        finite = {name: gain if gain is not None and math.isfinite(gain) else None for name, gain in gains.items()}
        return vars(record) | finite | {"termination": str(record.termination)}

    def derived(self, sizes: Sizes) -> Sizes:
        """Return the number of weights with a covariance: of a process through all rows, those without kernel."""
        size = sizes["functions"]
        first = self.functions[0] if self.functions else None
        others = size - (len(first.centres) if isinstance(first, KernelPart) else 0)
        is_exact = self.signal_variance is not None and len(self.covariance) == others
        return {"weights": others if is_exact else size}

    def decode(self, sizes: Sizes, where: str) -> Model:
        """Return the model, with a mean of each latent where the likelihood has several."""
        latents = (sizes["classes"],) if self.likelihood.latents > 1 else ()
        values = self.values(sizes, where)
        if latents and self.mean.ndim == 1 and self.mean.size:
            detail = f"Expected a weight for each function and each of {latents[0]} classes."
            raise wrong(f"{where}/mean", detail)
        mean = shaped(self.mean, (len(self.alpha), *latents), f"{where}/mean")
        return self.made(values | {"mean": mean, "inputs": sizes["inputs"]})


@dataclass(frozen=True, kw_only=True)
class InputRangePart(Part[InputRange]):
    """The bounds of each input, a column of X, within which the functions are evaluated."""

    lower: Annotated[Vector, Dimensions("inputs")]
    upper: Annotated[Vector, Dimensions("inputs")]


@dataclass(frozen=True, kw_only=True)
class LogNoisePart(Part[LogNoise]):
    """The log noise variance, a function of the inputs, bounded by `min` and `max`."""

    model: ModelPart
    min: Annotated[Finite, From("min_log")]
    max: Annotated[Finite, From("max_log")]

    def decode(self, sizes: Sizes, where: str) -> LogNoise:
        """Return the noise, whose own noise is not a function of the inputs."""
        if self.model.log_noise is not None:
            raise wrong(f"{where}/model/log_noise", "Expected no noise of the noise.")
        if self.model.likelihood.type != "log_variance":
            raise wrong(f"{where}/model/likelihood", 'Expected "log_variance", that of the noise.')
        if not self.min <= self.max <= MAX_LOG_NOISE:
            raise wrong(f"{where}/max", f"Expected at least `min` and at most {MAX_LOG_NOISE:g}.")
        return super().decode({**sizes, "classes": 0}, where)


@dataclass(frozen=True, kw_only=True)
class PoolPart(Part[Pool]):
    """Several models whose predictive densities are multiplied, each to the power of its weight."""

    weights: Annotated[Shares, Dimensions("members")]
    members: Annotated[list[ModelPart], FIRST_FAULT, Dimensions("members")]
    degrees_of_freedom: DegreesOfFreedom | None = field(metadata=DEGREES_OF_FREEDOM)

    def decode(self, sizes: Sizes, where: str) -> Pool:
        """Return the pool, whose weights sum to 1."""
        limit = sizes.get("max_members")
        if limit is not None and not 2 <= len(self.members) <= limit:
            raise wrong(f"{where}/members", f"Expected 2 to {limit} members of a pool, got {len(self.members)}.")
        pool = super().decode(sizes, where)
        if not np.isclose(self.weights.sum(), 1.0):
            raise wrong(f"{where}/weights", f"Expected weights of a pool that sum to 1, got {self.weights.sum():g}.")
        return pool


@dataclass(frozen=True, kw_only=True)
class PerClassPart(Part[PerClass]):
    """A model for each class against all others, in the order of the classes, and the likelihood of all together."""

    likelihood: BernoulliPerClass
    members: Annotated[list[ModelPart], FIRST_FAULT]

    def decode(self, sizes: Sizes, where: str) -> PerClass:
        """Return the models, one for each class."""
        classes = sizes["classes"]
        if len(self.members) != classes or classes < MIN_CLASSES:
            expected = f"Expected a model for each of the target's classes, {MIN_CLASSES} at least"
            raise wrong(f"{where}/members", f"{expected}; got {len(self.members)} for {classes}.")
        return super().decode(sizes, where)


@dataclass(frozen=True, kw_only=True)
class HurdlePart(Part[HurdleModel]):
    """A model of whether a target is 0, and one of the targets above 0, whose `rows` are fewer."""

    likelihood: Hurdle
    zero: ModelPart
    positive: ModelPart

    def decode(self, sizes: Sizes, where: str) -> HurdleModel:
        """Return both models: of two classes, and of numbers."""
        zero = self.zero.decode({**sizes, "classes": 2}, f"{where}/zero")
        return HurdleModel(zero, self.positive.decode({**sizes, "classes": 0}, f"{where}/positive"), self.likelihood)


@dataclass(frozen=True, kw_only=True)
class RowsPart(Part[tuple[Array, Array]]):
    """A block of rows: X (n, d), and t (n,) less `centre` and the trend's mean."""

    inputs: Annotated[Matrix, Dimensions("rows", "inputs")]
    targets: Annotated[Vector, Dimensions("rows")]


@dataclass(frozen=True, kw_only=True)
class LocalPart(Part[LocalModel]):
    """A nearest-neighbour process of the `rows`, and the sparse model whose residuals it describes.

    Its prior covariance is signal_variance k(u(x), u(z)), and f(x)' diag(1/alpha) f(z) of the `functions` f.
    """

    likelihood: GaussianNoise
    neighbours: Annotated[int, Field(ge=1, le=MAX_NEIGHBOURS)]
    kernel: Annotated[Kernel, OneOf("type")]
    widths: Annotated[PositiveVector, Dimensions("inputs")]
    skew: Annotated[Vector, Dimensions("inputs")] | None
    tail: Annotated[Vector, Dimensions("inputs")] | None
    functions: FunctionsList
    alpha: Annotated[PositiveVector, Dimensions("functions")]
    signal_variance: Positive
    noise_sd: Positive
    centre: Finite
    rows: Annotated[list[RowsPart], FIRST_FAULT]
    trend: ModelPart | None

    @classmethod
    def attributes(cls, record: LocalModel) -> Mapping[str, object]:
        """Return the values of the members, with the rows in blocks."""
        process, rows = record.process, record.process.rows
        blocks = [slice(first, first + BLOCK_ROWS) for first in range(0, len(rows.t), BLOCK_ROWS)]
        return {
            **vars(record),
            **vars(process),
            **vars(process.hyperparameters),
            **vars(process.hyperparameters.input_map),
            "noise_sd": process.noise_sd,
            "rows": [RowsPart(inputs=rows.X[block], targets=rows.t[block]) for block in blocks],
        }

    def decode(self, sizes: Sizes, where: str) -> LocalModel:
        """Return the process with the rows of all blocks, one at least."""
        values = self.values(sizes, where)
        if not isinstance(self.kernel, LocalKernel):
            expected = ", ".join(one.type for one in KERNELS)
            raise wrong(f"{where}/kernel", f"Expected one of {expected}; got {self.kernel.type}.")
        if not sum(len(block.targets) for block in self.rows):
            raise wrong(f"{where}/rows", "Expected at least one row to predict from.")
        inputs = np.concatenate([block.inputs.reshape(-1, sizes["inputs"]) for block in self.rows])
        targets = np.concatenate([block.targets for block in self.rows])
        functions = tuple(one.decode(sizes, f"{where}/functions/{at}") for at, one in enumerate(self.functions))
        input_map = InputMap(self.widths, self.skew, self.tail)
        hyperparameters = Hyperparameters(self.noise_sd**-2, self.signal_variance, self.alpha, input_map)
        rows = ProcessRows(inputs, targets, evaluate(functions, inputs))
        process = LocalProcess(self.kernel, hyperparameters, rows, functions, self.neighbours, self.centre)
        return self.made(values | {"process": process})


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
