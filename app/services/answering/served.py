"""A version at hand, and its answers."""

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, TypeAlias

from app.domain.models import Version
from app.services.answering.components import ComponentsAnswer, ComponentsAnswering
from app.services.answering.supervised import ClassificationAnswer, RegressionAnswer, SupervisedAnswering
from app.services.answering.values import ApproximationAnswering, ImageAnswering, ValueAnswer
from app.services.answering.wanted import Wanted
from app.services.counting import Counts
from relevance_bayes.documents.models import (
    ApproximationPredictor,
    ApproximationReport,
    ComponentsPredictor,
    ComponentsReport,
    ImagePredictor,
    ImageReport,
    ListedFunction,
    Predictor,
    SupervisedPredictor,
    SupervisedReport,
)
from relevance_bayes.tables.columns import Block
from relevance_bayes.types.values import ColumnKind

Answer: TypeAlias = RegressionAnswer | ClassificationAnswer | ValueAnswer | ComponentsAnswer

_AS_USUAL = Wanted()


class Answering(Protocol):
    """What a predictor needs to answer, made once: for each kind of task a class."""

    @property
    def noise_column(self) -> str | None:
        """The column in which rows may bring the sd of their noise; None where there is none."""

    @property
    def bytes(self) -> int:
        """About how much memory its arrays take."""

    def answer(self, block: Block, wanted: Wanted) -> Answer:
        """Predict a block's N rows; raises InvalidRequestError for what there can't be."""


@dataclass(frozen=True, eq=False)
class ServedVersion:
    """A version ready to predict; `columns` are the raw inputs it reads, name and kind.

    `functions` (R,) are those that explanations name, as the version's list of relevance vectors has them; empty where
    there are no explanations. `not_read` are the other columns of the table it was trained on: rows of that table may
    be sent as they are. `counts` are of what it is asked for.
    """

    version: Version
    answering: Answering
    functions: tuple[ListedFunction, ...]
    columns: tuple[tuple[str, ColumnKind], ...]
    not_read: frozenset[str]
    counts: Counts

    @cached_property
    def number_names(self) -> tuple[str, ...]:
        """The columns where all of them are numbers, else none."""
        numbers = tuple(name for name, kind in self.columns if kind == "number")
        return numbers if len(numbers) == len(self.columns) else ()


def answering_of(version: Version, predictor: Predictor) -> Answering:
    """What stands between a predictor and its answers."""
    match predictor, version.report:
        case SupervisedPredictor(), SupervisedReport() as report:
            return SupervisedAnswering.of(predictor, report)
        case ApproximationPredictor(), ApproximationReport():
            return ApproximationAnswering(predictor)
        case ImagePredictor(), ImageReport() as report:
            return ImageAnswering(predictor, report.plan.peak)
        case ComponentsPredictor(), ComponentsReport():
            return ComponentsAnswering(predictor)
        case _, report:
            raise TypeError(f"expected a predictor for {report.task}, got {type(predictor).__name__}")


def answer(served: ServedVersion, block: Block, wanted: Wanted = _AS_USUAL) -> Answer:
    """Predict a block's N rows; raises InvalidRequestError for what the version's task has not."""
    return served.answering.answer(block, wanted)
