"""The functions of a model for listing: by row or input, in the user's units."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from relevance_bayes.core.basis import KernelFunctions
from relevance_bayes.core.pool import LearnedModel
from relevance_bayes.core.types import Indices
from relevance_bayes.plans.requests import SupervisedPlan
from relevance_bayes.tables.columns import IdentifiedTable
from relevance_bayes.tasks.listing import BlockHolding, FunctionLocation, listed, places, raw_rows
from relevance_bayes.tasks.supervised.materialise import Materialised
from relevance_bayes.types.functions import RelevanceVector

MOVED = 1e-9
"""The least distance of an optimised centre from its row, relative to the number or its unit, to count as moved."""


def vectors(
    plan: SupervisedPlan, dataset: IdentifiedTable, model: LearnedModel, made: Materialised, holding: BlockHolding
) -> Iterator[RelevanceVector]:
    """Yield the functions that a version keeps, in the user's units."""
    rows = made.rows()

    def locate(functions: KernelFunctions, columns: Indices) -> Iterator[FunctionLocation]:
        stood = rows[functions.rows]
        # A centre that was only warped and unwarped differs by rounding.
        stays = np.isclose(functions.centres, stood[:, columns], rtol=MOVED, atol=MOVED)
        moved = ~np.logical_and.reduce(stays, axis=1)
        for number, has_moved in zip(stood[:, -1].tolist(), moved.tolist(), strict=True):
            yield FunctionLocation(functions.kernel.type, row=int(number), moved=has_moved)

    found = list(places(model, made.encoding, locate))
    names = [column.name for column in plan.inputs]
    integral = [column.name for column in dataset.columns if column.integral]
    cells = raw_rows([place.row for place in found if place.row is not None], names, integral, holding)
    seen = [place if place.row is None else replace(place, cells=cells[place.row]) for place in found]
    yield from listed(model, made.encoding.target.classes, seen)
