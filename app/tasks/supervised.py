"""The tasks regression and classification, and the import of their versions that were trained elsewhere."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from app.datasets.records import Dataset
from app.registry.records import Version
from app.tasks.task import Task
from relevance_bayes.core.basis import KernelFunctions
from relevance_bayes.core.errors import NotPositiveDefiniteError
from relevance_bayes.core.likelihoods import TargetLikelihood
from relevance_bayes.core.models.model import Model, is_heteroscedastic
from relevance_bayes.core.models.pool import likelihood_of
from relevance_bayes.core.types import Indices
from relevance_bayes.documents.reports import ExportedSupervised, ExportedVersion
from relevance_bayes.documents.validation import spec_faults, supervised_faults, supervised_report_faults
from relevance_bayes.records.errors import Fault, InvalidRequestError
from relevance_bayes.records.versions import ImportedFrom
from relevance_bayes.tables.columns import Block, BooleanArray, CategoryArray, Column, NumberArray, TimestampArray
from relevance_bayes.tables.encoding import EncodedCategory, EncodedEffects, EncodedInput, InputEncoding
from relevance_bayes.tasks.listing import FunctionLocation, Learned, expected, listed, places
from relevance_bayes.tasks.prediction import PredictOptions, refuse
from relevance_bayes.tasks.rows import Read
from relevance_bayes.tasks.supervised.cost import Cost, planned_cost
from relevance_bayes.tasks.supervised.prediction import SupervisedModel
from relevance_bayes.tasks.supervised.predictions import RegressionPrediction
from relevance_bayes.tasks.supervised.report import SupervisedPredictor, SupervisedReport
from relevance_bayes.tasks.supervised.request import SupervisedPlan, SupervisedRequest
from relevance_bayes.tasks.supervised.training import NewSupervisedVersion, SupervisedTraining
from relevance_bayes.tasks.union import Predictor, TrainingPlan, VersionReport

USUAL = (0.0, -1.0, 1.0)
"""Rows that any model must predict: so many sds from the mean in every number."""


def checked(exported: ExportedSupervised, name: str, imported: ImportedFrom) -> NewSupervisedVersion:
    """Return the version to record under this name; raises InvalidRequestError where it can't predict."""
    report, predictor = exported.report, exported.predictor
    refuse([*supervised_faults(predictor, report.task), *_of_report(exported)])
    _try(exported)
    encoding, model = predictor.encoding, predictor.learned
    vectors = tuple(listed(model, encoding.target.classes, places(model, encoding, _locations)))
    return Learned(replace(report, plan=replace(report.plan, model=name), imported=imported), vectors, predictor)


def _locations(functions: KernelFunctions, _: Indices) -> Iterator[FunctionLocation]:
    """Yield functions without location, since the file has no rows."""
    yield from (FunctionLocation(functions.kernel.type) for _ in range(functions.size))


def _of_report(exported: ExportedSupervised) -> Iterator[Fault]:
    report, predictor = exported.report, exported.predictor
    yield from supervised_report_faults(predictor, report)
    yield from spec_faults(report.plan, predictor.encoding.width)
    planned, fitted = report.plan.spec.likelihood, likelihood_of(predictor.learned)
    if _kind(planned) != _kind(fitted):
        yield Fault("Expected the likelihood of the model, got another one.", "/report/plan/spec/likelihood")
    if [one.label for one in report.class_rows] != list(predictor.encoding.target.classes):
        yield Fault("Expected the classes of the target, got others.", "/report/class_rows")


def _kind(likelihood: TargetLikelihood) -> tuple[str, bool, bool]:
    return likelihood.type, likelihood.noise_by_row, is_heteroscedastic(likelihood)


def _try(exported: ExportedSupervised) -> None:
    """Predict some rows; raises InvalidRequestError where that fails."""
    try:
        with np.errstate(all="ignore"):
            served = SupervisedModel.of(exported.predictor, exported.report)
    except NotPositiveDefiniteError as error:
        detail = "The covariance is not positive definite, or the kernel's of its vectors is not."
        where = "/model/covariance" if isinstance(exported.predictor.learned, Model) else "/model"
        raise InvalidRequestError(detail, [Fault(detail, where)]) from error
    with np.errstate(all="ignore"):
        found = served.predict(_usual_rows(exported.predictor.encoding), PredictOptions())
    reported = (
        (found.mean, found.sd, found.lower, found.upper)
        if isinstance(found, RegressionPrediction)
        else (found.probabilities, found.latent_mean, found.latent_variance)
    )
    if found.faults or not all(np.isfinite(numbers).all() for numbers in reported):
        detail = "The model predicts no finite numbers for rows at the mean of what it was trained on."
        raise InvalidRequestError(detail, [Fault(detail, "/model")])


def _usual_rows(encoding: InputEncoding) -> Block:
    return {column.name: _usual(column) for column in encoding.inputs}


def _usual(column: EncodedInput) -> Column:
    if isinstance(column, EncodedEffects):
        return CategoryArray(np.zeros(len(USUAL), np.int32), column.categories or ("",))
    if isinstance(column, EncodedCategory):
        codes = np.arange(len(USUAL), dtype=np.int32) % len(column.categories)
        return CategoryArray(codes.astype(np.int32), column.categories)
    values = column.decode(np.array(USUAL))
    match column.kind:
        case "boolean":
            return BooleanArray(np.array([0, 1, 1], np.int8))
        case "timestamp":
            return TimestampArray(values)
        case "number":
            return NumberArray(values)


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
