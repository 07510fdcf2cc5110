"""A version at hand, and its predictions."""

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, TypeAlias

from app.domain.models import Version
from app.services.counting import Counts
from app.services.prediction.components import ComponentsModel, ComponentsPrediction
from app.services.prediction.options import PredictOptions
from app.services.prediction.supervised import ClassificationPrediction, RegressionPrediction, SupervisedModel
from app.services.prediction.values import ApproximationModel, ImageModel, ValuePrediction
from relevance_bayes.documents.models import (
    ApproximationPredictor,
    ApproximationReport,
    ComponentsPredictor,
    ComponentsReport,
    ImagePredictor,
    ImageReport,
    Predictor,
    SupervisedPredictor,
    SupervisedReport,
)
from relevance_bayes.tables.columns import Block
from relevance_bayes.types.functions import ListedFunction
from relevance_bayes.types.values import ColumnKind

Prediction: TypeAlias = RegressionPrediction | ClassificationPrediction | ValuePrediction | ComponentsPrediction


class PredictiveModel(Protocol):
    """What a predictor needs to predict, made once: for each kind of task a class."""

    @property
    def noise_column(self) -> str | None:
        """The column in which rows may bring the sd of their noise; None where there is none."""

    @property
    def bytes(self) -> int:
        """About how much memory its arrays take."""

    def predict(self, block: Block, options: PredictOptions) -> Prediction:
        """Predict a block's N rows; raises InvalidRequestError for what there can't be."""


@dataclass(frozen=True, eq=False)
class ServedVersion:
    """A version ready to predict; `columns` are the raw inputs it reads, name and kind.

    `functions` (R,) are those that explanations name, as the version's list of relevance vectors has them; empty where
    there are no explanations. `not_read` are the other columns of the table it was trained on: rows of that table may
    be sent as they are. `counts` are of what it is asked for.
    """

    version: Version
    model: PredictiveModel
    functions: tuple[ListedFunction, ...]
    columns: tuple[tuple[str, ColumnKind], ...]
    not_read: frozenset[str]
    counts: Counts

    @cached_property
    def number_names(self) -> tuple[str, ...]:
        """The columns where all of them are numbers, else none."""
        numbers = tuple(name for name, kind in self.columns if kind == "number")
        return numbers if len(numbers) == len(self.columns) else ()


def predictive_model(version: Version, predictor: Predictor) -> PredictiveModel:
    """What stands between a predictor and its predictions."""
    match predictor, version.report:
        case SupervisedPredictor(), SupervisedReport() as report:
            return SupervisedModel.of(predictor, report)
        case ApproximationPredictor(), ApproximationReport():
            return ApproximationModel(predictor)
        case ImagePredictor(), ImageReport() as report:
            return ImageModel(predictor, report.plan.peak)
        case ComponentsPredictor(), ComponentsReport():
            return ComponentsModel(predictor)
        case _, report:
            raise TypeError(f"expected a predictor for {report.task}, got {type(predictor).__name__}")
