"""The task image: a sparse code of an image by wavelets."""

from pathlib import Path

from app.datasets.records import Dataset
from app.errors import ConflictError
from app.registry.records import Version
from app.tasks.task import Task
from relevance_bayes.documents.reports import ExportedVersion
from relevance_bayes.records.versions import ImportedFrom
from relevance_bayes.tasks.images.report import ImageModel, ImagePredictor, ImageReport
from relevance_bayes.tasks.images.request import ImagePlan, ImageRequest
from relevance_bayes.tasks.images.training import ImageTraining, NewImageVersion
from relevance_bayes.tasks.listing import expected
from relevance_bayes.tasks.prediction import OUTPUTS as VALUE_OUTPUTS
from relevance_bayes.tasks.rows import Read
from relevance_bayes.tasks.union import Predictor, TrainingPlan, VersionReport

NO_FILE = (
    "The code of an image can't be exported: get its pixels from `image`, as PNG or npy, and its functions from "
    "`relevance-vectors`."
)


class ImageTask(Task):
    """A sparse code of an image by wavelets."""

    names = ("image",)
    records = (ImageRequest, ImagePlan, ImageReport, ImagePredictor)

    def prepare(
        self, plan: TrainingPlan, dataset: Dataset, read: Read, directory: Path, *, max_cells: int
    ) -> ImageTraining:
        """Write the pixels to a file."""
        return ImageTraining.prepare(expected(plan, ImagePlan), dataset, read, directory)

    def model(self, report: VersionReport, predictor: Predictor) -> ImageModel:
        """Return the predictor as a model."""
        return ImageModel(expected(predictor, ImagePredictor), expected(report, ImageReport).plan.peak)

    def outputs(self, report: VersionReport) -> tuple[str, ...]:
        """Return the outputs of all versions."""
        return VALUE_OUTPUTS

    def exported(self, version: Version, predictor: Predictor) -> ExportedVersion:
        """Raise ConflictError."""
        raise ConflictError(NO_FILE)

    def imported(self, exported: ExportedVersion, name: str, source: ImportedFrom) -> NewImageVersion:
        """Raise TypeError: images are not exported."""
        raise TypeError(f"expected the file of another task, got {type(exported).__name__}")
