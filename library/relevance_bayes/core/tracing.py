"""Formulas that are evaluated and also recorded: functions of an array namespace `xp` that is passed in.

With numpy as `xp` a formula computes; with `TRACING` it records a graph of operations of the Python array API standard
(2024.12), which exports write in other languages. Formulas that
need more than functions of single numbers have an `ExtendedNamespace`: `NUMPY` (`numpy_namespace.py`) computes them.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol, TypeAlias, TypeVar

from relevance_bayes.core.types import Array, Mask


@dataclass(frozen=True, eq=False)
class Traced:
    """An array that is not computed: an operation and its operands; one without operands is a parameter.

    `axis` is that of sums and maxima, kept with length 1 where `keepdims`; or the position of a new axis.
    """

    operation: str
    operands: "tuple[Operand, ...]" = ()
    axis: int | None = None
    keepdims: bool = True
    loop: "Loop | None" = None

    __array_ufunc__ = None
    """Operators of numpy's arrays defer to the traced operand."""

    @property
    def parts(self) -> "Iterator[Traced]":
        """The operands that it is computed from."""
        yield from (operand for operand in self.operands if isinstance(operand, Traced))
        if self.loop is not None:
            yield self.loop.body

    def __add__(self, other: "Operand") -> "Traced":
        return Traced("add", (self, other))

    def __radd__(self, other: "float | Array") -> "Traced":
        return Traced("add", (other, self))

    def __sub__(self, other: "Operand") -> "Traced":
        return Traced("subtract", (self, other))

    def __rsub__(self, other: "float | Array") -> "Traced":
        return Traced("subtract", (other, self))

    def __mul__(self, other: "Operand") -> "Traced":
        return Traced("multiply", (self, other))

    def __rmul__(self, other: "float | Array") -> "Traced":
        return Traced("multiply", (other, self))

    def __truediv__(self, other: "Operand") -> "Traced":
        return Traced("divide", (self, other))

    def __rtruediv__(self, other: "float | Array") -> "Traced":
        return Traced("divide", (other, self))

    def __neg__(self) -> "Traced":
        return Traced("negative", (self,))

    def __le__(self, other: "Operand") -> "Traced":
        return Traced("less_equal", (self, other))

    def __gt__(self, other: "Operand") -> "Traced":
        return Traced("greater", (self, other))


Operand: TypeAlias = Traced | float | Array


@dataclass(frozen=True, eq=False)
class Loop:
    """An iteration, whose operands are its start and the unit of its changes: see `fixed_point`."""

    parameter: Traced
    body: Traced
    tolerance: float
    max_steps: int


def parts_of(formulas: Iterable[Traced]) -> set[Traced]:
    """The formulas and all their operands, recursively."""
    found, waiting = set[Traced](), list(formulas)
    while waiting:
        one = waiting.pop()
        if one not in found:
            found.add(one)
            waiting.extend(one.parts)
    return found


A = TypeVar("A", Array, Traced)
"""The operands of a formula: arrays that broadcast against each other, or their record."""

S = TypeVar("S")


class Namespace(Protocol[S]):
    """The functions of an array namespace that formulas may use; numpy is one."""

    def abs(self, x: S, /) -> S:
        """|x|."""
        ...

    def exp(self, x: S, /) -> S:
        """e^x."""
        ...

    def expm1(self, x: S, /) -> S:
        """e^x - 1."""
        ...

    def log(self, x: S, /) -> S:
        """log x."""
        ...

    def log1p(self, x: S, /) -> S:
        """log(1 + x)."""
        ...

    def sqrt(self, x: S, /) -> S:
        """sqrt x."""
        ...

    def square(self, x: S, /) -> S:
        """x^2."""
        ...

    def sin(self, x: S, /) -> S:
        """sin x."""
        ...

    def cos(self, x: S, /) -> S:
        """cos x."""
        ...

    def tanh(self, x: S, /) -> S:
        """tanh x."""
        ...

    def sign(self, x: S, /) -> S:
        """-1, 0 or 1."""
        ...

    def round(self, x: S, /) -> S:
        """The nearest whole number, the even one of a tie."""
        ...

    def minimum(self, x: "S | float", y: "S | float", /) -> S:
        """The lesser of two."""
        ...

    def maximum(self, x: "S | float", y: "S | float", /) -> S:
        """The greater of two."""
        ...

    def where(self, condition: "S | Mask", x: "S | float", y: "S | float", /) -> S:
        """x where the condition holds, else y."""
        ...


class ExtendedNamespace(Namespace[S], Protocol[S]):
    """A namespace that has special functions and sums over axes too."""

    def expit(self, x: S, /) -> S:
        """1/(1 + e^-x)."""
        ...

    def ndtr(self, x: S, /) -> S:
        """The standard normal distribution function."""
        ...

    def matmul(self, x: S, y: Array, /) -> S:
        """The product with a matrix, or with a vector, over the last axis."""
        ...

    def expand_dims(self, x: S, /, *, axis: int) -> S:
        """x with an axis of length 1 at this place of the result."""
        ...

    def sum(self, x: S, /, *, axis: int, keepdims: bool) -> S:
        """The sum along one axis."""
        ...

    def max(self, x: S, /, *, axis: int, keepdims: bool) -> S:
        """The greatest along one axis."""
        ...

    def apply_where(
        self, condition: "S | Mask", one: "Formula[S]", other: "Formula[S]", x: S, y: S, /, *, cells: int
    ) -> S:
        """one(xp, x, y) where the condition holds, else the other: of the shape of x.

        The condition (N, 1) is one for each row of x (N, k) and y (N, 1); or all have one shape, and it is one for each
        element. Both must be finite wherever they are evaluated: an export evaluates both everywhere. `cells` is
        the most elements of x in one call.
        """
        ...

    def fixed_point(self, step: Callable[[S], S], start: S, unit: S, /, *, tolerance: float, max_steps: int) -> S:
        """step(...step(step(start))), until no element changes by more than `tolerance` of itself and its `unit`."""
        ...


Formula: TypeAlias = Callable[[ExtendedNamespace[S], S, S], S]


class Tracing:
    """The namespace that records."""

    def abs(self, x: Traced, /) -> Traced:
        return Traced("abs", (x,))

    def exp(self, x: Traced, /) -> Traced:
        return Traced("exp", (x,))

    def expm1(self, x: Traced, /) -> Traced:
        return Traced("expm1", (x,))

    def log(self, x: Traced, /) -> Traced:
        return Traced("log", (x,))

    def log1p(self, x: Traced, /) -> Traced:
        return Traced("log1p", (x,))

    def sqrt(self, x: Traced, /) -> Traced:
        return Traced("sqrt", (x,))

    def square(self, x: Traced, /) -> Traced:
        return Traced("square", (x,))

    def sin(self, x: Traced, /) -> Traced:
        return Traced("sin", (x,))

    def cos(self, x: Traced, /) -> Traced:
        return Traced("cos", (x,))

    def tanh(self, x: Traced, /) -> Traced:
        return Traced("tanh", (x,))

    def sign(self, x: Traced, /) -> Traced:
        return Traced("sign", (x,))

    def round(self, x: Traced, /) -> Traced:
        return Traced("round", (x,))

    def minimum(self, x: Traced | float, y: Traced | float, /) -> Traced:
        return Traced("minimum", (x, y))

    def maximum(self, x: Traced | float, y: Traced | float, /) -> Traced:
        return Traced("maximum", (x, y))

    def where(self, condition: Traced | Mask, x: Traced | float, y: Traced | float, /) -> Traced:
        assert isinstance(condition, Traced), "expected a condition on what is traced"
        return Traced("where", (condition, x, y))

    def expit(self, x: Traced, /) -> Traced:
        return Traced("expit", (x,))

    def ndtr(self, x: Traced, /) -> Traced:
        return Traced("ndtr", (x,))

    def matmul(self, x: Traced, y: Array, /) -> Traced:
        return Traced("matmul", (x, y))

    def expand_dims(self, x: Traced, /, *, axis: int) -> Traced:
        return Traced("expand_dims", (x,), axis)

    def sum(self, x: Traced, /, *, axis: int, keepdims: bool) -> Traced:
        return Traced("sum", (x,), axis, keepdims)

    def max(self, x: Traced, /, *, axis: int, keepdims: bool) -> Traced:
        return Traced("max", (x,), axis, keepdims)

    def apply_where(
        self,
        condition: Traced | Mask,
        one: Formula[Traced],
        other: Formula[Traced],
        x: Traced,
        y: Traced,
        /,
        *,
        cells: int,
    ) -> Traced:
        return self.where(condition, one(self, x, y), other(self, x, y))

    def fixed_point(
        self, step: Callable[[Traced], Traced], start: Traced, unit: Traced, /, *, tolerance: float, max_steps: int
    ) -> Traced:
        parameter = Traced("parameter")
        loop = Loop(parameter, step(parameter), tolerance, max_steps)
        return Traced("fixed_point", (start, unit), loop=loop)


TRACING = Tracing()
