from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relevance_bayes.core.algorithms import Sequential, sequential
from relevance_bayes.core.algorithms.ascent import maximise
from relevance_bayes.core.algorithms.sequential import single_step
from relevance_bayes.core.algorithms.state import FREE, State, Termination, iterate_of, with_evidence
from relevance_bayes.core.basis import Inputs
from relevance_bayes.core.inference.evidence import evidence, quality_over_sparsity
from relevance_bayes.core.inference.problem import Problem
from relevance_bayes.core.likelihoods import GaussianNoise, Likelihood
from relevance_bayes.core.models import fitting
from relevance_bayes.core.models.fitting import iterate, iterates, pose
from relevance_bayes.core.models.model import Spec
from tests.library.core.algorithms.test_ascent import saddle
from tests.library.core.drawn import LIKELIHOODS, rows_for, sinc, spec_for
from tests.properties import examples

SINGLE = Sequential("single")

each_likelihood = pytest.mark.parametrize("likelihood", LIKELIHOODS.values(), ids=LIKELIHOODS)


def posed(likelihood: Likelihood, *, seed: int, rows: int) -> tuple[Problem, Spec]:
    spec = spec_for(likelihood, algorithm=SINGLE)
    return pose(*rows_for(likelihood, rows, seed), spec), spec


@pytest.mark.thorough
@each_likelihood
@settings(max_examples=examples(3), deadline=None)
@given(seed=st.integers(0, 2**32 - 1), rows=st.integers(8, 40))
def test_each_step_raises_the_evidence_by_at_most_one_move(likelihood: Likelihood, seed: int, rows: int) -> None:
    problem, spec = posed(likelihood, seed=seed, rows=rows)
    states = list(iterate(problem, spec))
    for before, after in pairwise(states[:-1]):
        assert after.objective >= before.objective - 1e-9 * (1.0 + abs(before.objective))
        assert len(moved(before, after)) <= 1
    assert states[-1].termination == Termination.CONVERGED


def moved(before: State, after: State) -> set[int]:
    """The candidates whose precision changed."""
    old = dict(zip(before.active, before.alpha, strict=True))
    new = dict(zip(after.active, after.alpha, strict=True))
    return {number for number in old.keys() | new.keys() if old.get(number) != new.get(number)}


@pytest.mark.parametrize("rows", [30, 100])
@pytest.mark.parametrize("seed", range(5))
def test_on_orthogonal_columns_it_ends_where_the_inner_ascent_does(rows: int, seed: int) -> None:
    """There the evidence has one maximum at each noise, found one alpha at a time or all together."""
    rng = np.random.default_rng(seed)
    X, _ = np.linalg.qr(rng.standard_normal((rows, rows // 5)))
    t = X @ (rng.standard_normal(rows // 5) * rng.choice([0.0, 2.0], rows // 5)) + 0.1 * rng.standard_normal(rows)
    spec = Spec(GaussianNoise(), (Inputs(),), algorithm=SINGLE)
    problem = pose(X, t, spec)
    *_, one = iterate(problem, spec)
    *_, other = iterate(problem, replace(spec, algorithm=Sequential()))
    assert set(one.active) == set(other.active)
    assert one.objective == pytest.approx(other.objective, abs=1e-3)


@pytest.mark.parametrize("seed", range(6))
def test_on_sinc_neither_ascent_finds_more_where_the_other_ended(seed: int) -> None:
    """They may choose neighbouring centres, and end in different maxima: each is one for the other too."""
    spec = spec_for(GaussianNoise(), algorithm=SINGLE)
    problem = pose(*sinc(60, seed), spec)
    *_, end = iterates(problem, spec)
    last = with_evidence(problem, end)
    np.testing.assert_allclose(last.evidence.gradient, 0.0, atol=1e-3)
    assert (quality_over_sparsity(last.evidence.posterior) > 1.0).all()
    climbed = maximise(last.factors, last.evidence, tolerance=1e-11)
    assert climbed.evidence.value == pytest.approx(last.evidence.value, abs=1e-3)
    *_, end = iterates(problem, replace(spec, algorithm=Sequential()))
    other = with_evidence(problem, end)
    on = single_step(other, FREE)
    assert on is None or on.evidence.value == pytest.approx(other.evidence.value, abs=1e-3)
    assert last.evidence.value == pytest.approx(other.evidence.value, abs=1.0)


@each_likelihood
def test_a_resumed_fit_is_the_unbroken_one(likelihood: Likelihood, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fitting, "REBUILT_EVERY", 2)
    problem, spec = posed(likelihood, seed=4, rows=24)
    states = list(iterate(problem, spec))
    stored = [state for state in states[:-1] if state.iteration % 2 == 0]
    for start in (stored[0], stored[len(stored) // 2], stored[-1]):
        *_, resumed = iterate(replace(problem), spec, start)
        assert (resumed.active, resumed.iteration) == (states[-1].active, states[-1].iteration)
        np.testing.assert_array_equal(resumed.weights, states[-1].weights)


def test_a_saddle_is_not_left() -> None:
    """The inner ascent leaves it: see test_ascent."""
    factors, here, _ = saddle()
    rested = evidence(factors, here.posterior.alpha, here.beta, here.posterior.mean)
    assert single_step(iterate_of(factors, rested, iteration=0), FREE) is None


def test_not_converging_is_a_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sequential.MAX_STEPS_PER_ROW, "single", 0)
    problem, spec = posed(GaussianNoise(), seed=0, rows=30)
    *_, last = iterate(problem, spec)
    assert last.termination == Termination.MAX_ITERATIONS
