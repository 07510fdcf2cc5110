"""Functions and scales of a model in a document."""

from collections.abc import Iterator, Sequence
from typing import TypeAlias

import numpy as np

from relevance_bayes.core.basis import (
    ConstantFunction,
    Functions,
    GroupFunctions,
    InputFunctions,
    KernelFunctions,
    SingleFunctions,
)
from relevance_bayes.core.dictionaries import FourierFunctions, GaborFunctions, SplineFunctions, StepFunctions
from relevance_bayes.core.hyperparameters import InputMap
from relevance_bayes.core.kernels import Additive, Kernel
from relevance_bayes.core.kernels.covariance import Covariance
from relevance_bayes.core.model import Model
from relevance_bayes.documents.parts import (
    BiasPart,
    FunctionsPart,
    GroupPart,
    InputsPart,
    KernelPart,
    SinglePart,
    SplinesPart,
    StepsPart,
    TermPart,
    WaveletsPart,
    WavesPart,
)
from relevance_bayes.documents.sizes import columns, matrix, vector, wrong
from relevance_bayes.records.reports import InputTerm, InputWarp, InputWidth
from relevance_bayes.tables.encoding import InputEncoding, column_names, columns_of


def functions_of(part: FunctionsPart, inputs: int, where: str) -> Functions:
    """Return the functions of a model with `inputs` columns; raises InvalidRequestError, as all here do."""
    if isinstance(part, GroupPart):
        seen = columns(part.columns, inputs, f"{where}/columns")
        if not len(seen) or len(set(part.columns)) < len(seen):
            raise wrong(f"{where}/columns", "Expected at least one column in a group, all distinct.")
        return GroupFunctions(seen, _single_of(part.of, len(seen), f"{where}/of"))
    return _single_of(part, inputs, where)


def _single_of(part: SinglePart, inputs: int, where: str) -> SingleFunctions:
    match part:
        case KernelPart():
            return kernel_functions_of(part, inputs, where)
        case BiasPart():
            return ConstantFunction()
        case InputsPart():
            return InputFunctions(columns(part.columns, inputs, f"{where}/columns"))
        case StepsPart():
            chosen = columns(part.inputs, inputs, f"{where}/inputs")
            return StepFunctions(chosen, vector(part.locations, len(chosen), f"{where}/locations"))
        case WavesPart():
            chosen = columns(part.inputs, inputs, f"{where}/inputs")
            return FourierFunctions(
                chosen,
                vector(part.origins, len(chosen), f"{where}/origins"),
                vector(part.frequencies, len(chosen), f"{where}/frequencies"),
                vector(part.phases, len(chosen), f"{where}/phases"),
            )
        case SplinesPart():
            chosen = columns(part.inputs, inputs, f"{where}/inputs")
            return SplineFunctions(
                part.degree,
                chosen,
                vector(part.locations, len(chosen), f"{where}/locations"),
                vector(part.scales, len(chosen), f"{where}/scales"),
            )
        case WaveletsPart():
            return wavelets_of(part, inputs, where)


def wavelets_of(part: WaveletsPart, inputs: int, where: str) -> GaborFunctions:
    """Return wavelets."""
    size = len(part.scales)
    return GaborFunctions(
        matrix(part.centres, (size, inputs), f"{where}/centres"),
        np.asarray(part.scales, np.float64),
        matrix(part.frequencies, (size, inputs), f"{where}/frequencies"),
        vector(part.phases, size, f"{where}/phases"),
    )


def kernel_functions_of(part: KernelPart, inputs: int, where: str) -> KernelFunctions:
    """Return kernel functions; the rows of their centres are not stored."""
    size = len(part.centres)
    if len(part.widths) not in {1, inputs}:
        raise wrong(f"{where}/widths", f"Expected one width, or one for each of {inputs}; got {len(part.widths)}.")
    bend = InputMap(
        np.asarray(part.widths, np.float64),
        None if part.skew is None else vector(part.skew, inputs, f"{where}/skew"),
        None if part.tail is None else vector(part.tail, inputs, f"{where}/tail"),
    )
    centres = matrix(part.centres, (size, inputs), f"{where}/centres")
    return KernelFunctions(_termed(part, inputs, where), bend, centres, np.arange(size))


def _termed(part: KernelPart, inputs: int, where: str) -> Kernel | Additive:
    if not part.terms:
        return part.kernel
    if not isinstance(part.kernel, Covariance):
        raise wrong(f"{where}/terms", f'Expected no terms for the kernel "{part.kernel.type}".')
    alone, shares = tuple(term.input for term in part.terms), tuple(term.share for term in part.terms)
    columns(alone, inputs, f"{where}/terms")
    if len(set(alone)) < len(alone) or len(alone) >= inputs or sum(shares) >= 1.0:
        detail = "Expected terms of distinct inputs, not of all of them, with shares that sum to less than 1"
        raise wrong(f"{where}/terms", f"{detail}.")
    return Additive(part.kernel, alone, shares)


def functions_part(functions: Functions) -> FunctionsPart:
    """Return one dictionary of a model as a part."""
    if isinstance(functions, GroupFunctions):
        return GroupPart(type="group", columns=functions.columns, of=_single_part(functions.of))
    return _single_part(functions)


def _single_part(functions: SingleFunctions) -> SinglePart:
    match functions:
        case KernelFunctions():
            return kernel_part(functions)
        case ConstantFunction():
            return BiasPart(type="bias")
        case InputFunctions(columns=columns):
            return InputsPart(type="inputs", columns=columns)
        case StepFunctions(inputs=inputs, places=places):
            return StepsPart(type="steps", inputs=inputs, locations=places)
        case FourierFunctions():
            return WavesPart(
                type="fourier",
                inputs=functions.inputs,
                origins=functions.origins,
                frequencies=functions.frequencies,
                phases=functions.phases,
            )
        case SplineFunctions():
            return SplinesPart(
                type="b_splines",
                degree=functions.degree,
                inputs=functions.inputs,
                locations=functions.places,
                scales=functions.spans,
            )
        case GaborFunctions():
            return wavelets_part(functions)


def wavelets_part(functions: GaborFunctions) -> WaveletsPart:
    """Return wavelets as a part."""
    return WaveletsPart(
        type="gabor",
        centres=functions.centres,
        scales=functions.spans,
        frequencies=functions.frequencies,
        phases=functions.phases,
    )


def kernel_part(functions: KernelFunctions) -> KernelPart:
    """Return kernel functions as a part, with the terms of an additive kernel."""
    kernel, terms = functions.kernel, list[TermPart]()
    if isinstance(kernel, Additive):
        pairs = zip(kernel.alone, kernel.shares, strict=True)
        kernel, terms = kernel.kernel, [TermPart(input=place, share=share) for place, share in pairs]
    bend = functions.input_map
    return KernelPart(
        type="kernel",
        kernel=kernel,
        terms=terms,
        widths=bend.widths,
        skew=bend.skew,
        tail=bend.tail,
        centres=functions.centres,
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
