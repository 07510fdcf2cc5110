"""A version on its way out or in: what other programs, and another service, can take over."""

from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from relevance_bayes.core.local_model import LocalModel
from relevance_bayes.documents.models import (
    ApproximationPredictor,
    ApproximationReport,
    ComponentsPredictor,
    ComponentsReport,
    SupervisedPredictor,
    SupervisedReport,
)


@dataclass(frozen=True, eq=False)
class ExportedBase:
    """Version `number` of `model`, as the service that trained it had it.

    Each kind of task adds its `report` and its `predictor`, which is all that it predicts with.
    """

    model: str
    number: int
    created_at: datetime

    @property
    def noise_column(self) -> str | None:
        """The column in which rows may bring the sd of their noise; None where there is none."""
        return None

    @property
    def keeps_rows(self) -> bool:
        """True if it predicts from rows that it was learned from, and no program of it is written."""
        return False


@dataclass(frozen=True, eq=False)
class ExportedSupervised(ExportedBase):
    """One that predicts numbers or classes."""

    report: SupervisedReport
    predictor: SupervisedPredictor

    @property
    def noise_column(self) -> str | None:
        """The target's."""
        return self.predictor.encoding.target.noise_column

    @property
    def keeps_rows(self) -> bool:
        """True for a nearest-neighbour process."""
        return isinstance(self.predictor.learned, LocalModel)


@dataclass(frozen=True, eq=False)
class ExportedApproximation(ExportedBase):
    """A known function, told by few terms."""

    report: ApproximationReport
    predictor: ApproximationPredictor


@dataclass(frozen=True, eq=False)
class ExportedComponents(ExportedBase):
    """Components of rows, which tell how new a row is."""

    report: ComponentsReport
    predictor: ComponentsPredictor


ExportedVersion: TypeAlias = ExportedSupervised | ExportedApproximation | ExportedComponents
