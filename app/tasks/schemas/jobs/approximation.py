"""Trainings to tell a known function by few terms, as their owner sees them."""

from pydantic import TypeAdapter

from app.jobs.records import Job
from app.tasks.schemas.jobs.shared import shared_by_trainings
from relevance_bayes.plans.requests import ApproximationPlan
from relevance_bayes.types.trainings import ApproximationJob

_RECORD = TypeAdapter(ApproximationJob)


def approximation_job(job: Job, plan: ApproximationPlan) -> ApproximationJob:
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
    return _RECORD.validate_python(shared_by_trainings(job, plan) | own)
