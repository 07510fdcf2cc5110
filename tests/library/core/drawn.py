"""Small problems drawn from published generators, and the definitions that the fast forms are held against."""

from collections.abc import Callable
from itertools import pairwise
from math import exp, pi, sqrt
from typing import Literal, get_args

import numpy as np
from scipy.integrate import quad

from relevance_bayes.core.algorithms import Algorithm, Greedy, Sequential
from relevance_bayes.core.basis import Basis, Bias, Inputs, KernelBasis
from relevance_bayes.core.inference.factors import Factors
from relevance_bayes.core.inference.problem import Problem
from relevance_bayes.core.kernels import Covariance, Gaussian, Kernel
from relevance_bayes.core.kernels.hyperparameters import EvidencePerInputWidth, EvidenceWidth, FixedWidth, Width
from relevance_bayes.core.likelihoods import (
    Bernoulli,
    Categorical,
    GaussianNoise,
    Likelihood,
    LogGaussian,
    LogitGaussian,
    LogVariance,
    NumberTarget,
    OneAgainstRest,
    Poisson,
    StudentT,
)
from relevance_bayes.core.models.fitting import pose
from relevance_bayes.core.models.model import Spec
from relevance_bayes.core.priors import GaussianProcess
from relevance_bayes.core.types import Array

LIKELIHOODS: dict[str, Likelihood] = {
    "noise learned": GaussianNoise(),
    "noise known": GaussianNoise(0.1),
    "classes": Bernoulli(),
    "logarithm": LogGaussian(),
    "heavy tails": StudentT(),
    "known tails": StudentT(5.0),
    "counts": Poisson(),
}
LIKELIHOODS |= {
    likelihood.type: likelihood
    for likelihood in (member() for member in get_args(NumberTarget))
    if not isinstance(likelihood, tuple(map(type, LIKELIHOODS.values())))
}

OF_NOISE: dict[str, Likelihood] = {"squares": LogVariance()}
"""That of the second function of a model whose noise depends on the inputs."""

LOG_CONCAVE = [name for name, likelihood in LIKELIHOODS.items() if likelihood.is_log_concave]
"""Those that Laplace's approximation is made of, or that need none."""

SEVERAL: dict[str, Likelihood] = {"three classes": Categorical(3), "one against rest": OneAgainstRest(3)}
"""Those with several latents a row."""

EVERY = LIKELIHOODS | SEVERAL


def sinc(rows: int, seed: int, *, noise: float = 0.1) -> tuple[Array, Array]:
    """sin(x)/x on [-10, 10] with Gaussian noise."""
    rng = np.random.default_rng(seed)
    x = np.sort(rng.uniform(-10.0, 10.0, rows))
    return x[:, None], np.sinc(x / np.pi) + noise * rng.standard_normal(rows)


def ripley(rows: int, seed: int) -> tuple[Array, Array]:
    """Ripley's mixture of two Gaussians for each of two classes, in turn."""
    rng = np.random.default_rng(seed)
    centres = np.array([[[-0.7, 0.3], [0.3, 0.3]], [[-0.3, 0.7], [0.4, 0.7]]])
    classes = np.arange(rows) % 2
    X = centres[classes, rng.integers(2, size=rows)] + np.sqrt(0.03) * rng.standard_normal((rows, 2))
    return X, classes.astype(np.float64)


def ring(rows: int, seed: int, classes: int = 3, *, sd: float = 0.5) -> tuple[Array, Array]:
    """A Gaussian for each of several classes in turn, evenly on a circle of radius 1."""
    t = np.arange(rows) % classes
    angles = 2.0 * np.pi * t / classes
    X = np.column_stack([np.cos(angles), np.sin(angles)])
    return X + sd * np.random.default_rng(seed).standard_normal((rows, 2)), t.astype(np.float64)


def friedman(rows: int, seed: int, *, noise: float = 1.0) -> tuple[Array, Array, Array]:
    """Friedman's first function of ten inputs, of which five count, as X of unit variance, noisy t and f (N,)."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(rows, 10))
    f = 10.0 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20.0 * (X[:, 2] - 0.5) ** 2 + 10.0 * X[:, 3] + 5.0 * X[:, 4]
    return (X - 0.5) * np.sqrt(12.0), f + noise * rng.standard_normal(rows) - 14.4, f - 14.4


def rows_for(likelihood: Likelihood, rows: int, seed: int) -> tuple[Array, Array]:
    """Rows that suit a likelihood."""
    X, t = sinc(rows, seed)
    rng = np.random.default_rng((seed, 1))
    match likelihood:
        case Bernoulli():
            return ripley(rows, seed)
        case Categorical(latents=classes) | OneAgainstRest(latents=classes):
            return ring(rows, seed, classes)
        case LogGaussian():
            return X, np.exp(t)
        case LogitGaussian():
            return X, 1.0 / (1.0 + np.exp(-3.0 * t))
        case LogVariance():
            return X, np.exp(np.sinc(X[:, 0] / np.pi)) * rng.chisquare(1.0, rows)
        case StudentT():
            return X, t + 0.1 * rng.standard_t(3.0, rows)
        case _ if likelihood.targets == "count":
            return X, rng.poisson(np.exp(1.0 + 2.0 * np.sinc(X[:, 0] / np.pi))).astype(np.float64)
        case _:
            return X, t


def width_for(likelihood: Likelihood) -> float:
    """A width that suits these rows."""
    if isinstance(likelihood, Bernoulli):
        return 0.5
    return 1.5 if likelihood.latents > 1 else 3.0


def spec_for(
    likelihood: Likelihood,
    *,
    kernel: Kernel = Gaussian(),  # noqa: B008
    width: float | None = None,
    algorithm: Algorithm = Sequential(),  # noqa: B008
) -> Spec:
    """A kernel of fixed width, and a bias."""
    found = FixedWidth(width_for(likelihood) if width is None else width)
    return Spec(likelihood, (KernelBasis(kernel, found), Bias()), algorithm=algorithm)


WIDTHS: dict[str, Width] = {"fixed": FixedWidth(3.0), "one": EvidenceWidth(), "each": EvidencePerInputWidth()}
"""Choices of a process's widths; the fixed one suits sinc's rows."""


def process_spec(
    likelihood: Likelihood,
    *,
    width: Width = EvidencePerInputWidth(),  # noqa: B008
    warp: Literal["none", "evidence"] = "none",
    inputs: bool = False,
    vectors: Literal["rows", "optimised"] = "optimised",
    min_gain: float = 3.0,
    max_functions: int | None = None,
    kernel: Covariance = Gaussian(),  # noqa: B008
) -> Spec:
    """A Gaussian process prior on a kernel, a bias and perhaps the inputs."""
    linear: tuple[Basis, ...] = (Inputs(),) if inputs else ()
    basis = (KernelBasis(kernel, width, warp), Bias(), *linear)
    return Spec(likelihood, basis, GaussianProcess(vectors, min_gain, max_functions), Greedy())


def problem_for(likelihood: Likelihood, rows: int = 30, seed: int = 0) -> Problem:
    """Drawn rows under a likelihood, Gaussian kernel and bias."""
    return pose(*rows_for(likelihood, rows, seed), spec_for(likelihood))


def hyperparameters(functions: int, likelihood: Likelihood, seed: int = 0) -> tuple[Array, float]:
    """Precisions (R,) over some decades, and a noise precision."""
    alpha = np.exp(np.random.default_rng(seed).normal(0.0, 1.5, functions))
    return alpha, 37.0 if likelihood.has_target_units else 1.0


def marginal_covariance(P: Array, alpha: Array, precision: Array) -> Array:
    """C = diag(1/lam) + P A^-1 P', (N, N), by its definition."""
    covariance: Array = np.diag(1.0 / precision) + (P / alpha) @ P.T
    return covariance


def log_marginal(P: Array, alpha: Array, beta: float, t: Array) -> float:
    """log N(t; 0, C) by its definition."""
    C = marginal_covariance(P, alpha, np.full(len(t), beta))
    return -0.5 * float(len(t) * np.log(2.0 * np.pi) + np.linalg.slogdet(C)[1] + t @ np.linalg.solve(C, t))


def columns_of(factors: Factors) -> Array:
    """P (N, R), computed anew."""
    return factors.problem.columns(factors.active)


def by_differences(value: Callable[[Array], float], at: Array, step: float = 1e-5) -> Array:
    """The gradient (n,) of a number at (n,), by central differences."""
    slopes = np.empty_like(at)
    for k in range(len(at)):
        there = np.eye(len(at))[k] * step
        slopes[k] = (value(at + there) - value(at - there)) / (2.0 * step)
    return slopes


def sigmoid_by_quadrature(mean: float, sd: float) -> float:
    """The sigmoid under N(mean, sd^2): the integral in the Gaussian's variable, cut where the sigmoid turns."""

    def integrand(z: float) -> float:
        f = mean + sd * z
        sigma = 1.0 / (1.0 + exp(-f)) if f > 0.0 else exp(max(f, -700.0)) / (1.0 + exp(max(f, -700.0)))
        return sigma * exp(-0.5 * z * z) / sqrt(2.0 * pi)

    turns = [(turn - mean) / sd for turn in (-40.0, -5.0, 0.0, 5.0, 40.0)]
    cuts = sorted({-12.0, 0.0, 12.0, *(turn for turn in turns if -12.0 < turn < 12.0)})
    parts = [quad(integrand, left, right, epsabs=1e-14, epsrel=1e-13, limit=200)[0] for left, right in pairwise(cuts)]
    return float(sum(parts))
