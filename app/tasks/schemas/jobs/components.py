"""Trainings to learn components, as their owner sees them."""

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
    """Components of rows: what is asked for, resolved, and how far it is."""

    task: Literal["components"]
    kernel: Annotated[Covariance, Field(discriminator="type")]
    widths: tuple[float, ...] | None
    """One for all inputs, or one for each of them; null where it follows from the rows."""
    min_explained_variance: float
    """The share of the rows' images that components are to explain before noise."""
    standardise: bool
    missing: Missing
    seed: int


_RECORD = TypeAdapter(ComponentsJobOut)


def components_job(job: domain.Job, plan: ComponentsPlan) -> ComponentsJobOut:
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
    return _RECORD.validate_python(shared_by_trainings(job, plan) | own)
