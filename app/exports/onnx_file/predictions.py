"""What each likelihood makes of the latent: the outputs by name, each (N, 1) or (N, K)."""

from dataclasses import dataclass
from math import pi
from statistics import NormalDist

import numpy as np

from app.domain.encoding import EncodedTarget
from app.exports.onnx_file.graph import Value
from app.sparse_bayes.errors import SparseBayesError
from app.sparse_bayes.likelihoods import (
    Bernoulli,
    Categorical,
    GaussianNoise,
    LogGaussian,
    LogVariance,
    OneAgainstRest,
    Poisson,
    StudentT,
)
from app.sparse_bayes.likelihoods.bernoulli import NARROW
from app.sparse_bayes.likelihoods.log_gaussian import LARGEST_LOG
from app.sparse_bayes.likelihoods.one_against_rest import SLOPE
from app.sparse_bayes.likelihoods.poisson import GREATEST_LOG_RATE
from app.sparse_bayes.model import Model

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


def outputs(model: Model, target: EncodedTarget, found: Found) -> dict[str, Value]:
    """In the user's units."""
    match model.likelihood:
        case LogVariance():
            raise SparseBayesError("expected the function of a target, got that of its noise")
        case GaussianNoise() | StudentT():
            return _real(model, target, found)
        case LogGaussian():
            return _positive(target, found)
        case Poisson():
            return _counts(target, found)
        case Bernoulli():
            return _two_classes(found)
        case Categorical():
            spread = (found.variance * (pi / 8.0) + 1.0).sqrt()
            return _classes(found, found.mean / spread)
        case OneAgainstRest(sharpness=sharpness):
            sharp = 1.0 if sharpness == "learned" else float(sharpness)
            sd = (found.noise_sd.square() + found.variance).sqrt()
            return _classes(found, found.mean * (SLOPE * sharp / sd))


def _parts(target: EncodedTarget, mean: Value, noise: Value, weights: Value, beyond: Value) -> dict[str, Value]:
    parts = {"noise": noise, "weights": weights, "beyond": beyond}
    in_units = {f"variance_{name}": part * target.scale * target.scale for name, part in parts.items()}
    total = (noise + weights + beyond) * target.scale * target.scale
    return {"mean": mean * target.scale + target.shift, "variance": total, **in_units}


def _real(model: Model, target: EncodedTarget, found: Found) -> dict[str, Value]:
    noise = found.noise_sd.square()
    told = _parts(target, found.mean, noise, found.weights, found.beyond)
    if isinstance(model.likelihood, StudentT):
        return told
    reach = (noise + found.variance).sqrt() * Z_95
    lower, upper = (found.mean - reach, found.mean + reach)
    return told | {"lower": lower * target.scale + target.shift, "upper": upper * target.scale + target.shift}


def _positive(target: EncodedTarget, found: Found) -> dict[str, Value]:
    """Log-normal: E = exp(m + (n + V)/2), Var E(t | f) = E^2 (e^V - 1), E Var(t | f) = E^2 e^V (e^n - 1)."""
    n, V = found.noise_sd.square(), found.variance
    mean = _bounded_exp(found.mean + (n + V) * 0.5)
    function = mean * mean * V.at_most(LARGEST_LOG).expm1()
    noise = mean * mean * (_bounded_exp(V) * n.at_most(LARGEST_LOG).expm1())
    share = found.beyond / V.at_least(float(np.finfo(float).tiny))
    told = _parts(target, mean, noise, (1.0 - share) * function, share * function)
    reach = (n + V).sqrt() * Z_95
    lower, upper = _bounded_exp(found.mean - reach), _bounded_exp(found.mean + reach)
    return told | {"lower": lower * target.scale + target.shift, "upper": upper * target.scale + target.shift}


def _bounded_exp(value: Value) -> Value:
    return value.at_least(-LARGEST_LOG).at_most(LARGEST_LOG).exp()


def _counts(target: EncodedTarget, found: Found) -> dict[str, Value]:
    """E = exp(f + v/2) = E Var(t | f), Var E(t | f) = E^2 (e^v - 1)."""
    v = found.variance
    mean = (found.mean + v * 0.5).at_most(GREATEST_LOG_RATE).exp()
    steep = mean * v.at_most(GREATEST_LOG_RATE).expm1()
    function = mean * steep.at_most(float(np.exp(GREATEST_LOG_RATE)))
    share = found.beyond / v.at_least(float(np.finfo(float).tiny))
    return _parts(target, mean, mean, (1.0 - share) * function, share * function)


def _two_classes(found: Found) -> dict[str, Value]:
    """The sigmoid under the latent's Gaussian: by the Gaussian's variable where that is narrow, else by its own."""
    graph, sd = found.mean.graph, found.variance.sqrt()
    z = np.linspace(-8.5, 8.5, 69)
    weights = np.exp(-0.5 * z**2)
    narrow = graph.node("Sigmoid", found.mean + sd * z[None]) @ (weights / weights.sum())[:, None]
    y = np.linspace(-36.0, 36.0, 97)
    slopes = 1.0 / (4.0 * np.cosh(0.5 * y) ** 2)
    wide = ((found.mean - y[None]) / sd.at_least(NARROW)).normal_share() @ (slopes / slopes.sum())[:, None]
    probability = graph.where(graph.node("LessOrEqual", sd, NARROW), narrow, wide)
    return _told(found, graph.beside([1.0 - probability, probability]))


def _classes(found: Found, exponents: Value) -> dict[str, Value]:
    return _told(found, exponents.graph.node("Softmax", exponents, axis=1))


def _told(found: Found, probabilities: Value) -> dict[str, Value]:
    return {"probabilities": probabilities, "latent_mean": found.mean, "latent_variance": found.variance}
