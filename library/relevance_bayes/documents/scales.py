"""The scales of a model's kernels, with the names of their encoded inputs."""

from collections.abc import Iterator, Sequence

import numpy as np

from relevance_bayes.core.basis import KernelFunctions
from relevance_bayes.core.kernels import Additive
from relevance_bayes.core.model import Model
from relevance_bayes.core.scales import InputMap
from relevance_bayes.tables.encoding import InputEncoding, column_names
from relevance_bayes.types.reports import InputTerm, InputWarp, InputWidth


def model_widths(model: Model, encoding: InputEncoding) -> tuple[InputWidth, ...]:
    """Return the widths of all kernels on all inputs; empty where none was kept."""
    return tuple(width for input_map in _maps(model) for width in named_widths(input_map, encoding))


def map_warps(input_map: InputMap, encoding: InputEncoding) -> tuple[InputWarp, ...]:
    """Return the warps of a map; empty where it has none."""
    if input_map.skew is None and input_map.tail is None:
        return ()
    straight = np.zeros(encoding.width)
    return tuple(
        InputWarp(name, float(skew), float(tail))
        for name, skew, tail in zip(
            column_names(encoding),
            straight if input_map.skew is None else input_map.skew,
            straight if input_map.tail is None else input_map.tail,
            strict=True,
        )
    )


def named_widths(input_map: InputMap, encoding: InputEncoding) -> Iterator[InputWidth]:
    """Return one width for all inputs, which has no name, or one for each."""
    shared = len(input_map.widths) < encoding.width
    names: Sequence[str | None] = (None,) if shared else column_names(encoding)
    for name, width in zip(names, input_map.widths, strict=True):
        yield InputWidth(name, float(width))


def model_warps(model: Model, encoding: InputEncoding) -> tuple[InputWarp, ...]:
    """Return the warps of the maps that have some."""
    return tuple(warp for bent in _maps(model) for warp in map_warps(bent, encoding))


def model_terms(model: Model, encoding: InputEncoding) -> tuple[InputTerm, ...]:
    """Return the terms of single inputs, in the inputs' order."""
    names = column_names(encoding)
    return tuple(
        InputTerm(names[place], share)
        for functions in model.functions
        if isinstance(functions, KernelFunctions) and isinstance(functions.kernel, Additive)
        for place, share in sorted(zip(functions.kernel.alone, functions.kernel.shares, strict=True))
    )


def _maps(model: Model) -> tuple[InputMap, ...]:
    """Return the maps of all inputs; the widths of a group are those of its request."""
    return tuple(functions.input_map for functions in model.functions if isinstance(functions, KernelFunctions))
