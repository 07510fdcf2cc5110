"""The request and the plan of an image code of few wavelets."""

from dataclasses import dataclass
from typing import ClassVar, Literal
from uuid import UUID

from relevance_bayes.types.values import IgnoredColumn, InputColumn


@dataclass(frozen=True)
class ImageRequest:
    """At most `max_functions`, or as few as reach a peak signal-to-noise ratio `psnr` in dB, whichever comes first.

    Without both, the image has noise, of the sd `noise_sd` or a learned one, and functions are added whose gain exceeds
    their price.
    """

    dataset_id: UUID
    max_functions: int | None = None
    psnr: float | None = None
    noise_sd: float | None = None
    model: str | None = None
    task: Literal["image"] = "image"


@dataclass(frozen=True)
class ImagePlan:
    """The request resolved against the image, of `height` x `width` pixels.

    `peak` is the peak of `psnr`: 1 where all intensities are between 0 and 1, else their range.
    """

    model: str
    inputs: tuple[InputColumn, ...]
    target: str
    height: int
    width: int
    peak: float
    max_functions: int | None
    psnr: float | None
    noise_sd: float | None
    ignored: tuple[IgnoredColumn, ...] = ()
    task: Literal["image"] = "image"

    target_member: ClassVar[str] = "target"
    """The member of a request that names the target."""

    @property
    def error(self) -> float | None:
        """Return the root mean square error at that `psnr`."""
        return None if self.psnr is None else float(self.peak * 10.0 ** (-self.psnr / 20.0))
