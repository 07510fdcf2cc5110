"""Several latents a row under one precision for each function: the closed forms against their definitions."""

from dataclasses import replace

import numpy as np
import pytest

from relevance_bayes.core.algorithms.ascent import evidence_loss
from relevance_bayes.core.inference.evidence import (
    EvaluatedEvidence,
    evidence,
    gain,
    mean_square,
    quality_over_sparsity,
    sparsity_and_quality,
)
from relevance_bayes.core.inference.factors import Factors, build, without_candidates
from relevance_bayes.core.inference.posterior import with_zero
from relevance_bayes.core.likelihoods import Categorical, GaussianNoise, Likelihood, OneAgainstRest
from relevance_bayes.core.models.fitting import pose
from relevance_bayes.core.types import Array
from tests.library.core.drawn import (
    SEVERAL,
    by_differences,
    columns_of,
    hyperparameters,
    marginal_covariance,
    problem_for,
    ring,
    spec_for,
)

ACTIVE = (30, 4, 11, 25)
MIN_SQUARES = OneAgainstRest(3)
LEFT = 1e-5
"""The remaining change of the precisions after an iteration that converges linearly."""


def found(likelihood: Likelihood, active: tuple[int, ...] = ACTIVE, seed: int = 0) -> tuple[Factors, EvaluatedEvidence]:
    problem = problem_for(likelihood, seed=seed)
    start = problem.unweighted(len(active))
    factors = build(problem, active, start)
    alpha, beta = hyperparameters(len(active), likelihood, seed)
    return factors, evidence(factors, alpha, beta, start)


def sites(factors: Factors, here: EvaluatedEvidence) -> tuple[Array, Array]:
    """Precisions (N,) and the Gaussian targets (N, K) that stand for the likelihood at the posterior."""
    rested, P, problem = here.posterior, columns_of(factors), factors.problem
    f, v = P @ rested.mean, np.einsum("nr,rs,ns->n", P, rested.covariance, P)
    expected = problem.likelihood.expected(problem.t, f, v, here.beta)
    return expected.precision, f + expected.gradient / expected.precision[:, None]


def stacked(P: Array, alpha: Array, beta: float, T: Array) -> float:
    """log N(vec T; 0, C), all latents' targets as one, with sums in long double."""
    K = T.shape[1]
    Q = np.asarray(np.kron(np.eye(K), P), np.float64)
    C = marginal_covariance(Q, np.tile(alpha, K), np.full(T.size, beta))
    lower, t = np.linalg.cholesky(C), T.T.ravel()
    half = np.linalg.solve(lower, t).astype(np.longdouble)
    logs = np.log(lower.diagonal().astype(np.longdouble)).sum()
    return float(-0.5 * (T.size * np.log(2.0 * np.pi) + 2.0 * logs + half @ half))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("classes", [2, 3, 7])
def test_the_evidence_of_least_squares_is_the_density_of_all_targets_stacked(classes: int, seed: int) -> None:
    factors, here = found(OneAgainstRest(classes), seed=seed)
    expected = stacked(columns_of(factors), here.posterior.alpha, here.beta, factors.problem.t)
    assert here.value == pytest.approx(expected, rel=1e-12)


def test_latents_of_the_same_targets_have_so_many_times_the_evidence_of_one() -> None:
    one = problem_for(GaussianNoise())
    several = replace(one, likelihood=MIN_SQUARES, source=one.source.with_targets(np.tile(one.t[:, None], 3), None))
    alpha, beta = hyperparameters(4, GaussianNoise())
    here = evidence(build(one, ACTIVE, np.zeros(4)), alpha, beta, np.zeros(4))
    there = evidence(build(several, ACTIVE, np.zeros((4, 3))), alpha, beta, np.zeros((4, 3)))
    assert there.value == pytest.approx(3.0 * here.value, rel=1e-13)
    np.testing.assert_allclose(there.gradient, 3.0 * here.gradient, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(there.hessian, 3.0 * here.hessian, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(evidence_loss(there.posterior), 3.0 * evidence_loss(here.posterior), rtol=1e-11)
    np.testing.assert_allclose(
        quality_over_sparsity(there.posterior), quality_over_sparsity(here.posterior), rtol=1e-11
    )
    for k in range(3):
        np.testing.assert_allclose(there.posterior.mean[:, k], here.posterior.mean, rtol=1e-12)


@pytest.mark.parametrize("name", SEVERAL)
def test_the_hessian_is_that_of_data_space_with_the_sites_held(name: str) -> None:
    """H_ij = (K K_ij^2 - 2 K_ij sum_k Q_ik Q_jk)/(2 alpha_i alpha_j), less diag(gradient) off rest, K_ij = p'C^-1 p."""
    factors, here = found(SEVERAL[name])
    alpha, P, latents = here.posterior.alpha, columns_of(factors), here.posterior.latents
    precision, T = sites(factors, here)
    C = marginal_covariance(P, alpha, precision)
    K, Q = P.T @ np.linalg.solve(C, P), P.T @ np.linalg.solve(C, T)
    slope = 0.5 * (latents * K.diagonal() - np.square(Q).sum(axis=1)) / alpha
    expected = 0.5 * (latents * K**2 - 2.0 * K * (Q @ Q.T)) / np.outer(alpha, alpha) - np.diag(slope)
    np.testing.assert_allclose(here.gradient[:-1], slope, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(here.hessian[:-1, :-1], expected, rtol=LEFT, atol=1e-6)


@pytest.mark.parametrize("name", SEVERAL)
def test_a_look_sees_each_candidate_as_the_marginal_covariance_of_the_sites_does(name: str) -> None:
    factors, here = found(SEVERAL[name])
    precision, T = sites(factors, here)
    C = marginal_covariance(columns_of(factors), here.posterior.alpha, precision)
    Phi = factors.problem.columns(tuple(range(factors.problem.candidates.size)))
    seen = factors.candidate_statistics(here.posterior, here.beta)
    np.testing.assert_allclose(seen.S, np.einsum("nm,nm->m", Phi, np.linalg.solve(C, Phi)), rtol=LEFT)
    np.testing.assert_allclose(seen.Q, Phi.T @ np.linalg.solve(C, T), rtol=LEFT, atol=1e-5)
    np.testing.assert_allclose(seen.alone, precision @ Phi**2, rtol=1e-9)
    assert seen.Q.shape == (31, 3)


@pytest.mark.parametrize("position", range(4))
def test_sparsity_and_quality_are_those_without_the_function(position: int) -> None:
    factors, here = found(MIN_SQUARES)
    P, T, alpha = columns_of(factors), factors.problem.t, here.posterior.alpha
    others = np.delete(np.arange(4), position)
    C = marginal_covariance(P[:, others], alpha[others], np.full(len(T), here.beta))
    own = P[:, position]
    s, q = sparsity_and_quality(here.posterior)
    assert s[position] == pytest.approx(float(own @ np.linalg.solve(C, own)), rel=1e-7)
    np.testing.assert_allclose(q[position], own @ np.linalg.solve(C, T), rtol=1e-7, atol=1e-9)
    ratio = quality_over_sparsity(here.posterior)[position]
    assert ratio == pytest.approx(np.mean(q[position] ** 2) / s[position], rel=1e-9)


@pytest.mark.parametrize("position", range(4))
def test_a_function_is_worth_what_the_evidence_loses_without_it(position: int) -> None:
    factors, here = found(MIN_SQUARES)
    kept = np.delete(np.arange(4), position)
    fewer = factors.keeping(kept, here.posterior.mean)
    there = evidence(fewer, here.posterior.alpha[kept], here.beta, here.posterior.mean[kept])
    assert evidence_loss(here.posterior)[position] == pytest.approx(here.value - there.value, rel=1e-8, abs=1e-9)


def test_the_gain_is_what_the_evidence_rises_by_at_the_best_alpha() -> None:
    factors, here = found(MIN_SQUARES)
    seen = factors.candidate_statistics(here.posterior, here.beta)
    gains, squares = gain(seen.S, seen.Q), mean_square(seen.Q)
    tested = 0
    for number in range(factors.problem.candidates.size):
        s = float(seen.S[number])
        best = s**2 / (squares[number] - s) if squares[number] > s else np.inf
        if number in ACTIVE or best > 1e8:
            continue
        more = factors.added(number, here.posterior.mean)
        there = evidence(more, np.append(here.posterior.alpha, best), here.beta, with_zero(here.posterior.mean))
        assert there.value - here.value == pytest.approx(float(gains[number]), rel=1e-7, abs=1e-9)
        assert there.gradient[-2] == pytest.approx(0.0, abs=1e-8)
        tested += 1
    assert tested >= 5


@pytest.mark.parametrize("name", SEVERAL)
def test_the_pull_on_the_columns_is_that_of_differences(name: str) -> None:
    factors, here = found(SEVERAL[name], seed=1)
    problem, P, alpha = factors.problem, columns_of(factors), here.posterior.alpha
    entries = [(0, 0), (7, 1), (12, 3), (29, 2)]

    def value(moved: Array) -> float:
        there = P.copy()
        for (n, r), by in zip(entries, moved, strict=True):
            there[n, r] += by
        return evidence(
            without_candidates(problem, there, here.posterior.mean), alpha, here.beta, here.posterior.mean
        ).value

    pulled = factors.pull(here.posterior, here.beta)
    expected = by_differences(value, np.zeros(4), 1e-4)
    np.testing.assert_allclose([pulled[entry] for entry in entries], expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e6])
@pytest.mark.parametrize("likelihood", [Categorical(2), Categorical(4)], ids=lambda member: f"{member.latents}")
def test_the_gradient_of_coupled_classes_needs_no_further_part_whatever_the_prior(
    likelihood: Categorical, scale: float
) -> None:
    """At rest of mean and covariance the bound's slope in log alpha is 1/2 (K gamma - alpha |mean|^2)."""
    X, t = ring(40, 3, likelihood.latents)
    problem = pose(X, t, spec_for(likelihood))
    factors = build(problem, ACTIVE, problem.unweighted(4))
    alpha = scale * hyperparameters(4, likelihood)[0]
    here = evidence(factors, alpha, 1.0, problem.unweighted(4))
    rested = here.posterior
    own = 0.5 * (rested.latents * rested.determined - alpha * np.square(rested.mean).sum(axis=1))
    np.testing.assert_allclose(here.gradient[:-1], own, rtol=1e-12)

    def value(moved: Array) -> float:
        return evidence(factors, alpha * np.exp(moved), 1.0, rested.mean).value

    np.testing.assert_allclose(own, by_differences(value, np.zeros(4), 1e-3), rtol=1e-4, atol=2e-5)


def test_two_coupled_classes_have_latents_of_opposite_sign() -> None:
    X, t = ring(40, 0, 2)
    problem = pose(X, t, spec_for(Categorical(2)))
    alpha, _ = hyperparameters(4, Categorical(2))
    mean = evidence(build(problem, ACTIVE, np.zeros((4, 2))), alpha, 1.0, np.zeros((4, 2))).posterior.mean
    np.testing.assert_allclose(mean[:, 0], -mean[:, 1], atol=1e-7)
    assert np.abs(mean).max() > 0.5


@pytest.mark.parametrize("name", SEVERAL)
def test_where_the_means_are_looked_for_does_not_matter(name: str) -> None:
    factors, here = found(SEVERAL[name])
    far = np.random.default_rng(0).normal(0.0, 5.0, (4, 3))
    there = evidence(factors, here.posterior.alpha, here.beta, far)
    assert there.value == pytest.approx(here.value, rel=1e-10)
    np.testing.assert_allclose(there.posterior.mean, here.posterior.mean, rtol=1e-5, atol=1e-6)
