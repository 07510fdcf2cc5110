"""Traced formulas as source text of numpy."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from string import ascii_lowercase

from relevance_bayes.core.tracing import Traced

INFIX = {"greater": (">", 0), "add": ("+", 1), "subtract": ("-", 1), "multiply": ("*", 2), "divide": ("/", 2)}
"""Operators and how tightly they bind; ..."""

PREFIX, ATOM = 3, 4
"""... tighter binds a sign, and most tightly a name or a call."""


def statements(formulas: Sequence[Traced], names: Mapping[Traced, str]) -> tuple[list[str], list[str]]:
    """Assignments of what is used more than once, and the formulas' expressions; `names` are the parameters'."""
    known, lines = {traced: (name, ATOM) for traced, name in names.items()}, list[str]()
    free = (letter for letter in ascii_lowercase if letter not in names.values())
    counts = _counts(formulas)

    def text(operand: Traced | float) -> tuple[str, int]:
        if not isinstance(operand, Traced):
            number = float(operand)
            return repr(number), PREFIX if number < 0.0 else ATOM
        if operand in known:
            return known[operand]
        made = _expression(operand.operation, [text(one) for one in operand.operands])
        if counts[operand] > 1:
            name = next(free)
            lines.append(f"{name} = {made[0]}")
            made = known[operand] = (name, ATOM)
        return made

    expressions = [text(formula)[0] for formula in formulas]
    return lines, expressions


def has_part(formula: Traced, part: Traced) -> bool:
    """Whether a formula is that part, or has it."""
    return part is formula or part in _counts([formula])


def _expression(operation: str, operands: list[tuple[str, int]]) -> tuple[str, int]:
    if operation == "negative":
        return f"-{_bound(*operands[0], PREFIX)}", PREFIX
    if operation in INFIX:
        sign, binding = INFIX[operation]
        left, right = operands
        return f"{_bound(*left, binding)} {sign} {_bound(*right, binding + 1)}", binding
    return f"np.{operation}({', '.join(one for one, _ in operands)})", ATOM


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
