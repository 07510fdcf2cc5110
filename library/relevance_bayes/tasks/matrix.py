"""A dataset's rows as one file of numbers that a fit without target maps."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from relevance_bayes.core.types import Array
from relevance_bayes.plans.requests import ComponentsPlan
from relevance_bayes.plans.rows import InputStatistics
from relevance_bayes.records.errors import TrainingFailedError
from relevance_bayes.tables.columns import Block
from relevance_bayes.tables.encoding import InputEncoding, encode_inputs
from relevance_bayes.tasks.rows import (
    Part,
    Read,
    RowSample,
    canonical_order,
    complete_rows,
    refuse_too_few,
    refuse_too_many,
)

MAX_FAULTS_REPORTED = 20


@dataclass(frozen=True)
class Matrix:
    """A file of float64, little-endian, with `rows` rows: the encoded numbers, and the number of the dataset row.

    `dropped` rows have gaps and were left out. `sample` are rows as they are in the dataset.
    """

    path: Path
    encoding: InputEncoding
    rows: int
    dropped: int = 0
    sample: Block = field(default_factory=dict)

    def mapped(self) -> Array:
        """Return all rows, mapped read-only."""
        return np.memmap(self.path, "<f8", "r", shape=(self.rows, self.encoding.width + 1))


def write_matrix(encoding: InputEncoding, parts: Iterable[Part], path: Path) -> Matrix:
    """Write the rows to a file; raises TrainingFailedError for rows that can't be encoded."""
    rows = dropped = 0
    with path.open("wb") as file:
        for part in parts:
            inputs, faults = encode_inputs(encoding, part.block)
            if faults:
                raise TrainingFailedError(
                    f"Some rows have values that can't be computed with. {faults[0].detail}",
                    kind="too-large",
                    faults=tuple(part.numbered(fault) for fault in faults[:MAX_FAULTS_REPORTED]),
                )
            file.write(np.ascontiguousarray(np.column_stack([inputs, part.numbers]), "<f8").data)
            rows += len(inputs)
            dropped += part.dropped
    return Matrix(path, encoding, rows, dropped)


def encoded_matrix(plan: ComponentsPlan, read: Read, path: Path, *, max_cells: int) -> Matrix:
    """Write the rows in canonical order, encoded by their own statistics; raises TrainingFailedError."""
    needed = [] if plan.missing == "indicator" else [column.name for column in plan.inputs]
    ordered = canonical_order(
        lambda: complete_rows(read, plan.inputs, needed=needed), plan.inputs, path.parent, max_cells=max_cells
    )
    statistics = InputStatistics(ordered.inputs, standardise=plan.standardise, missing=plan.missing)
    for part in ordered.parts():
        statistics.add(part.block, np.ones(len(part.numbers), np.bool_))
    refuse_too_few(statistics.rows)
    encoding = statistics.encoding()
    refuse_too_many(statistics.rows * encoding.width, maximum=max_cells)
    sample = RowSample([column.name for column in plan.inputs], rows=statistics.rows)
    matrix = write_matrix(encoding, _sampled(ordered.parts(), sample), path)
    return replace(matrix, sample=sample.block())


def _sampled(parts: Iterable[Part], sample: RowSample) -> Iterator[Part]:
    for part in parts:
        sample.add(part.block, np.ones(len(part.numbers), np.bool_), part.draws)
        yield part
