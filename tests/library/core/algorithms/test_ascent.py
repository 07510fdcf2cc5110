from dataclasses import replace

import numpy as np
import pytest

from relevance_bayes.core.algorithms.ascent import end_of, learns_noise, maximise
from relevance_bayes.core.algorithms.state import Termination
from relevance_bayes.core.basis import Candidates, KernelFunctions
from relevance_bayes.core.inference.evidence import EvaluatedEvidence, evidence
from relevance_bayes.core.inference.factors import Factors, build
from relevance_bayes.core.inference.problem import Problem
from relevance_bayes.core.kernels import Gaussian
from relevance_bayes.core.kernels.hyperparameters import InputMap
from relevance_bayes.core.likelihoods import Bernoulli, GaussianNoise
from relevance_bayes.core.priors import Independent
from relevance_bayes.core.rows import ArrayRows
from relevance_bayes.core.types import Array
from tests.library.core.drawn import LIKELIHOODS, hyperparameters, problem_for

CORRELATION = 0.95


def saddle() -> tuple[Factors, EvaluatedEvidence, Array]:
    """Two functions of equal norm and correlation 0.95, opposite weights, where no alpha gains alone [THEORY 3].

    With K = P'C^-1 P and Q = P'C^-1 t the gradient vanishes where Q_m^2 = K_mm for both; the target lies along their
    difference, its size is chosen so.
    """
    x = np.linspace(-6.0, 6.0, 241)
    apart = (-np.log(CORRELATION) / 2.0) ** 0.5  # the overlap of two unit Gaussians exp(-(x +- a)^2) is exp(-2 a^2)
    centres = np.array([[-apart], [apart]])
    candidates = Candidates((KernelFunctions(Gaussian(), InputMap.isotropic(1.0), centres, np.arange(2)),))
    P = candidates.columns(x[:, None], (0, 1))
    norm = float(P[:, 0] @ P[:, 0])
    assert float(P[:, 0] @ P[:, 1]) / norm == pytest.approx(CORRELATION, rel=1e-6)
    alpha = np.full(2, norm / 10.0)
    C = np.eye(len(x)) + (P / alpha) @ P.T
    difference = P[:, 0] - P[:, 1]
    K, pull = float(P[:, 0] @ np.linalg.solve(C, P[:, 0])), float(P[:, 0] @ np.linalg.solve(C, difference))
    t = difference * (K**0.5 / pull)
    problem = Problem(ArrayRows(x[:, None], t), candidates, GaussianNoise(1.0), Independent())
    factors = build(problem, (0, 1), np.zeros(2))
    return factors, evidence(factors, alpha, 1.0, np.zeros(2)), alpha


def test_the_saddle_is_one() -> None:
    factors, here, alpha = saddle()
    np.testing.assert_allclose(here.gradient[:2], 0.0, atol=1e-9)
    assert here.posterior.mean[0] * here.posterior.mean[1] < 0.0
    assert (here.hessian.diagonal()[:2] < 0.0).all()
    for m in range(2):
        for step in (-1.0, -0.1, 0.1, 1.0):
            alone = alpha.copy()
            alone[m] *= np.exp(step)
            assert evidence(factors, alone, 1.0, here.posterior.mean).value < here.value


def test_the_climb_leaves_a_saddle() -> None:
    factors, here, _ = saddle()
    summit = maximise(factors, here, tolerance=1e-11)
    found = summit.evidence
    assert found.value > here.value + 0.1
    R = len(found.posterior.alpha)
    np.testing.assert_allclose(found.gradient[:R], 0.0, atol=1e-4)
    assert R == 0 or np.linalg.eigvalsh(found.hessian[:R, :R])[-1] < 1e-6


@pytest.mark.parametrize("name", LIKELIHOODS)
@pytest.mark.parametrize("seed", range(2))
def test_a_climb_ends_where_nothing_is_left_to_climb(name: str, seed: int) -> None:
    likelihood = LIKELIHOODS[name]
    problem = problem_for(likelihood, 40, seed)
    factors = build(problem, (40, 4, 11, 25, 33), np.zeros(5))
    alpha, beta = hyperparameters(5, likelihood, seed)
    beta = problem.likelihood.start(problem.t)[0] if not learns_noise(problem) else beta
    start = evidence(factors, alpha, beta, np.zeros(5))
    summit = maximise(factors, start, tolerance=1e-11)
    found = summit.evidence
    assert found.value >= start.value
    moving = found.gradient if learns_noise(problem) else found.gradient[:-1]
    np.testing.assert_allclose(moving, 0.0, atol=1e-4)
    assert set(summit.factors.active) <= set(factors.active)
    assert learns_noise(problem) or found.beta == start.beta


def test_a_copy_of_a_function_leaves_in_the_climb() -> None:
    problem = problem_for(GaussianNoise())
    doubled = replace(problem, candidates=Candidates(problem.candidates.dictionaries * 2))
    factors = build(doubled, (14, 14 + problem.candidates.size), np.zeros(2))
    start = evidence(factors, np.array([1.0, 3.0]), 20.0, np.zeros(2))
    assert len(maximise(factors, start, tolerance=1e-11).factors.active) == 1


def test_an_end_states_whether_the_noise_floor_held_it_up() -> None:
    problem = problem_for(GaussianNoise())
    _, largest = problem.likelihood.start(problem.t)
    factors = build(problem, (4,), np.zeros(1))
    assert end_of(problem, evidence(factors, np.ones(1), largest, np.zeros(1))) == Termination.NOISE_FLOOR
    assert end_of(problem, evidence(factors, np.ones(1), 1.0, np.zeros(1))) == Termination.CONVERGED
    classes = problem_for(Bernoulli())
    rested = evidence(build(classes, (4,), np.zeros(1)), np.ones(1), 1.0, np.zeros(1))
    assert end_of(classes, rested) == Termination.CONVERGED
