"""Traced formulas as source text of numpy."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, count
from string import ascii_lowercase

import numpy as np

from relevance_bayes.core.tracing import Operand, Traced
from relevance_bayes.core.types import Array

INFIX = {
    "greater": (">", 0),
    "less_equal": ("<=", 0),
    "add": ("+", 1),
    "subtract": ("-", 1),
    "multiply": ("*", 2),
    "divide": ("/", 2),
    "matmul": ("@", 2),
}
"""Operators and how tightly they bind; ..."""

PREFIX, ATOM = 3, 4
"""... tighter binds a sign, and most tightly a name or a call."""

PIECES = frozenset({"expit", "ndtr"})
"""What numpy lacks: functions that generated files have of their own."""

LONGEST = 60
"""Characters of an expression above which it gets a name."""


def statements(
    formulas: Sequence[Traced], names: Mapping[Traced, str], constant: Callable[[Array], str] | None = None
) -> tuple[list[str], list[str]]:
    """Assignments of what is used more than once or is long, and the formulas' expressions.

    `names` are the parameters'; `constant` names an array of numbers, where formulas have some.
    """
    known, lines = {traced: (name, ATOM) for traced, name in names.items()}, list[str]()
    letters = chain(ascii_lowercase, (f"x{number}" for number in count(1)))
    free = (letter for letter in letters if letter not in names.values())
    counts, constants = _counts(formulas), dict[int, str]()

    def text(operand: Operand) -> tuple[str, int]:
        if isinstance(operand, np.ndarray):
            assert constant is not None, "expected a name for an array"
            if id(operand) not in constants:
                constants[id(operand)] = constant(operand)
            return constants[id(operand)], ATOM
        if not isinstance(operand, Traced):
            number = float(operand)
            return repr(number), PREFIX if number < 0.0 else ATOM
        if operand in known:
            return known[operand]
        made = _expression(operand, [text(one) for one in operand.operands])
        if counts[operand] > 1 or len(made[0]) > LONGEST:
            name = next(free)
            lines.append(f"{name} = {made[0]}")
            made = known[operand] = (name, ATOM)
        return made

    expressions = [text(formula)[0] for formula in formulas]
    return lines, expressions


def has_part(formula: Traced, part: Traced) -> bool:
    """Whether a formula is that part, or has it."""
    return part is formula or part in _counts([formula])


def _expression(traced: Traced, operands: list[tuple[str, int]]) -> tuple[str, int]:
    operation = traced.operation
    if operation == "negative":
        return f"-{_bound(*operands[0], PREFIX)}", PREFIX
    if operation in INFIX:
        sign, binding = INFIX[operation]
        left, right = operands
        return f"{_bound(*left, binding)} {sign} {_bound(*right, binding + 1)}", binding
    arguments = [one for one, _ in operands]
    if operation == "expand_dims":
        arguments.append(str(traced.axis))
    elif traced.axis is not None:
        arguments += [f"axis={traced.axis}", f"keepdims={traced.keepdims}"]
    return f"{'' if operation in PIECES else 'np.'}{operation}({', '.join(arguments)})", ATOM


def _bound(text: str, binding: int, least: int) -> str:
    return text if binding >= least else f"({text})"


def _counts(formulas: Sequence[Traced]) -> Counter[Traced]:
    """How often each part is an operand, or a formula itself."""
    counts = Counter(formulas)
    seen, waiting = set(formulas), list(counts)
    while waiting:
        for part in _parts(waiting.pop()):
            counts[part] += 1
            if part not in seen:
                seen.add(part)
                waiting.append(part)
    return counts


def _parts(traced: Traced) -> Iterator[Traced]:
    return (operand for operand in traced.operands if isinstance(operand, Traced))
