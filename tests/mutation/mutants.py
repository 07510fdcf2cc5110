"""Mutants: a source text with one comparison, condition, threshold, sign, warning or error altered."""

import ast
from collections import Counter
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from hashlib import sha256
from typing import Self

COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
CONDITIONS: dict[type[ast.boolop], type[ast.boolop]] = {ast.And: ast.Or, ast.Or: ast.And}
SIGNS: dict[type[ast.operator], type[ast.operator]] = {ast.Add: ast.Sub, ast.Sub: ast.Add}

MANY = 100
"""From it on a threshold is doubled, not raised by one."""


@dataclass(frozen=True, order=True)
class Mutant:
    """An expression or statement, and its replacement; `occurrence` counts equals in the same function and variable.

    It is found again wherever these move in the file.
    """

    path: str
    function: str
    original: str
    replacement: str
    occurrence: int

    @property
    def line(self) -> str:
        """The mutant as a line of a list."""
        return "\t".join((self.path, self.function, str(self.occurrence), self.original, self.replacement))

    @classmethod
    def of(cls, line: str) -> Self:
        """Read a line of a list."""
        path, function, occurrence, original, replacement = line.split("\t")
        return cls(path, function, original, replacement, int(occurrence))

    @property
    def rank(self) -> bytes:
        """The position among the mutants of a file, as if by chance."""
        return sha256(self.line.encode()).digest()


def mutated_texts(path: str, text: str) -> dict[Mutant, str]:
    """The text of a file with each of its mutants."""
    starts = [0]
    for line in text.encode().splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    found: dict[Mutant, str] = {}
    counts: Counter[tuple[str, str, str]] = Counter()
    for function, node, new in _replacements(ast.parse(text), ""):
        key = function, _one_line(node), _one_line(new)
        first = starts[node.lineno - 1] + node.col_offset
        last = starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)
        lost = "\n" * ((node.end_lineno or node.lineno) - node.lineno)  # all other lines keep their numbers
        written = ast.unparse(new) + lost if isinstance(new, ast.stmt) else f"({ast.unparse(new)}{lost})"
        source = text.encode()
        found[Mutant(path, *key, counts[key])] = (source[:first] + written.encode() + source[last:]).decode()
        counts[key] += 1
    return found


Replaced = ast.expr | ast.stmt


def _one_line(node: ast.AST) -> str:
    return " ".join(ast.unparse(node).split())


def _replacements(node: ast.AST, function: str) -> Iterator[tuple[str, Replaced, Replaced]]:
    """Each node that can be replaced, with the qualified name of its function, and its replacement."""
    if isinstance(node, ast.JoinedStr):
        return
    if isinstance(node, ast.Raise):
        if node.exc is not None:
            yield function, node, ast.Pass()
        return  # its message is no decision
    if isinstance(node, ast.Expr | ast.AugAssign) and "Warning(" in ast.unparse(node):
        yield function, node, ast.Pass()
    if isinstance(node, ast.expr):
        yield from ((function, node, new) for new in _altered(node))
    inside = function
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        inside = f"{function}.{node.name}".lstrip(".")
    if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.expr):
        inside = f"{function}.{ast.unparse(node.targets[0] if isinstance(node, ast.Assign) else node.target)}".lstrip(
            "."
        )
    for name, value in ast.iter_fields(node):
        if name in {"annotation", "returns", "decorator_list", "slice"}:
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _replacements(child, inside)
                if isinstance(child, ast.Constant) and _is_threshold(node, name):
                    yield from ((inside, child, new) for new in _raised(child))


def _altered(node: ast.expr) -> Iterator[ast.expr]:
    new = copy(node)
    match node, new:
        case ast.Compare(ops=[one]), ast.Compare():
            new.ops = [COMPARISONS[type(one)]()]
            yield new
        case ast.BoolOp(op=condition), ast.BoolOp():
            new.op = CONDITIONS[type(condition)]()
            yield new
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand), _:
            yield operand
        case ast.BinOp(op=ast.Add() | ast.Sub() as sign, left=left, right=right), ast.BinOp():
            if not any(
                isinstance(side, ast.JoinedStr | ast.List | ast.Tuple) or _is_text(side) for side in (left, right)
            ):
                new.op = SIGNS[type(sign)]()
                yield new


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)


def _is_threshold(parent: ast.AST, name: str) -> bool:
    """Return whether a number is compared, assigned, a default or an argument by name."""
    return isinstance(parent, ast.Compare | ast.Assign | ast.AnnAssign | ast.keyword | ast.arguments) or (
        isinstance(parent, ast.Tuple | ast.BinOp | ast.IfExp) and name != "test"
    )


def _raised(node: ast.Constant) -> Iterator[ast.expr]:
    value = node.value
    if isinstance(value, bool) or not isinstance(value, int | float):
        return
    if isinstance(value, int):
        yield ast.Constant(value + 1 if abs(value) < MANY else 2 * value)
    else:
        yield ast.Constant(2.0 * value if value else 1.0)
