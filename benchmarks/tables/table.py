"""A table of the collection: typed columns without gaps, a target, and its file."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from benchmarks.tables.catalogue import Task
from benchmarks.tables.families import family
from relevance_bayes.core.types import Array, Indices

FOLDER = Path(__file__).parents[2] / ".benchmarks" / "tables"
"""Where the files are written, and read from."""

Values = NDArray[np.float64] | NDArray[np.str_]


@dataclass(frozen=True, eq=False)
class Column:
    """An input: numbers (N,), or codes (N,) into `labels`."""

    name: str
    values: Array
    labels: tuple[str, ...] = ()

    @classmethod
    def of(cls, name: str, values: Values) -> "Column":
        """Numbers as they are, texts as codes."""
        if values.dtype.kind == "f":
            return cls(name, values.astype(np.float64))
        labels, codes = np.unique(values, return_inverse=True)
        return cls(name, codes.astype(np.float64), tuple(map(str, labels)))


@dataclass(frozen=True, eq=False)
class DataTable:
    """Inputs and a target t (N,): numbers, or codes into `classes`."""

    name: str
    task: Task
    columns: tuple[Column, ...]
    t: Array
    classes: tuple[str, ...] = ()

    @classmethod
    def of(cls, name: str, task: Task, columns: Sequence[Column], target: Values) -> "DataTable":
        """A target of texts becomes codes."""
        t = Column.of(name, target)
        if (task == "classification") != bool(t.labels):
            raise ValueError(f"{name}: the target does not go with {task}")
        return cls(name, task, tuple(columns), t.values, t.labels)

    @property
    def family(self) -> str:
        """The family of its name."""
        return family(self.name)

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(self.t)

    @property
    def is_category(self) -> NDArray[np.bool_]:
        """Which of the inputs (d,) are categories."""
        return np.array([bool(column.labels) for column in self.columns], np.bool_)

    def matrix(self) -> Array:
        """Numbers and codes side by side, (N, d)."""
        return np.column_stack([column.values for column in self.columns])

    def indicators(self, learned: Indices) -> Array:
        """Numbers and, for each category, a 0/1 column for each label in the rows `learned`, (N, D)."""
        parts: list[Array] = []
        for column in self.columns:
            if column.labels:
                codes = np.unique(column.values[learned])
                parts.append((column.values[:, None] == codes).astype(np.float64))
            else:
                parts.append(column.values[:, None])
        return np.concatenate(parts, axis=1)

    def write(self, folder: Path, *, source: str) -> None:
        """Write the table's file."""
        folder.mkdir(parents=True, exist_ok=True)
        np.savez_compressed(
            folder / f"{self.name}.npz",
            X=self.matrix(),
            t=self.t,
            kinds=np.where(self.is_category, "category", "number"),
            names=np.array([column.name for column in self.columns]),
            labels=np.array([json.dumps(column.labels) for column in self.columns]),
            classes=np.array(self.classes, np.str_),
            task=np.array(self.task),
            source=np.array(source),
            name=np.array(self.name),
            family=np.array(self.family),
        )

    @classmethod
    def read(cls, path: Path) -> "DataTable":
        """Read a table's file."""
        with np.load(path, allow_pickle=False) as stored:
            labels: list[list[str]] = [json.loads(text) for text in stored["labels"].tolist()]
            columns = [
                Column(name, np.asarray(stored["X"][:, place], np.float64), tuple(labels[place]))
                for place, name in enumerate(stored["names"].tolist())
            ]
            (task,) = (known for known in get_args(Task) if known == str(stored["task"]))
            classes = tuple(stored["classes"].tolist())
            return cls(str(stored["name"]), task, tuple(columns), np.asarray(stored["t"], np.float64), classes)
