"""The task approximation: few terms that approximate a known function."""

from dataclasses import replace
from itertools import repeat
from pathlib import Path

from app.datasets.records import Dataset
from app.registry.records import Version
from app.tasks.task import Task
from relevance_bayes.documents.reports import ExportedApproximation, ExportedVersion
from relevance_bayes.documents.validation import approximation_faults
from relevance_bayes.records.versions import ImportedFrom
from relevance_bayes.tables.encoding import column_names
from relevance_bayes.tasks.approximation.report import ApproximationModel, ApproximationPredictor, ApproximationReport
from relevance_bayes.tasks.approximation.request import ApproximationPlan, ApproximationRequest
from relevance_bayes.tasks.approximation.training import ApproximationTraining, NewApproximationVersion, listed_terms
from relevance_bayes.tasks.listing import FunctionLocation, Learned, expected
from relevance_bayes.tasks.prediction import OUTPUTS as VALUE_OUTPUTS
from relevance_bayes.tasks.prediction import refuse
from relevance_bayes.tasks.rows import Read
from relevance_bayes.tasks.union import Predictor, TrainingPlan, VersionReport


def checked(exported: ExportedApproximation, name: str, imported: ImportedFrom) -> NewApproximationVersion:
    """Return the version to record under this name; raises InvalidRequestError for values that are not finite."""
    report, predictor = exported.report, exported.predictor
    refuse(approximation_faults(predictor, report))
    terms = predictor.expansion
    # Without location: the rows of the terms are not part of the file.
    somewhere = repeat(FunctionLocation("gaussian"), terms.size)
    vectors = tuple(listed_terms(terms, column_names(predictor.encoding), somewhere))
    return Learned(replace(report, plan=replace(report.plan, model=name), imported=imported), vectors, predictor)


class ApproximationTask(Task):
    """Few terms that approximate a known function."""

    names = ("approximation",)
    records = (ApproximationRequest, ApproximationPlan, ApproximationReport, ApproximationPredictor)

    def prepare(
        self, plan: TrainingPlan, dataset: Dataset, read: Read, directory: Path, *, max_cells: int
    ) -> ApproximationTraining:
        """Write the terms to a file."""
        return ApproximationTraining.prepare(expected(plan, ApproximationPlan), dataset, read, directory)

    def model(self, report: VersionReport, predictor: Predictor) -> ApproximationModel:
        """Return the predictor as a model."""
        return ApproximationModel(expected(predictor, ApproximationPredictor))

    def outputs(self, report: VersionReport) -> tuple[str, ...]:
        """Return the outputs of all versions."""
        return VALUE_OUTPUTS

    def exported(self, version: Version, predictor: Predictor) -> ExportedApproximation:
        """Return report and predictor."""
        report, found = expected(version.report, ApproximationReport), expected(predictor, ApproximationPredictor)
        return ExportedApproximation(version.model, version.number, version.created_at, report, found)

    def imported(self, exported: ExportedVersion, name: str, source: ImportedFrom) -> NewApproximationVersion:
        """Validate an imported version."""
        return checked(expected(exported, ExportedApproximation), name, source)
