from dataclasses import replace
from math import comb, lgamma, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import gamma

from relevance_bayes.core.algorithms.state import BACKWARD, FORWARD, FREE, Price, first_phase, price_in
from relevance_bayes.core.likelihoods import GaussianNoise
from relevance_bayes.core.priors import GaussianProcess, Independent
from tests.library.core.drawn import problem_for


def test_without_hyperpriors_nothing_is_added() -> None:
    assert Independent().log_hyperprior(np.array([1e-9, 3.0, 1e12]), 40.0) == 0.0


def test_the_log_hyperprior_is_that_of_gamma_densities_over_logarithms() -> None:
    a, b, c, d = 0.7, 2.0, 1.5, 0.3
    alpha, beta = np.array([0.2, 1.0, 5.0]), 4.0

    def density(value: float, shape: float, rate: float) -> float:
        normaliser = shape * log(rate) - lgamma(shape)
        return float(gamma.logpdf(value, shape, scale=1.0 / rate)) + log(value) - normaliser

    full = sum(density(float(one), a, b) for one in alpha) + density(beta, c, d)
    assert Independent(False, a, b, c, d).log_hyperprior(alpha, beta) == pytest.approx(full)


def test_the_log_density_is_that_of_the_logarithms_of_gamma_variables() -> None:
    a, b, c, d = 0.7, 2.0, 1.5, 0.3
    alpha, beta = np.array([0.2, 1.0, 5.0]), 4.0
    full = float((gamma.logpdf(alpha, a, scale=1.0 / b) + np.log(alpha)).sum())
    full += float(gamma.logpdf(beta, c, scale=1.0 / d)) + log(beta)
    assert Independent(False, a, b, c, d).log_density(alpha, beta) == pytest.approx(full)


def test_an_improper_hyperprior_has_no_normaliser() -> None:
    alpha, beta = np.array([0.2, 1.0, 5.0]), 4.0
    for prior in (Independent(False, 0.7, 0.0, 1.5, 0.0), Independent(False, 0.0, 2.0, 0.0, 0.3)):
        assert prior.log_density(alpha, beta) == prior.log_hyperprior(alpha, beta)


@given(st.integers(1, 300).flatmap(lambda M: st.tuples(st.just(M), st.integers(0, M))), st.sampled_from([0.5, 1.0]))
def test_the_price_is_the_logarithm_of_the_number_of_choices_or_a_nat_each(
    chosen: tuple[int, int], share: float
) -> None:
    M, R = chosen
    price = Price(M, share)
    if R < M and share * log((M - R) / (R + 1)) >= 1.0:
        assert price.of(R) == pytest.approx(share * log(comb(M, R)), abs=1e-9)
    else:
        each = [share * log(comb(M, r + 1) / comb(M, r)) for r in range(R)]
        assert price.of(R) == pytest.approx(sum(max(one, 1.0) for one in each), abs=1e-9)
    if R:
        assert price.refund(R) == pytest.approx(price.of(R) - price.of(R - 1), abs=1e-9)
    if R < M:
        assert price.entry(R) == pytest.approx(price.of(R + 1) - price.of(R), abs=1e-9)
    else:
        assert price.entry(R) == np.inf


def test_half_is_paid_forward_and_all_backward_where_none_enters() -> None:
    problem = problem_for(GaussianNoise())
    M = problem.candidates.size
    assert price_in(problem, None) == FREE
    assert price_in(problem, FORWARD) == Price(M, 0.5, FORWARD, is_adding=True)
    assert price_in(problem, BACKWARD) == Price(M, 1.0, BACKWARD, is_adding=False)
    assert FREE.of(7) == FREE.entry(7) == FREE.refund(7) == 0.0


@pytest.mark.parametrize("prior", [Independent(), GaussianProcess()])
def test_only_who_requests_it_pays(prior: Independent | GaussianProcess) -> None:
    drawn = problem_for(GaussianNoise())
    assert first_phase(replace(drawn, prior=prior)) is None
    assert first_phase(replace(drawn, prior=Independent(price=True))) == FORWARD
