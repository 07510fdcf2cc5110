"""Kernels and dictionaries as formulas of the encoded inputs X (N, d)."""

from math import comb, factorial

import numpy as np

from app.exports.onnx_file.graph import Value
from app.sparse_bayes.approximation import Expansion
from app.sparse_bayes.basis import (
    ConstantFunction,
    Functions,
    GroupFunctions,
    InputFunctions,
    KernelFunctions,
    SingleFunctions,
)
from app.sparse_bayes.dictionaries import FourierFunctions, GaborFunctions, SplineFunctions, StepFunctions
from app.sparse_bayes.kernels import (
    Additive,
    Cauchy,
    CityBlock,
    Cubic,
    Gaussian,
    Kernel,
    Laplacian,
    Linear,
    LinearSpline,
    Matern32,
    Matern52,
    Polynomial,
    RationalQuadratic,
    Sigmoid,
    ThinPlate,
)
from app.sparse_bayes.scales import InputMap
from app.sparse_bayes.types import Array, Indices

SUMMED = 16
"""Up to so many inputs distances are sums of squared differences, which lose nothing; above, products."""


def columns_of(functions: Functions, inputs: Value) -> Value:
    """All functions of a dictionary, (N, M), M above 0."""
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
    """cos(2 pi t), whole turns taken off first."""
    graph = turns.graph
    return graph.node("Cos", (turns - graph.node("Round", turns)) * (2.0 * np.pi))


def _splines(functions: SplineFunctions, inputs: Value) -> Value:
    """B(u) = sum_k (-1)^k C(p+1, k) (r - k)_+^p / p!, r = (p+1)/2 - |u|: few terms, since |u| counts alone."""
    p = functions.degree
    apart = abs((inputs.columns(functions.inputs) - functions.places[None]) / functions.spans[None])
    reach = 0.5 * (p + 1) - apart
    total = reach * 0.0
    for k in range((p + 1) // 2 + 1):
        total = total + _power((reach - float(k)).at_least(0.0), p) * ((-1.0) ** k * comb(p + 1, k))
    return total / float(factorial(p))


def _wavelets(functions: GaborFunctions, inputs: Value) -> Value:
    """exp(-pi |x - c|^2 / s^2) cos(2 pi (f'(x - c) - phase))."""
    squares: Value | None = None
    turns: Value | None = None
    for k in range(functions.centres.shape[1]):
        apart = inputs.columns(np.array([k])) - functions.centres[None, :, k]
        square, turn = (apart / functions.spans[None]).square(), apart * functions.frequencies[None, :, k]
        squares = square if squares is None else squares + square
        turns = turn if turns is None else turns + turn
    assert squares is not None
    assert turns is not None
    return (squares * -np.pi).exp() * _wave(turns - functions.phases[None])


def kernel_columns(functions: KernelFunctions, inputs: Value) -> Value:
    """k(u(x), u(z)) of each centre z, (N, M)."""
    bend = functions.input_map
    d = functions.centres.shape[1]
    return _kernel(functions.kernel, _bent(bend, inputs, d), bend(functions.centres))


def terms_of(terms: Expansion, inputs: Value) -> Value:
    """exp(-sum_k ((x_k - z_k) / r_k)^2) of each term, (N, J)."""
    total: Value | None = None
    for k in range(terms.centres.shape[1]):
        apart = (inputs.columns(np.array([k])) - terms.centres[None, :, k]) / terms.widths[None, :, k]
        total = apart.square() if total is None else total + apart.square()
    assert total is not None
    return (-total).exp()


def _bent(bend: InputMap, inputs: Value, d: int) -> Value:
    """w(x) / width, w(x) = 2 sinh(p/2) cosh(p/2 - a) / (b cosh a), p = b asinh x."""
    widths = np.broadcast_to(bend.widths, (1, d))
    if bend.skew is None and bend.tail is None:
        return inputs / widths
    a = np.zeros((1, d)) if bend.skew is None else bend.skew[None]
    b = np.ones((1, d)) if bend.tail is None else np.exp(bend.tail[None])
    half = inputs.asinh() * (0.5 * b)
    return half.sinh() * (half - a).cosh() * (2.0 / (b * np.cosh(a) * widths))


def _kernel(kernel: Kernel | Additive, U: Value, Z: Array) -> Value:
    match kernel:
        case Additive():
            return _additive(kernel, U, Z)
        case Linear():
            return U @ Z.T
        case Polynomial(degree=degree):
            return _power(U @ Z.T + 1.0, degree)
        case Sigmoid(offset=offset):
            return U.graph.node("Tanh", U @ Z.T + offset)
        case LinearSpline():
            return _linear_spline(U, Z)
        case CityBlock():
            return _city_block(U, Z)
        case _:
            return _radial(kernel, _squares(U, Z, summed=isinstance(kernel, Laplacian)))


def _radial(kernel: Kernel, squares: Value) -> Value:
    match kernel:
        case Gaussian():
            return (-squares).exp()
        case Cauchy():
            return 1.0 / (squares + 1.0)
        case RationalQuadratic(power=power):
            return ((squares / power + 1.0).log() * -power).exp()
        case Laplacian():
            return (-squares.sqrt()).exp()
        case Matern32():
            a = (squares * 3.0).sqrt()
            return (a + 1.0) * (-a).exp()
        case Matern52():
            a = (squares * 5.0).sqrt()
            return (squares * (5.0 / 3.0) + a + 1.0) * (-a).exp()
        case Cubic():
            return squares * squares.sqrt()
        case ThinPlate():
            graph = squares.graph
            apart = graph.node("Greater", squares, 0.0)
            return squares * graph.where(apart, squares, 1.0).log() * 0.5
        case _:
            raise TypeError(f"expected a function of the distance, got {kernel.type}")


def _squares(U: Value, Z: Array, *, summed: bool) -> Value:
    """|u - z|^2, (N, M)."""
    if summed or Z.shape[1] <= SUMMED:
        total: Value | None = None
        for k in range(Z.shape[1]):
            square = (U.columns(np.array([k])) - Z[None, :, k]).square()
            total = square if total is None else total + square
        assert total is not None
        return total
    centre: Array = Z.mean(axis=0)
    V, Y = U - centre[None], Z - centre
    sizes: Array = np.square(Y).sum(axis=1)
    return (V @ (-2.0 * Y.T) + V.graph.sum(V.square(), 1) + sizes[None]).at_least(0.0)


def _city_block(U: Value, Z: Array) -> Value:
    """exp(-sum_k |u_k - z_k|)."""
    total: Value | None = None
    for k in range(Z.shape[1]):
        apart = U.graph.node("Abs", U.columns(np.array([k])) - Z[None, :, k])
        total = apart if total is None else total + apart
    assert total is not None
    return (-total).exp()


def _linear_spline(U: Value, Z: Array) -> Value:
    """The product over inputs of 1 + uz + l (uz - l ((u + z)/2 - l/3)), l = min(u, z)."""
    product: Value | None = None
    for k in range(Z.shape[1]):
        u, z = U.columns(np.array([k])), Z[None, :, k]
        least, both = U.graph.node("Min", u, z), u * z
        factor = least * (both - least * ((u + z) * 0.5 - least / 3.0)) + both + 1.0
        product = factor if product is None else product * factor
    assert product is not None
    return product


def _additive(kernel: Additive, U: Value, Z: Array) -> Value:
    rest = np.setdiff1d(np.arange(Z.shape[1]), kernel.alone)
    terms: list[tuple[Indices, float]] = [
        *((np.array([place]), share) for place, share in zip(kernel.alone, kernel.shares, strict=True)),
        (rest, 1.0 - sum(kernel.shares)),
    ]
    total: Value | None = None
    for inputs, share in terms:
        term = _kernel(kernel.kernel, U.columns(inputs), Z[:, inputs]) * share
        total = term if total is None else total + term
    assert total is not None
    return total


def _power(base: Value, exponent: int) -> Value:
    power = base
    for _ in range(exponent - 1):
        power = power * base
    return power
