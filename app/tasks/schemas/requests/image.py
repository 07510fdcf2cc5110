"""The API's schema of requests for images."""

from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from app.jobs.schemas import JobIn, NameIn
from relevance_bayes.plans.requests import ImageRequest
from relevance_bayes.types.errors import Fault


class ImageJobIn(JobIn):
    """A sparse code of an image by Gabor wavelets of many sizes and directions, selected by the evidence.

    It has at most `max_functions`, or the fewest that reach `psnr`; without both, a function is added only where the
    evidence exceeds the price of its selection, and the rest is noise.
    """

    task: Literal["image"]
    dataset_id: UUID = Field(description="The image: a dataset from PNG or npy.")
    max_functions: Annotated[int, Field(ge=1)] | None = Field(
        None, description="The most functions, including a constant."
    )
    psnr: Annotated[float, Field(gt=0, le=100)] | None = Field(
        None,
        description="The peak signal-to-noise ratio in dB that ends the search, 20 log10(peak / error): the peak is 1 "
        "where all intensities lie between 0 and 1, as from PNG, else their range; the error a root mean square.",
    )
    noise_sd: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = Field(
        None, description="The sd of the image's noise, in the unit of its intensities. Default: learned."
    )
    model: NameIn | None = Field(None, description="The model's name. Default: the dataset's.")

    def to_request(self) -> ImageRequest:
        """Return the request as the service's record."""
        return ImageRequest(
            dataset_id=self.dataset_id,
            max_functions=self.max_functions,
            psnr=self.psnr,
            noise_sd=self.noise_sd,
            model=self.model,
        )

    def as_sent(self, fault: Fault) -> Fault:
        """Return a fault of the record as a fault of the request."""
        return fault
