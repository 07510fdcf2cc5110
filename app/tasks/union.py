"""All tasks, and which of them a record is of."""

from app.tasks.approximation.task import ApproximationTask
from app.tasks.components.task import ComponentsTask
from app.tasks.images.task import ImageTask
from app.tasks.supervised.task import SupervisedTask
from app.tasks.task import Record, Task

TASKS: tuple[Task, ...] = (SupervisedTask(), ApproximationTask(), ImageTask(), ComponentsTask())

_BY_RECORD: dict[type[Record], Task] = {record: task for task in TASKS for record in task.records}


def task_of(record: Record) -> Task:
    """The task that a record is of."""
    return _BY_RECORD[type(record)]
