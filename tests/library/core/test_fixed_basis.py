"""The evidence of functions that are held while widths move."""

import numpy as np
import pytest

from relevance_bayes.core.basis import Bias, Inputs, KernelBasis, KernelFunctions
from relevance_bayes.core.inference.evidence import evidence
from relevance_bayes.core.inference.factors import build
from relevance_bayes.core.inference.problem import Problem
from relevance_bayes.core.kernels import Gaussian, Kernel, LinearSpline, Matern32, Polynomial
from relevance_bayes.core.kernels.hyperparameters import FixedWidth
from relevance_bayes.core.likelihoods import GaussianNoise, Likelihood
from relevance_bayes.core.models.fitting import pose
from relevance_bayes.core.models.model import Spec
from relevance_bayes.core.models.width_search import FixedBasis
from relevance_bayes.core.types import Array
from tests.library.core import drawn
from tests.library.core.drawn import by_differences, hyperparameters, rows_for

EVERY: dict[str, Likelihood] = {**drawn.EVERY, "noise by row": GaussianNoise("rows")}
KERNELS = {"gaussian": Gaussian(), "matern": Matern32(), "spline": LinearSpline(), "polynomial": Polynomial(2)}
CHOSEN = (3, 17, 8, 25)
WIDTHS = np.array([2.0, 3.0, 5.0])


def posed(likelihood: Likelihood, kernel: Kernel, widths: Array = WIDTHS) -> Problem:
    """Rows of three inputs, the first of which count, and dictionaries of a kernel, a bias and the inputs."""
    X, t = rows_for(likelihood, 30, 0)
    more = np.random.default_rng(1).standard_normal((30, 3 - X.shape[1]))
    kernels = KernelBasis(kernel, FixedWidth(tuple(widths.tolist())))
    noise_sd = np.geomspace(0.05, 0.8, 30) if likelihood.noise_by_row else None
    return pose(np.hstack([X, more]), t, Spec(likelihood, (kernels, Bias(), Inputs())), noise_sd=noise_sd)


def held(problem: Problem) -> FixedBasis:
    """Four kernels, the bias and the second input."""
    kernels, *_ = problem.candidates.dictionaries
    assert isinstance(kernels, KernelFunctions)
    return FixedBasis(problem, kernels.take(np.array(CHOSEN)), problem.columns((30, 32)))


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
@pytest.mark.parametrize("name", EVERY)
def test_the_gradient_is_that_of_differences(name: str, kernel: Kernel) -> None:
    likelihood = EVERY[name]
    problem = posed(likelihood, kernel)
    alpha, beta = hyperparameters(6, likelihood)
    functions, start = held(problem), problem.unweighted(6)

    def value(log_widths: Array) -> float:
        return functions.evidence(np.exp(log_widths), alpha, beta, start)[0].value

    _, slope = functions.evidence(WIDTHS, alpha, beta, start)
    expected = by_differences(value, np.log(WIDTHS), 1e-4)
    np.testing.assert_allclose(slope, expected, rtol=2e-5, atol=1e-5 * (1.0 + float(np.abs(expected).max())))


@pytest.mark.parametrize("name", EVERY)
def test_the_evidence_is_that_of_the_same_functions_among_all_candidates(name: str) -> None:
    likelihood = EVERY[name]
    alpha, beta = hyperparameters(6, likelihood)
    moved = 1.5 * WIDTHS
    problem = posed(likelihood, Gaussian(), moved)
    start = problem.unweighted(6)
    found, _ = held(posed(likelihood, Gaussian())).evidence(moved, alpha, beta, start)
    expected = evidence(build(problem, (*CHOSEN, 30, 32), start), alpha, beta, start)
    assert found.value == pytest.approx(expected.value, rel=1e-10)
    np.testing.assert_allclose(found.gradient, expected.gradient, rtol=1e-7, atol=1e-9)
