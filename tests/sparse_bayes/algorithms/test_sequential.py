import numpy as np
import pytest

from app.sparse_bayes.algorithms import inner, sequential
from app.sparse_bayes.algorithms.state import State, Termination, walking
from app.sparse_bayes.basis import Bias, KernelBasis
from app.sparse_bayes.evidence import gain
from app.sparse_bayes.factors import SPAN
from app.sparse_bayes.fitting import iterate, pose, standings
from app.sparse_bayes.likelihoods import Bernoulli, GaussianNoise, Likelihood
from app.sparse_bayes.scales import FixedWidth, width_range
from app.sparse_bayes.spec import Spec
from app.sparse_bayes.types import Array
from tests.sparse_bayes.drawn import LIKELIHOODS, friedman, rows_for, sinc, spec_for

each_likelihood = pytest.mark.parametrize("likelihood", LIKELIHOODS.values(), ids=LIKELIHOODS)


def fitted(X: Array, t: Array, likelihood: Likelihood) -> State:
    spec = spec_for(likelihood)
    *_, last = iterate(pose(X, t, spec), spec)
    return last


@each_likelihood
def test_it_starts_from_nothing(likelihood: Likelihood) -> None:
    spec = spec_for(likelihood)
    first = next(iterate(pose(*rows_for(likelihood, 20, 0), spec), spec))
    assert first.active == ()
    assert first.termination is None


@each_likelihood
def test_a_duplicate_input_is_not_taken_twice(likelihood: Likelihood) -> None:
    X, t = rows_for(likelihood, 30, 0)
    state = fitted(np.vstack([X, X]), np.concatenate([t, t]), likelihood)
    taken = [number % 30 for number in state.active if number < 60]
    assert taken
    assert len(set(taken)) == len(taken)


@pytest.mark.parametrize("seed", [0, 1, 2, 4, 5])
def test_of_rows_at_one_place_only_one_carries_a_function(seed: int) -> None:
    X, t = sinc(30, seed)
    X = np.round(X)
    taken = [X[number, 0] for number in fitted(X, t, GaussianNoise()).active if number < 30]
    assert len(set(taken)) == len(taken)


@pytest.mark.parametrize("seed", range(3))
def test_at_the_end_no_function_outside_gains(seed: int) -> None:
    spec = spec_for(GaussianNoise())
    problem = pose(*sinc(40, seed), spec)
    *_, end = standings(problem, spec)
    last = walking(problem, end)
    seen = last.factors.look(last.evidence.posterior, last.evidence.beta)
    gains = gain(seen.S, seen.Q)
    gains[list(last.state.active)] = 0.0
    copies = seen.S <= SPAN * seen.alone
    assert gains[~copies].max() < inner.LEAST_GAIN
    assert last.state.at_rest


@pytest.mark.parametrize("seed", range(3))
def test_few_functions_of_a_noisy_sinc_are_kept(seed: int) -> None:
    X, t = sinc(100, seed)
    state = fitted(X, t, GaussianNoise())
    assert 3 <= len(state.active) <= 10
    assert state.beta**-0.5 == pytest.approx(0.1, rel=0.25)


def test_not_converging_is_a_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sequential.MOST_STEPS_PER_ROW, "inner", 0)
    assert fitted(*sinc(30, 0), GaussianNoise()).termination == Termination.MAX_ITERATIONS


def test_many_that_gain_only_together_are_found_where_many_are_in(monkeypatch: pytest.MonkeyPatch) -> None:
    X, t, _ = friedman(240, 2)
    _, greatest = width_range(X)
    spec = Spec(GaussianNoise(), (KernelBasis(width=FixedWidth(0.4 * greatest)), Bias()))
    *_, together = iterate(pose(X, t, spec), spec)
    monkeypatch.setattr(inner, "WORTH_IT", np.inf)
    *_, alone = iterate(pose(X, t, spec), spec)
    assert inner.FEWEST < len(alone.active) < len(together.active)
    assert together.objective > alone.objective + 30.0


@pytest.mark.parametrize("likelihood", [GaussianNoise(), Bernoulli()], ids=lambda member: member.type)
def test_functions_that_gain_only_together_are_found(likelihood: Likelihood) -> None:
    rng = np.random.default_rng(3)
    X = rng.uniform(-1.0, 1.0, (200, 1))
    f = 2.0 * X[:, 0]
    t = (f + 0.1 * rng.standard_normal(200)) if isinstance(likelihood, GaussianNoise) else (X[:, 0] > 0).astype(float)
    t = t - t.mean() if isinstance(likelihood, GaussianNoise) else t
    spec = Spec(likelihood, (KernelBasis(width=FixedWidth(8.0)),))
    *_, last = iterate(pose(X, t, spec), spec)
    beta, _ = likelihood.start(t)
    alone = likelihood.log_density(t, np.zeros(200), beta).sum()
    assert len(last.active) >= 2
    assert last.objective > alone + 50.0
