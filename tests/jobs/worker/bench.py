"""A runner of trainings on a real database, whose children are stand-ins."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from threading import Thread
from uuid import UUID

import numpy as np

from app.database.transaction import OpenTransaction, now
from app.datasets.ingest import Ingest
from app.datasets.records import Dataset
from app.formats.streams import TableStream
from app.jobs.records import Job
from app.jobs.repository import JobRepository
from app.registry.submission import submit
from app.registry.trainings import TRAINING
from app.tasks.runner import Runner
from relevance_bayes.records.values import ColumnKind
from relevance_bayes.tables.columns import Block, CategoryArray, NumberArray
from relevance_bayes.tasks.fit import Trainer
from relevance_bayes.tasks.supervised.request import SupervisedRequest, Validation
from relevance_bayes.tasks.union import plan
from tests.jobs.worker import trainers

OWNER = "ada"
PROGRAM = "this one"
ROWS = 12


def blocks() -> Iterator[Block]:
    """Twelve rows in blocks of five; y = 3 + 2 t, where t alternates between -1 and 1, so that y is scaled by 2."""
    size = np.arange(float(ROWS))
    colours = np.array([0, 1] * (ROWS // 2), np.int32)
    y = 3.0 + 2.0 * np.where(colours == 0, -1.0, 1.0)
    for first in range(0, ROWS, 5):
        part = slice(first, first + 5)
        yield {
            "size": NumberArray(size[part]),
            "colour": CategoryArray(colours[part], ("red", "blue")),
            "y": NumberArray(y[part]),
        }


@dataclass
class Bench:
    """A runner on a real database, whose children are stand-ins."""

    run: Runner
    transaction: OpenTransaction

    def dataset(self) -> Dataset:
        kinds: tuple[ColumnKind, ...] = ("number", "category", "number")
        return (
            Ingest(self.transaction, now)
            .receive(OWNER, "things", TableStream(names=("size", "colour", "y"), kinds=kinds, blocks=blocks()))
            .dataset
        )

    def queued(
        self,
        trainer: Trainer,
        dataset: Dataset | None = None,
        *,
        inputs: tuple[str, ...] | None = None,
        holdout: float = 0.0,
        validation: Validation | None = None,
    ) -> UUID:
        dataset = dataset or self.dataset()
        seed = trainers.spec_of(trainer).seed
        request = SupervisedRequest(
            dataset.id,
            "y",
            inputs,
            task="regression",
            holdout=holdout,
            validation=validation,
            seed=seed,
            effort="quick",
        )
        job = replace(TRAINING.queued(OWNER, request, plan(request, dataset), at=now()), transitions=())
        with self.transaction() as tx:
            submit(tx, job)
        return job.id

    def look(self, job: UUID) -> Job:
        with self.transaction() as tx:
            return JobRepository(tx).get(OWNER, job)

    def begin(self, job: UUID) -> "Running":
        return Running(self.run, job)


class Running:
    """A run in a thread."""

    def __init__(self, run: Runner, job: UUID) -> None:
        self.response: bool | None = None
        self._thread = Thread(target=self._work, args=(run, job), daemon=True)
        self._thread.start()

    def _work(self, run: Runner, job: UUID) -> None:
        self.response = run(job)

    def ended(self, seconds: float = 30.0) -> bool | None:
        self._thread.join(seconds)
        assert not self._thread.is_alive()
        return self.response
