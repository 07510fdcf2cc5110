"""Models, their versions, and the functions that a version keeps."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Self
from uuid import UUID

from pydantic import BaseModel, Field

from app.api.schemas.basis import BasisOut, shown_bases
from app.api.schemas.jobs import FromDomain, IgnoredOut, InputOut
from app.api.schemas.likelihoods import AnyLikelihood, shown
from app.domain.models import Contender, Model, RelevanceVector, Version
from app.domain.requests import Missing, Split, Validation
from app.domain.tables import Cell, ColumnKind, Label
from app.sparse_bayes.spec import Algorithm, Prior


class ModelOut(FromDomain):
    """A name, and what its versions have in common."""

    name: str
    created_at: datetime
    task: str
    target: str
    inputs: Sequence[str]
    versions: int = Field(description="How many there are.")
    latest: int | None = Field(description="The number of the newest.")

    @classmethod
    def of(cls, model: Model) -> Self:
        """A model as it goes out."""
        return cls.model_validate(model)


class InputWidthOut(FromDomain):
    """The width of the kernels (the papers' r) in the units of one input as they see it."""

    input: str | None = Field(
        description="The input, `colour=red` for one of its categories; null where all inputs share the width."
    )
    width: float = Field(description="The greater it is, the less the input matters; in sds where standardised.")


class InputWarpOut(FromDomain):
    """How the kernels see one input bent: w(x) = (sinh q + sinh a) / (b cosh a), q = b asinh x - a, b = exp(l)."""

    input: str
    skew: float = Field(description="a: above 0, differences count less above the mean than below; 0: straight.")
    tail: float = Field(description="l: below 0, differences count less far from the mean; 0: straight.")


class InputTermOut(FromDomain):
    """An input whose effect adds to that of all others, whatever they are: a term of its own."""

    input: str
    share: float = Field(description="Of the process's variance, from 0 to 1: what is left belongs to all others.")


class HyperparametersOut(BaseModel):
    """What was found: standard deviations in the user's units, widths and warps of the inputs as kernels see them."""

    noise_sd: float | None = Field(
        description="Of the noise, in the target's units; under `log_gaussian` of the target's logarithm: .1 is about "
        "10 %. Where each row has its own, the root mean square over the rows learned from, which stands for the noise "
        "of rows to predict that bring none. Null for classes and counts."
    )
    degrees_of_freedom: float | None = Field(
        description="Of noise with heavy tails (`student_t`), learned or given: near 2, outliers are wild and many; "
        "above 30, noise is as good as Gaussian. Null under other likelihoods."
    )
    widths: Sequence[InputWidthOut]
    warps: Sequence[InputWarpOut] = Field(description="Empty where none were learned.")
    terms: Sequence[InputTermOut] = Field(
        description="The inputs that were found apart from the others (`additive`); empty where none was."
    )
    process_sd: float | None = Field(
        description="Of the Gaussian process: how wide predictions grow far from all data. Of the latent function for "
        "classes and `poisson`, of the target's logarithm under `log_gaussian`. Null under independent weights."
    )
    last_gain: float | None = Field(description="The nats that the last function brought that entered.")
    next_gain: float | None = Field(
        description="The nats that the best function left out would have brought: 0 to 6 say that there are enough, "
        "tens say that more would pay (`most`, `least_gain`)."
    )


class OutlierOut(FromDomain):
    """A row learned from that noise with heavy tails accounts for."""

    row: int = Field(description="The row of the dataset, from 0.")
    typicality: float = Field(description="How much it counts beside an ordinary row, for which this is about 1.")


class DatasetNameOut(BaseModel):
    """The data that was learned from; the digest is of their content."""

    id: UUID
    digest: str


class ContenderOut(BaseModel):
    """One of the fits that were compared."""

    prior: Prior
    likelihood: AnyLikelihood
    functions: int | None = Field(
        description="Functions kept; null for a fit that was given up when its scales were found, being behind then."
    )
    score: float = Field(
        description="The log of its evidence with the hyperparameters integrated out, in nats: 3 more make it about 20 "
        "times as probable. Foretold from some rows for a fit that was given up."
    )

    @classmethod
    def of(cls, contender: Contender, noise_column: str | None) -> Self:
        """A fit as it goes out."""
        return cls(
            prior=contender.prior,
            likelihood=shown(contender.likelihood, noise_column),
            functions=contender.functions,
            score=contender.score,
        )


class ClassRowsOut(FromDomain):
    """How many of the rows learned from are of one class."""

    label: Label
    rows: int


class VersionOut(BaseModel):
    """What one training learned; it never changes. Figures are in the user's units."""

    model: str
    version: int
    created_at: datetime
    job_id: UUID
    task: str
    target: str
    target_kind: ColumnKind
    classes: Sequence[Label] = Field(
        description="The labels of a classification: false and true, numbers from below, texts by alphabet."
    )
    class_rows: Sequence[ClassRowsOut] = Field(
        description="The rows learned from by class, in the order of `classes`: how frequent they are is what "
        "`class_priors` of a prediction change. Empty for numbers, and for versions that are older than this."
    )
    inputs: Sequence[InputOut]
    ignored: Sequence[IgnoredOut]
    likelihood: AnyLikelihood
    basis: Sequence[BasisOut]
    prior: Prior
    algorithm: Algorithm
    standardised: bool
    missing: Missing
    split: Split
    holdout: float
    validation: Validation | None
    seed: int
    hyperparameters: HyperparametersOut
    log_marginal_likelihood: float = Field(description="In nats.")
    functions: int = Field(description="Functions kept.")
    candidates: int = Field(description="Functions that the fit taken could choose from.")
    rows: int = Field(description="Rows learned from.")
    rows_dropped: int
    rows_held_out: int
    termination: str = Field(description="Why the fit stopped.")
    metrics: Mapping[str, Mapping[str, float]] = Field(
        description="`holdout`: measured on the rows held out, where there are some. `validation`: how the "
        "training rows are predicted by trainings without their fold, where it was asked for, over all `rows` that "
        "were measured, each once: a fold whose other rows can't be learned from is passed over, and under `order` the "
        "first stretch is not measured. `leave_one_out`: how each row "
        "learned from is predicted by all others, in closed form, at what was chosen with it present; a little "
        "flattering."
    )
    contenders: Sequence[ContenderOut] = Field(
        description="The fits that were compared where prior or likelihood were left open, the one taken first. "
        "Another likelihood is taken where it is better by a tenth of a nat for each row."
    )
    outliers: Sequence[OutlierOut] = Field(
        description="Under `student_t`, the rows that count less than a quarter of an ordinary one: the least typical "
        "first, at most 100. Empty under other likelihoods."
    )
    dataset: DatasetNameOut
    seconds: float
    software_version: str

    @classmethod
    def of(cls, version: Version) -> Self:
        """A version as it goes out."""
        report = version.report
        plan, spec = report.plan, report.plan.spec
        return cls(
            model=version.model,
            version=version.number,
            created_at=version.created_at,
            job_id=version.job_id,
            task=report.task,
            target=plan.target,
            target_kind=plan.target_kind,
            classes=plan.classes,
            class_rows=[ClassRowsOut.model_validate(one) for one in report.class_rows],
            inputs=[InputOut.model_validate(column) for column in plan.inputs],
            ignored=[IgnoredOut.model_validate(column) for column in plan.ignored],
            likelihood=shown(spec.likelihood, plan.noise_column),
            basis=shown_bases(spec.basis, [column.name for column in plan.inputs]),
            prior=spec.prior,
            algorithm=spec.algorithm,
            standardised=report.standardised,
            missing=plan.missing,
            split=plan.split,
            holdout=plan.holdout,
            validation=plan.validation,
            seed=spec.seed,
            hyperparameters=HyperparametersOut(
                noise_sd=report.noise_sd,
                degrees_of_freedom=report.degrees_of_freedom,
                widths=[InputWidthOut.model_validate(width) for width in report.widths],
                warps=[InputWarpOut.model_validate(warp) for warp in report.warps],
                terms=[InputTermOut.model_validate(term) for term in report.terms],
                process_sd=report.process_sd,
                last_gain=report.last_gain,
                next_gain=report.next_gain,
            ),
            log_marginal_likelihood=report.log_marginal_likelihood,
            functions=report.functions,
            candidates=report.candidates,
            rows=report.rows,
            rows_dropped=report.rows_dropped,
            rows_held_out=report.rows_held_out,
            termination=report.termination,
            metrics=report.metrics,
            contenders=[ContenderOut.of(contender, plan.noise_column) for contender in report.contenders],
            outliers=[OutlierOut.model_validate(outlier) for outlier in report.outliers],
            dataset=DatasetNameOut(id=report.dataset_id, digest=report.dataset_digest),
            seconds=report.seconds,
            software_version=report.software_version,
        )


class ClassWeightOut(FromDomain):
    """The mean of a function's weight in the latent of one class."""

    label: Label
    mean: float


class InputShapeOut(FromDomain):
    """How a function lies in one input, in the input's units."""

    input: str
    place: float | None = Field(description="Where it stands: a jump, a centre, or where a wave's phase counts from.")
    span: float | None = Field(description="How far it spreads: the distance of a spline's knots, a wavelet's s.")
    frequency: float | None = Field(description="Cycles per unit.")


class RelevanceVectorOut(FromDomain):
    """One function that a version keeps: a kernel on a row, the bias, an input itself, or one of a dictionary."""

    number: int
    kind: str = Field(description="The kernel's type, `bias`, `input`, `step`, `wave`, `b_spline` or `wavelet`.")
    row: int | None = Field(description="The row of the dataset that a kernel stands on, from 0.")
    inputs: Mapping[str, Cell] | None = Field(description="That row's inputs, in the user's units.")
    input: str | None = Field(
        description="Which input it is, or is a function of; `colour=red` is 1 for that category, else 0."
    )
    shape: Sequence[InputShapeOut] = Field(
        description="For functions of a dictionary, what they look like in each input that they see. Else empty."
    )
    phase: float | None = Field(description="Of a wave or wavelet, in cycles: 0 is a cosine, 0.25 a sine.")
    moved: bool = Field(description="Whether the kernel has left its row, to stand where it explains more.")
    weight_mean: float | None = Field(description="Null where there is one for each class.")
    weight_means: Sequence[ClassWeightOut] = Field(
        description="Of three and more classes, one for each; they share `weight_sd`, `alpha` and `gamma`. Else empty."
    )
    weight_sd: float
    alpha: float = Field(description="The precision of the weight's prior.")
    gamma: float = Field(description="How well the data determine the weight, from 0 to 1.")

    @classmethod
    def of(cls, vector: RelevanceVector) -> Self:
        """A function as it goes out."""
        return cls.model_validate(vector)
