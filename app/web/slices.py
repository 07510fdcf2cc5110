"""Predictions along each input of a version, all other inputs in the middle of its training data."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from app.prediction import PredictRequest, ServedVersion, predict
from app.prediction.profile import Axis, spaced
from relevance_bayes.core.types import Array, Indices
from relevance_bayes.records.baselines import Histogram, NumberHistogram
from relevance_bayes.records.errors import InvalidDataError
from relevance_bayes.records.values import Cell, InputColumn, Label
from relevance_bayes.tables.columns import (
    Block,
    BooleanColumn,
    CategoryColumn,
    Column,
    NumberColumn,
    TimestampColumn,
    taken,
)
from relevance_bayes.tasks.prediction import Prediction, Probabilities

MAX_SLICES = 6
"""The most slices: those along which the predictions change most."""

MAX_COMPARED = 40
"""The most inputs that are compared for that, in the order of the version's inputs."""

POINTS = 41
"""The points of a number, at equal distances from its least value to its greatest."""

MAX_CATEGORIES = 12
"""The most categories, the most frequent ones."""

MAX_CLASSES = 5
"""The most classes, those with the greatest average probability."""

FIGURES = ("mean", "lower", "upper", "variance_total", "variance_noise", "variance_weights", "variance_residual")


@dataclass(frozen=True)
class ClassLine:
    """The probabilities (G,) of a class at the values of a slice."""

    label: Label
    values: tuple[float, ...]


@dataclass(frozen=True)
class Slice:
    """The predictions at G values of an input: of numbers `figures`, each (G,), of classes `classes`.

    `middle` is the value of the input in all other slices.
    """

    input: str
    kind: str
    values: tuple[Cell, ...]
    middle: Cell
    figures: Mapping[str, tuple[float, ...]]
    classes: tuple[ClassLine, ...]

    @property
    def spread(self) -> float:
        """The greatest difference of two means, or of two probabilities of a class."""
        lines = [one.values for one in self.classes] or [self.figures["mean"]]
        return max(max(line) - min(line) for line in lines)


@dataclass(frozen=True)
class Slices:
    """The slices along which predictions change most, in descending order, and the number of predicted rows."""

    kept: tuple[Slice, ...] = ()
    rows: int = 0


def slices_of(served: ServedVersion) -> Slices:
    """Return the slices of a version with a target and with histograms of all its inputs; of others, and of points in
    time, there are none.
    """
    baseline = served.version.report.baseline
    if served.model.target is None or baseline is None:
        return Slices()
    if [one.name for one in baseline.inputs] != [name for name, _ in served.columns]:
        return Slices()
    axes = [_axis(histogram) for histogram in baseline.inputs]
    varied = [axis for axis in axes if axis.input.kind != "timestamp" and _points(axis) > 1][:MAX_COMPARED]
    if not varied:
        return Slices()
    try:
        prediction = predict(served, PredictRequest(_crossed(axes, varied), refuses=True))
    except InvalidDataError:  # an input without any value
        return Slices()
    found = sorted(_slices(varied, prediction), key=lambda one: -one.spread)
    return Slices(tuple(found[:MAX_SLICES]), prediction.rows)


def _axis(histogram: Histogram) -> Axis:
    """Return an input with the values of its slice and after them the middle one, (G + 1,)."""
    return Axis(InputColumn(histogram.name, histogram.kind), _column(histogram))


def _points(axis: Axis) -> int:
    """Return the number of values of a slice, G."""
    return axis.size - 1


def _column(histogram: Histogram) -> Column:
    if isinstance(histogram, NumberHistogram):
        made = TimestampColumn if histogram.kind == "timestamp" else NumberColumn
        low, high, edges = histogram.min, histogram.max, histogram.edges
        if low is None or high is None:
            return made(np.array([np.nan, np.nan]))
        middle = edges[(len(edges) - 1) // 2] if edges else (low + high) / 2
        return made(np.append(spaced(low, high, POINTS), middle))
    labels = tuple(one.label for one in histogram.categories)[:MAX_CATEGORIES]
    if histogram.kind == "boolean":
        return BooleanColumn(np.array([0, 1, labels[:1] == ("true",)], np.int8))
    if not labels:
        return CategoryColumn(np.array([-1, -1], np.int32), ())
    return CategoryColumn(np.array([*range(len(labels)), 0], np.int32), labels)


def _crossed(axes: Sequence[Axis], varied: Sequence[Axis]) -> Block:
    """Return the rows of all slices, one slice after the other."""
    starts = dict(_starts(varied))
    rows = sum(map(_points, varied))
    block: dict[str, Column] = {}
    for axis in axes:
        points, name = _points(axis), axis.input.name
        places: Indices = np.full(rows, points)
        if name in starts:
            places[starts[name] : starts[name] + points] = np.arange(points)
        block[name] = taken(axis.values, places)
    return block


def _starts(varied: Iterable[Axis]) -> Iterator[tuple[str, int]]:
    """Yield each input, and the place of the first row of its slice."""
    start = 0
    for axis in varied:
        yield axis.input.name, start
        start += _points(axis)


def _slices(varied: Sequence[Axis], prediction: Prediction) -> Iterator[Slice]:
    arrays = prediction.arrays()
    shown = _most_probable(arrays["probabilities"]) if "probabilities" in arrays else []
    for axis, (_, start) in zip(varied, _starts(varied), strict=True):
        here = slice(start, start + _points(axis))
        *values, middle = axis.cells()
        figures = {name: array for name in FIGURES if isinstance(array := arrays.get(name), np.ndarray)}
        yield Slice(
            input=axis.input.name,
            kind=axis.input.kind,
            values=tuple(values),
            middle=middle,
            figures={name: tuple(array[here].tolist()) for name, array in figures.items()},
            classes=tuple(ClassLine(label, tuple(array[here].tolist())) for label, array in shown),
        )


def _most_probable(found: object) -> list[tuple[Label, Array]]:
    """Return some of the classes with their probabilities (N,), in the order of all classes."""
    assert isinstance(found, Probabilities)
    order = np.argsort(-found.probabilities.mean(axis=0), kind="stable")[:MAX_CLASSES]
    return [(found.classes[place], found.probabilities[:, place]) for place in sorted(order.tolist())]
