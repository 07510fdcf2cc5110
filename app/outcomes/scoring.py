"""Outcomes scored by the predictions for their rows, of which the inputs are kept, and added to charts."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from math import log
from uuid import UUID

import numpy as np

from app.formats.cells import JSON, MAX_FAULTS, column_of
from app.identity import uuid7
from app.outcomes.charts import CHARTS, Chart, bernoulli_ratio
from app.outcomes.records import ScoredOutcome
from app.prediction import ServedVersion
from relevance_bayes.core.types import Indices
from relevance_bayes.records.errors import Fault, InvalidRequestError
from relevance_bayes.records.outcomes import Direction, Statistic
from relevance_bayes.records.values import ColumnKind, Label
from relevance_bayes.tables.columns import (
    Block,
    BooleanArray,
    CategoryArray,
    Column,
    NumberArray,
    TimestampArray,
    taken,
)
from relevance_bayes.tasks.prediction import LEVELS

Columns = Sequence[tuple[str, ColumnKind]]


def rows_of(block: Block, names: Sequence[str], places: Indices) -> Iterator[str]:
    """Yield some rows of a block as JSON arrays, with the columns `names` that it has, in their order."""
    cells = [_cells(taken(block[name], places)) for name in names if name in block]
    return (json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in zip(*cells, strict=True))


def _cells(column: Column) -> list[JSON]:
    match column:
        case CategoryArray():
            labels: tuple[JSON, ...] = (*column.labels, None)
            return [labels[code] for code in column.codes.tolist()]
        case BooleanArray():
            return [None if value < 0 else bool(value) for value in column.values.tolist()]
        case NumberArray() | TimestampArray():
            return [None if value != value else value for value in column.values.tolist()]


def block_of_rows(rows: Sequence[str], columns: Columns, noise: str | None) -> Mapping[str, Column]:
    """Return the block of recorded rows, at least one; all of them have the column `noise`, or none has it."""
    read: list[list[JSON]] = [json.loads(row) for row in rows]
    named = columns if noise is None or len(read[0]) == len(columns) else [*columns, (noise, "number")]
    cells = zip(*read, strict=True)
    return {name: _column(kind, column) for (name, kind), column in zip(named, cells, strict=True)}


def _column(kind: ColumnKind, cells: Sequence[JSON]) -> Column:
    if kind == "timestamp":
        return TimestampArray(np.array(cells, np.float64))
    return column_of(kind, cells)[0]


ALARM_LEVEL = 95
"""The level whose coverage raises alarms: training measures it on rows that the model was not fitted to."""

MIN_LOG_SCORE = log(float(np.finfo(np.float64).tiny))
"""The log score that an outcome counts as, of those with a density or probability of 0."""

MIN_PROMISED = 0.001
"""The least probability of a miss that is promised, where training measured fewer."""


def score(served: ServedVersion, rows: Sequence[tuple[int, str, Label]]) -> list[ScoredOutcome | None]:
    """Return the score of each row's outcome; None for a row that can't be predicted for.

    A row is the place of its outcome in the request, its recorded inputs and the outcome. Raises InvalidRequestError
    for values that the target can't have.
    """
    assert served.model.target is not None
    name, kind = served.model.target
    target, wrong = column_of(kind, [value for _, _, value in rows])
    if wrong:
        faults = [Fault(one.detail, f"/outcomes/{rows[one.row][0]}") for one in wrong[:MAX_FAULTS]]
        raise InvalidRequestError(f"At {faults[0].pointer}: {faults[0].detail}", faults)
    block = block_of_rows([inputs for _, inputs, _ in rows], served.columns, served.model.noise_column)
    found = served.model.score_block({**block, name: target})
    assert found is not None
    levels = [*LEVELS, 100]
    smallest = np.argmax(np.concatenate([found.inside, np.ones((1, len(rows)))]) > 0.0, axis=0)
    of_classes = bool(served.model.classes)
    return [
        ScoredOutcome(
            log_score=float(found.log_score[place]),
            expected_log_score=float(found.expected_log_score[place]),
            lower=float(found.lower[place]),
            higher=float(found.higher[place]),
            level=None if of_classes else levels[smallest[place]],
            correct=bool(found.correct[place]) if of_classes else None,
            confidence=float(found.confidence[place]) if of_classes else None,
            miss=None if of_classes else float(found.miss[place]),
        )
        if found.chosen[place]
        else None
        for place in range(len(rows))
    ]


@dataclass(frozen=True)
class Promise:
    """The shares of misses of the 95 % interval that training measured on rows the model was not fitted to, if any."""

    measured: tuple[float, ...] = ()

    @classmethod
    def of(cls, served: ServedVersion) -> "Promise":
        """Return the promise of a version."""
        return cls(tuple(served.model.measured_misses))

    def of_row(self, miss: float, direction: Direction) -> float:
        """Return the probability of a miss that a departure is tested against, where the prediction gives `miss`.

        A share of misses between this and those that were measured is no departure.
        """
        shares = (miss, *self.measured)
        return min(max(shares), 0.5) if direction == "lower" else max(min(shares), MIN_PROMISED)


@dataclass(frozen=True)
class _Advanced:
    """The charts of a version after some outcomes, those that raised an alarm, as they were, and cleared alarms."""

    charts: tuple[Chart, ...]
    raised: tuple[Chart, ...]
    cleared: tuple[UUID, ...]


def advance(charts: Sequence[Chart], scored: Sequence[ScoredOutcome], promise: Promise, at: datetime) -> _Advanced:
    """Return the charts of a version after some outcomes, at least one, in their order."""
    known = {(chart.statistic, chart.direction): chart for chart in charts}
    last: list[Chart] = []
    raised: list[Chart] = []
    cleared: list[UUID] = []
    for statistic, direction in CHARTS:
        if statistic == ("coverage" if scored[0].level is None else "accuracy"):
            continue
        chart = known.get((statistic, direction), Chart(statistic, direction))
        for one in scored:
            ratio, observed, expected = _evidence(statistic, direction, one, promise)
            before, chart = chart, chart.add(ratio, observed=observed, expected=expected, at=at)
            if chart.is_at_threshold and chart.alarm_id is None:
                chart = replace(chart, alarm_id=uuid7())
                raised.append(chart)
            elif before.alarm_id is not None and chart.alarm_id is None:
                cleared.append(before.alarm_id)
        last.append(chart)
    return _Advanced(tuple(last), tuple(raised), tuple(cleared))


def _evidence(
    statistic: Statistic, direction: Direction, one: ScoredOutcome, promise: Promise
) -> tuple[float, float, float]:
    """Return the log likelihood ratio of an outcome, its statistic, and what was predicted of this."""
    if statistic == "log_score":
        ratio = one.lower if direction == "lower" else one.higher
        return ratio, max(one.log_score, MIN_LOG_SCORE), one.expected_log_score
    if one.level is not None and one.miss is not None:
        missed, expected = one.level > ALARM_LEVEL, 1.0 - one.miss
        promised = promise.of_row(one.miss, direction)
    else:
        missed, expected = not one.correct, one.confidence or 0.0
        promised = 1.0 - expected
    return bernoulli_ratio(missed, promised, direction), float(not missed), expected
