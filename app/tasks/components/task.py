"""The task components: principal components of rows in a kernel's feature space, and the novelty of rows."""

from pathlib import Path

from app.datasets.records import Dataset
from app.registry.records import NewComponentsVersion, Version
from app.tasks.complete_rows import Read
from app.tasks.components.importing import checked
from app.tasks.components.prediction import ComponentsModel
from app.tasks.components.training import ComponentsTraining
from app.tasks.task import Task, expected
from relevance_bayes.documents.exported import ExportedComponents, ExportedVersion
from relevance_bayes.documents.models import ComponentsPredictor, ComponentsReport, Predictor, VersionReport
from relevance_bayes.plans.requests import ComponentsPlan, ComponentsRequest, TrainingPlan
from relevance_bayes.types.lineage import ImportedFrom


class ComponentsTask(Task):
    """Principal components of rows in a kernel's feature space, and the novelty of rows."""

    names = ("components",)
    is_comparable = False
    records = (ComponentsRequest, ComponentsPlan, ComponentsReport, ComponentsPredictor)

    def prepare(
        self, plan: TrainingPlan, dataset: Dataset, read: Read, directory: Path, *, max_cells: int
    ) -> ComponentsTraining:
        """Write the rows to a file."""
        return ComponentsTraining.prepare(expected(plan, ComponentsPlan), dataset, read, directory, max_cells=max_cells)

    def model(self, report: VersionReport, predictor: Predictor) -> ComponentsModel:
        """Return the predictor as a model."""
        return ComponentsModel(expected(predictor, ComponentsPredictor))

    def outputs(self, report: VersionReport) -> tuple[str, ...]:
        """Return the outputs of all versions."""
        return ("components", "reconstruction_error", "log_density", "novelty")

    def exported(self, version: Version, predictor: Predictor) -> ExportedComponents:
        """Return report and predictor."""
        report, found = expected(version.report, ComponentsReport), expected(predictor, ComponentsPredictor)
        return ExportedComponents(version.model, version.number, version.created_at, report, found)

    def imported(self, exported: ExportedVersion, name: str, source: ImportedFrom) -> NewComponentsVersion:
        """Validate an imported version."""
        return checked(expected(exported, ExportedComponents), name, source)
