"""Formulas that are evaluated and also recorded: functions of an array namespace `xp` that is handed in.

With numpy itself as `xp` a formula computes; with `TRACING` it records what it would compute, as a graph of the
operations of the Python array API standard (2024.12), which exports write down in languages of their own.
"""

from dataclasses import dataclass
from typing import Protocol, TypeVar

from relevance_bayes.core.types import Array, Mask


@dataclass(frozen=True, eq=False)
class Traced:
    """An array that has not been computed: an operation, and what it is of; one without operands is a parameter."""

    operation: str
    operands: "tuple[Traced | float, ...]" = ()

    def __add__(self, other: "Traced | float") -> "Traced":
        return Traced("add", (self, other))

    def __radd__(self, other: float) -> "Traced":
        return Traced("add", (other, self))

    def __sub__(self, other: "Traced | float") -> "Traced":
        return Traced("subtract", (self, other))

    def __rsub__(self, other: float) -> "Traced":
        return Traced("subtract", (other, self))

    def __mul__(self, other: "Traced | float") -> "Traced":
        return Traced("multiply", (self, other))

    def __rmul__(self, other: float) -> "Traced":
        return Traced("multiply", (other, self))

    def __truediv__(self, other: "Traced | float") -> "Traced":
        return Traced("divide", (self, other))

    def __rtruediv__(self, other: float) -> "Traced":
        return Traced("divide", (other, self))

    def __neg__(self) -> "Traced":
        return Traced("negative", (self,))

    def __gt__(self, other: "Traced | float") -> "Traced":
        return Traced("greater", (self, other))


A = TypeVar("A", Array, Traced)
"""What a formula is of: arrays that broadcast against each other, or their record."""

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
        """The nearest whole number, an even one of two."""
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


TRACING = Tracing()
