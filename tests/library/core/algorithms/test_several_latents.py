"""Whole fits of several latents a row under independent precisions: what changes nothing, and the edges."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from relevance_bayes.core.algorithms import Algorithm, ReEstimation, Sequential, re_estimation
from relevance_bayes.core.algorithms.state import EvidenceIterate, State, Termination, with_evidence
from relevance_bayes.core.errors import DataError, OneClassError
from relevance_bayes.core.inference.problem import Problem
from relevance_bayes.core.likelihoods import Categorical, GaussianNoise, Likelihood, OneAgainstRest
from relevance_bayes.core.models import fitting
from relevance_bayes.core.models.fitting import fit, iterate, iterates, pose
from relevance_bayes.core.models.model import Spec
from relevance_bayes.core.models.prediction import ClassPrediction, predict, scores
from relevance_bayes.core.priors import Independent, Prior
from relevance_bayes.core.types import Array
from tests.library.core.drawn import SEVERAL, ring, sinc, spec_for

WAYS: dict[str, tuple[Prior, Algorithm]] = {
    "sequential": (Independent(), Sequential()),
    "one move at a time": (Independent(), Sequential("single")),
    "priced": (Independent(price=True), Sequential()),
    "priced, one move at a time": (Independent(price=True), Sequential("single")),
    "mackay": (Independent(), ReEstimation("mackay")),
    "em": (Independent(), ReEstimation("em")),
    "under hyperpriors": (Independent(a=0.1, b=0.1), ReEstimation("mackay")),
}

each_way = pytest.mark.parametrize(("prior", "algorithm"), WAYS.values(), ids=WAYS)
each = pytest.mark.parametrize("likelihood", SEVERAL.values(), ids=SEVERAL)


@pytest.fixture(autouse=True)
def few_iterations(monkeypatch: pytest.MonkeyPatch) -> None:
    """EM creeps for thousands of steps; what holds for the first 15 holds for them all."""
    monkeypatch.setattr(re_estimation, "MAX_ITERATIONS", 15)


def spec_of(likelihood: Likelihood, prior: Prior, algorithm: Algorithm) -> Spec:
    return replace(spec_for(likelihood, algorithm=algorithm), prior=prior)


def states_of(problem: Problem, spec: Spec, start: State | None = None) -> list[State]:
    return list(iterate(problem, spec, start))


def assert_probable(prediction: object) -> Array:
    assert isinstance(prediction, ClassPrediction)
    assert (prediction.probabilities >= 0.0).all()
    np.testing.assert_allclose(prediction.probabilities.sum(axis=1), 1.0, atol=1e-12)
    return prediction.probabilities


@each_way
@each
def test_no_step_lowers_the_objective_of_its_phase(likelihood: Likelihood, prior: Prior, algorithm: Algorithm) -> None:
    spec = spec_of(likelihood, prior, algorithm)
    states = states_of(pose(*ring(36, 1), spec), spec)
    for before, after in pairwise(states):
        if before.phase == after.phase:
            assert after.objective >= before.objective - 1e-9 * (1.0 + abs(before.objective))
    assert len(states) > 3
    assert states[-1].weights.shape == (len(states[-1].active), 3)


@each_way
@each
def test_a_fit_resumed_at_any_resting_state_ends_as_the_unbroken_one(
    likelihood: Likelihood, prior: Prior, algorithm: Algorithm, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fitting, "REBUILT_EVERY", 3)
    spec = spec_of(likelihood, prior, algorithm)
    problem = pose(*ring(24, 2), spec)
    states = states_of(problem, spec)
    stored = [state for state in states[:-1] if state.iteration % 3 == 0]
    for start in stored if len(stored) < 5 else (*stored[:3], *stored[-2:]):
        *_, last = states_of(replace(problem), spec, start)
        assert (last.active, last.iteration) == (states[-1].active, states[-1].iteration)
        np.testing.assert_allclose(last.weights, states[-1].weights, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(last.alpha, states[-1].alpha, rtol=1e-9)


@pytest.mark.parametrize(
    "algorithm", [Sequential(), Sequential("single"), ReEstimation()], ids=["inner", "single", "all"]
)
def test_latents_of_the_same_targets_choose_what_one_of_them_would(algorithm: Algorithm) -> None:
    """Each gain is three times that of one, so the least gain that counts is too small to distinguish them."""
    X, t = sinc(40, 0, noise=0.2)
    spec = spec_for(GaussianNoise(), algorithm=algorithm)
    one = pose(X, t, spec)
    three = replace(one, likelihood=OneAgainstRest(3), source=one.source.with_targets(np.tile(t[:, None], 3), None))
    *_, alone = states_of(one, spec)
    *_, last = states_of(three, spec)
    assert last.active == alone.active
    assert last.objective == pytest.approx(3.0 * alone.objective, rel=1e-6)
    np.testing.assert_allclose(last.alpha, alone.alpha, rtol=1e-2)
    for k in range(3):
        np.testing.assert_allclose(last.weights[:, k], alone.weights, rtol=1e-2, atol=1e-4)


@each_way
@each
def test_the_classes_may_come_in_any_order(likelihood: Likelihood, prior: Prior, algorithm: Algorithm) -> None:
    X, t = ring(30, 3)
    spec = spec_of(likelihood, prior, algorithm)
    order = np.array([2, 0, 1])
    one, other = fit(X, t, spec), fit(X, order[t.astype(int)].astype(np.float64), spec)
    assert other.evidence.value == pytest.approx(one.evidence.value, rel=1e-7)
    here, there = assert_probable(predict(one, X)), assert_probable(predict(other, X))
    np.testing.assert_allclose(there[:, order], here, atol=1e-4)


@each
def test_the_score_among_alternatives_does_not_know_the_order_of_the_classes(likelihood: Likelihood) -> None:
    X, t = ring(30, 3)
    spec = spec_for(likelihood)

    def score(t: Array) -> float:
        problem = pose(X, t, spec)
        *_, last = iterates(problem, spec)
        return last.integral(problem).value

    assert score(2.0 - t) == pytest.approx(score(t), rel=1e-7)


@each
def test_the_rows_may_come_in_any_order(likelihood: Likelihood) -> None:
    X, t = ring(45, 4)
    spec, order = spec_for(likelihood), np.random.default_rng(0).permutation(45)
    one, other = fit(X, t, spec), fit(X[order], t[order], spec)
    assert other.evidence.value == pytest.approx(one.evidence.value, rel=1e-8)
    np.testing.assert_allclose(assert_probable(predict(other, X)), assert_probable(predict(one, X)), atol=1e-5)


@each_way
@each
def test_classes_that_lie_apart_end_with_finite_weights_and_hardly_a_doubt(
    likelihood: Likelihood, prior: Prior, algorithm: Algorithm
) -> None:
    X, t = ring(30, 0, sd=0.05)
    model = fit(X, t, spec_of(likelihood, prior, algorithm))
    assert np.isfinite(model.mean).all()
    found = assert_probable(predict(model, X))
    np.testing.assert_array_equal(found.argmax(axis=1), t)
    assert found.max(axis=1).min() > 0.8


@each_way
@each
def test_a_class_of_one_row_is_learned(likelihood: Likelihood, prior: Prior, algorithm: Algorithm) -> None:
    X, t = ring(20, 5, 2)
    X, t = np.vstack([X, [[0.0, 4.0]]]), np.append(t, 2.0)
    model = fit(X, t, spec_of(likelihood, prior, algorithm))
    found = assert_probable(predict(model, X))
    assert found[:20, 2].mean() < 0.2


@each_way
@each
def test_two_rows_are_enough_and_one_is_not(likelihood: Likelihood, prior: Prior, algorithm: Algorithm) -> None:
    spec = spec_of(likelihood, prior, algorithm)
    X, t = np.array([[0.0, 0.0], [1.0, 1.0]]), np.array([0.0, 2.0])
    assert_probable(predict(fit(X, t, spec), X))
    with pytest.raises(DataError, match="at least two rows"):
        fit(X[:1], t[:1], spec)


@each
def test_rows_of_one_class_alone_are_refused(likelihood: Likelihood) -> None:
    X, _ = ring(12, 0)
    with pytest.raises(OneClassError, match="only class 1"):
        fit(X, np.ones(12), spec_for(likelihood))


@pytest.mark.parametrize("likelihood", [Categorical(4), OneAgainstRest(4)], ids=lambda member: member.type)
def test_four_classes_are_distinguished_nearly_as_well_as_by_bayes_rule(likelihood: Likelihood) -> None:
    sd = 0.5
    X, t = ring(200, 6, 4, sd=sd)
    new, came = ring(2_000, 7, 4, sd=sd)
    found = predict(fit(X, t, spec_for(likelihood)), new)
    centres, _ = ring(4, 0, 4, sd=0.0)
    exponents = -0.5 * np.square(new[:, None] - centres).sum(axis=2) / sd**2
    exponents -= np.log(np.exp(exponents).sum(axis=1, keepdims=True))
    bayes = -float(np.take_along_axis(exponents, came.astype(int)[:, None], axis=1).mean())
    wrong = float((exponents.argmax(axis=1) != came).mean())
    assert_probable(found)
    measured = scores(found, came)
    assert measured["error"] < wrong + 0.02
    assert measured["log_loss"] < bayes + 0.08


@each
def test_a_price_keeps_no_more_functions(likelihood: Likelihood) -> None:
    X, t = ring(60, 8)
    free = fit(X, t, spec_for(likelihood))
    priced = fit(X, t, spec_of(likelihood, Independent(price=True), Sequential()))
    assert 0 < len(priced.mean) <= len(free.mean)
    assert priced.evidence.value - priced.evidence.price < free.evidence.value


def test_noise_alone_keeps_nothing_and_predicts_about_the_shares_of_the_classes() -> None:
    rng = np.random.default_rng(9)
    X, t = rng.standard_normal((60, 2)), np.floor(rng.uniform(0.0, 3.0, 60))
    spec = spec_of(Categorical(3), Independent(price=True), Sequential())
    *_, last = iterates(pose(X, t, spec), spec)
    assert isinstance(last, EvidenceIterate)
    assert len(last.state.active) <= 1
    assert last.state.termination == Termination.CONVERGED
    found = assert_probable(predict(fit(X, t, spec), X))
    np.testing.assert_allclose(found, 1.0 / 3.0, atol=0.25)


def test_the_fixed_point_of_re_estimation_is_where_the_objective_rests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Under Gamma hyperpriors alpha = (K gamma + 2a)/(|mean|^2 + 2b), K numbers of a row counted."""
    monkeypatch.setattr(re_estimation, "MAX_ITERATIONS", 3_000)
    a, b = 0.3, 0.2
    X, t = ring(20, 0)
    for likelihood in SEVERAL.values():
        spec = spec_of(likelihood, Independent(a=a, b=b), ReEstimation())
        problem = pose(X, t, spec)
        *_, last = iterates(problem, spec)
        here = with_evidence(problem, last).evidence
        alpha, rested = here.posterior.alpha, here.posterior
        slope = here.gradient[:-1] + a - b * alpha
        np.testing.assert_allclose(slope, 0.0, atol=1e-3)
        expected = (3.0 * rested.determined + 2.0 * a) / (np.square(rested.mean).sum(axis=1) + 2.0 * b)
        np.testing.assert_allclose(alpha, expected, rtol=2e-2)
