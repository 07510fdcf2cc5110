"""The request and the plan of an image code of few wavelets."""

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal
from uuid import UUID

from pydantic import Field

from relevance_bayes.records.annotations import as_requested, wire
from relevance_bayes.records.errors import Fault
from relevance_bayes.records.jobs import JobRequest, ModelName
from relevance_bayes.records.trainings import ImageSettings
from relevance_bayes.tables.columns import IMAGE_COLUMNS, ColumnSummary, TableSummary
from relevance_bayes.tables.encoding.table import MAX_SCALED
from relevance_bayes.tasks.planning import default_model_name, input_column, is_constant, name_faults, refusal
from relevance_bayes.tasks.planning import size as reach


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


MIN_PIXELS = 8
"""The minimum height and width."""

MAX_PIXELS = 2**20
"""The maximum number of pixels, whose fit takes about a quarter of an hour."""

MAX_PSNR = 100.0

NOISE_SPAN = 1e8
"""The range of the noise sd of an image around the sd of its intensities, as a factor."""


def plan_image(request: ImageRequest, dataset: TableSummary) -> ImagePlan:
    """Resolve a request against its dataset; raises InvalidRequestError with all faults."""
    size = dataset.image
    *places, intensity = (dataset.column(name) for name in IMAGE_COLUMNS)
    if size is None or intensity is None or None in places:
        raise refusal(Fault("Expected an image, got a table; upload a PNG or npy file.", "/dataset_id"))
    faults = [
        *name_faults(request.model),
        *_image_faults(size.height, size.width, intensity),
        *_number_faults(request, size.height * size.width, intensity.sd or 0.0),
    ]
    if faults:
        raise refusal(*faults)
    return ImagePlan(
        model=request.model if request.model is not None else default_model_name(dataset.name),
        inputs=tuple(input_column(column) for column in places if column is not None),
        ignored=(),
        target=intensity.name,
        height=size.height,
        width=size.width,
        peak=peak_of(intensity.minimum or 0.0, intensity.maximum or 0.0),
        **{name: getattr(request, name) for name in KEPT},
    )


def peak_of(minimum: float, maximum: float) -> float:
    """Return the range of an image's intensities: 1 where they are from 0, black, to 1, white."""
    return 1.0 if minimum >= 0.0 and maximum <= 1.0 else maximum - minimum


def _image_faults(height: int, width: int, intensity: ColumnSummary) -> list[Fault]:
    got = f"{height:,} x {width:,}"
    if min(height, width) < MIN_PIXELS:
        return [Fault(f"Expected an image of at least {MIN_PIXELS} x {MIN_PIXELS} pixels, got {got}.", "/dataset_id")]
    if height * width > MAX_PIXELS:
        return [Fault(f"Expected an image of at most {MAX_PIXELS:,} pixels, got {got}.", "/dataset_id")]
    if reach(intensity) > MAX_SCALED or 0.0 < reach(intensity) < 1 / MAX_SCALED:
        detail = f"Intensities reach {reach(intensity):g}, too large for float64; use another unit."
        return [Fault(detail, "/dataset_id")]
    if is_constant(intensity):
        return [Fault("Expected an image of several intensities, got one.", "/dataset_id")]
    return []


def _number_faults(request: ImageRequest, pixels: int, sd: float) -> list[Fault]:
    faults = []
    if request.max_functions is not None and not 1 <= request.max_functions <= pixels:
        faults.append(Fault(f"Expected from one function to one a pixel, got {request.max_functions:,}.", "/functions"))
    if request.psnr is not None and not 0.0 < request.psnr <= MAX_PSNR:
        faults.append(Fault(f"Expected a ratio above 0 and at most {MAX_PSNR:g} dB, got {request.psnr:g}.", "/psnr"))
    minimum, maximum = sd / NOISE_SPAN, sd * NOISE_SPAN
    if request.noise_sd is not None and sd > 0.0 and not minimum <= request.noise_sd <= maximum:
        times = f"{1 / NOISE_SPAN:g} to {NOISE_SPAN:g} of the image's"
        detail = f"The noise sd must be from {minimum:g} to {maximum:g}, {times}, got {request.noise_sd:g}."
        faults.append(Fault(detail, "/noise_sd"))
    return faults
