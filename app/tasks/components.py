"""The task components: principal components of rows in a kernel's feature space, and the novelty of rows."""

from dataclasses import replace
from itertools import repeat
from pathlib import Path

from app.datasets.records import Dataset
from app.registry.records import Version
from app.tasks.task import Task
from relevance_bayes.core.errors import NotPositiveDefiniteError
from relevance_bayes.documents.reports import ExportedComponents, ExportedVersion
from relevance_bayes.documents.validation import components_faults
from relevance_bayes.records.errors import Fault, InvalidRequestError
from relevance_bayes.records.functions import RelevanceVector
from relevance_bayes.records.versions import ImportedFrom
from relevance_bayes.tasks.components.report import ComponentsModel, ComponentsPredictor, ComponentsReport
from relevance_bayes.tasks.components.request import ComponentsPlan, ComponentsRequest
from relevance_bayes.tasks.components.space import Components
from relevance_bayes.tasks.components.training import ComponentsTraining, NewComponentsVersion, listed_images
from relevance_bayes.tasks.listing import FunctionLocation, Learned, expected
from relevance_bayes.tasks.prediction import refuse
from relevance_bayes.tasks.rows import Read
from relevance_bayes.tasks.union import Predictor, TrainingPlan, VersionReport


def checked(exported: ExportedComponents, name: str, imported: ImportedFrom) -> NewComponentsVersion:
    """Return the version to record under this name; raises InvalidRequestError for components that can't predict."""
    report, predictor = exported.report, exported.predictor
    refuse(components_faults(predictor, report))
    vectors = _vectors(predictor.components)
    plan = replace(report.plan, model=name)
    # Computed here: the last digits may differ on another machine.
    variances = tuple(predictor.components.variances.tolist())
    return Learned(replace(report, plan=plan, variances=variances, imported=imported), vectors, predictor)


def _vectors(found: Components) -> tuple[RelevanceVector, ...]:
    """Return the functions without location, since the file has no rows. Raises InvalidRequestError."""
    try:
        return tuple(listed_images(found, repeat(FunctionLocation(found.kernel.type), len(found.rows))))
    except NotPositiveDefiniteError as error:
        detail = "The covariance of the images is not positive definite."
        raise InvalidRequestError(detail, [Fault(detail, "/model")]) from error


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
