"""The likelihood's formulas as functions of the generated file, traced, and the predictions that call them."""

from collections.abc import Mapping, Sequence

from app.exports.python_file.tracing import statements
from app.exports.python_file.writing import Program
from relevance_bayes.core.likelihoods import Hurdle
from relevance_bayes.core.likelihoods.base import NumberLikelihood, PredictsClasses
from relevance_bayes.core.likelihoods.gaussian import standard_quantile
from relevance_bayes.core.likelihoods.hurdle import MIN_PROBABILITY, hurdle_moments
from relevance_bayes.core.tracing import TRACING, Traced, parts_of


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
