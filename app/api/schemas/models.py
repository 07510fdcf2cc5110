"""Models, their versions, and the functions that a version keeps."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Self
from uuid import UUID

from pydantic import BaseModel, Field

from app.api.schemas.jobs import FromDomain, IgnoredOut, InputOut
from app.domain.models import Model, RelevanceVector, Version
from app.domain.requests import Missing, Split
from app.domain.tables import Cell, ColumnKind, Label
from app.sparse_bayes.basis import Basis
from app.sparse_bayes.spec import Algorithm, Likelihood, Prior


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


class HyperparametersOut(BaseModel):
    """What was found: the noise in the user's units, the widths (the papers' r) in the inputs as kernels see them."""

    noise_sd: float | None
    widths: Sequence[float]


class DatasetNameOut(BaseModel):
    """The data that was learned from; the digest is of their content."""

    id: UUID
    digest: str


class VersionOut(BaseModel):
    """What one training learned; it never changes. Figures are in the user's units."""

    model: str
    version: int
    created_at: datetime
    job_id: UUID
    task: str
    target: str
    target_kind: ColumnKind
    classes: Sequence[Label]
    inputs: Sequence[InputOut]
    ignored: Sequence[IgnoredOut]
    likelihood: Likelihood
    basis: Sequence[Basis]
    prior: Prior
    algorithm: Algorithm
    standardised: bool
    missing: Missing
    split: Split
    holdout: float
    seed: int
    hyperparameters: HyperparametersOut
    log_marginal_likelihood: float = Field(description="In nats.")
    functions: int = Field(description="Functions kept.")
    candidates: int = Field(description="Functions looked at.")
    rows: int = Field(description="Rows learned from.")
    rows_dropped: int
    rows_held_out: int
    termination: str = Field(description="Why the fit stopped.")
    metrics: Mapping[str, Mapping[str, float]] = Field(
        description="Measured on the rows held out, where there are some."
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
            inputs=[InputOut.model_validate(column) for column in plan.inputs],
            ignored=[IgnoredOut.model_validate(column) for column in plan.ignored],
            likelihood=spec.likelihood,
            basis=spec.basis,
            prior=spec.prior,
            algorithm=spec.algorithm,
            standardised=report.standardised,
            missing=plan.missing,
            split=plan.split,
            holdout=plan.holdout,
            seed=spec.seed,
            hyperparameters=HyperparametersOut(noise_sd=report.noise_sd, widths=report.widths),
            log_marginal_likelihood=report.log_marginal_likelihood,
            functions=report.functions,
            candidates=report.candidates,
            rows=report.rows,
            rows_dropped=report.rows_dropped,
            rows_held_out=report.rows_held_out,
            termination=report.termination,
            metrics=report.metrics,
            dataset=DatasetNameOut(id=report.dataset_id, digest=report.dataset_digest),
            seconds=report.seconds,
            software_version=report.software_version,
        )


class RelevanceVectorOut(FromDomain):
    """One function that a version keeps: on a row of the dataset (inputs in the user's units), or the bias (null)."""

    number: int
    kind: str
    row: int | None = Field(description="The row of the dataset, from 0.")
    inputs: Mapping[str, Cell] | None
    weight_mean: float
    weight_sd: float
    alpha: float = Field(description="The precision of the weight's prior.")
    gamma: float = Field(description="How well the data determine the weight, from 0 to 1.")

    @classmethod
    def of(cls, vector: RelevanceVector) -> Self:
        """A function as it goes out."""
        return cls.model_validate(vector)
