"""Kernels, dictionaries and components as formulas of the encoded inputs X (N, d), traced as nodes of ONNX."""

from collections.abc import Callable, Iterable
from math import comb, factorial

import numpy as np
from onnx import TensorProto

from app.exports.onnx_file.graph import Operand, Value, product, total
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
from relevance_bayes.core.kernels.hyperparameters import InputMap
from relevance_bayes.core.kernels.inner_product import InnerProduct
from relevance_bayes.core.kernels.radial import Radial
from relevance_bayes.core.tracing import TRACING, Traced, parts_of
from relevance_bayes.core.types import Array, Indices
from relevance_bayes.tasks.approximation.expansion import KernelExpansion
from relevance_bayes.tasks.components.report import COMPONENTS_REPORTED, ComponentsPredictor

OPERATORS = {
    "add": "Add",
    "subtract": "Sub",
    "multiply": "Mul",
    "divide": "Div",
    "negative": "Neg",
    "abs": "Abs",
    "exp": "Exp",
    "log": "Log",
    "sqrt": "Sqrt",
    "sin": "Sin",
    "cos": "Cos",
    "tanh": "Tanh",
    "sign": "Sign",
    "round": "Round",
    "minimum": "Min",
    "maximum": "Max",
    "greater": "Greater",
    "less_equal": "LessOrEqual",
    "matmul": "MatMul",
    "expit": "Sigmoid",
    "where": "Where",
}
"""ONNX operators by the array API's names."""

OTHERS: dict[str, Callable[[Value, Traced], Value]] = {
    "square": lambda x, _: x.square(),
    "expm1": lambda x, _: x.expm1(),
    "log1p": lambda x, _: x.log1p(),
    "ndtr": lambda x, _: x.normal_share(),
    "expand_dims": lambda x, traced: x.along("Unsqueeze", traced.axis),
    "sum": lambda x, traced: x.along("ReduceSum", traced.axis, keepdims=int(traced.keepdims)),
    "max": lambda x, traced: x.along("ReduceMax", traced.axis, keepdims=int(traced.keepdims)),
}
"""Operations without an operator in ONNX, and operators with an axis."""


def is_writable(formulas: Iterable[Traced]) -> bool:
    """Return whether ONNX has all operations of the formulas: it has no iteration to a tolerance."""
    return all(part.operation != "fixed_point" for part in parts_of(formulas))


def written(formula: Traced, known: dict[Traced, Value]) -> Value:
    """Return the value of a formula; `known` has the values of its parameters, and collects those of its parts."""
    graph = next(iter(known.values())).graph

    def of(operand: Traced | float | Array) -> Operand:
        if not isinstance(operand, Traced):
            return operand if isinstance(operand, np.ndarray) else float(operand)
        if operand not in known:
            known[operand] = made(operand)
        return known[operand]

    def made(traced: Traced) -> Value:
        operands = [of(one) for one in traced.operands]
        if traced.operation in OTHERS:
            (operand,) = operands
            assert isinstance(operand, Value), "expected a function of what is traced"
            return OTHERS[traced.operation](operand, traced)
        return graph.node(OPERATORS[traced.operation], *operands)

    found = of(formula)
    assert isinstance(found, Value), "expected a formula, got a number"
    return found


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


def terms_of(terms: KernelExpansion, inputs: Value) -> Value:
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


def component_outputs(predictor: ComponentsPredictor, inputs: Value) -> dict[str, Value]:
    """Return the first components (N, K), the reconstruction error, the log density and the novelty, each (N, 1)."""
    found, graph = predictor.components, inputs.graph
    images = kernel_columns(KernelFunctions(found.kernel, found.input_map, found.centres, found.rows), inputs)
    projected = images @ found.axes
    first = projected.columns(np.arange(min(COMPONENTS_REPORTED, len(found.variances))))
    noise = found.noise_variance
    along = projected.square() @ (1.0 / (found.variances + noise))[:, None]
    volume = float(np.log1p(found.variances / noise).sum())
    density = (along + volume + _missed(projected) / noise) * -0.5
    usual = predictor.log_densities
    below = _counted(usual, density)
    return {
        "components": first,
        "reconstruction_error": _missed(first),
        "log_density": density,
        "novelty": (graph.node("Neg", below) + float(len(usual))) / float(len(usual)),
    }


def _missed(projected: Value) -> Value:
    """Return 1 - |p|^2."""
    return (1.0 - projected.graph.sum(projected.square(), 1)).at_least(0.0)


def _counted(rising: Array, values: Value) -> Value:
    """Return how many of the ascending numbers (M,) are at most each value (N, 1), by bisection."""
    graph, step = values.graph, 1 << (len(rising).bit_length() - 1)
    # The padding is above every value.
    padded = graph.constant(np.append(rising, np.full(2 * step - 1 - len(rising), np.inf)))
    count = graph.where(graph.node("IsNaN", values), 0.0, values * 0.0)
    while step:
        place = graph.node("Cast", count + float(step - 1), to=TensorProto.INT64)
        reached = graph.node("LessOrEqual", graph.node("Gather", padded, place), values)
        count = graph.where(reached, count + float(step), count)
        step //= 2
    return count
