"""Trainings to learn components, as their owner sees them."""

from collections.abc import Sequence
from typing import Annotated, Literal, Self

from pydantic import Field

from app.api.schemas.jobs.shared import JobOut, shared_by_jobs
from app.domain.jobs import Job
from relevance_bayes.core.kernels import Covariance
from relevance_bayes.plans.requests import ComponentsPlan, Missing
from relevance_bayes.types.inputs import IgnoredColumn, InputColumn


class ComponentsJobOut(JobOut):
    """Components of rows: what is asked for, resolved, and how far it is."""

    task: Literal["components"]
    inputs: Sequence[InputColumn]
    ignored: Sequence[IgnoredColumn]
    kernel: Annotated[Covariance, Field(discriminator="type")]
    widths: Sequence[float] | None = Field(
        description="One for all inputs, or one for each of them; null where it follows from the rows."
    )
    min_explained_variance: float = Field(
        description="The share of the rows' images that components are to explain before noise."
    )
    standardise: bool
    missing: Missing
    seed: int

    @classmethod
    def of(cls, job: Job, plan: ComponentsPlan) -> Self:
        """A job with this plan as it goes out."""
        own = {
            "task": plan.task,
            "kernel": plan.kernel,
            "widths": plan.widths,
            "min_explained_variance": plan.min_explained_variance,
            "standardise": plan.standardise,
            "missing": plan.missing,
            "seed": plan.seed,
        }
        return cls.model_validate(shared_by_jobs(job) | own)
