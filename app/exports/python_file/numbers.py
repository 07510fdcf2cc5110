"""Predictions of numbers in generated files: the likelihood's formulas, traced."""

from statistics import NormalDist

from app.exports.python_file.formulas import called
from app.exports.python_file.writing import Program
from relevance_bayes.core.likelihoods.base import NumberLikelihood
from relevance_bayes.core.tracing import TRACING, Traced

Z_95 = NormalDist().inv_cdf(0.975)

ARGUMENTS = {"m": "mean", "v": "weights + beyond", "n": "noise_sd**2"}
"""The latent's mean and variance and the noise variance, each (N,), by the names of the formulas' parameters."""


def number_members(program: Program, likelihood: NumberLikelihood, units: str) -> str:
    """Return the expression of mean, variance and its parts, and of an interval if there is one; `units` are the
    target's."""
    m, v, n = (Traced(name) for name in ARGUMENTS)
    names = {m: ("m", ARGUMENTS["m"]), v: ("v", ARGUMENTS["v"]), n: ("n", ARGUMENTS["n"])}
    moments, ends = likelihood.moments(TRACING, m, v, n), likelihood.ends(TRACING, m, v, n, Z_95)
    if moments == (m, n, v):
        reported = [f"in_units(mean, noise_sd**2, weights, beyond, {units})"]
    else:
        described = "Return the mean of a new observation, its noise variance, and the variance due to the function."
        call = called(program, "moments", described, moments, names)
        reported = [f"of_moments({call}, weights, beyond, {units})"]
    if ends is not None:
        call = called(program, "ends", "Return the bounds of a new observation with probability 0.95.", ends, names)
        reported.append(f"between(*{call}, {units})")
    return reported[0] if len(reported) == 1 else "(\n        " + "\n        | ".join(reported) + "\n    )"
