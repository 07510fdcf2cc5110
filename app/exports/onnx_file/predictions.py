"""The predictive distribution of each likelihood: the outputs by name, each (N, 1) or (N, K)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from app.exports.onnx_file.graph import Value
from app.exports.onnx_file.tracing import is_writable, written
from relevance_bayes.core.likelihoods import BernoulliPerClass, Likelihood
from relevance_bayes.core.likelihoods.base import NumberLikelihood, PredictsClasses
from relevance_bayes.core.likelihoods.gaussian import standard_quantile
from relevance_bayes.core.tracing import TRACING, Traced
from relevance_bayes.tables.encoding import EncodedTarget


@dataclass(frozen=True)
class Found:
    """The latent: `mean` (N, 1) or (N, K), the two parts of its variance and the noise sd, (N, 1)."""

    mean: Value
    weights: Value
    residual: Value
    noise_sd: Value

    @property
    def variance(self) -> Value:
        """Return the sum of both parts."""
        return self.weights + self.residual

    def corrected(self, factor: float) -> "Found":
        """Return the latent with all variances times `factor`."""
        return Found(self.mean, self.weights * factor, self.residual * factor, self.noise_sd * factor**0.5)


def outputs(
    likelihood: Likelihood,
    target: EncodedTarget,
    found: Found,
    degrees_of_freedom: float | None = None,
    variance_factor: float = 1.0,
) -> dict[str, Value]:
    """Return the outputs by name, in the user's units."""
    found = found if variance_factor == 1.0 else found.corrected(variance_factor)
    if isinstance(likelihood, NumberLikelihood):
        return _number(likelihood, target, found, standard_quantile(0.975, degrees_of_freedom))
    return _classes(likelihood, found.mean, found.variance, found.noise_sd.square())


def of_classes(likelihood: BernoulliPerClass, found: Sequence[Found]) -> dict[str, Value]:
    """Return the joint probabilities of one-against-all models of each class, from their latents."""
    graph = found[0].mean.graph
    mean, variance = (graph.beside(parts) for parts in ([one.mean for one in found], [one.variance for one in found]))
    return _classes(likelihood, mean, variance, found[0].noise_sd.square())


def _classes(likelihood: PredictsClasses, mean: Value, variance: Value, noise: Value) -> dict[str, Value]:
    """Return the likelihood's class probabilities, traced."""
    m, v, n = (Traced("parameter") for _ in range(3))
    probabilities = written(likelihood.probabilities(TRACING, m, v, n), {m: mean, v: variance, n: noise})
    return {"probabilities": probabilities, "latent_mean": mean, "latent_variance": variance}


def _parts(target: EncodedTarget, mean: Value, noise: Value, weights: Value, residual: Value) -> dict[str, Value]:
    parts = {"noise": noise, "weights": weights, "residual": residual}
    in_units = {f"variance_{name}": part * target.scale * target.scale for name, part in parts.items()}
    total = (noise + weights + residual) * target.scale * target.scale
    return {"mean": mean * target.scale + target.shift, "variance": total, **in_units}


def _number(likelihood: NumberLikelihood, target: EncodedTarget, found: Found, z: float) -> dict[str, Value]:
    """Return the likelihood's moments, and quantiles at -+z sds where it has them in closed form, traced."""
    m, v, n = (Traced("parameter") for _ in range(3))
    known = {m: found.mean, v: found.variance, n: found.noise_sd.square()}
    mean, noise, function = likelihood.moments(TRACING, m, v, n)
    weights, residual = found.weights, found.residual
    if function is not v:
        share = found.residual / known[v].at_least(float(np.finfo(float).tiny))
        spread = written(function, known)
        weights, residual = (1.0 - share) * spread, share * spread
    reported = _parts(target, written(mean, known), written(noise, known), weights, residual)
    ends = likelihood.ends(TRACING, m, v, n, z)
    if ends is None or not is_writable(ends):
        return reported
    lower, upper = (written(end, known) * target.scale + target.shift for end in ends)
    return reported | {"lower": lower, "upper": upper}
