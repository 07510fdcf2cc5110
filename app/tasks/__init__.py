"""The tasks of training, a file with one `Task` each: their union, and the task of a record."""

from collections.abc import Callable

from app.tasks.approximation import ApproximationTask
from app.tasks.components import ComponentsTask
from app.tasks.images import ImageTask
from app.tasks.supervised import SupervisedTask
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
