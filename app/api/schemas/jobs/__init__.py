"""Training jobs as their owner sees them, one class for each kind of task."""

from typing import Annotated, TypeAlias

from pydantic import Field

from app.api.schemas.jobs.approximation import ApproximationJobOut
from app.api.schemas.jobs.components import ComponentsJobOut
from app.api.schemas.jobs.image import ImageJobOut
from app.api.schemas.jobs.shared import FromDomain
from app.api.schemas.jobs.supervised import SupervisedJobOut
from app.domain.jobs import Job
from relevance_bayes.plans.requests import ApproximationPlan, ComponentsPlan, ImagePlan, SupervisedPlan

__all__ = ["FromDomain", "TrainingJobOut", "job_out"]

AnyJobOut: TypeAlias = SupervisedJobOut | ApproximationJobOut | ImageJobOut | ComponentsJobOut
TrainingJobOut: TypeAlias = Annotated[AnyJobOut, Field(discriminator="task")]


def job_out(job: Job) -> AnyJobOut:
    """A job as it goes out."""
    match job.plan:
        case SupervisedPlan() as plan:
            return SupervisedJobOut.of(job, plan)
        case ApproximationPlan() as plan:
            return ApproximationJobOut.of(job, plan)
        case ImagePlan() as plan:
            return ImageJobOut.of(job, plan)
        case ComponentsPlan() as plan:
            return ComponentsJobOut.of(job, plan)
        case plan:
            raise TypeError(f"expected the plan of a training, got {plan}")
