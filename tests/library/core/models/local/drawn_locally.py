"""Problems that nearest-neighbour processes learn in the tests."""

import numpy as np

from relevance_bayes.core.algorithms import Greedy
from relevance_bayes.core.basis import Bias, Inputs, KernelBasis
from relevance_bayes.core.inference.problem import Problem
from relevance_bayes.core.kernels import Gaussian, Matern32
from relevance_bayes.core.kernels.hyperparameters import EvidencePerInputWidth, Hyperparameters, InputMap
from relevance_bayes.core.likelihoods import GaussianNoise, TargetLikelihood
from relevance_bayes.core.models.fitting import pose
from relevance_bayes.core.models.model import Spec
from relevance_bayes.core.priors import GaussianProcess
from relevance_bayes.core.types import Array


def posed(X: Array, t: Array, likelihood: TargetLikelihood | None = None, *, linear: bool = False) -> Problem:
    """With a width and a warp for each input, a bias, and the inputs as columns where requested."""
    kernel = KernelBasis(Gaussian(), EvidencePerInputWidth(), warp="evidence")
    basis = (kernel, Bias(), Inputs()) if linear else (kernel, Bias())
    return pose(X, t, Spec(likelihood or GaussianNoise(), basis, GaussianProcess(), Greedy()))


def wavy(rows: int = 500, inputs: int = 3, *, noise: float = 0.1, seed: int = 0) -> tuple[Array, Array]:
    """X (N, d) and a smooth function of the first two inputs at it, with noise."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rows, inputs))
    return X, np.sin(2.0 * X[:, 0]) * np.cos(X[:, 1]) + noise * rng.standard_normal(rows)


def rough(rows: int = 500, *, seed: int = 0) -> tuple[Array, Array]:
    """X (N, 2) and a draw of a Matern 3/2 process at it, with little noise."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rows, 2))
    lower = np.linalg.cholesky(Matern32()(X, X) + 1e-4 * np.eye(rows))
    return X, lower @ rng.standard_normal(rows)


def plausible(problem: Problem, *, noise: float = 0.1) -> Hyperparameters:
    """Scales at which `wavy` is well predicted."""
    d = problem.inputs
    functions = problem.candidates.size - problem.rows
    widths = np.append([1.0, 1.5], np.full(d - 2, 20.0))
    return Hyperparameters(noise**-2, 0.5, np.ones(functions), InputMap(widths, np.zeros(d), np.zeros(d)))
