"""The figures of reports: predictions along inputs and over two of them, and the effects of inputs."""

import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from app.datasets.service import Row
from app.formats.json_table import read_json, typed_block
from app.prediction import PredictRequest, ServedVersion, outputs_of, predict
from app.prediction.json_codec import predictions_json
from app.prediction.profile import Axis, profile, spaced
from relevance_bayes.core.types import Array, Indices
from relevance_bayes.records.errors import InvalidDataError, InvalidRequestError
from relevance_bayes.records.predictions import Profile, ProfileOptionsIn
from relevance_bayes.records.reports import Histogram, NumberHistogram
from relevance_bayes.records.values import Cell, InputColumn, Json, Label, text_of
from relevance_bayes.tables.columns import (
    Block,
    BooleanArray,
    CategoryArray,
    Column,
    NumberArray,
    TimestampArray,
    taken,
)
from relevance_bayes.tasks.cancellation import check_cancelled
from relevance_bayes.tasks.components.report import ComponentsReport
from relevance_bayes.tasks.prediction import PredictOptions, Probabilities, RowPredictions
from relevance_bayes.tasks.supervised.report import SupervisedReport

COMPONENTS = 2
"""The components that are the axes of a map."""


@dataclass(frozen=True, eq=False)
class SampledRows:
    """Rows with their numbers in the dataset, as a block of the inputs of a version."""

    numbers: tuple[int, ...]
    block: Block


def predictable_rows(served: ServedVersion, rows: Sequence[Row]) -> SampledRows | None:
    """Return the rows without gaps, or all where the version fills gaps; None where there are none, or no inputs."""
    report = served.version.report
    if not isinstance(report, SupervisedReport | ComponentsReport):
        return None
    names = [name for name, _ in served.columns]
    kept = [(row.number, [row.cells.get(name) for name in names]) for row in rows]
    if report.plan.missing != "indicator":
        kept = [(number, cells) for number, cells in kept if None not in cells]
    if not kept:
        return None
    body = json.dumps({"names": names, "rows": [cells for _, cells in kept]}).encode()
    raw = read_json(body, max_columns=len(names), max_containers=len(kept) + 3)
    return SampledRows(tuple(number for number, _ in kept), typed_block(raw, served.columns)[0])


def component_rows(served: ServedVersion, rows: SampledRows) -> list[Json]:
    """Return the rows by their first components, and how new they are; none where one of them can't be predicted."""
    try:
        request = PredictRequest(rows.block, PredictOptions(components=COMPONENTS), refuses=True)
        prediction = predict(served, request)
    except InvalidDataError:
        return []
    content = b"".join(predictions_json(served, prediction, outputs=outputs_of(served.version)))
    predictions = json.loads(content)["predictions"]
    members = ("components", "novelty", "log_density")
    return [
        {"row": number, **{name: one[name] for name in members}}
        for number, one in zip(rows.numbers, predictions, strict=True)
    ]


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
        made = TimestampArray if histogram.kind == "timestamp" else NumberArray
        low, high, edges = histogram.min, histogram.max, histogram.edges
        if low is None or high is None:
            return made(np.array([np.nan, np.nan]))
        middle = edges[(len(edges) - 1) // 2] if edges else (low + high) / 2
        return made(np.append(spaced(low, high, POINTS), middle))
    labels = tuple(one.label for one in histogram.categories)[:MAX_CATEGORIES]
    if histogram.kind == "boolean":
        return BooleanArray(np.array([0, 1, labels[:1] == ("true",)], np.int8))
    if not labels:
        return CategoryArray(np.array([-1, -1], np.int32), ())
    return CategoryArray(np.array([*range(len(labels)), 0], np.int32), labels)


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


def _slices(varied: Sequence[Axis], prediction: RowPredictions) -> Iterator[Slice]:
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


NODES = 51
"""The values of each input, at equal distances over its range."""


@dataclass(frozen=True)
class Field:
    """A mean, or the probability of a class, at each node: (NODES * NODES,), the first input varying fastest."""

    name: str
    values: tuple[float, ...]


@dataclass(frozen=True)
class Surface:
    """The predictions at the nodes `xs` and `ys` of both inputs."""

    target: str
    inputs: tuple[str, str]
    xs: tuple[float, ...]
    ys: tuple[float, ...]
    is_classes: bool
    fields: tuple[Field, ...]


def surface_of(served: ServedVersion) -> Surface | None:
    """Return the surface of a version; None where it has not exactly two inputs, both numbers with a range."""
    baseline, target = served.version.report.baseline, served.model.target
    if baseline is None or target is None or len(served.columns) != 2 or len(served.model.classes) > MAX_CLASSES:
        return None
    ranges: list[tuple[float, float]] = []
    for one in baseline.inputs:
        if isinstance(one, NumberHistogram) and one.kind == "number" and one.min is not None and one.max is not None:
            ranges.append((one.min, one.max))
    if len(ranges) != 2 or any(low >= high for low, high in ranges):
        return None
    (first, _), (second, _) = served.columns
    xs, ys = (np.linspace(low, high, NODES) for low, high in ranges)
    block = {first: NumberArray(np.tile(xs, NODES)), second: NumberArray(np.repeat(ys, NODES))}
    found = predict(served, PredictRequest(block, refuses=True)).compared
    if isinstance(found, Probabilities):
        names = [text_of(label) for label in found.classes]
        fields = tuple(Field(name, tuple(p.tolist())) for name, p in zip(names, found.probabilities.T, strict=True))
    else:
        fields = (Field(target[0], tuple(found.mean.tolist())),)
    is_classes = isinstance(found, Probabilities)
    return Surface(target[0], (first, second), tuple(xs.tolist()), tuple(ys.tolist()), is_classes, fields)


MAX_EFFECTS = 12
"""The most inputs."""

POINTS_OF_EFFECTS = 25
"""The values of each that is a number or a point in time."""

INDIVIDUAL = 10
"""The rows whose own curves are drawn."""

MAX_AVERAGED, MIN_AVERAGED, MAX_CELLS = 50, 10, 20_000
"""The rows that are averaged, fewer of many inputs, as the page does."""

MAX_SECONDS = 2.0
"""The time after which no further profile is begun."""


@dataclass(frozen=True)
class Effects:
    """The profiles of inputs, and the number of rows that they are averaged over."""

    rows: int
    profiles: tuple[Profile, ...]


def effects_of(served: ServedVersion, rows: SampledRows, first: Sequence[str]) -> Effects | None:
    """Return the effects of the `first` inputs, and of others in their order, on the average prediction of rows.

    None for a version of fewer than two inputs or without a target, and where no input has an effect to show.
    """
    if served.model.target is None or len(served.columns) < 2:
        return None
    names = dict.fromkeys((*first, *(name for name, _ in served.columns)))
    found = tuple(_profiles(served, rows.block, [*names][:MAX_EFFECTS], min(INDIVIDUAL, len(rows.numbers))))
    return Effects(len(rows.numbers), found) if found else None


def _profiles(served: ServedVersion, block: Block, names: Sequence[str], individual: int) -> Iterator[Profile]:
    deadline = time.monotonic() + MAX_SECONDS
    shown = individual if len(served.model.classes) <= 2 else 0
    for name in names:
        check_cancelled()
        if time.monotonic() > deadline:
            return
        try:
            yield profile(served, ProfileOptionsIn(inputs=(name,), points=POINTS_OF_EFFECTS, individual=shown), block)
        except (InvalidRequestError, InvalidDataError):  # no row has a value of it, or one that can't be predicted
            continue
