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


def total(values: Sequence[Value]) -> Value:
    """Return the sum of at least one value."""
    return reduce(operator.add, values)


def product(values: Sequence[Value]) -> Value:
    """Return the product of at least one value."""
    return reduce(operator.mul, values)
