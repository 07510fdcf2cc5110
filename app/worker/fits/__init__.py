"""What a job's fit needs of its dataset, and what becomes of its results: one class for each kind of task."""

from pathlib import Path
from typing import Protocol

from app.domain.datasets import Dataset
from app.domain.models import NewVersion
from app.worker.child.tasks import Result, Task
from app.worker.complete import Read
from app.worker.fits.approximation import ApproximationFit
from app.worker.fits.components import ComponentsFit
from app.worker.fits.image import ImageFit
from app.worker.fits.supervised import SupervisedFit
from app.worker.vectors import BlockHolding
from relevance_bayes.core.selection import Step
from relevance_bayes.plans.requests import ApproximationPlan, ComponentsPlan, ImagePlan, SupervisedPlan, TrainingPlan
from relevance_bayes.types.jobs import Progress

__all__ = ["Fit", "prepare"]


class Fit(Protocol):
    """A job's fit, its rows written down."""

    @property
    def task(self) -> Task:
        """What the child is asked for."""

    def progress(self, step: Step) -> Progress:
        """A step in the user's units."""

    def version(self, result: Result, *, seconds: float, holding: BlockHolding) -> NewVersion:
        """All that is recorded of a fit that took `seconds`; raises TypeError for another task's result."""


def prepare(plan: TrainingPlan, dataset: Dataset, read: Read, directory: Path, *, max_cells: int) -> Fit:
    """Write what the fit needs of the dataset into `directory`; raises TrainingFailedError."""
    match plan:
        case SupervisedPlan():
            return SupervisedFit.prepare(plan, dataset, read, directory, max_cells=max_cells)
        case ApproximationPlan():
            return ApproximationFit.prepare(plan, dataset, read, directory)
        case ImagePlan():
            return ImageFit.prepare(plan, dataset, read, directory)
        case ComponentsPlan():
            return ComponentsFit.prepare(plan, dataset, read, directory, max_cells=max_cells)
