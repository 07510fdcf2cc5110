"""The API's schemas of training jobs, one class for each kind of task."""

from typing import Annotated, TypeAlias

from pydantic import Field

from app.jobs.records import Job
from app.registry.trainings import TRAINING
from app.tasks.schemas.jobs.approximation import approximation_job
from app.tasks.schemas.jobs.components import ComponentsJobOut, components_job
from app.tasks.schemas.jobs.image import image_job
from app.tasks.schemas.jobs.supervised import SupervisedJobOut, supervised_job
from relevance_bayes.plans.requests import ApproximationPlan, ComponentsPlan, ImagePlan, SupervisedPlan
from relevance_bayes.types.trainings import ApproximationJob, ImageJob

__all__ = ["TrainingJobOut", "job_out"]

AnyJobOut: TypeAlias = SupervisedJobOut | ApproximationJob | ImageJob | ComponentsJobOut
TrainingJobOut: TypeAlias = Annotated[AnyJobOut, Field(discriminator="task")]


def job_out(job: Job) -> AnyJobOut:
    """Return the API's form of a training job."""
    _, made = TRAINING.read(job)
    match made:
        case SupervisedPlan() as plan:
            return supervised_job(job, plan)
        case ApproximationPlan() as plan:
            return approximation_job(job, plan)
        case ImagePlan() as plan:
            return image_job(job, plan)
        case ComponentsPlan() as plan:
            return components_job(job, plan)
