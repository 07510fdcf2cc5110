"""Traced formulas as source text of numpy: a version's functions, and its likelihood's predictions."""

import inspect
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import chain, count
from string import ascii_lowercase
from textwrap import indent

import numpy as np

from app.exports.python_file.writing import Program
from relevance_bayes.core.basis import (
    ConstantFunction,
    Functions,
    GroupFunctions,
    InputFunctions,
    KernelFunctions,
    SingleFunctions,
)
from relevance_bayes.core.dictionaries import FourierFunctions, GaborFunctions, SplineFunctions, StepFunctions
from relevance_bayes.core.kernels import Additive, Kernel
from relevance_bayes.core.kernels.by_input import ByInput
from relevance_bayes.core.kernels.inner_product import InnerProduct
from relevance_bayes.core.kernels.radial import Radial
from relevance_bayes.core.likelihoods import Hurdle
from relevance_bayes.core.likelihoods.base import NumberLikelihood, PredictsClasses
from relevance_bayes.core.likelihoods.gaussian import standard_quantile
from relevance_bayes.core.likelihoods.hurdle import MIN_PROBABILITY, hurdle_moments
from relevance_bayes.core.tracing import TRACING, Loop, Operand, Traced, parts_of
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


def kernel_function(program: Program, kernel: Kernel) -> str:
    """Return the name of a function of U (N, d) and Z (M, d) that returns k (N, M)."""
    described = inspect.cleandoc(kernel.__doc__ or "").split("\n\n")[0]
    body = "\n".join([f'"""{described}"""', *_lines(kernel)])
    return program.function(kernel.type, "(U: Array, Z: Array) -> Array", indent(body, " " * 4))


def _lines(kernel: Kernel) -> list[str]:
    one, other = Traced("parameter"), Traced("parameter")
    match kernel:
        case Radial():
            return ["s = squares(U, Z)", *_returned(kernel.of_squares(TRACING, one), one, "s")]
        case InnerProduct():
            return ["p = U @ Z.T", *_returned(kernel.of_products(TRACING, one), one, "p")]
        case ByInput():
            start, sign = ("zeros", "+=") if kernel.combination == "sum" else ("ones", "*=")
            shared, (term,) = statements([kernel.term(TRACING, one, other)], {one: "u", other: "z"})
            return [
                f"total = np.{start}((len(U), len(Z)))",
                "for u, z in zip(U.T[:, :, None], Z.T):",
                *(f"    {line}" for line in [*shared, f"total {sign} {term}"]),
                *_returned(kernel.of_terms(TRACING, one), one, "total"),
            ]


def _returned(formula: Traced, parameter: Traced, name: str) -> list[str]:
    shared, (whole,) = statements([formula], {parameter: name})
    return [*shared, f"return {whole}"]


def expression(program: Program, functions: Functions) -> str:
    """Return an expression of all functions of a dictionary, one a column."""
    if isinstance(functions, GroupFunctions):
        return _single(program, functions.of, f"X[:, {functions.columns.tolist()!r}]")
    return _single(program, functions, "X")


def _single(program: Program, functions: SingleFunctions, seen: str) -> str:
    named = program.constant
    match functions:
        case KernelFunctions():
            return kernel_expression(program, functions, seen, "CENTRES")
        case ConstantFunction():
            return "bias(X)"
        case InputFunctions(columns=columns):
            return f"{seen}[:, {columns.tolist()!r}]"
        case StepFunctions(inputs=inputs, places=places):
            return f"steps({seen}, {named('STEP_INPUTS', inputs)}, {named('STEPS', places)})"
        case FourierFunctions():
            given = (named("WAVE_INPUTS", functions.inputs), named("ORIGINS", functions.origins))
            more = (named("FREQUENCIES", functions.frequencies), named("PHASES", functions.phases))
            return f"waves({', '.join((seen, *given, *more))})"
        case SplineFunctions():
            given = (named("SPLINE_INPUTS", functions.inputs), named("PLACES", functions.places))
            return f"b_splines({seen}, {functions.degree}, {', '.join(given)}, {named('SPANS', functions.spans)})"
        case GaborFunctions():
            given = (named("WAVELETS", functions.centres), named("SPANS", functions.spans))
            more = (named("FREQUENCIES", functions.frequencies), named("PHASES", functions.phases))
            return f"wavelets({', '.join((seen, *given, *more))})"


def kernel_expression(program: Program, functions: KernelFunctions, seen: str, name: str) -> str:
    """Return an expression of k(u(x), u(z)), with mapped centres z."""
    bend, kernel = functions.input_map, functions.kernel
    given = (program.constant("WIDTHS", bend.widths), program.constant("SKEW", bend.skew))
    bent = f"bent({seen}, {', '.join(given)}, {program.constant('TAIL', bend.tail)})"
    mapped = bend(functions.centres)
    if not isinstance(kernel, Additive):
        return f"{kernel_function(program, kernel)}({bent}, {program.constant(name, mapped)})"
    rest = np.setdiff1d(np.arange(mapped.shape[1]), kernel.alone).tolist()
    called, centres = kernel_function(program, kernel.kernel), program.constant(name, mapped)
    terms = [*(([place], share) for place, share in zip(kernel.alone, kernel.shares, strict=True))]
    each = [
        f"{share!r} * {called}({bent}[:, {inputs!r}], {centres}[:, {inputs!r}])"
        for inputs, share in [*terms, (rest, 1.0 - sum(kernel.shares))]
    ]
    return f"\n{' ' * 12}+ ".join(each)


def called(
    program: Program,
    name: str,
    described: str,
    formulas: Sequence[Traced],
    parameters: Mapping[Traced, tuple[str, str]],
) -> str:
    """Return a call of a generated function of the parameters that its formulas have; it returns a tuple of several.

    `parameters` have the name of each in the function, and the argument of the call.
    """
    parts = parts_of(formulas)
    needed = [reported for traced, reported in parameters.items() if traced in parts]
    names = {traced: own for traced, (own, _) in parameters.items()}
    shared, whole = statements(formulas, names, lambda numbers: program.constant("NUMBERS", numbers))
    body = "\n".join(f"    {line}" for line in [f'"""{described}"""', *shared, f"return {', '.join(whole)}"])
    returned = "Array" if len(formulas) == 1 else "tuple[Array, ...]"
    taken = program.function(name, f"({', '.join(f'{own}: Array' for own, _ in needed)}) -> {returned}", body)
    return f"{taken}({', '.join(given for _, given in needed)})"


ARGUMENTS = {"m": "mean", "v": "weights + residual", "n": "noise_sd**2"}
"""The latent's mean and variance and the noise variance, each (N,), by the names of the formulas' parameters."""


def number_members(
    program: Program, likelihood: NumberLikelihood, units: str, degrees_of_freedom: float | None = None
) -> str:
    """Return the expression of mean, variance and its parts, and of an interval if there is one; `units` are the
    target's."""
    z = standard_quantile(0.975, degrees_of_freedom)
    m, v, n = (Traced(name) for name in ARGUMENTS)
    names = {m: ("m", ARGUMENTS["m"]), v: ("v", ARGUMENTS["v"]), n: ("n", ARGUMENTS["n"])}
    moments, ends = likelihood.moments(TRACING, m, v, n), likelihood.ends(TRACING, m, v, n, z)
    if moments == (m, n, v):
        reported = [f"in_units(mean, noise_sd**2, weights, residual, {units})"]
    else:
        described = "Return the mean of a new observation, its noise variance, and the variance due to the function."
        call = called(program, "moments", described, moments, names)
        reported = [f"of_moments({call}, weights, residual, {units})"]
    if ends is not None:
        call = called(program, "ends", "Return the bounds of a new observation with probability 0.95.", ends, names)
        reported.append(f"between(*{call}, {units})")
    return reported[0] if len(reported) == 1 else "(\n        " + "\n        | ".join(reported) + "\n    )"


def hurdle_members(program: Program, likelihood: Hurdle) -> list[str]:
    """Return the lines of the probability of a `zero`, from its `mean`, `weights` and `residual`."""
    m, v, n = (Traced("parameter") for _ in range(3))
    parameters = {m: ("m", "columns_of(mean)"), v: ("v", "columns_of(weights + residual)")}
    formula = likelihood.zero.probabilities(TRACING, m, v, n)
    call = called(program, "probabilities", "Return class probabilities, (N, K).", [formula], parameters)
    bounds = f"{MIN_PROBABILITY!r}, {1.0 - MIN_PROBABILITY!r}"
    share = "np.divide(residual, variance, out=np.zeros_like(mean), where=variance > 0.0)"
    return [f"zero = np.clip({call}[:, 1], {bounds})", "variance = weights + residual", f"g = mean, variance, {share}"]


def hurdle_moments_of(program: Program) -> str:
    """Return the call of the moments, of `zero`, its latent `g`, and the mean and the parts of positive numbers."""
    parameters = [Traced(name) for name in ("z", "m", "v", "s", "e", "n", "w", "r")]
    z, m, v, s, e, n, w, r = parameters
    given = ("zero", "g[0]", "g[1]", "g[2]", "mean", "noise", "weights", "residual")
    described = "Return the mean of a new observation, and the variance by noise, weights and residual."
    formulas = hurdle_moments(TRACING, z, (m, v, s), e, (n, w, r))
    names = {one: (one.operation, argument) for one, argument in zip(parameters, given, strict=True)}
    return called(program, "moments_with_zeros", described, formulas, names)


def class_members(program: Program, likelihood: PredictsClasses, mean: str, variance: str) -> str:
    """Return the expression of probabilities and latents: `mean` and `variance` are of (N,) or (N, K) latents."""
    m, v, n = (Traced("parameter") for _ in range(3))
    parameters = {
        m: ("m", f"columns_of({mean})"),
        v: ("v", f"columns_of({variance})"),
        n: ("n", "columns_of(noise_sd**2)"),
    }
    formula = likelihood.probabilities(TRACING, m, v, n)
    probabilities = called(program, "probabilities", "Return class probabilities, (N, K).", [formula], parameters)
    members = {"probabilities": probabilities, "latent_mean": mean, "latent_variance": variance}
    return "{\n" + "".join(f'        "{name}": {value},\n' for name, value in members.items()) + "    }"
