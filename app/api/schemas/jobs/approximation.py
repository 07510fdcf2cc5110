"""Trainings to tell a known function by few terms, as their owner sees them."""

from collections.abc import Sequence
from typing import Literal, Self

from pydantic import Field

from app.api.schemas.jobs.shared import JobOut, shared_by_jobs
from app.domain.jobs import Job
from relevance_bayes.plans.requests import ApproximationPlan
from relevance_bayes.types.inputs import IgnoredColumn, InputColumn


class ApproximationJobOut(JobOut):
    """A known function to be told by few terms: what is asked for, resolved, and how far it is."""

    task: Literal["approximation"]
    inputs: Sequence[InputColumn]
    ignored: Sequence[IgnoredColumn]
    coefficients: str | None
    widths: Sequence[float] = Field(description="One for each of the inputs, in its units.")
    constant: float
    tolerance: float = Field(description="The share of the function that may be missed.")
    max_functions: int | None
    density: bool

    @classmethod
    def of(cls, job: Job, plan: ApproximationPlan) -> Self:
        """A job with this plan as it goes out."""
        own = {
            "task": plan.task,
            "coefficients": plan.coefficients,
            "widths": plan.widths,
            "constant": plan.constant,
            "tolerance": plan.tolerance,
            "max_functions": plan.max_functions,
            "density": plan.density,
        }
        return cls.model_validate(shared_by_jobs(job) | own)
