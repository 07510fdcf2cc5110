"""The effect of inputs on predictions: averages over rows that all have the same values of these inputs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Literal

import numpy as np

from app.http.rate_limits import charge_rows
from app.prediction.predict import PredictRequest, ServedVersion, predict
from app.tasks import task_of
from relevance_bayes.core.likelihoods.gaussian import standard_ends
from relevance_bayes.core.types import Array, Indices
from relevance_bayes.records.errors import Fault, InvalidRequestError
from relevance_bayes.records.predictions import (
    MAX_POINTS,
    AverageBand,
    ClassProbability,
    Profile,
    ProfiledInput,
    ProfileOptionsIn,
    ProfilePoint,
)
from relevance_bayes.records.values import Cell, InputColumn
from relevance_bayes.tables.columns import (
    Block,
    BooleanArray,
    CategoryArray,
    Column,
    NumberArray,
    TimestampArray,
    block_rows,
    taken,
)
from relevance_bayes.tables.encoding.table import raw_cells
from relevance_bayes.tasks.prediction import (
    ROWS_OF_AVERAGE,
    AveragedFunction,
    Means,
    PredictOptions,
    Probabilities,
    cost_in_rows,
)

MAX_PREDICTIONS = 25_000
"""The most predictions that are averaged for one profile: points times rows."""

KNOWN = PredictOptions(unknown_categories="error")
"""Averages of the function are over rows of known categories."""

MAX_FLOAT = float(np.finfo(np.float64).max)

DEFAULT_POINTS = {1: 41, 2: 11}
"""Points of an input, by the number of inputs."""


@dataclass(frozen=True, eq=False)
class Axis:
    """An input with its values at the points, as a column (G,)."""

    input: InputColumn
    values: Column

    @property
    def size(self) -> int:
        """The number of values, G."""
        return block_rows({self.input.name: self.values})

    def cells(self) -> list[Cell]:
        """Return the values as in JSON."""
        name = self.input.name
        return [raw_cells({name: self.values}, row, [name])[name] for row in range(self.size)]


def spaced(low: float, high: float, points: int) -> Array:
    """Return values at equal distances from `low` to `high`; one where they are equal."""
    return np.linspace(low, high, points) if low < high else np.array([low])


def require_profile(served: ServedVersion, options: ProfileOptionsIn) -> None:
    """Raise InvalidRequestError for a task without profiles, and for inputs that the version does not have."""
    if not task_of(report := served.version.report).is_comparable:
        raise InvalidRequestError(f"Versions of the task {report.task} have no target, and so no profile.")
    known = [name for name, _ in served.columns]
    for place, name in enumerate(options.inputs):
        if name not in known or name in options.inputs[:place]:
            detail = f"Expected an input of the version, each once: {', '.join(map(repr, known[:20]))}; got {name!r}."
            raise InvalidRequestError(detail, [Fault(detail, pointer=f"/inputs/{place}")])
    if options.individual and (len(options.inputs) > 1 or len(served.model.classes) > 2):
        raise _refused("individual", "Individual rows are returned for one input, and for numbers or two classes.")


def profile(served: ServedVersion, options: ProfileOptionsIn, block: Block) -> Profile:
    """Return the profile over the rows of a block, whose predictions count for the owner's rate.

    Raises InvalidRequestError, InvalidDataError.
    """
    axes = [_axis(served, name, options, block) for name in options.inputs]
    rows, sizes = block_rows(block), [axis.size for axis in axes]
    groups = int(np.prod(sizes))
    if groups * rows > MAX_PREDICTIONS:
        detail = f"Expected at most {MAX_PREDICTIONS:,} points times rows, got {groups:,} times {rows:,}."
        raise _refused("points", detail)
    points = [*product(*map(range, sizes))]
    # Faults have the numbers of the rows as sent.
    first = predict(served, PredictRequest(_crossed(block, axes, points[:1]), KNOWN, refuses=True))
    cost = groups * cost_in_rows(rows, first.rows_averaged)
    if cost > MAX_PREDICTIONS:
        detail = (
            f"Expected at most {MAX_PREDICTIONS:,} points times rows, where one of {first.rows_averaged:,} rows with "
            f"missing values counts as {ROWS_OF_AVERAGE}."
        )
        raise _refused("points", detail)
    charge_rows(cost)
    crossed = _crossed(block, axes, points)
    found = predict(served, PredictRequest(crossed, KNOWN, refuses=True)).compared
    function = None if first.rows_averaged else served.model.average_function(crossed, groups)
    cells = [axis.cells() for axis in axes]
    return Profile(
        model=served.version.model,
        version=served.version.number,
        inputs=tuple(
            ProfiledInput(name=axis.input.name, kind=axis.input.kind, values=tuple(values))
            for axis, values in zip(axes, cells, strict=True)
        ),
        rows=rows,
        band=None if function is None else _band_of(function),
        interval=options.interval,
        points=tuple(_points([*product(*cells)], found, function, options)),
    )


def _band_of(function: AveragedFunction) -> Literal["mean", "pooled_mean", "latent"]:
    if not function.is_mean:
        return "latent"
    return "pooled_mean" if function.is_pool else "mean"


def _points(
    values: Sequence[tuple[Cell, ...]],
    found: Means | Probabilities,
    function: AveragedFunction | None,
    options: ProfileOptionsIn,
) -> Iterator[ProfilePoint]:
    groups = len(values)
    classes = found.classes if isinstance(found, Probabilities) else ()
    numbers = found.probabilities if isinstance(found, Probabilities) else found.mean[:, None]
    each = numbers.reshape(groups, -1, numbers.shape[1])
    average = each.mean(axis=1)
    single = each[:, : options.individual, -1] if each.shape[2] <= 2 else each[:, :0, 0]
    bands = [None] * groups if function is None else _bands(function, options.interval)
    for place, cells in enumerate(values):
        yield ProfilePoint(
            values=cells,
            mean=None if classes else float(average[place, 0]),
            probabilities=tuple(
                ClassProbability(label=label, probability=p)
                for label, p in zip(classes, average[place].tolist(), strict=True)
            )
            if classes
            else (),
            band=bands[place],
            individual=tuple(single[place].tolist()),
        )


def _bands(function: AveragedFunction, interval: float) -> list[AverageBand]:
    lower, upper = standard_ends(interval, function.degrees_of_freedom)
    with np.errstate(over="ignore"):
        ends = function.mean + lower * function.sd, function.mean + upper * function.sd
    figures = np.clip([function.mean, function.sd, *ends], -MAX_FLOAT, MAX_FLOAT)
    return [AverageBand(mean=m, sd=sd, lower=low, upper=high) for m, sd, low, high in figures.T.tolist()]


def _crossed(block: Block, axes: Sequence[Axis], points: Sequence[tuple[int, ...]]) -> Block:
    """Return all rows at the first point, then all at the second, and so on."""
    rows = block_rows(block)
    tiled: Indices = np.tile(np.arange(rows), len(points))
    places: Indices = np.repeat(np.array(points, np.intp), rows, axis=0)
    crossed = {name: taken(column, tiled) for name, column in block.items()}
    return crossed | {axis.input.name: taken(axis.values, places[:, k]) for k, axis in enumerate(axes)}


def _axis(served: ServedVersion, name: str, options: ProfileOptionsIn, block: Block) -> Axis:
    column = next(one for one in served.version.report.plan.inputs if one.name == name)
    points = options.points or DEFAULT_POINTS[len(options.inputs)]
    match block[name]:
        case CategoryArray(codes=codes, labels=texts):  # of effects the plan has no categories: those of the rows
            present = (texts[code] for code in np.unique(codes[codes >= 0]).tolist())
            labels = (column.categories or tuple(sorted({*present})))[:MAX_POINTS]
            if not labels:
                raise _refused("inputs", f"Expected rows with a value of {name!r}, got none.")
            return Axis(column, CategoryArray(np.arange(len(labels), dtype=np.int32), labels))
        case BooleanArray():
            return Axis(column, BooleanArray(np.array([0, 1], np.int8)))
        case NumberArray(values=values):
            return Axis(column, NumberArray(_grid(name, values, points)))
        case TimestampArray(values=values):
            return Axis(column, TimestampArray(_grid(name, values, points)))


def _grid(name: str, values: Array, points: int) -> Array:
    """Return values at equal distances over the range of the rows."""
    present = values[~np.isnan(values)]
    if not len(present):
        raise _refused("inputs", f"Expected rows with a value of {name!r}, got none.")
    return spaced(float(present.min()), float(present.max()), points)


def _refused(member: str, detail: str) -> InvalidRequestError:
    return InvalidRequestError(detail, [Fault(detail, pointer=f"/{member}")])
