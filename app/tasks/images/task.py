"""An image, told by few wavelets."""

from pathlib import Path

from app.datasets.records import Dataset
from app.errors import ConflictError
from app.registry.records import NewImageVersion, Version
from app.tasks.complete_rows import Read
from app.tasks.images.prediction import ImageModel
from app.tasks.images.training import ImageTraining
from app.tasks.task import Task, expected
from app.tasks.values import OUTPUTS as VALUE_OUTPUTS
from relevance_bayes.documents.exported import ExportedVersion
from relevance_bayes.documents.models import ImagePredictor, ImageReport, Predictor, VersionReport
from relevance_bayes.plans.requests import ImagePlan, ImageRequest, TrainingPlan
from relevance_bayes.types.lineage import ImportedFrom

NO_FILE = (
    "The code of an image is not exported: beside its version `image` has the pixels, as PNG or exactly as npy, and "
    "`relevance-vectors` the functions."
)


class ImageTask(Task):
    """An image, told by few wavelets."""

    names = ("image",)
    records = (ImageRequest, ImagePlan, ImageReport, ImagePredictor)

    def prepare(
        self, plan: TrainingPlan, dataset: Dataset, read: Read, directory: Path, *, max_cells: int
    ) -> ImageTraining:
        """Write the rows down."""
        return ImageTraining.prepare(expected(plan, ImagePlan), dataset, read, directory)

    def model(self, report: VersionReport, predictor: Predictor) -> ImageModel:
        """The predictor, as it is."""
        return ImageModel(expected(predictor, ImagePredictor), expected(report, ImageReport).plan.peak)

    def outputs(self, report: VersionReport) -> tuple[str, ...]:
        """Those of all versions."""
        return VALUE_OUTPUTS

    def exported(self, version: Version, predictor: Predictor) -> ExportedVersion:
        """Raises ConflictError."""
        raise ConflictError(NO_FILE)

    def imported(self, exported: ExportedVersion, name: str, source: ImportedFrom) -> NewImageVersion:
        """Raises TypeError: there are no files of images."""
        raise TypeError(f"expected the file of another task, got {type(exported).__name__}")
