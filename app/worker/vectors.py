"""The functions of a model as people see them: on which row, of which input, in the user's units."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat

import numpy as np

from app.domain.datasets import Dataset
from app.domain.encoding import column_names, column_units, raw_cells
from app.domain.models import ClassWeight, InputShape, RelevanceVector
from app.domain.requests import SupervisedPlan
from app.domain.tables import Block, Cell, block_rows
from app.sparse_bayes.basis import (
    ConstantFunction,
    Functions,
    GroupFunctions,
    InputFunctions,
    KernelFunctions,
    SingleFunctions,
)
from app.sparse_bayes.dictionaries import Shape
from app.sparse_bayes.model import Model
from app.sparse_bayes.types import Indices
from app.worker.materialise import Materialised

BlockHolding = Callable[[int], tuple[int, Block]]
"""The block in which a dataset row stands, with the number of its first row."""

EMPTY: Block = {}

MOVED = 1e-9
"""How far a function's centre differs from its row, of the number or of its unit, once it has left it."""


@dataclass(frozen=True)
class _Place:
    """What a function is and where it stands."""

    kind: str
    row: int | None = None
    input: str | None = None
    moved: bool = False
    shape: tuple[InputShape, ...] = ()
    phase: float | None = None


def vectors(
    plan: SupervisedPlan, dataset: Dataset, model: Model, made: Materialised, holding: BlockHolding
) -> Iterator[RelevanceVector]:
    """The functions that a version keeps, in the user's units."""
    places = list(_places(model, made))
    names = [column.name for column in plan.inputs]
    integral = [column.name for column in dataset.columns if column.integral]
    cells = raw_rows([place.row for place in places if place.row is not None], names, integral, holding)
    sd = np.sqrt(model.covariance.diagonal())
    several = model.mean.ndim > 1
    for number, place in enumerate(places):
        yield RelevanceVector(
            number=number + 1,
            kind=place.kind,
            row=place.row,
            inputs=None if place.row is None else cells[place.row],
            weight_mean=None if several else float(model.mean[number]),
            weight_sd=float(sd[number]),
            alpha=float(model.alpha[number]),
            gamma=float(model.gamma[number]),
            input=place.input,
            moved=place.moved,
            shape=place.shape,
            phase=place.phase,
            weight_means=tuple(map(ClassWeight, made.encoding.target.classes, model.mean[number].tolist()))
            if several
            else (),
        )


def _places(model: Model, made: Materialised) -> Iterator[_Place]:
    rows, names = made.rows(), column_names(made.encoding)
    for functions, columns in map(_ungrouped, model.functions, repeat(made.inputs)):
        match functions:
            case KernelFunctions(kernel=kernel, centres=centres):
                stood = rows[functions.rows]
                # A centre that only went through its warp and back differs by rounding.
                stays = np.isclose(centres, stood[:, columns], rtol=MOVED, atol=MOVED)
                moved = ~np.logical_and.reduce(stays, axis=1)
                for number, has_moved in zip(stood[:, -1].tolist(), moved.tolist(), strict=True):
                    yield _Place(kernel.type, row=int(number), moved=has_moved)
            case InputFunctions(columns=chosen):
                for column in columns[chosen].tolist():
                    yield _Place("input", input=names[column])
            case ConstantFunction():
                yield _Place("bias")
            case _:
                for number in range(functions.size):
                    yield _shaped(functions.shape(number), columns, names, column_units(made.encoding))


def _ungrouped(functions: Functions, inputs: int) -> tuple[SingleFunctions, Indices]:
    """The functions, and which columns of X they see."""
    if isinstance(functions, GroupFunctions):
        return functions.of, functions.columns
    return functions, np.arange(inputs)


def _shaped(shape: Shape, columns: Indices, names: Sequence[str], units: Sequence[tuple[float, float]]) -> _Place:
    """In the user's units: x = shift + scale u of what is encoded."""
    told = []
    for number, place in enumerate(shape.inputs):
        column = int(columns[place])
        shift, scale = units[column]
        told.append(
            InputShape(
                names[column],
                place=shift + scale * shape.place[number],
                span=None if shape.span is None else scale * shape.span,
                frequency=shape.frequency[number] / scale if shape.frequency else None,
            )
        )
    return _Place(shape.kind, input=told[0].input if len(told) == 1 else None, shape=tuple(told), phase=shape.phase)


def raw_rows(
    rows: Sequence[int], names: Sequence[str], integral: Sequence[str], holding: BlockHolding
) -> dict[int, dict[str, Cell]]:
    """The raw cells of dataset rows, each block that has some read once."""
    found: dict[int, dict[str, Cell]] = {}
    first, block = 0, EMPTY
    for row in sorted(set(rows)):
        if row >= first + block_rows(block):
            first, block = holding(row)
        found[row] = raw_cells(block, row - first, names, integral=integral)
    return found
