"""Expressions that compute a version's functions."""

import inspect
from textwrap import indent

import numpy as np

from app.exports.python_file.tracing import statements
from app.exports.python_file.writing import Program
from relevance_bayes.core.basis import (
    ConstantFunction,
    Functions,
    GroupFunctions,
    InputFunctions,
    KernelFunctions,
    SingleFunctions,
)
from relevance_bayes.core.dictionaries import FourierFunctions, GaborFunctions, SplineFunctions, StepFunctions
from relevance_bayes.core.kernels import Additive, Kernel
from relevance_bayes.core.kernels.by_input import ByInput
from relevance_bayes.core.kernels.inner_product import InnerProduct
from relevance_bayes.core.kernels.radial import Radial
from relevance_bayes.core.tracing import TRACING, Traced


def kernel_function(program: Program, kernel: Kernel) -> str:
    """Return the name of a function of U (N, d) and Z (M, d) that returns k (N, M)."""
    described = inspect.cleandoc(kernel.__doc__ or "").split("\n\n")[0]
    body = "\n".join([f'"""{described}"""', *_lines(kernel)])
    return program.function(kernel.type, "(U: Array, Z: Array) -> Array", indent(body, " " * 4))


def _lines(kernel: Kernel) -> list[str]:
    one, other = Traced("parameter"), Traced("parameter")
    match kernel:
        case Radial():
            return ["s = squares(U, Z)", *_returned(kernel.of_squares(TRACING, one), one, "s")]
        case InnerProduct():
            return ["p = U @ Z.T", *_returned(kernel.of_products(TRACING, one), one, "p")]
        case ByInput():
            start, sign = ("zeros", "+=") if kernel.combination == "sum" else ("ones", "*=")
            shared, (term,) = statements([kernel.term(TRACING, one, other)], {one: "u", other: "z"})
            return [
                f"total = np.{start}((len(U), len(Z)))",
                "for u, z in zip(U.T[:, :, None], Z.T):",
                *(f"    {line}" for line in [*shared, f"total {sign} {term}"]),
                *_returned(kernel.of_terms(TRACING, one), one, "total"),
            ]


def _returned(formula: Traced, parameter: Traced, name: str) -> list[str]:
    shared, (whole,) = statements([formula], {parameter: name})
    return [*shared, f"return {whole}"]


def expression(program: Program, functions: Functions) -> str:
    """Return an expression of all functions of a dictionary, one a column."""
    if isinstance(functions, GroupFunctions):
        return _single(program, functions.of, f"X[:, {functions.columns.tolist()!r}]")
    return _single(program, functions, "X")


def _single(program: Program, functions: SingleFunctions, seen: str) -> str:
    named = program.constant
    match functions:
        case KernelFunctions():
            return kernel_expression(program, functions, seen, "CENTRES")
        case ConstantFunction():
            return "bias(X)"
        case InputFunctions(columns=columns):
            return f"{seen}[:, {columns.tolist()!r}]"
        case StepFunctions(inputs=inputs, places=places):
            return f"steps({seen}, {named('STEP_INPUTS', inputs)}, {named('STEPS', places)})"
        case FourierFunctions():
            given = (named("WAVE_INPUTS", functions.inputs), named("ORIGINS", functions.origins))
            more = (named("FREQUENCIES", functions.frequencies), named("PHASES", functions.phases))
            return f"waves({', '.join((seen, *given, *more))})"
        case SplineFunctions():
            given = (named("SPLINE_INPUTS", functions.inputs), named("PLACES", functions.places))
            return f"b_splines({seen}, {functions.degree}, {', '.join(given)}, {named('SPANS', functions.spans)})"
        case GaborFunctions():
            given = (named("WAVELETS", functions.centres), named("SPANS", functions.spans))
            more = (named("FREQUENCIES", functions.frequencies), named("PHASES", functions.phases))
            return f"wavelets({', '.join((seen, *given, *more))})"


def kernel_expression(program: Program, functions: KernelFunctions, seen: str, name: str) -> str:
    """Return an expression of k(u(x), u(z)), with mapped centres z."""
    bend, kernel = functions.input_map, functions.kernel
    given = (program.constant("WIDTHS", bend.widths), program.constant("SKEW", bend.skew))
    bent = f"bent({seen}, {', '.join(given)}, {program.constant('TAIL', bend.tail)})"
    mapped = bend(functions.centres)
    if not isinstance(kernel, Additive):
        return f"{kernel_function(program, kernel)}({bent}, {program.constant(name, mapped)})"
    rest = np.setdiff1d(np.arange(mapped.shape[1]), kernel.alone).tolist()
    called, centres = kernel_function(program, kernel.kernel), program.constant(name, mapped)
    terms = [*(([place], share) for place, share in zip(kernel.alone, kernel.shares, strict=True))]
    each = [
        f"{share!r} * {called}({bent}[:, {inputs!r}], {centres}[:, {inputs!r}])"
        for inputs, share in [*terms, (rest, 1.0 - sum(kernel.shares))]
    ]
    return f"\n{' ' * 12}+ ".join(each)
