"""The functions of a model as its version lists them, in the user's units."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice, repeat

import numpy as np

from relevance_bayes.core.approximation import Expansion
from relevance_bayes.core.basis import (
    ConstantFunction,
    Functions,
    GroupFunctions,
    InputFunctions,
    KernelFunctions,
    SingleFunctions,
)
from relevance_bayes.core.components import Components
from relevance_bayes.core.dictionaries import Shape
from relevance_bayes.core.model import Model
from relevance_bayes.core.pool import LearnedModel, members_of
from relevance_bayes.core.types import Indices
from relevance_bayes.tables.columns import Block, block_rows
from relevance_bayes.tables.encoding import InputEncoding, column_names, column_units, raw_cells
from relevance_bayes.types.functions import ClassWeight, FunctionName, InputShape, RelevanceVector
from relevance_bayes.types.values import Cell, Label

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
    come those of the log noise where that is a function; contributions to the mean are numbered without them.
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
    sd = np.sqrt(model.covariance.diagonal())
    several = model.mean.ndim > 1
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


def listed_terms(
    terms: Expansion, names: Sequence[str], found: Iterable[FunctionLocation]
) -> Iterator[RelevanceVector]:
    """Yield the terms of a known function at these locations, over the inputs with these names.

    Their coefficients minimise the error; no prior is involved.
    """
    numbers = zip(terms.coefficients.tolist(), terms.centres.tolist(), terms.widths.tolist(), strict=True)
    for number, (place, (coefficient, stands, spreads)) in enumerate(zip(found, numbers, strict=True), 1):
        yield RelevanceVector(
            number=number,
            kind=place.kind,
            row=place.row,
            inputs=place.cells,
            weight_mean=coefficient,
            weight_sd=0.0,
            alpha=0.0,
            gamma=1.0,
            shape=tuple(
                InputShape(name, at, span, None) for name, at, span in zip(names, stands, spreads, strict=True)
            ),
        )


def listed_images(components: Components, found: Iterable[FunctionLocation]) -> Iterator[RelevanceVector]:
    """Yield the rows that span components, at these locations; raises NotPositiveDefiniteError.

    The listed weight is that of the outer product of each row's image in the maximum likelihood covariance.
    """
    numbers = zip(components.weights.tolist(), components.gamma.tolist(), strict=True)
    for number, (place, (weight, gamma)) in enumerate(zip(found, numbers, strict=True), 1):
        yield RelevanceVector(
            number=number,
            kind=place.kind,
            row=place.row,
            inputs=place.cells,
            weight_mean=weight,
            weight_sd=0.0,
            alpha=1.0 / weight,
            gamma=gamma,
        )
