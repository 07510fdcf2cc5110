"""Kernels and dictionaries as formulas of the encoded inputs X (N, d)."""

from math import comb, factorial

import numpy as np

from app.exports.onnx_file.graph import Value, product, total
from app.exports.onnx_file.tracing import written
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
from relevance_bayes.core.kernels.by_input import ByInput
from relevance_bayes.core.kernels.inner_product import InnerProduct
from relevance_bayes.core.kernels.radial import Radial
from relevance_bayes.core.tracing import TRACING, Traced
from relevance_bayes.core.types import Array, Indices
from relevance_bayes.tasks.approximation.expansion import Expansion

SUMMED = 16
"""The number of inputs up to which distances are sums of squared differences, which are exact; above, products."""


def columns_of(functions: Functions, inputs: Value) -> Value:
    """Return all functions of a dictionary, (N, M), with M above 0."""
    if isinstance(functions, GroupFunctions):
        return _single(functions.of, inputs.columns(functions.columns))
    return _single(functions, inputs)


def _single(functions: SingleFunctions, inputs: Value) -> Value:
    match functions:
        case KernelFunctions():
            return kernel_columns(functions, inputs)
        case ConstantFunction():
            return inputs.columns(np.array([0])) * 0.0 + 1.0
        case InputFunctions(columns=chosen):
            return inputs.columns(chosen)
        case StepFunctions(inputs=chosen, places=places):
            return inputs.graph.node("GreaterOrEqual", inputs.columns(chosen), places[None]).as_number()
        case FourierFunctions():
            turns = (inputs.columns(functions.inputs) - functions.origins[None]) * functions.frequencies[None]
            return _wave(turns - functions.phases[None])
        case SplineFunctions():
            return _splines(functions, inputs)
        case GaborFunctions():
            return _wavelets(functions, inputs)


def _wave(turns: Value) -> Value:
    """Return cos(2 pi t), after whole turns are subtracted."""
    graph = turns.graph
    return graph.node("Cos", (turns - graph.node("Round", turns)) * (2.0 * np.pi))


def _splines(functions: SplineFunctions, inputs: Value) -> Value:
    """B(u) = sum_k (-1)^k C(p+1, k) (r - k)_+^p / p!, r = (p+1)/2 - |u|; by symmetry in |u|, with few terms."""
    p = functions.degree
    apart = abs((inputs.columns(functions.inputs) - functions.places[None]) / functions.spans[None])
    reach = 0.5 * (p + 1) - apart
    terms = [
        _power((reach - float(k)).at_least(0.0), p) * ((-1.0) ** k * comb(p + 1, k)) for k in range((p + 1) // 2 + 1)
    ]
    return total(terms) / float(factorial(p))


def _wavelets(functions: GaborFunctions, inputs: Value) -> Value:
    """exp(-pi |x - c|^2 / s^2) cos(2 pi (f'(x - c) - phase))."""
    apart = [inputs.columns(np.array([k])) - functions.centres[None, :, k] for k in range(functions.centres.shape[1])]
    squares = total([(one / functions.spans[None]).square() for one in apart])
    turns = total([one * functions.frequencies[None, :, k] for k, one in enumerate(apart)])
    return (squares * -np.pi).exp() * _wave(turns - functions.phases[None])


def kernel_columns(functions: KernelFunctions, inputs: Value) -> Value:
    """Return k(u(x), u(z)) of each centre z, (N, M)."""
    bend = functions.input_map
    d = functions.centres.shape[1]
    return _kernel(functions.kernel, _bent(bend, inputs, d), bend(functions.centres))


def terms_of(terms: Expansion, inputs: Value) -> Value:
    """exp(-sum_k ((x_k - z_k) / r_k)^2) of each term, (N, J)."""
    apart = [
        (inputs.columns(np.array([k])) - terms.centres[None, :, k]) / terms.widths[None, :, k]
        for k in range(terms.centres.shape[1])
    ]
    return (-total([one.square() for one in apart])).exp()


def _bent(bend: InputMap, inputs: Value, d: int) -> Value:
    """Return w(x) / width, w(x) = 2 sinh(p/2) cosh(p/2 - a) / (b cosh a), p = b asinh x."""
    widths = np.broadcast_to(bend.widths, (1, d))
    if bend.skew is None and bend.tail is None:
        return inputs / widths
    a = np.zeros((1, d)) if bend.skew is None else bend.skew[None]
    b = np.ones((1, d)) if bend.tail is None else np.exp(bend.tail[None])
    half = inputs.asinh() * (0.5 * b)
    return half.sinh() * (half - a).cosh() * (2.0 / (b * np.cosh(a) * widths))


def _kernel(kernel: Kernel | Additive, U: Value, Z: Array) -> Value:
    """The kernel's own formula, traced."""
    one, other = Traced("parameter"), Traced("parameter")
    match kernel:
        case Additive():
            return _additive(kernel, U, Z)
        case Radial():
            return written(kernel.of_squares(TRACING, one), {one: _squares(U, Z, summed=kernel.has_kink)})
        case InnerProduct():
            return written(kernel.of_products(TRACING, one), {one: U @ Z.T})
        case ByInput():
            term = kernel.term(TRACING, one, other)
            terms = [
                written(term, {one: U.columns(np.array([k])), other: U.graph.constant(Z[None, :, k])})
                for k in range(Z.shape[1])
            ]
            combined = total(terms) if kernel.combination == "sum" else product(terms)
            return written(kernel.of_terms(TRACING, one), {one: combined})


def _squares(U: Value, Z: Array, *, summed: bool) -> Value:
    """|u - z|^2, (N, M)."""
    if summed or Z.shape[1] <= SUMMED:
        return total([(U.columns(np.array([k])) - Z[None, :, k]).square() for k in range(Z.shape[1])])
    centre: Array = Z.mean(axis=0)
    V, Y = U - centre[None], Z - centre
    sizes: Array = np.square(Y).sum(axis=1)
    return (V @ (-2.0 * Y.T) + V.graph.sum(V.square(), 1) + sizes[None]).at_least(0.0)


def _additive(kernel: Additive, U: Value, Z: Array) -> Value:
    rest = np.setdiff1d(np.arange(Z.shape[1]), kernel.alone)
    terms: list[tuple[Indices, float]] = [
        *((np.array([place]), share) for place, share in zip(kernel.alone, kernel.shares, strict=True)),
        (rest, 1.0 - sum(kernel.shares)),
    ]
    return total([_kernel(kernel.kernel, U.columns(inputs), Z[:, inputs]) * share for inputs, share in terms])


def _power(base: Value, exponent: int) -> Value:
    power = base
    for _ in range(exponent - 1):
        power = power * base
    return power
