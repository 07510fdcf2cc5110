"""The sparse code of an image by wavelets."""

from collections.abc import Sequence
from typing import Literal, Self

from pydantic import Field

from app.registry.records import Version
from app.registry.schemas.shared import VersionBaseOut, shared_by_versions
from relevance_bayes.documents.models import ImageReport
from relevance_bayes.types.inputs import IgnoredColumn, InputColumn
from relevance_bayes.types.models import DatasetName, TermsError


class ImageVersionOut(VersionBaseOut):
    """Few wavelets that stand for an image."""

    task: Literal["image"]
    inputs: Sequence[InputColumn]
    ignored: Sequence[IgnoredColumn]
    height: int
    width: int
    peak: float
    candidates: int = Field(description="Functions there were to choose from.")
    rows: int = Field(description="Pixels.")
    functions: int = Field(description="Functions kept, the constant counted.")
    error: float = Field(description="The root mean square of what is missed, in the unit of the intensities.")
    psnr: float | None = Field(description="20 log10(peak / error), in dB; null without error.")
    noise_sd: float = Field(description="What the search took for noise: learned, told, or how fine it was.")
    path: Sequence[TermsError] = Field(description="The error with so many functions, at most 200 of these.")
    termination: str = Field(description="Why the search stopped.")
    dataset: DatasetName
    seconds: float
    software_version: str

    @classmethod
    def of(cls, version: Version, report: ImageReport) -> Self:
        """A version with this report as it goes out."""
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
