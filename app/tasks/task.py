"""The interface of a task: all differences between tasks, so that no code outside branches on them."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Protocol, TypeAlias

from app.datasets.records import Dataset
from app.registry.records import Version
from relevance_bayes.core.selection import Step
from relevance_bayes.documents.reports import ExportedVersion
from relevance_bayes.records.jobs import Progress
from relevance_bayes.records.values import AnyTask
from relevance_bayes.records.versions import ImportedFrom
from relevance_bayes.tasks.fit import Fit
from relevance_bayes.tasks.listing import BlockHolding
from relevance_bayes.tasks.prediction import PredictiveModel
from relevance_bayes.tasks.rows import Read
from relevance_bayes.tasks.supervised.cost import Cost
from relevance_bayes.tasks.union import NewVersion, Predictor, TrainingPlan, TrainingRequest, VersionReport

Record: TypeAlias = TrainingRequest | TrainingPlan | VersionReport | Predictor


class Training(Protocol):
    """A plan with the file of its rows: the fit, and the version of its result."""

    @property
    def fit(self) -> Fit:
        """Return the order to the child process."""

    def progress(self, step: Step) -> Progress:
        """Return the progress of a step in the user's units."""

    def version(self, result: object, *, seconds: float, holding: BlockHolding) -> NewVersion:
        """Return the version of a fit that took `seconds`; raises TypeError for another fit's result."""


class Task(ABC):
    """One task. Its methods take the unions of records, and raise TypeError for those of another task."""

    @property
    @abstractmethod
    def names(self) -> tuple[AnyTask, ...]:
        """The values of `task` in its records."""

    @property
    @abstractmethod
    def records(self) -> tuple[type[Record], ...]:
        """The classes of its request, plan, report and predictor."""

    @abstractmethod
    def prepare(self, plan: TrainingPlan, dataset: Dataset, read: Read, directory: Path, *, max_cells: int) -> Training:
        """Write what the fit needs of the dataset into `directory`; raises TrainingFailedError."""

    def cost(self, plan: TrainingPlan, dataset: Dataset) -> Cost | None:
        """Return the planned cost of a training; None where it is not planned."""
        return None

    @abstractmethod
    def model(self, report: VersionReport, predictor: Predictor) -> PredictiveModel:
        """Return the model of a predictor, prepared once for all predictions."""

    @abstractmethod
    def outputs(self, report: VersionReport) -> tuple[str, ...]:
        """Return the outputs that predictions of a version can have."""

    @abstractmethod
    def exported(self, version: Version, predictor: Predictor) -> ExportedVersion:
        """Return the exported form of a version; raises ConflictError where it can't be exported."""

    @abstractmethod
    def imported(self, exported: ExportedVersion, name: str, source: ImportedFrom) -> NewVersion:
        """Return the imported version to record under a name; raises InvalidRequestError where it can't predict."""

    @property
    def is_comparable(self) -> bool:
        """Return whether the predictions of two versions can be compared."""
        return True

    @property
    def is_explained(self) -> bool:
        """Return whether predictions can be explained as sums of contributions of functions."""
        return False

    def weight_unit(self, report: VersionReport, predictor: Callable[[], Predictor]) -> float:
        """Return the unit of the weights of listed functions; `predictor` reads the version's predictor."""
        return 1.0
