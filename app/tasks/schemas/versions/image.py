"""The API's schema of versions of the task image."""

from collections.abc import Sequence
from typing import Literal, Self

from pydantic import Field

from app.registry.records import Version
from app.registry.schemas.shared import VersionBaseOut, shared_by_versions
from relevance_bayes.documents.models import ImageReport
from relevance_bayes.types.models import DatasetName, TermsError
from relevance_bayes.types.values import IgnoredColumn, InputColumn


class ImageVersionOut(VersionBaseOut):
    """A sparse code of an image by wavelets."""

    task: Literal["image"]
    inputs: Sequence[InputColumn]
    ignored: Sequence[IgnoredColumn]
    height: int
    width: int
    peak: float
    candidates: int = Field(description="The number of candidate functions.")
    rows: int = Field(description="Pixels.")
    functions: int = Field(description="The number of kept functions, including the constant.")
    error: float = Field(description="The root mean square error, in the unit of the intensities.")
    psnr: float | None = Field(description="20 log10(peak / error), in dB; null for an error of 0.")
    noise_sd: float = Field(description="The noise sd of the search: learned, given, or the resolution of the search.")
    path: Sequence[TermsError] = Field(description="The error for each number of functions, at most 200 of them.")
    termination: str = Field(description="The reason why the search stopped.")
    dataset: DatasetName
    seconds: float
    software_version: str

    @classmethod
    def of(cls, version: Version, report: ImageReport) -> Self:
        """Return the API's form of a version with this report."""
        plan = report.plan
        own = {
            "task": report.task,
            "height": plan.height,
            "width": plan.width,
            "peak": plan.peak,
            "candidates": report.candidates,
            "error": report.error,
            "psnr": report.psnr,
            "noise_sd": report.noise_sd,
            "path": report.path,
            "termination": report.termination,
        }
        return cls.model_validate(shared_by_versions(version) | own)
