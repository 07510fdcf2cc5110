"""What is predicted of a number: the likelihood's own formulas, traced."""

from collections.abc import Mapping, Sequence
from statistics import NormalDist

from app.exports.python_file.tracing import has_part, statements
from app.exports.python_file.writing import Program
from relevance_bayes.core.likelihoods import StudentT
from relevance_bayes.core.likelihoods.numbers import NumberLikelihood
from relevance_bayes.core.tracing import TRACING, Traced

Z_95 = NormalDist().inv_cdf(0.975)

ARGUMENTS = {"m": "mean", "v": "weights + beyond", "n": "noise_sd**2"}
"""The latent's mean and variance and the noise's, by the names of the parameters that they are of."""


def number_members(program: Program, likelihood: NumberLikelihood, units: str) -> str:
    """The expression of mean, variance and its parts, and of an interval if there is one; `units` are the target's."""
    m, v, n = (Traced(name) for name in ARGUMENTS)
    names = {m: "m", v: "v", n: "n"}
    moments, ends = likelihood.moments(TRACING, m, v, n), likelihood.ends(TRACING, m, v, n, Z_95)
    if moments == (m, n, v):
        told = [f"in_units(mean, noise_sd**2, weights, beyond, {units})"]
    else:
        described = "Of a new observation: the mean, its own variance, and what the function's adds."
        called = _called(program, "moments", described, moments, names)
        told = [f"of_moments({called}, weights, beyond, {units})"]
    if ends is not None:
        called = _called(program, "ends", "What it lies between with probability 0.95.", ends, names)
        told.append(f"between(*{called}, {units})")
    if isinstance(likelihood, StudentT):
        found = f"heavy_tailed(mean, noise_sd**2, weights + beyond, {likelihood.dof_or_first!r})"
        told.append(f"between(*{found}, {units})")
    return told[0] if len(told) == 1 else "(\n        " + "\n        | ".join(told) + "\n    )"


def _called(
    program: Program, name: str, described: str, formulas: Sequence[Traced], names: Mapping[Traced, str]
) -> str:
    """The call of a function of some parameters, those that its formulas have."""
    needed = [text for traced, text in names.items() if any(has_part(one, traced) for one in formulas)]
    shared, whole = statements(formulas, names)
    body = "".join(f"    {line}\n" for line in [f'"""{described}"""', *shared, f"return {', '.join(whole)}"])
    taken = program.function(name, f"({', '.join(f'{one}: Array' for one in needed)}) -> tuple[Array, ...]", body[:-1])
    return f"{taken}({', '.join(ARGUMENTS[one] for one in needed)})"
