"""The union of all tasks, and the task of a record."""

from collections.abc import Callable

from app.tasks.approximation.task import ApproximationTask
from app.tasks.components.task import ComponentsTask
from app.tasks.images.task import ImageTask
from app.tasks.supervised.task import SupervisedTask
from app.tasks.task import Record, Task
from relevance_bayes.tasks.union import Predictor, VersionReport

TASKS: tuple[Task, ...] = (SupervisedTask(), ApproximationTask(), ImageTask(), ComponentsTask())

_BY_RECORD: dict[type[Record], Task] = {record: task for task in TASKS for record in task.records}


def task_of(record: Record) -> Task:
    """Return the task of a record."""
    return _BY_RECORD[type(record)]


def weight_unit(report: VersionReport, predictor: Callable[[], Predictor]) -> float:
    """Return the unit of the weights of a version's functions."""
    return task_of(report).weight_unit(report, predictor)
