"""The request and the plan of an image code of few wavelets."""

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal
from uuid import UUID

from pydantic import Field

from relevance_bayes.records.annotations import as_requested, wire
from relevance_bayes.records.jobs import JobRequest, ModelName
from relevance_bayes.records.trainings import ImageSettings


@dataclass(frozen=True)
class ImageRequest(JobRequest):
    """A sparse code of an image by Gabor wavelets of many sizes and directions, selected by the evidence.

    It has at most `max_functions`, or the fewest that reach `psnr`; without both, a function is added only where the
    evidence exceeds the price of its selection, and the rest is noise.
    """

    __pydantic_config__ = wire(extra="forbid", required=("task",))

    dataset_id: UUID
    """The image: a dataset from PNG or npy."""
    max_functions: Annotated[int, Field(ge=1)] | None = None
    """The most functions, including a constant."""
    psnr: Annotated[float, Field(gt=0, le=100)] | None = None
    """The peak signal-to-noise ratio in dB that ends the search, 20 log10(peak / error): the peak is 1 where all
    intensities lie between 0 and 1, as from PNG, else their range; the error a root mean square."""
    noise_sd: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    """The sd of the image's noise, in the unit of its intensities. Default: learned."""
    model: ModelName | None = None
    """The model's name. Default: the dataset's."""
    task: Literal["image"] = "image"


@dataclass(frozen=True, kw_only=True)
class ImagePlan(ImageSettings):
    """The request resolved against the image, of `height` x `width` pixels.

    `peak` is the peak of `psnr`: 1 where all intensities are between 0 and 1, else their range.
    """

    model: str
    target: str
    task: Literal["image"] = "image"

    target_member: ClassVar[str] = "target"
    """The member of a request that names the target."""

    @property
    def error(self) -> float | None:
        """Return the root mean square error at that `psnr`."""
        return None if self.psnr is None else float(self.peak * 10.0 ** (-self.psnr / 20.0))


KEPT = as_requested(ImagePlan)
"""The members of the plan that are those of the request."""
