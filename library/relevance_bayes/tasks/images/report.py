"""The result of an image's code: the report for its owner, and the predictor."""

from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from relevance_bayes.records.diagnostics import Diagnostics
from relevance_bayes.records.models import TermsError
from relevance_bayes.tables.encoding import InputEncoding
from relevance_bayes.tasks.images.code import ImageCode
from relevance_bayes.tasks.images.request import ImagePlan


@dataclass(frozen=True)
class ImageReport:
    """The report of a version, without its arrays.

    `rows` is the number of pixels, `functions` that of the code, its constant included; `error` is the root mean square
    error, `psnr` 20 log10(peak / error) in dB, None without error, and `path` has the lowest error for each number of
    functions. `noise_sd` is the estimated noise.
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

    @property
    def imported(self) -> None:
        """None: images are not imported."""
        return

    @property
    def baseline(self) -> None:
        """None: the rows are pixels, and no sample of what is predicted for."""

    @property
    def diagnostics(self) -> None:
        """None: what is given is approximated, and nothing is predicted for rows that were left out."""

    def with_diagnostics(self, found: Diagnostics | None) -> "ImageReport":
        """Return the report itself."""
        return self


@dataclass(frozen=True, eq=False)
class ImagePredictor:
    """Rows and columns to positions, and the code of the image."""

    encoding: InputEncoding
    code: ImageCode
