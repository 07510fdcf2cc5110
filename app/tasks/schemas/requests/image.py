"""An image to be told by few wavelets, as it comes in."""

from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from app.jobs.request_schemas import JobIn, NameIn
from relevance_bayes.plans.requests import ImageRequest
from relevance_bayes.types.errors import Fault


class ImageJobIn(JobIn):
    """An image to be told by few Gabor wavelets of many sizes and directions, chosen by the evidence.

    At most `max_functions`, or as few as reach a `psnr`; where neither is said, noise is left out: functions enter that
    earn the price of their choice.
    """

    task: Literal["image"]
    dataset_id: UUID = Field(description="The image: a dataset from PNG or npy.")
    max_functions: Annotated[int, Field(ge=1)] | None = Field(None, description="At most so many, a constant counted.")
    psnr: Annotated[float, Field(gt=0, le=100)] | None = Field(
        None,
        description="The peak signal-to-noise ratio in dB that ends the search, 20 log10(peak / error): the peak is 1 "
        "where all intensities lie between 0 and 1, as from PNG, else their range; the error a root mean square.",
    )
    noise_sd: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = Field(
        None, description="Of the image's noise, in the unit of its intensities, where it is known; else learned."
    )
    model: NameIn | None = Field(None, description="The model's name; without it, the dataset's.")

    def to_request(self) -> ImageRequest:
        """The same in the domain's words."""
        return ImageRequest(
            dataset_id=self.dataset_id,
            max_functions=self.max_functions,
            psnr=self.psnr,
            noise_sd=self.noise_sd,
            model=self.model,
        )

    def as_sent(self, fault: Fault) -> Fault:
        """A fault of the request, which is as it was sent."""
        return fault
