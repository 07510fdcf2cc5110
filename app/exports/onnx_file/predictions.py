"""What each likelihood makes of the latent: the outputs by name, each (N, 1) or (N, K)."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from app.exports.onnx_file.graph import Value
from app.exports.onnx_file.tracing import written
from relevance_bayes.core.errors import SparseBayesError
from relevance_bayes.core.likelihoods import (
    Bernoulli,
    BernoulliPerClass,
    Categorical,
    Likelihood,
    LogVariance,
    OneAgainstRest,
)
from relevance_bayes.core.likelihoods.bernoulli import NARROW
from relevance_bayes.core.likelihoods.integrated_softmax import (
    GAUSSIAN_POINTS,
    GAUSSIAN_WEIGHTS,
    GUMBEL_POINTS,
    GUMBEL_VARIANCE,
    GUMBEL_WEIGHTS,
    MAX_EXPONENT,
    NARROW_SD,
    PLACES,
)
from relevance_bayes.core.likelihoods.numbers import NumberLikelihood
from relevance_bayes.core.likelihoods.one_against_rest import SLOPE
from relevance_bayes.core.likelihoods.temperature import TINY, Temperature, temperature_of
from relevance_bayes.core.tracing import TRACING, Traced
from relevance_bayes.tables.encoding import EncodedTarget

Z_95 = NormalDist().inv_cdf(0.975)


@dataclass(frozen=True)
class Found:
    """The latent: `mean` (N, 1) or (N, K), both parts of its variance and the noise's sd, (N, 1)."""

    mean: Value
    weights: Value
    beyond: Value
    noise_sd: Value

    @property
    def variance(self) -> Value:
        """Both parts."""
        return self.weights + self.beyond


def outputs(likelihood: Likelihood, target: EncodedTarget, found: Found) -> dict[str, Value]:
    """In the user's units."""
    match likelihood:
        case LogVariance():
            raise SparseBayesError("expected the function of a target, got that of its noise")
        case NumberLikelihood():
            return _number(likelihood, target, found)
        case Bernoulli(temperature=temperature):
            return _told(found, tempered(_two_classes(found), temperature))
        case Categorical(temperature=temperature):
            averaged = integrated_softmax(found.mean, found.variance, likelihood.latents)
            return _told(found, tempered(averaged, temperature))
        case OneAgainstRest(temperature=temperature):
            sd = (found.noise_sd.square() + found.variance).sqrt()
            return _told(found, softmax(found.mean * (SLOPE / temperature_of(temperature) / sd)))


def of_classes(likelihood: BernoulliPerClass, found: Sequence[Found]) -> dict[str, Value]:
    """What models of each class against all others tell together, their latents side by side."""
    graph = found[0].mean.graph
    alone = graph.beside([sigmoid_share(one.mean, one.variance) for one in found]).at_least(TINY)
    probabilities = tempered(alone / graph.sum(alone, 1), likelihood.temperature)
    return {
        "probabilities": probabilities,
        "latent_mean": graph.beside([one.mean for one in found]),
        "latent_variance": graph.beside([one.variance for one in found]),
    }


def _parts(target: EncodedTarget, mean: Value, noise: Value, weights: Value, beyond: Value) -> dict[str, Value]:
    parts = {"noise": noise, "weights": weights, "residual": beyond}
    in_units = {f"variance_{name}": part * target.scale * target.scale for name, part in parts.items()}
    total = (noise + weights + beyond) * target.scale * target.scale
    return {"mean": mean * target.scale + target.shift, "variance": total, **in_units}


def _number(likelihood: NumberLikelihood, target: EncodedTarget, found: Found) -> dict[str, Value]:
    """The likelihood's own moments, and quantiles where it has them in closed form, traced."""
    m, v, n = (Traced("parameter") for _ in range(3))
    known = {m: found.mean, v: found.variance, n: found.noise_sd.square()}
    mean, noise, function = likelihood.moments(TRACING, m, v, n)
    weights, beyond = found.weights, found.beyond
    if function is not v:
        share = found.beyond / known[v].at_least(float(np.finfo(float).tiny))
        spread = written(function, known)
        weights, beyond = (1.0 - share) * spread, share * spread
    told = _parts(target, written(mean, known), written(noise, known), weights, beyond)
    ends = likelihood.ends(TRACING, m, v, n, Z_95)
    if ends is None:
        return told
    lower, upper = (written(end, known) * target.scale + target.shift for end in ends)
    return told | {"lower": lower, "upper": upper}


def _two_classes(found: Found) -> Value:
    """Of both: what is left of 1 has lost its digits where a temperature would bring them back."""
    return _both_shares(found.mean, found.variance)


def _both_shares(mean: Value, variance: Value) -> Value:
    return mean.graph.beside([sigmoid_share(-mean, variance), sigmoid_share(mean, variance)])


def sigmoid_share(mean: Value, variance: Value) -> Value:
    """The sigmoid under the latent's Gaussian: by the Gaussian's variable where that is narrow, else by its own."""
    graph, sd = mean.graph, variance.sqrt()
    z = np.linspace(-8.5, 8.5, 69)
    weights = np.exp(-0.5 * z**2)
    narrow = graph.node("Sigmoid", mean + sd * z[None]) @ (weights / weights.sum())[:, None]
    y = np.linspace(-36.0, 36.0, 97)
    slopes = 1.0 / (4.0 * np.cosh(0.5 * y) ** 2)
    wide = ((mean - y[None]) / sd.at_least(NARROW)).normal_share() @ (slopes / slopes.sum())[:, None]
    return graph.where(graph.node("LessOrEqual", sd, NARROW), narrow, wide)


def integrated_softmax(mean: Value, variance: Value, classes: int) -> Value:
    """The softmax under independent Gaussians: mean (N, K), variance (N, 1); as in the core."""
    if classes == 2:
        each = [mean.columns(np.array([place], np.intp)) for place in range(classes)]
        return _both_shares(each[1] - each[0], variance * 2.0)
    sd, unit = variance.sqrt(), (variance + GUMBEL_VARIANCE).sqrt()
    y = (mean.greatest(1) + unit * PLACES[None]).stretched(1, 3) - mean.stretched(2, 3)  # (N, K, n, 1)
    spread = sd.stretched(2, 3)
    e = (spread * GAUSSIAN_POINTS - y).at_most(MAX_EXPONENT).exp()
    gumbel = (-e).exp()
    narrow = _of_greatest(gumbel @ GAUSSIAN_WEIGHTS[:, None], (e * gumbel) @ GAUSSIAN_WEIGHTS[:, None])
    z = (y - GUMBEL_POINTS) / spread.at_least(NARROW_SD)
    weights = GUMBEL_WEIGHTS[:, None]
    wide = _of_greatest(z.normal_share() @ weights, (z.square() * -0.5).exp() @ weights)
    return mean.graph.where(mean.graph.node("LessOrEqual", sd, NARROW_SD), narrow, wide)


def _of_greatest(share: Value, density: Value) -> Value:
    """How probably each is the greatest, (N, K), by distributions and densities (N, K, n, 1)."""
    graph, logs = share.graph, share.at_least(TINY).log()
    whole = (graph.sum(logs, 1) - logs).exp()
    alone = graph.sum(density * whole, 2).shrunk(2, 3).at_least(TINY)
    return alone / graph.sum(alone, 1)


def softmax(exponents: Value) -> Value:
    """e^f over its sum, row by row."""
    return exponents.graph.node("Softmax", exponents, axis=1)


def tempered(probabilities: Value, temperature: Temperature) -> Value:
    """To the power of 1/T and normalised; as they are at T = 1."""
    t = temperature_of(temperature)
    return probabilities if t == 1.0 else softmax(probabilities.at_least(TINY).log() * (1.0 / t))


def _told(found: Found, probabilities: Value) -> dict[str, Value]:
    return {"probabilities": probabilities, "latent_mean": found.mean, "latent_variance": found.variance}
