"""The marginal likelihood, its derivatives and the functions' shares of it, each by two roads."""

from math import log, pi

import numpy as np
import pytest
from scipy.integrate import dblquad, quad

from relevance_bayes.core.inference.evidence import EvaluatedEvidence, evidence, gain, sparsity_and_quality
from relevance_bayes.core.inference.factors import Factors, build
from relevance_bayes.core.likelihoods import Bernoulli, GaussianNoise, Likelihood, OneAgainstRest
from relevance_bayes.core.types import Array
from tests.library.core.drawn import (
    EVERY,
    LIKELIHOODS,
    columns_of,
    hyperparameters,
    log_marginal,
    marginal_covariance,
    problem_for,
)

ACTIVE = (30, 4, 11, 25)
GAUSSIAN = GaussianNoise()


def found(
    likelihood: Likelihood, active: tuple[int, ...] = ACTIVE, seed: int = 0
) -> tuple[Factors, Array, float, EvaluatedEvidence]:
    problem = problem_for(likelihood, seed=seed)
    start = problem.unweighted(len(active))
    factors = build(problem, active, start)
    alpha, beta = hyperparameters(len(active), likelihood, seed)
    return factors, alpha, beta, evidence(factors, alpha, beta, start)


@pytest.mark.parametrize("seed", range(3))
def test_gaussian_evidence_is_the_density_of_the_targets(seed: int) -> None:
    factors, alpha, beta, here = found(GAUSSIAN, seed=seed)
    assert here.value == pytest.approx(log_marginal(columns_of(factors), alpha, beta, factors.problem.t), rel=1e-10)


def test_gaussian_evidence_is_the_papers_closed_form_in_weight_space() -> None:
    factors, alpha, beta, here = found(GAUSSIAN)
    P, t, mu = columns_of(factors), factors.problem.t, here.posterior.mean
    Sigma = np.linalg.solve(np.diag(alpha) + beta * P.T @ P, np.eye(4))
    closed = -0.5 * (
        len(t) * log(2.0 * pi / beta)
        - np.linalg.slogdet(Sigma)[1]
        - np.log(alpha).sum()
        + beta * np.sum((t - P @ mu) ** 2)
        + mu @ (alpha * mu)
    )
    assert here.value == pytest.approx(closed, rel=1e-10)


@pytest.mark.parametrize("name", EVERY)
def test_evidence_is_expected_log_density_less_divergence(name: str) -> None:
    likelihood = EVERY[name]
    factors, _, beta, here = found(likelihood)
    P, t, rested = columns_of(factors), factors.problem.t, here.posterior
    f, v = P @ rested.mean, np.einsum("nr,rs,ns->n", P, rested.covariance, P)
    precision, _ = likelihood.sites(t, f, beta)
    ell = likelihood.log_density(t, f, beta) - 0.5 * likelihood.latents * precision * v
    if not likelihood.is_log_concave:
        ell = likelihood.tuned(t, f, v, beta).expected(t, f, v, beta).value
    assert here.value == pytest.approx(float(ell.sum()) - rested.divergence, rel=1e-10)


def test_evidence_with_nothing_in_the_model_is_that_of_noise_alone() -> None:
    factors, alpha, beta, here = found(GAUSSIAN, ())
    assert here.value == pytest.approx(log_marginal(columns_of(factors), alpha, beta, factors.problem.t), rel=1e-12)
    assert found(Bernoulli(), ())[3].value == pytest.approx(-30.0 * log(2.0))


@pytest.mark.parametrize("offset", [0.0, 1.0, -30.0])
def test_where_the_mean_is_looked_for_does_not_matter(offset: float) -> None:
    for likelihood in (GAUSSIAN, Bernoulli()):
        factors, alpha, beta, here = found(likelihood)
        there = evidence(factors, alpha, beta, np.full(4, offset))
        assert there.value == pytest.approx(here.value, rel=1e-9)
        np.testing.assert_allclose(there.posterior.mean, here.posterior.mean, rtol=1e-6, atol=1e-9)


# --- Laplace's approximation ---------------------------------------------------------------------------------------


def unnormalised(P: Array, t: Array, alpha: Array, w: Array) -> float:
    """log p(t | w) + log p(w | alpha), written out."""
    f = P @ w
    density = float(np.sum(np.where(t == 1.0, -np.logaddexp(0.0, -f), -np.logaddexp(0.0, f))))
    return density + 0.5 * float(np.log(alpha / (2.0 * pi)).sum() - alpha @ w**2)


def laplace(P: Array, t: Array, alpha: Array) -> tuple[float, Array, Array]:
    """Laplace's L = log p(t, mu) + R/2 log 2 pi - 1/2 log |H|, with the mode by plain Newton: L, mode, H."""
    w, H = np.zeros(len(alpha)), np.diag(alpha)
    for _ in range(200):
        sigma = 1.0 / (1.0 + np.exp(-P @ w))
        H = P.T @ (P * (sigma * (1.0 - sigma))[:, None]) + np.diag(alpha)
        w = w + 0.5 * np.linalg.solve(H, P.T @ (t - sigma) - alpha * w)
    value = unnormalised(P, t, alpha, w) + 0.5 * (len(alpha) * log(2.0 * pi) - np.linalg.slogdet(H)[1])
    return float(value), w, H


@pytest.mark.parametrize("seed", range(3))
def test_laplaces_evidence_is_its_formula_at_a_mode_found_otherwise(seed: int) -> None:
    factors, alpha, _, here = found(Bernoulli(), seed=seed)
    value, mode, H = laplace(columns_of(factors), factors.problem.t, alpha)
    assert here.value == pytest.approx(value, rel=1e-10)
    np.testing.assert_allclose(here.posterior.mean, mode, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(here.posterior.covariance @ H, np.eye(4), atol=1e-6)


def test_laplaces_evidence_is_near_the_integral_over_one_weight() -> None:
    factors, alpha, _, here = found(Bernoulli(), (7,))
    P, t = columns_of(factors), factors.problem.t
    top = unnormalised(P, t, alpha, here.posterior.mean)
    reach = 12.0 * float(here.posterior.covariance[0, 0]) ** 0.5
    centre = float(here.posterior.mean[0])
    integral, _ = quad(lambda w: np.exp(unnormalised(P, t, alpha, np.array([w])) - top), centre - reach, centre + reach)
    assert here.value == pytest.approx(top + log(integral), abs=0.03)


def test_laplaces_evidence_is_near_the_integral_over_two_weights() -> None:
    factors, alpha, _, here = found(Bernoulli(), (30, 7))
    P, t, rested = columns_of(factors), factors.problem.t, here.posterior
    top = unnormalised(P, t, alpha, rested.mean)
    lower = np.linalg.cholesky(rested.covariance)

    def density(y: float, x: float) -> float:
        return float(np.exp(unnormalised(P, t, alpha, rested.mean + lower @ np.array([x, y])) - top))

    integral, _ = dblquad(density, -7.0, 7.0, -7.0, 7.0, epsabs=1e-6, epsrel=1e-6)
    exact = top + log(integral) + float(np.log(lower.diagonal()).sum())
    assert here.value == pytest.approx(exact, abs=0.05)


# --- Derivatives ----------------------------------------------------------------------------------------------------

NUDGE = 1e-4


def moved(factors: Factors, alpha: Array, beta: float, here: EvaluatedEvidence, step: Array) -> EvaluatedEvidence:
    return evidence(factors, alpha * np.exp(step[:-1]), beta * float(np.exp(step[-1])), here.posterior.mean)


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", EVERY)
def test_the_gradient_is_the_slope_of_the_evidence(name: str, seed: int) -> None:
    likelihood = EVERY[name]
    factors, alpha, beta, here = found(likelihood, seed=seed)
    steps = NUDGE * np.eye(5)
    slopes = np.array(
        [
            moved(factors, alpha, beta, here, step).value - moved(factors, alpha, beta, here, -step).value
            for step in steps
        ]
    ) / (2.0 * NUDGE)
    parts = slice(None) if likelihood.has_target_units else slice(-1)
    # An iteration that converges linearly leaves so much in the differences.
    rounding = 1.0 if likelihood.is_log_concave else 30.0
    np.testing.assert_allclose(here.gradient[parts], slopes[parts], rtol=1e-6 * rounding, atol=1e-7 * rounding)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("likelihood", [GAUSSIAN, OneAgainstRest(3)], ids=lambda member: member.type)
def test_the_hessian_is_the_slope_of_the_gradient(likelihood: Likelihood, seed: int) -> None:
    factors, alpha, beta, here = found(likelihood, seed=seed)
    steps = NUDGE * np.eye(5)
    slopes = np.array(
        [
            moved(factors, alpha, beta, here, step).gradient - moved(factors, alpha, beta, here, -step).gradient
            for step in steps
        ]
    ) / (2.0 * NUDGE)
    np.testing.assert_allclose(here.hessian, slopes, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(here.hessian, here.hessian.T)


def test_the_hessian_at_rest_is_the_one_of_data_space() -> None:
    """H_ij = (K_ij^2 - 2 K_ij Q_i Q_j)/(2 alpha_i alpha_j), less diag(gradient) off rest, K = P'C^-1 P."""
    factors, alpha, beta, here = found(GAUSSIAN)
    P, t = columns_of(factors), factors.problem.t
    C = marginal_covariance(P, alpha, np.full(len(t), beta))
    K, Q = P.T @ np.linalg.solve(C, P), P.T @ np.linalg.solve(C, t)
    slope = 0.5 * (K.diagonal() - Q**2) / alpha
    expected = 0.5 * (K**2 - 2.0 * K * np.outer(Q, Q)) / np.outer(alpha, alpha) - np.diag(slope)
    np.testing.assert_allclose(here.gradient[:-1], slope, rtol=1e-8)
    np.testing.assert_allclose(here.hessian[:-1, :-1], expected, rtol=1e-7, atol=1e-9)


# --- Sparsity, quality, gain ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["noise learned", "classes"])
def test_a_look_sees_every_candidate_as_the_marginal_covariance_does(name: str) -> None:
    likelihood = LIKELIHOODS[name]
    factors, alpha, beta, here = found(likelihood)
    P, t = columns_of(factors), factors.problem.t
    f = P @ here.posterior.mean
    precision, gradient = likelihood.sites(t, f, beta)
    C = marginal_covariance(P, alpha, precision)
    Phi = factors.problem.columns(tuple(range(factors.problem.candidates.size)))
    seen = factors.candidate_statistics(here.posterior, beta)
    targets = f + gradient / precision  # of the Gaussian sites
    np.testing.assert_allclose(seen.S, np.einsum("nm,nm->m", Phi, np.linalg.solve(C, Phi)), rtol=1e-6)
    np.testing.assert_allclose(seen.Q, Phi.T @ np.linalg.solve(C, targets), rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(seen.alone, precision @ Phi**2, rtol=1e-9)


@pytest.mark.parametrize("position", range(4))
def test_sparsity_and_quality_of_a_function_are_those_without_it(position: int) -> None:
    factors, alpha, beta, here = found(GAUSSIAN)
    P, t = columns_of(factors), factors.problem.t
    others = np.delete(np.arange(4), position)
    C = marginal_covariance(P[:, others], alpha[others], np.full(len(t), beta))
    own = P[:, position]
    s, q = sparsity_and_quality(here.posterior)
    assert s[position] == pytest.approx(float(own @ np.linalg.solve(C, own)), rel=1e-7)
    assert q[position] == pytest.approx(float(own @ np.linalg.solve(C, t)), rel=1e-7)


def test_the_gain_is_what_the_evidence_rises_by_at_the_best_alpha() -> None:
    factors, alpha, beta, here = found(GAUSSIAN)
    seen = factors.candidate_statistics(here.posterior, beta)
    gains = gain(seen.S, seen.Q)
    tested = 0
    for number in range(factors.problem.candidates.size):
        s, q = float(seen.S[number]), float(seen.Q[number])
        more = factors.added(number, here.posterior.mean)
        best = s**2 / (q**2 - s) if q**2 > s else np.inf
        if number in ACTIVE or best > 1e8:
            continue
        there = evidence(more, np.append(alpha, best), beta, np.append(here.posterior.mean, 0.0))
        assert there.value - here.value == pytest.approx(float(gains[number]), rel=1e-7, abs=1e-9)
        assert there.gradient[-2] == pytest.approx(0.0, abs=1e-8)
        tested += 1
    assert tested >= 5


def test_a_function_without_quality_gains_nothing() -> None:
    np.testing.assert_array_equal(gain(np.array([2.0, 4.0, 0.0]), np.array([1.0, 2.0, 0.0])), [0.0, 0.0, 0.0])
    assert gain(np.array([2.0]), np.array([2.0]))[0] > 0.0
