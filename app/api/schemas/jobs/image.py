"""Trainings to tell an image by few wavelets, as their owner sees them."""

from collections.abc import Sequence
from typing import Literal, Self

from pydantic import Field

from app.api.schemas.jobs.shared import JobOut, shared_by_jobs
from app.domain.jobs import Job
from relevance_bayes.plans.requests import ImagePlan
from relevance_bayes.types.inputs import IgnoredColumn, InputColumn


class ImageJobOut(JobOut):
    """An image to be told by few wavelets: what is asked for, resolved, and how far it is."""

    task: Literal["image"]
    inputs: Sequence[InputColumn]
    ignored: Sequence[IgnoredColumn]
    height: int
    width: int
    peak: float = Field(description="What `psnr` is beside.")
    max_functions: int | None
    psnr: float | None = Field(description="In dB.")
    noise_sd: float | None

    @classmethod
    def of(cls, job: Job, plan: ImagePlan) -> Self:
        """A job with this plan as it goes out."""
        own = {
            "task": plan.task,
            "height": plan.height,
            "width": plan.width,
            "peak": plan.peak,
            "max_functions": plan.max_functions,
            "psnr": plan.psnr,
            "noise_sd": plan.noise_sd,
        }
        return cls.model_validate(shared_by_jobs(job) | own)
