"""The listing of a version's functions, widths and rows, its baseline and its calibration."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice, repeat
from typing import Generic, Self, TypeAlias, TypeVar

import numpy as np

from relevance_bayes.core.basis import (
    ConstantFunction,
    Functions,
    GroupFunctions,
    InputFunctions,
    KernelFunctions,
    SingleFunctions,
)
from relevance_bayes.core.dictionaries import Shape
from relevance_bayes.core.kernels import Additive
from relevance_bayes.core.kernels.hyperparameters import InputMap
from relevance_bayes.core.models.model import Model
from relevance_bayes.core.models.pool import LearnedModel, members_of
from relevance_bayes.core.models.prediction import Ready
from relevance_bayes.core.types import Array, Indices
from relevance_bayes.records.evaluations import ReliabilityBin
from relevance_bayes.records.functions import ClassWeight, FunctionName, InputShape, RelevanceVector
from relevance_bayes.records.reports import Baseline, InputTerm, InputWarp, InputWidth
from relevance_bayes.records.values import Cell, InputColumn, Label, text_of
from relevance_bayes.tables.columns import Block, CategoryArray, Column, NumberArray, block_rows
from relevance_bayes.tables.encoding import InputEncoding, column_names, column_units, columns_of, raw_cells
from relevance_bayes.tables.moments import histogram_of
from relevance_bayes.tasks.decisions import most_probable
from relevance_bayes.tasks.prediction import PredictiveModel, PredictOptions

T = TypeVar("T")
R_co = TypeVar("R_co", covariant=True)
P_co = TypeVar("P_co", covariant=True)


@dataclass(frozen=True, eq=False)
class Learned(Generic[R_co, P_co]):
    """The result of a successful fit, which becomes a version and gets its number when it is recorded."""

    report: R_co
    vectors: tuple[RelevanceVector, ...]
    predictor: P_co


def expected(value: object, kind: type[T]) -> T:
    """Return the value as an instance of that class; raises TypeError for another one."""
    if not isinstance(value, kind):
        raise TypeError(f"expected {kind.__name__}, got {type(value).__name__}")
    return value


MAX_INPUTS = 100
"""The number of inputs with a histogram, the first of a version."""

Monitored: TypeAlias = tuple[str, Array]
"""The name of an output and its values: numbers (N,), or probabilities (N, K)."""


def monitored_of(sample: Block, model: PredictiveModel) -> Monitored | None:
    """Return the predictions for a sample of training rows; None without rows."""
    return model.predict(sample, PredictOptions()).monitored if block_rows(sample) else None


def baseline_of(
    sample: Block,
    inputs: Sequence[InputColumn],
    target: str | None,
    monitored: Monitored | None,
    classes: Sequence[Label] = (),
) -> Baseline | None:
    """Return the baseline of a sample of training rows and of the predictions for them; None without rows."""
    if monitored is None:
        return None
    name, values = monitored
    return Baseline(
        rows=block_rows(sample),
        inputs=tuple(histogram_of(column.name, sample[column.name]) for column in inputs[:MAX_INPUTS]),
        target=None if target is None else histogram_of(target, sample[target]),
        predictions=histogram_of(_name(name, classes), monitored_column(values, classes)),
    )


def monitored_column(values: Array, classes: Sequence[Label]) -> Column:
    """Return monitored predictions as a column: numbers (N,), or from the probabilities (N, K) of the `classes` those
    of the second of two classes, the most probable of more; without rows with a fault."""
    if values.ndim == 1:
        return NumberArray(values[~np.isnan(values)])
    sound = values[~np.isnan(values[:, 0])]
    if len(classes) == 2:
        return NumberArray(sound[:, 1])
    return CategoryArray(most_probable(sound).astype(np.int32), tuple(map(text_of, classes)))


def _name(name: str, classes: Sequence[Label]) -> str:
    if not classes:
        return name
    return f"probability_{text_of(classes[1])}" if len(classes) == 2 else "label"


BINS = 20
"""The number of bins of equal width from 0 to 1."""


def pit_counts(below: Array, upto: Array) -> Array:
    """Return rows (BINS,) by P(y' <= y) of a new y', from the probabilities (N,) of less than y and of at most y.

    A row between two different values is spread evenly over the bins between them.
    """
    edges = np.linspace(0.0, 1.0, BINS + 1)
    point = np.minimum((upto * BINS).astype(np.intp), BINS - 1)
    wide = upto > below
    counts = np.bincount(point[~wide], minlength=BINS).astype(np.float64)
    if wide.any():
        start, stop = below[wide, None], upto[wide, None]
        counts += np.diff(np.clip((edges - start) / (stop - start), 0.0, 1.0), axis=1).sum(axis=0)
    return counts


@dataclass(frozen=True, eq=False)
class CalibrationBins:
    """Sums (3, BINS) over rows by probability, in bins of equal width: rows, probabilities, occurrences."""

    sums: Array

    @classmethod
    def empty(cls) -> Self:
        """Return the sums of no rows."""
        return cls(np.zeros((3, BINS)))

    @classmethod
    def of(cls, probability: Array, came: Array) -> Self:
        """Return the sums of rows (N,); `came` is 1 where the class occurred, else 0."""
        places = np.minimum((probability * BINS).astype(np.intp), BINS - 1)
        weights = (np.ones(len(places)), probability, came)
        return cls(np.array([np.bincount(places, weights=each, minlength=BINS) for each in weights]))

    def __add__(self, other: "CalibrationBins") -> "CalibrationBins":
        """Return the sums of both."""
        return CalibrationBins(self.sums + other.sums)

    @property
    def expected_error(self) -> float | None:
        """Return the mean of |predicted - observed| over the rows, by bins; None without rows."""
        rows = self.sums[0].sum()
        return float(np.abs(self.sums[1] - self.sums[2]).sum() / rows) if rows else None

    def bins(self) -> Iterator[ReliabilityBin]:
        """Yield the bins that have rows."""
        for place, (rows, predicted, observed) in enumerate(self.sums.T.tolist()):
            if rows:
                yield ReliabilityBin(place / BINS, (place + 1) / BINS, int(rows), predicted / rows, observed / rows)


BlockHolding = Callable[[int], tuple[int, Block]]
"""Returns the block that contains a dataset row, with the number of its first row."""

EMPTY: Block = {}


def raw_rows(
    rows: Sequence[int], names: Sequence[str], integral: Sequence[str], holding: BlockHolding
) -> dict[int, dict[str, Cell]]:
    """Return the raw cells of dataset rows; each block is read once."""
    found: dict[int, dict[str, Cell]] = {}
    first, block = 0, EMPTY
    for row in sorted(set(rows)):
        if row >= first + block_rows(block):
            first, block = holding(row)
        found[row] = raw_cells(block, row - first, names, integral=integral)
    return found


MEAN: FunctionName = "mean"
LOG_NOISE: FunctionName = "log_noise"


@dataclass(frozen=True)
class FunctionLocation:
    """The kind of a function and its location; `cells` are the raw inputs of its row."""

    kind: str
    row: int | None = None
    input: str | None = None
    moved: bool = False
    shape: tuple[InputShape, ...] = ()
    phase: float | None = None
    cells: dict[str, Cell] | None = None


Locate = Callable[[KernelFunctions, Indices], Iterable[FunctionLocation]]
"""Yields the locations of kernel functions of these columns of X."""


def places(model: LearnedModel, encoding: InputEncoding, locate: Locate) -> Iterator[FunctionLocation]:
    """Yield the location of each function, in the order of the weights, model by model; then those of the log noise."""
    names, units = column_names(encoding), column_units(encoding)
    every = chain.from_iterable(one.functions for one in (*members_of(model), *_log_noises(model)))
    for functions, columns in map(ungrouped, every, repeat(encoding.width)):
        match functions:
            case KernelFunctions():
                yield from locate(functions, columns)
            case InputFunctions(columns=chosen):
                for column in columns[chosen].tolist():
                    yield FunctionLocation("input", input=names[column])
            case ConstantFunction():
                yield FunctionLocation("bias")
            case _:
                for number in range(functions.size):
                    yield shaped(functions.shape(number), columns, names, units)


def _log_noises(model: LearnedModel) -> list[Model]:
    return [one.log_noise.model for one in members_of(model) if one.log_noise is not None]


def ungrouped(functions: Functions, inputs: int) -> tuple[SingleFunctions, Indices]:
    """Return the functions, and the columns of X that they read."""
    if isinstance(functions, GroupFunctions):
        return functions.of, functions.columns
    return functions, np.arange(inputs)


def shaped(
    shape: Shape, columns: Indices, names: Sequence[str], units: Sequence[tuple[float, float]]
) -> FunctionLocation:
    """Return the shape in the user's units: x = shift + scale u of the encoded u."""
    reported = []
    for number, place in enumerate(shape.inputs):
        column = int(columns[place])
        shift, scale = units[column]
        reported.append(
            InputShape(
                names[column],
                location=shift + scale * shape.location[number],
                scale=None if shape.scale is None else scale * shape.scale,
                frequency=shape.frequency[number] / scale if shape.frequency else None,
            )
        )
    return FunctionLocation(
        shape.kind, input=reported[0].input if len(reported) == 1 else None, shape=tuple(reported), phase=shape.phase
    )


def listed(
    model: LearnedModel, classes: Sequence[Label], found: Iterable[FunctionLocation]
) -> Iterator[RelevanceVector]:
    """Yield the functions at these locations, with their weights; those of several latents in the order of `classes`.

    Those of several models that predict together follow one another, each with its member's number, from 1. After them
    come those of the log noise where that is a function; contributions to the mean are numbered without them. Raises
    NotPositiveDefiniteError.
    """
    rest, first = iter(found), 0
    members = list(enumerate(members_of(model), 1))
    functions = [(number, member, MEAN) for number, member in members]
    functions += [(number, one.log_noise.model, LOG_NOISE) for number, one in members if one.log_noise is not None]
    for number, one, function in functions:
        for vector in _listed(one, classes, islice(rest, len(one.mean))):
            member = None if isinstance(model, Model) else number
            yield replace(vector, number=first + vector.number, member=member, function=function)
        first += len(one.mean)


def _listed(model: Model, classes: Sequence[Label], found: Iterable[FunctionLocation]) -> Iterator[RelevanceVector]:
    several = model.mean.ndim > 1
    root = Ready.of(model).root if model.is_exact else None  # (1 - gamma) / alpha loses digits as gamma nears 1
    sd = np.sqrt(model.covariance.diagonal() if root is None else np.vecdot(root, root))
    for number, place in enumerate(found):
        yield RelevanceVector(
            number=number + 1,
            kind=place.kind,
            row=place.row,
            inputs=place.cells,
            weight_mean=None if several else float(model.mean[number]),
            weight_sd=float(sd[number]),
            alpha=float(model.alpha[number]),
            gamma=float(model.gamma[number]),
            input=place.input,
            optimised=place.moved,
            shape=place.shape,
            phase=place.phase,
            weight_means=tuple(map(ClassWeight, classes, model.mean[number].tolist())) if several else (),
        )


Inputs: TypeAlias = Sequence[str] | None
"""The names of the inputs in the order to list them, by default that of the columns of X."""


def model_widths(model: Model, encoding: InputEncoding, inputs: Inputs = None) -> tuple[InputWidth, ...]:
    """Return the widths of all kernels on all inputs; empty where none was kept."""
    return tuple(width for input_map in _maps(model) for width in named_widths(input_map, encoding, inputs))


def map_warps(input_map: InputMap, encoding: InputEncoding, inputs: Inputs = None) -> tuple[InputWarp, ...]:
    """Return the warps of a map; empty where it has none."""
    if input_map.skew is None and input_map.tail is None:
        return ()
    straight = np.zeros(encoding.width)
    skew = straight if input_map.skew is None else input_map.skew
    tail = straight if input_map.tail is None else input_map.tail
    return tuple(InputWarp(name, float(skew[column]), float(tail[column])) for column, name in _named(encoding, inputs))


def named_widths(input_map: InputMap, encoding: InputEncoding, inputs: Inputs = None) -> Iterator[InputWidth]:
    """Return one width for all inputs, which has no name, or one for each."""
    if len(input_map.widths) < encoding.width:
        yield InputWidth(None, float(input_map.widths[0]))
        return
    for column, name in _named(encoding, inputs):
        yield InputWidth(name, float(input_map.widths[column]))


def model_warps(model: Model, encoding: InputEncoding, inputs: Inputs = None) -> tuple[InputWarp, ...]:
    """Return the warps of the maps that have some."""
    return tuple(warp for bent in _maps(model) for warp in map_warps(bent, encoding, inputs))


def model_terms(model: Model, encoding: InputEncoding, inputs: Inputs = None) -> tuple[InputTerm, ...]:
    """Return the terms of single inputs, in the inputs' order."""
    return tuple(
        InputTerm(name, functions.kernel.shares[functions.kernel.alone.index(column)])
        for functions in model.functions
        if isinstance(functions, KernelFunctions) and isinstance(functions.kernel, Additive)
        for column, name in _named(encoding, inputs)
        if column in functions.kernel.alone
    )


def _named(encoding: InputEncoding, inputs: Inputs) -> Iterator[tuple[int, str]]:
    """Yield the columns of X with their names, in the order of the inputs, by default that of X."""
    names = column_names(encoding)
    listed = [column.name for column in encoding.inputs] if inputs is None else inputs
    for numbers in columns_of(encoding, listed):
        yield from ((number, names[number]) for number in numbers)


def _maps(model: Model) -> tuple[InputMap, ...]:
    """Return the maps of all inputs; the widths of a group are those of its request."""
    return tuple(functions.input_map for functions in model.functions if isinstance(functions, KernelFunctions))
