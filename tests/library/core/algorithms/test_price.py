from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby, pairwise
from math import comb, inf, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relevance_bayes.core.algorithms import Sequential, sequential
from relevance_bayes.core.algorithms.sequential import Ascent
from relevance_bayes.core.algorithms.state import BACKWARD, FORWARD, Price, State, Termination, rebuild
from relevance_bayes.core.basis import Bias, Inputs
from relevance_bayes.core.dictionaries import Fourier
from relevance_bayes.core.inference.problem import Problem
from relevance_bayes.core.likelihoods import Bernoulli, GaussianNoise, Likelihood
from relevance_bayes.core.models import fitting
from relevance_bayes.core.models.fitting import fit, iterate, pose
from relevance_bayes.core.models.model import Spec
from relevance_bayes.core.priors import Independent
from relevance_bayes.core.types import Array
from tests.library.core.drawn import rows_for, sinc, spec_for
from tests.properties import examples

ASCENTS: tuple[Ascent, ...] = ("inner", "single")
each_ascent = pytest.mark.parametrize("ascent", ASCENTS)
each_likelihood = pytest.mark.parametrize(
    "likelihood", [GaussianNoise(), GaussianNoise(0.1), Bernoulli()], ids=["learned", "known", "classes"]
)


def priced(likelihood: Likelihood, ascent: Ascent = "inner") -> Spec:
    return replace(spec_for(likelihood, algorithm=Sequential(ascent)), prior=Independent(price=True))


def posed(likelihood: Likelihood, spec: Spec, *, seed: int, rows: int = 24) -> Problem:
    return pose(*rows_for(likelihood, rows, seed), spec)


def columns(relevant: int, candidates: int, seed: int, *, noise: float = 0.5) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((100, candidates))
    return X, X[:, :relevant] @ np.full(relevant, 1.5) + noise * rng.standard_normal(100)


def never_falls_within_a_phase(states: Sequence[State]) -> bool:
    return all(
        after.objective >= before.objective - 1e-9 * (1.0 + abs(before.objective))
        for before, after in pairwise(states)
        if before.phase == after.phase
    )


@each_ascent
@each_likelihood
@settings(max_examples=examples(3), deadline=None)
@given(seed=st.integers(0, 2**32 - 1), rows=st.integers(8, 40))
def test_the_objective_never_falls_within_a_phase(likelihood: Likelihood, ascent: Ascent, seed: int, rows: int) -> None:
    spec = priced(likelihood, ascent)
    states = list(iterate(posed(likelihood, spec, seed=seed, rows=rows), spec))
    assert never_falls_within_a_phase(states)
    assert [phase for phase, _ in groupby(state.phase for state in states)] == [FORWARD, BACKWARD]
    assert states[-1].termination == Termination.CONVERGED


@pytest.mark.parametrize("candidates", [3, 10, 40, 1000])
@pytest.mark.parametrize("share", [0.5, 1.0])
def test_a_few_of_many_pay_for_the_choice_and_any_other_a_nat(candidates: int, share: float) -> None:
    price = Price(candidates, share)
    for chosen in range(min(candidates, 12)):
        assert price.of(chosen + 1) - price.of(chosen) == pytest.approx(price.entry(chosen), abs=1e-9)
        assert price.refund(chosen + 1) == price.entry(chosen)
        assert price.entry(chosen) >= 1.0
    assert price.entry(candidates) == inf
    assert Price(10**6, 1.0).of(5) == pytest.approx(log(comb(10**6, 5)))


def test_as_many_candidates_as_rows_leave_something_for_the_noise() -> None:
    """Each of 128 waves by itself could explain what it meets."""
    X = np.arange(128.0)[:, None]
    t = np.random.default_rng(3).standard_normal(128)
    found = fit(X, t, Spec(GaussianNoise(), (Fourier(), Bias()), Independent(price=True)))
    assert len(found.mean) <= 4
    assert found.noise_sd == pytest.approx(t.std(), rel=0.15)


@pytest.mark.parametrize("seed", [5, 6, 10])
def test_ten_columns_a_row_are_not_all_that_it_takes_to_do_without_noise(seed: int) -> None:
    """Draws of which every row could be gone through."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((100, 1000))
    t = X[:, :5] @ rng.choice([-1.0, 1.0], 5) + 0.5 * rng.standard_normal(100)
    found = fit(X, t, Spec(GaussianNoise(), (Inputs(), Bias()), Independent(price=True)))
    assert len(found.mean) <= 8
    assert found.noise_sd == pytest.approx(0.5, rel=0.3)


@each_ascent
def test_the_objective_never_falls_where_more_than_half_of_the_candidates_are_in(ascent: Ascent) -> None:
    """log C(M, R) itself would fall with R there."""
    spec = Spec(GaussianNoise(), (Inputs(), Bias()), Independent(price=True), Sequential(ascent))
    for seed in range(4):
        states = list(iterate(pose(*columns(9, 12, seed), spec), spec))
        assert never_falls_within_a_phase(states)
        assert len(states[-1].active) >= 9
        assert states[-1].termination == Termination.CONVERGED


@each_ascent
@each_likelihood
def test_the_objective_is_the_evidence_less_the_price_of_the_phase(likelihood: Likelihood, ascent: Ascent) -> None:
    spec = priced(likelihood, ascent)
    problem = posed(likelihood, spec, seed=1)
    M = problem.candidates.size
    for state in iterate(problem, spec):
        share = {FORWARD: 0.5, BACKWARD: 1.0}[str(state.phase)]
        paid = sum(max(share * log((M - r) / (r + 1)), 1.0) for r in range(len(state.active)))
        assert state.objective == pytest.approx(rebuild(problem, state).evidence.value - paid, rel=1e-8)


def test_backward_functions_leave_and_none_enters() -> None:
    spec = Spec(GaussianNoise(), (Inputs(),), Independent(price=True))
    left = 0
    for seed in range(4):
        states = iterate(pose(*columns(5, 100, seed), spec), spec)
        backward = [set(state.active) for state in states if state.phase == BACKWARD]
        assert all(after <= before for before, after in pairwise(backward))
        left += len(backward[0]) - len(backward[-1])
    assert left > 0


@each_ascent
@each_likelihood
def test_a_phase_is_known_from_the_state_alone(
    likelihood: Likelihood, ascent: Ascent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fitting, "REBUILT_EVERY", 1)
    spec = priced(likelihood, ascent)
    problem = posed(likelihood, spec, seed=4)
    states = list(iterate(problem, spec))
    complete = states[-1]
    for start in (states[0], states[len(states) // 2], states[-2]):
        *_, resumed = iterate(replace(problem), spec, start)
        assert (resumed.active, resumed.iteration, resumed.phase) == (
            complete.active,
            complete.iteration,
            complete.phase,
        )
        assert resumed.objective == complete.objective
        np.testing.assert_array_equal(resumed.weights, complete.weights)


def test_an_end_before_the_second_phase_reports_the_whole_price(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sequential.MAX_STEPS_PER_ROW, "inner", 0)
    monkeypatch.setattr(sequential, "MIN_ROWS", 2)
    spec = priced(GaussianNoise())
    problem = posed(GaussianNoise(), spec, seed=0)
    *_, last = iterate(problem, spec)
    assert last.termination == Termination.MAX_ITERATIONS
    assert last.phase == BACKWARD


@pytest.mark.parametrize("seed", range(4))
def test_on_noise_alone_hardly_a_function_is_kept(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, t = rng.standard_normal((100, 60)), rng.standard_normal(100)
    free = fit(X, t, Spec(GaussianNoise(), (Inputs(), Bias())))
    paid = fit(X, t, Spec(GaussianNoise(), (Inputs(), Bias()), Independent(price=True)))
    assert len(free.mean) >= 5
    assert len(paid.mean) <= 2


@pytest.mark.parametrize("seed", range(4))
def test_few_relevant_columns_of_many_are_found(seed: int) -> None:
    X, t = columns(5, 100, seed)
    spec = Spec(GaussianNoise(), (Inputs(),), Independent(price=True))
    *_, last = iterate(pose(X, t, spec), spec)
    assert set(range(5)) <= set(last.active)
    assert len(last.active) <= 12
    assert len(last.active) < len(fit(X, t, replace(spec, prior=Independent())).mean)


@pytest.mark.parametrize("seed", range(3))
def test_a_priced_sinc_is_reported_by_fewer_functions_and_as_well(seed: int) -> None:
    X, t = sinc(100, seed)
    spec = priced(GaussianNoise())
    free, paid = fit(X, t, replace(spec, prior=Independent())), fit(X, t, spec)
    assert len(paid.mean) <= len(free.mean)
    assert paid.noise_sd == pytest.approx(0.1, rel=0.25)
