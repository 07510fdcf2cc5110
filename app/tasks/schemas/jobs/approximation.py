"""The API's form of approximation jobs."""

from pydantic import TypeAdapter

from app.jobs.records import Job
from app.tasks.schemas.jobs.shared import shared_by_trainings
from relevance_bayes.plans.requests import ApproximationPlan
from relevance_bayes.types.trainings import ApproximationJob

_RECORD = TypeAdapter(ApproximationJob)


def approximation_job(job: Job, plan: ApproximationPlan) -> ApproximationJob:
    """Return the API's form of a job with this plan."""
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
