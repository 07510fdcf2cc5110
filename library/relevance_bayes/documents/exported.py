"""Versions as exported and imported."""

from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from relevance_bayes.core.local_model import LocalModel
from relevance_bayes.tasks.approximation.report import ApproximationPredictor, ApproximationReport
from relevance_bayes.tasks.components.report import ComponentsPredictor, ComponentsReport
from relevance_bayes.tasks.supervised.report import SupervisedPredictor, SupervisedReport


@dataclass(frozen=True, eq=False)
class ExportedBase:
    """Version `number` of `model`, as trained.

    Each kind of task adds its `report` and its `predictor`, which is all that predictions need.
    """

    model: str
    number: int
    created_at: datetime

    @property
    def noise_column(self) -> str | None:
        """Return the optional column of each row's noise sd; None where there is none."""
        return None

    @property
    def has_rows(self) -> bool:
        """True if it predicts from training rows, so that it can't be exported as a program."""
        return False

    @property
    def averages_gaps(self) -> bool:
        """True if rows with missing values are averages over training rows, unless there is an indicator of them."""
        return False


@dataclass(frozen=True, eq=False)
class ExportedSupervised(ExportedBase):
    """A version that predicts numbers or classes."""

    report: SupervisedReport
    predictor: SupervisedPredictor

    @property
    def noise_column(self) -> str | None:
        """Return the target's noise column."""
        return self.predictor.encoding.target.noise_column

    @property
    def has_rows(self) -> bool:
        """True for a nearest-neighbour process."""
        return isinstance(self.predictor.learned, LocalModel)

    @property
    def averages_gaps(self) -> bool:
        """True: missing values are drawn from training rows, or from histograms of them."""
        return True


@dataclass(frozen=True, eq=False)
class ExportedApproximation(ExportedBase):
    """An approximation of a known function by few terms."""

    report: ApproximationReport
    predictor: ApproximationPredictor


@dataclass(frozen=True, eq=False)
class ExportedComponents(ExportedBase):
    """Principal components, with the novelty of rows."""

    report: ComponentsReport
    predictor: ComponentsPredictor


ExportedVersion: TypeAlias = ExportedSupervised | ExportedApproximation | ExportedComponents
