"""The API's form of components jobs."""

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from app.jobs import records as domain
from app.tasks.schemas.jobs.shared import shared_by_trainings
from relevance_bayes.core.kernels import Covariance
from relevance_bayes.plans.requests import ComponentsPlan, Missing
from relevance_bayes.types.trainings import Job


@dataclass(frozen=True, kw_only=True)
class ComponentsJobOut(Job):
    """A job that finds components of rows, with its resolved request and progress."""

    task: Literal["components"]
    kernel: Annotated[Covariance, Field(discriminator="type")]
    widths: tuple[float, ...] | None
    """The width for all inputs, or one for each; null where it follows from the rows."""
    min_explained_variance: float
    """The share of the variance in feature space that components are to explain."""
    standardise: bool
    missing: Missing
    seed: int


_RECORD = TypeAdapter(ComponentsJobOut)


def components_job(job: domain.Job, plan: ComponentsPlan) -> ComponentsJobOut:
    """Return the API's form of a job with this plan."""
    own = {
        "task": plan.task,
        "kernel": plan.kernel,
        "widths": plan.widths,
        "min_explained_variance": plan.min_explained_variance,
        "standardise": plan.standardise,
        "missing": plan.missing,
        "seed": plan.seed,
    }
    return _RECORD.validate_python(shared_by_trainings(job, plan) | own)
