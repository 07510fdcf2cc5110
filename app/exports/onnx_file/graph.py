"""A namespace of array functions that record their operations as nodes of ONNX."""

import operator
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import TypeAlias, Union

import numpy as np
from numpy.typing import NDArray
from onnx import NodeProto, TensorProto, helper, numpy_helper

from relevance_bayes.core.types import Array, Indices

OPSET = 20
"""The ONNX operator set; equality of strings came with 19."""

IR_VERSION = 9
"""The IR version of OPSET, for runtimes of that time."""

ERFC = (
    *(-1.26551223, 1.00002368, 0.37409196, 0.09678418, -0.18628806),
    *(0.27886807, -1.13520398, 1.48851587, -0.82215223, 0.17087277),
)
"""The coefficients of P: Press et al., Numerical Recipes, 2nd edition, section 6.2."""

PPND16 = (
    (
        (
            2509.0809287301227,
            33430.57558358813,
            67265.7709270087,
            45921.95393154987,
            13731.69376550946,
            1971.5909503065513,
            133.14166789178438,
            3.3871328727963665,
        ),
        (
            5226.495278852854,
            28729.085735721943,
            39307.89580009271,
            21213.794301586597,
            5394.196021424751,
            687.1870074920579,
            42.31333070160091,
            1.0,
        ),
    ),
    (
        (
            0.0007745450142783414,
            0.022723844989269184,
            0.2417807251774506,
            1.2704582524523684,
            3.6478483247632045,
            5.769497221460691,
            4.630337846156546,
            1.4234371107496835,
        ),
        (
            1.0507500716444169e-09,
            0.0005475938084995345,
            0.015198666563616457,
            0.14810397642748008,
            0.6897673349851,
            1.6763848301838038,
            2.053191626637759,
            1.0,
        ),
    ),
    (
        (
            2.0103343992922881e-07,
            2.7115555687434876e-05,
            0.0012426609473880784,
            0.026532189526576124,
            0.29656057182850487,
            1.7848265399172913,
            5.463784911164114,
            6.657904643501103,
        ),
        (
            2.0442631033899397e-15,
            1.421511758316446e-07,
            1.8463183175100548e-05,
            0.0007868691311456133,
            0.014875361290850615,
            0.1369298809227358,
            0.599832206555888,
            1.0,
        ),
    ),
)
"""The coefficients of both polynomials in the centre, the tail and the far tail: Wichura, Algorithm AS 241, Applied
Statistics 37."""

Constant: TypeAlias = NDArray[np.float64] | NDArray[np.int64] | NDArray[np.object_]

Operand: TypeAlias = Union["Value", float, Array]


@dataclass
class Graph:
    """The nodes and constants so far; `reserved` are the names of inputs and outputs."""

    reserved: frozenset[str]
    nodes: list[NodeProto] = field(default_factory=list)
    constants: list[TensorProto] = field(default_factory=list)

    def constant(self, array: Constant) -> "Value":
        """Return an array that is stored in the model."""
        name = self._name("constant", len(self.constants))
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return Value(self, name)

    def texts(self, texts: tuple[str, ...]) -> "Value":
        """Return strings, (1, K)."""
        return self.constant(np.array([texts], np.object_))

    def node(self, operation: str, *operands: Operand, **attributes: int) -> "Value":
        """Return the result of an operator."""
        names = [self._operand(one).name for one in operands]
        made = self._name("value", len(self.nodes))
        node = helper.make_node(operation, names, [made])
        node.attribute.extend(helper.make_attribute(name, value) for name, value in attributes.items())
        self.nodes.append(node)
        return Value(self, made)

    def sum(self, values: "Value", axis: int) -> "Value":
        """Return sums over one axis, which is kept with length 1."""
        return self.node("ReduceSum", values, self.constant(np.array([axis], np.int64)), keepdims=1)

    def where(self, condition: "Value", one: Operand, other: Operand) -> "Value":
        """Return values of `one` where the condition holds, else of `other`."""
        return self.node("Where", condition, one, other)

    def beside(self, parts: "list[Value]") -> "Value":
        """Return columns concatenated."""
        return parts[0] if len(parts) == 1 else self.node("Concat", *parts, axis=1)

    def _operand(self, operand: Operand) -> "Value":
        if isinstance(operand, Value):
            return operand
        return self.constant(np.asarray(operand, np.float64))

    def _name(self, kind: str, number: int) -> str:
        name = f"{kind}_{number}"
        while name in self.reserved:
            name += "_"
        return name


@dataclass(frozen=True)
class Value:
    """The result of a node, or an input: (N, ...), float64 unless another type is given."""

    graph: Graph
    name: str

    def __add__(self, other: Operand) -> "Value":
        return self.graph.node("Add", self, other)

    def __sub__(self, other: Operand) -> "Value":
        return self.graph.node("Sub", self, other)

    def __rsub__(self, other: float) -> "Value":
        return self.graph.node("Sub", other, self)

    def __mul__(self, other: Operand) -> "Value":
        return self.graph.node("Mul", self, other)

    def __truediv__(self, other: Operand) -> "Value":
        return self.graph.node("Div", self, other)

    def __rtruediv__(self, other: float) -> "Value":
        return self.graph.node("Div", other, self)

    def __matmul__(self, other: Operand) -> "Value":
        return self.graph.node("MatMul", self, other)

    def __neg__(self) -> "Value":
        return self.graph.node("Neg", self)

    def __abs__(self) -> "Value":
        return self.graph.node("Abs", self)

    def exp(self) -> "Value":
        """e^x."""
        return self.graph.node("Exp", self)

    def log(self) -> "Value":
        """log x."""
        return self.graph.node("Log", self)

    def sqrt(self) -> "Value":
        """sqrt x."""
        return self.graph.node("Sqrt", self)

    def square(self) -> "Value":
        """x^2."""
        return self * self

    def at_least(self, bound: float) -> "Value":
        """max(x, bound)."""
        return self.graph.node("Max", self, bound)

    def at_most(self, bound: float) -> "Value":
        """min(x, bound)."""
        return self.graph.node("Min", self, bound)

    def along(self, operation: str, axis: int | None, **attributes: int) -> "Value":
        """Return the result of an operator along one axis."""
        assert axis is not None, f"expected an axis for {operation}"
        return self.graph.node(operation, self, self.graph.constant(np.array([axis], np.int64)), **attributes)

    def columns(self, chosen: Indices) -> "Value":
        """Return some of its columns, in that order."""
        return self.graph.node("Gather", self, self.graph.constant(chosen.astype(np.int64)), axis=1)

    def as_number(self) -> "Value":
        """Return 0 for false and 1 for true."""
        return self.graph.node("Cast", self, to=TensorProto.DOUBLE)

    def expm1(self) -> "Value":
        """Return e^x - 1, accurate for small x."""
        small = self * ((self * ((self * ((self * 0.25) + 1.0) / 3.0) + 1.0) * 0.5) + 1.0)
        return self.graph.where(self.graph.node("Less", abs(self), 1e-3), small, self.exp() - 1.0)

    def log1p(self) -> "Value":
        """Return log(1 + x), accurate for small x: x log(u)/(u - 1), u = 1 + x, which is x where u is 1.

        [HIGHAM2002] Higham, Accuracy and stability of numerical algorithms, 2nd edition, section 1.14.1.
        """
        shifted = self + 1.0
        apart = shifted - 1.0
        at_one = self.graph.node("Equal", apart, 0.0)
        return self.graph.where(at_one, self, self * shifted.log() / self.graph.where(at_one, 1.0, apart))

    def sinh(self) -> "Value":
        """Return (e^x - e^-x)/2; runtimes may lack sinh in float64."""
        return (self.exp() - (-self).exp()) * 0.5

    def cosh(self) -> "Value":
        """(e^x + e^-x)/2."""
        return (self.exp() + (-self).exp()) * 0.5

    def asinh(self) -> "Value":
        """sign x log(|x| + sqrt(x^2 + 1))."""
        return self.graph.node("Sign", self) * (abs(self) + (self.square() + 1.0).sqrt()).log()

    def normal_share(self) -> "Value":
        """Return the standard normal distribution function, with relative error 1.2e-7.

        Runtimes have the error function only in float32. erfc(z) = t exp(-z^2 + P(t)), t = 1/(1 + z/2), z >= 0.
        """
        z = abs(self) * 0.5**0.5
        t = 1.0 / (z * 0.5 + 1.0)
        exponent = t * ERFC[-1]
        for coefficient in ERFC[-2:0:-1]:
            exponent = (exponent + coefficient) * t
        upper_tail = t * (exponent + ERFC[0] - z.square()).exp() * 0.5
        return self.graph.where(self.graph.node("Less", self, 0.0), upper_tail, 1.0 - upper_tail)

    def normal_quantile(self) -> "Value":
        """Return the standard normal quantile of a probability up to 1/2, with relative error 1e-15: see PPND16."""
        q, log = self - 0.5, self.log()
        middle, root = 0.180625 - q.square(), (-log).sqrt()
        near, far = root - 1.6, root - 5.0
        ends = [-_ratio(one, *PPND16[part]) for part, one in ((1, near), (2, far))]
        tail = self.graph.where(self.graph.node("LessOrEqual", root, 5.0), *ends)
        centre = q * _ratio(middle, *PPND16[0])
        return self.graph.where(self.graph.node("LessOrEqual", abs(q), 0.425), centre, tail)


def _ratio(x: Value, above: Sequence[float], below: Sequence[float]) -> Value:
    """Return the ratio of two polynomials, whose coefficients descend."""
    one, other = (reduce(lambda total, c: total * x + c, each[1:], x * 0.0 + each[0]) for each in (above, below))
    return one / other


def total(values: Sequence[Value]) -> Value:
    """Return the sum of at least one value."""
    return reduce(operator.add, values)


def product(values: Sequence[Value]) -> Value:
    """Return the product of at least one value."""
    return reduce(operator.mul, values)
