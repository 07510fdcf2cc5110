"""Traced formulas as nodes of ONNX."""

from collections.abc import Callable

from app.exports.onnx_file.graph import Operand, Value
from relevance_bayes.core.tracing import Traced

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
    "where": "Where",
}
"""The operators of ONNX by the array API's names."""

OTHERS: dict[str, Callable[[Value], Value]] = {
    "square": lambda x: x.square(),
    "expm1": lambda x: x.expm1(),
    "log1p": lambda x: x.log1p(),
}
"""What ONNX has no operator for."""


def written(formula: Traced, known: dict[Traced, Value]) -> Value:
    """The value of a formula; `known` has those of its parameters, and takes in those of its parts."""
    graph = next(iter(known.values())).graph

    def of(operand: Traced | float) -> Operand:
        if not isinstance(operand, Traced):
            return float(operand)
        if operand not in known:
            known[operand] = made(operand)
        return known[operand]

    def made(traced: Traced) -> Value:
        operands = [of(one) for one in traced.operands]
        if traced.operation in OTHERS:
            (operand,) = operands
            assert isinstance(operand, Value), "expected a function of what is traced"
            return OTHERS[traced.operation](operand)
        return graph.node(OPERATORS[traced.operation], *operands)

    found = of(formula)
    assert isinstance(found, Value), "expected a formula, got a number"
    return found
