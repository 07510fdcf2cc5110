"""The predictive distribution of each likelihood: the outputs by name, each (N, 1) or (N, K)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from app.exports.onnx_file.graph import Value
from app.exports.onnx_file.tracing import is_writable, written
from relevance_bayes.core.likelihoods import BernoulliPerClass, Hurdle, Likelihood
from relevance_bayes.core.likelihoods.base import NumberLikelihood, PredictsClasses
from relevance_bayes.core.likelihoods.gaussian import standard_quantile
from relevance_bayes.core.likelihoods.hurdle import MIN_PROBABILITY, hurdle_moments
from relevance_bayes.core.likelihoods.log_gaussian import MAX_LOG
from relevance_bayes.core.model import Model
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


def of_hurdle(positive: Model, target: EncodedTarget, zero: Found, above: Found) -> dict[str, Value]:
    """Return the outputs of a hurdle, from the latents of zeros and of positive numbers; bounds only where these are
    log-normal, since ONNX has no quantiles of Student's t."""
    graph, freedom = zero.mean.graph, positive.degrees_of_freedom
    above = above if freedom is None else above.corrected(positive.variance_factor)
    classes = _classes(Hurdle.zero, zero.mean, zero.variance, zero.noise_sd.square())
    p = classes["probabilities"].columns(np.array([1])).at_least(MIN_PROBABILITY).at_most(1.0 - MIN_PROBABILITY)
    of_zero = zero.mean, zero.variance, zero.residual / zero.variance.at_least(float(np.finfo(float).tiny))
    one = _number(Hurdle.positive, target, above, 0.0)
    given = (p, *of_zero, one["mean"], *(one[f"variance_{part}"] for part in ("noise", "weights", "residual")))
    z, m, v, s, e, n, w, r = parameters = [Traced("parameter") for _ in given]
    known = dict(zip(parameters, given, strict=True))
    reported = _parts(target, *(written(one, known) for one in hurdle_moments(TRACING, z, (m, v, s), e, (n, w, r))))
    if freedom is not None:
        return reported
    sd, once = (above.variance + above.noise_sd.square()).sqrt(), 1.0 - p
    for name, level in (("lower", 0.025), ("upper", 0.975)):
        below, tail = (level - p).at_least(0.0) / once, ((1.0 - level) / once).at_most(1.0)
        far = graph.node("Min", below, tail).at_least(1e-30).normal_quantile()
        signed = graph.where(graph.node("LessOrEqual", below, tail), far, -far)
        end = (above.mean + signed * sd).at_least(-MAX_LOG).at_most(MAX_LOG).exp()
        reported[name] = graph.where(graph.node("GreaterOrEqual", p, level), 0.0, end)
    return reported


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
