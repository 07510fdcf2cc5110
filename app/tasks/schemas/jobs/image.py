"""The API's form of image jobs."""

from pydantic import TypeAdapter

from app.jobs.records import Job
from app.tasks.schemas.jobs.shared import shared_by_trainings
from relevance_bayes.plans.requests import ImagePlan
from relevance_bayes.types.trainings import ImageJob

_RECORD = TypeAdapter(ImageJob)


def image_job(job: Job, plan: ImagePlan) -> ImageJob:
    """Return the API's form of a job with this plan."""
    own = {
        "task": plan.task,
        "height": plan.height,
        "width": plan.width,
        "peak": plan.peak,
        "max_functions": plan.max_functions,
        "psnr": plan.psnr,
        "noise_sd": plan.noise_sd,
    }
    return _RECORD.validate_python(shared_by_trainings(job, plan) | own)
