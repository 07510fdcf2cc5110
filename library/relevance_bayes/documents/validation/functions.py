"""Validation of the positions of a model's functions."""

from collections.abc import Iterator

import numpy as np

from relevance_bayes.core.basis import Functions, GroupFunctions, KernelFunctions
from relevance_bayes.core.model import Model
from relevance_bayes.tables.encoding.inputs import MAX_SCALED
from relevance_bayes.types.errors import Fault

MAX_DISTANCE = MAX_SCALED * MAX_SCALED
"""The maximum distance of a centre in widths: its square is finite, as that of an encoded number is."""


def function_faults(model: Model) -> Iterator[Fault]:
    """Return a fault for kernel functions whose centres are too far away to compute distances."""
    for place, functions in enumerate(model.functions):
        if not _has_distances(functions):
            yield _fault(f"/model/functions/{place}")
    if model.augmentation is not None and not _has_distances(model.augmentation.functions):
        yield _fault("/model/augmentation/functions")


def _has_distances(functions: Functions) -> bool:
    single = functions.of if isinstance(functions, GroupFunctions) else functions
    if not isinstance(single, KernelFunctions):
        return True
    with np.errstate(all="ignore"):
        return bool((np.abs(single.input_map(single.centres)) <= MAX_DISTANCE).all())


def _fault(where: str) -> Fault:
    return Fault(f"Expected centres that are at most {MAX_DISTANCE:g} widths from 0, after the warp.", where)
