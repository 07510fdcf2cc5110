"""The report and the predictor of an image's code."""

from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from relevance_bayes.core.images import ImageCode
from relevance_bayes.plans.requests import ImagePlan
from relevance_bayes.tables.encoding import InputEncoding
from relevance_bayes.types.models import TermsError


@dataclass(frozen=True)
class ImageReport:
    """The report of a version, without its arrays.

    `rows` counts the pixels, `functions` those of the code, its constant included; `error` is the root mean square of
    what they miss, `psnr` 20 log10(peak / error) in dB, None without error, and `path` has the least error that was met
    with so many. `noise_sd` is what the search took for noise.
    """

    plan: ImagePlan
    functions: int
    candidates: int
    rows: int
    error: float
    psnr: float | None
    noise_sd: float
    path: tuple[TermsError, ...]
    termination: str
    dataset_id: UUID
    dataset_digest: str
    seconds: float
    software_version: str
    task: Literal["image"] = "image"


@dataclass(frozen=True, eq=False)
class ImagePredictor:
    """Rows and columns to places, and the code of the image."""

    encoding: InputEncoding
    code: ImageCode
