"""The tasks regression and classification."""

from collections.abc import Callable
from pathlib import Path

from app.datasets.records import Dataset
from app.registry.records import Version
from app.tasks.supervised.importing import checked
from app.tasks.task import Task
from relevance_bayes.documents.exported import ExportedSupervised, ExportedVersion
from relevance_bayes.records.lineage import ImportedFrom
from relevance_bayes.tasks.listing import expected
from relevance_bayes.tasks.rows import Read
from relevance_bayes.tasks.supervised.cost import Cost, planned_cost
from relevance_bayes.tasks.supervised.prediction import SupervisedModel
from relevance_bayes.tasks.supervised.report import SupervisedPredictor, SupervisedReport
from relevance_bayes.tasks.supervised.request import SupervisedPlan, SupervisedRequest
from relevance_bayes.tasks.supervised.training import NewSupervisedVersion, SupervisedTraining
from relevance_bayes.tasks.union import Predictor, TrainingPlan, VersionReport

OUTPUTS = {
    "regression": ("mean", "sd", "variance", "interval", "support"),
    "classification": ("label", "probabilities", "latent", "support"),
}


class SupervisedTask(Task):
    """Regression and classification: rows with a target, measured on held-out rows."""

    names = ("regression", "classification")
    is_explained = True
    records = (SupervisedRequest, SupervisedPlan, SupervisedReport, SupervisedPredictor)

    def prepare(
        self, plan: TrainingPlan, dataset: Dataset, read: Read, directory: Path, *, max_cells: int
    ) -> SupervisedTraining:
        """Write the rows to a file."""
        return SupervisedTraining.prepare(expected(plan, SupervisedPlan), dataset, read, directory, max_cells=max_cells)

    def cost(self, plan: TrainingPlan, dataset: Dataset) -> Cost:
        """Return the cost of the plan on the rows of its dataset."""
        return planned_cost(expected(plan, SupervisedPlan), dataset.rows)

    def model(self, report: VersionReport, predictor: Predictor) -> SupervisedModel:
        """Return the predictor with its model factorised."""
        return SupervisedModel.of(expected(predictor, SupervisedPredictor), expected(report, SupervisedReport))

    def outputs(self, report: VersionReport) -> tuple[str, ...]:
        """Return the outputs by the kind of target."""
        return OUTPUTS[expected(report, SupervisedReport).task]

    def exported(self, version: Version, predictor: Predictor) -> ExportedSupervised:
        """Return report and predictor."""
        report, found = expected(version.report, SupervisedReport), expected(predictor, SupervisedPredictor)
        return ExportedSupervised(version.model, version.number, version.created_at, report, found)

    def imported(self, exported: ExportedVersion, name: str, source: ImportedFrom) -> NewSupervisedVersion:
        """Validate an imported version."""
        return checked(expected(exported, ExportedSupervised), name, source)

    def weight_unit(self, report: VersionReport, predictor: Callable[[], Predictor]) -> float:
        """Return the target's unit, where that is a number; weights of classes are in the latent's unit."""
        if report.task == "classification":
            return 1.0
        return expected(predictor(), SupervisedPredictor).encoding.target.latent_unit
