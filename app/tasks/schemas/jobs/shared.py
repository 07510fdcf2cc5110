"""The members of training jobs of all tasks."""

from app.jobs.records import Job
from app.jobs.schemas import shared_by_jobs
from relevance_bayes.plans.requests import TrainingPlan


def shared_by_trainings(job: Job, plan: TrainingPlan) -> dict[str, object]:
    """Return the members of all jobs, and the columns that a training reads or ignores."""
    return shared_by_jobs(job) | {"inputs": plan.inputs, "ignored": plan.ignored}
