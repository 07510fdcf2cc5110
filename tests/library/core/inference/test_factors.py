"""The factors kept beside a state, step by step, against the same computed from nothing."""

import numpy as np
import pytest

from relevance_bayes.core.inference.evidence import evidence
from relevance_bayes.core.inference.factors import SPAN, Factors, build
from relevance_bayes.core.inference.posterior import with_zero
from relevance_bayes.core.inference.problem import Problem
from relevance_bayes.core.likelihoods import GaussianNoise, Likelihood
from relevance_bayes.core.models.fitting import pose
from relevance_bayes.core.rows import ArrayRows
from relevance_bayes.core.types import Array
from tests.library.core.drawn import (
    EVERY,
    LIKELIHOODS,
    columns_of,
    hyperparameters,
    log_marginal,
    problem_for,
    rows_for,
    spec_for,
    width_for,
)

STEPS: tuple[tuple[str, int], ...] = (
    ("add", 30), ("add", 4), ("add", 11), ("drop", 0), ("add", 25), ("add", 30), ("drop", 1), ("add", 17),
)  # fmt: skip


def beta_of(problem: Problem, noise: float) -> float:
    """The precision of a noise sd that is a share of the targets' root mean square."""
    return 1.0 / (noise**2 * float(np.mean(problem.t**2)))


def walked(problem: Problem, beta: float) -> Factors:
    """Functions come and go; weights are those of the posterior on the way, as in a fit."""
    weights = problem.unweighted(0)
    factors = build(problem, (), weights)
    for move, which in STEPS:
        if move == "add":
            factors, start = factors.added(which, weights), with_zero(weights)
        else:
            kept = np.delete(np.arange(len(weights)), which)
            factors, start = factors.keeping(kept, weights), weights[kept]
        weights = evidence(factors, np.ones(len(start)), beta, start).posterior.mean
    return factors


def assert_same(walked: Factors, built: Factors, alpha: Array, beta: float, start: Array, *, rtol: float) -> None:
    one, other = evidence(walked, alpha, beta, start), evidence(built, alpha, beta, start)
    assert one.value == pytest.approx(other.value, rel=rtol)
    np.testing.assert_allclose(one.posterior.mean, other.posterior.mean, rtol=rtol, atol=rtol)
    np.testing.assert_allclose(one.posterior.covariance, other.posterior.covariance, rtol=1e-6)
    np.testing.assert_allclose(one.gradient, other.gradient, rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(walked.heights, built.heights)
    seen, expected = walked.candidate_statistics(one.posterior, beta), built.candidate_statistics(other.posterior, beta)
    np.testing.assert_allclose(seen.alone, expected.alone, rtol=1e-12)
    # What cancels is of the size of what a candidate has alone.
    np.testing.assert_allclose(seen.S / seen.alone, expected.S / expected.alone, atol=1e-9)
    np.testing.assert_allclose((seen.Q.T / np.sqrt(seen.alone)), expected.Q.T / np.sqrt(expected.alone), atol=1e-4)


@pytest.mark.parametrize("name", EVERY)
def test_functions_that_come_and_go_leave_what_would_be_built_from_nothing(name: str) -> None:
    likelihood = EVERY[name]
    problem = problem_for(likelihood)
    _, beta = hyperparameters(0, likelihood)
    factors = walked(problem, beta)
    assert factors.active == (4, 25, 30, 17)
    alpha, _ = hyperparameters(4, likelihood)
    start = problem.unweighted(4)
    built = build(problem, factors.active, start)
    assert_same(factors, built, alpha, beta, start, rtol=1e-8)
    np.testing.assert_array_equal(columns_of(factors), columns_of(built))


def test_nothing_is_lost_where_the_noise_is_a_hundred_thousandth_of_the_targets() -> None:
    problem = problem_for(GaussianNoise())
    beta = beta_of(problem, 1e-5)
    factors = walked(problem, beta)
    alpha = np.ones(4)
    rested, _ = factors.posterior(alpha, beta, np.zeros(4))
    built = build(problem, factors.active, rested.mean)
    assert_same(factors, built, alpha, beta, rested.mean, rtol=1e-8)


def test_evidence_is_exact_where_a_tiny_noise_is_all_that_is_left() -> None:
    """Targets in the span of the model up to 1e-5 of their size: residuals are small differences of large numbers."""
    base = problem_for(GaussianNoise())
    P = base.columns((30, 4, 11))
    t = P @ np.array([1.0, -2.0, 3.0])
    t += 1e-5 * float(np.sqrt(np.mean(t**2))) * np.random.default_rng(0).standard_normal(len(t))
    problem = Problem(ArrayRows(base.X, t), base.candidates, base.likelihood, base.prior)
    beta = beta_of(problem, 1e-5)
    factors, weights = build(problem, (), np.empty(0)), np.empty(0)
    for number in (30, 4, 11):
        factors = factors.added(number, weights)
        weights = evidence(factors, np.ones(len(weights) + 1), beta, np.append(weights, 0.0)).posterior.mean
    # The residuals' origin is still where the last function entered: a rebuilt state has it at the mean.
    built = build(problem, factors.active, weights)
    by_definition = log_marginal(P, np.ones(3), beta, t)
    assert evidence(built, np.ones(3), beta, weights).value == pytest.approx(by_definition, abs=1e-3)
    assert evidence(factors, np.ones(3), beta, weights).value == pytest.approx(by_definition, abs=1e-3)


def test_the_mode_is_where_the_gradient_of_the_log_posterior_vanishes() -> None:
    likelihood: Likelihood = LIKELIHOODS["classes"]
    problem = problem_for(likelihood)
    alpha, beta = hyperparameters(4, likelihood)
    factors = build(problem, (30, 4, 11, 25), np.zeros(4))
    rested, _ = factors.posterior(alpha, beta, np.array([40.0, -40.0, 40.0, -40.0]))
    P = columns_of(factors)
    _, gradient = likelihood.sites(problem.t, P @ rested.mean, beta)
    np.testing.assert_allclose(P.T @ gradient - alpha * rested.mean, 0.0, atol=1e-7)


def test_heights_are_the_largest_sizes_of_the_functions() -> None:
    for likelihood in LIKELIHOODS.values():
        factors = build(problem_for(likelihood), (30, 4), np.zeros(2))
        np.testing.assert_array_equal(factors.heights, np.abs(columns_of(factors)).max(axis=0))
        assert build(problem_for(likelihood), (), np.empty(0)).heights.shape == (0,)


@pytest.mark.parametrize(("name", "wider"), [("noise learned", 2.0), ("classes", 5.0)])
def test_what_lies_in_the_span_of_wide_functions_is_separated_from_what_does_not(name: str, wider: float) -> None:
    """By least squares, as far as rounding allows: the products of such columns have lost it."""
    likelihood = LIKELIHOODS[name]
    spec = spec_for(likelihood, width=wider * width_for(likelihood))
    problem = pose(*rows_for(likelihood, 40, 0), spec)
    factors = build(problem, (), problem.unweighted(0))
    for number, function in enumerate((40, *range(0, 40, 8))):
        factors = factors.added(function, problem.unweighted(number))
    every = problem.columns(tuple(range(41)))
    weights, *_ = np.linalg.lstsq(factors.P, every, rcond=None)
    left = np.square(every - factors.P @ weights).sum(axis=0) / np.square(every).sum(axis=0)
    decided = np.flatnonzero((left < 0.1 * SPAN) | (left > 10.0 * SPAN))
    assert set(left[decided] < SPAN) == {True, False}
    built = build(problem, factors.active, problem.unweighted(6))
    for each in (factors, factors.added(40, problem.unweighted(6)), built):
        assert [each.is_spanned(int(number)) for number in decided] == (left[decided] < SPAN).tolist()
