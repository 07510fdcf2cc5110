"""Traced formulas as source text of numpy."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import chain, count
from string import ascii_lowercase

import numpy as np

from relevance_bayes.core.tracing import Loop, Operand, Traced, parts_of
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
"""Binary operators and their precedence."""

PREFIX, ATOM = 3, 4
"""The precedence of a sign, and of a name or a call."""

PIECES = frozenset({"expit", "ndtr"})
"""Operations that numpy lacks, which generated files define."""

MAX_INLINE_LENGTH = 60
"""The maximum length of an expression that is not assigned to a name."""


def statements(
    formulas: Sequence[Traced], names: Mapping[Traced, str], constant: Callable[[Array], str] | None = None
) -> tuple[list[str], list[str]]:
    """Return assignments of subexpressions that are used more than once or are long, and the formulas' expressions.

    `names` are the parameters'; `constant` names an array of numbers, where formulas have some.
    """
    written = _Statements(formulas, names, constant)
    expressions = [written.text(formula)[0] for formula in formulas]
    return written.lines, expressions


class _Statements:
    """The lines written so far, and the names of their values."""

    def __init__(
        self, formulas: Sequence[Traced], names: Mapping[Traced, str], constant: Callable[[Array], str] | None
    ) -> None:
        self.lines, self._indent = list[str](), ""
        self._known = {traced: (name, ATOM) for traced, name in names.items()}
        letters = chain(ascii_lowercase, (f"x{number}" for number in count(1)))
        self._free = (letter for letter in letters if letter not in names.values())
        self._counts, self._constant, self._constants = _counts(formulas), constant, dict[int, str]()

    def text(self, operand: Operand) -> tuple[str, int]:
        """Return an expression, and its precedence."""
        if isinstance(operand, np.ndarray):
            return self._named_array(operand), ATOM
        if not isinstance(operand, Traced):
            number = float(operand)
            return repr(number), PREFIX if number < 0.0 else ATOM
        if operand not in self._known and operand.loop is not None:
            self._iterate(operand, operand.loop)
        if operand in self._known:
            return self._known[operand]
        made = _expression(operand, [self.text(one) for one in operand.operands])
        return self._named(operand, made[0]) if self._counts[operand] > 1 or len(made[0]) > MAX_INLINE_LENGTH else made

    def _named(self, traced: Traced, expression: str) -> tuple[str, int]:
        name = next(self._free)
        self._add(f"{name} = {expression}")
        self._known[traced] = (name, ATOM)
        return name, ATOM

    def _named_array(self, numbers: Array) -> str:
        assert self._constant is not None, "expected a name for an array"
        if id(numbers) not in self._constants:
            self._constants[id(numbers)] = self._constant(numbers)
        return self._constants[id(numbers)]

    def _iterate(self, traced: Traced, loop: Loop) -> None:
        """Write a loop, after the subexpressions that do not change in it."""
        start, unit = (self.text(one)[0] for one in traced.operands)
        waiting = [loop.body]
        while waiting:
            for part in waiting.pop().parts:
                if loop.parameter in parts_of([part]):
                    waiting.append(part)
                elif part not in self._known:
                    expression, _ = self.text(part)
                    if part not in self._known:
                        self._named(part, expression)
        name, _ = self._known[loop.parameter] = self._named(traced, start)
        self._add(f"for _ in range({loop.max_steps}):")
        self._indent = "    "
        self._add(f"last, {name} = {name}, {self.text(loop.body)[0]}")
        self._add(f"if np.all(np.abs({name} - last) <= {loop.tolerance!r} * (np.abs({name}) + {unit})):")
        self._add("    break")
        self._indent = ""

    def _add(self, line: str) -> None:
        self.lines.append(f"{self._indent}{line}")


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


def _bound(text: str, binding: int, minimum: int) -> str:
    return text if binding >= minimum else f"({text})"


def _counts(formulas: Sequence[Traced]) -> Counter[Traced]:
    """Return how often each part is an operand, or a formula itself."""
    counts = Counter(formulas)
    for one in parts_of(formulas):
        counts.update(one.parts)
    return counts
