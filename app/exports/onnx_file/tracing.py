"""Traced formulas as nodes of ONNX."""

from collections.abc import Callable, Iterable

import numpy as np

from app.exports.onnx_file.graph import Operand, Value
from relevance_bayes.core.tracing import Traced, parts_of
from relevance_bayes.core.types import Array

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
