"""A pool through few functions: its figures are right where next to no noise makes every function count."""

from collections.abc import Generator
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from relevance_bayes.core.errors import NotPositiveDefiniteError
from relevance_bayes.core.kernels import Matern32
from relevance_bayes.core.kernels.hyperparameters import Hyperparameters
from relevance_bayes.core.likelihoods import GaussianNoise
from relevance_bayes.core.models.fitting import FitLog, LogEntry, pose
from relevance_bayes.core.models.model import Model
from relevance_bayes.core.models.pool import ready_of
from relevance_bayes.core.models.pooling import members, reduction
from relevance_bayes.core.models.pooling.members import MAX_JITTER, Ordered, Through, learned_through, whole
from relevance_bayes.core.models.prediction import RealPrediction
from relevance_bayes.core.selection import FitContext, Rows, Selection, Step, Trained, train
from relevance_bayes.core.types import Array
from tests.library.core.drawn import friedman, process_spec
from tests.library.core.generators import returned

SMOOTH = process_spec(GaussianNoise(), inputs=True, vectors="rows")
ROUGH = process_spec(GaussianNoise(), inputs=True, vectors="rows", kernel=Matern32())
BENT = process_spec(GaussianNoise(), inputs=True, vectors="rows", warp="evidence")

N = 150


@cache
def drawn() -> tuple[Array, Array]:
    """A fraction with a noise sd of 1e-4: rounding ends the order of its functions before they gain little."""
    rng = np.random.default_rng(0)
    X = rng.uniform(0.0, 1.0, (N + 2_000, 3))
    t = X[:, 0] * X[:, 1] / (0.1 + X[:, 2]) + 1e-4 * rng.standard_normal(len(X))
    return X, (t - t.mean()) / t.std()


def ended(fit_log: FitLog) -> tuple[Trained, list[tuple[LogEntry, ...]]]:
    """A training for which predictions through all rows would cost too much."""
    X, t = drawn()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reduction, "MAX_COST_OF_ALL", 0.0)
        steps = [
            (step, fit_log.entries)
            for step in train(Rows(X[:N], t[:N]), Selection(SMOOTH, pool=(ROUGH, BENT)), on=FitContext(fit_log))
        ]
    last, _ = steps[-1]
    assert isinstance(last, Trained)
    return last, [marks for _, marks in steps]


@cache
def trained() -> tuple[Trained, list[tuple[LogEntry, ...]]]:
    return ended(FitLog())


def predicted(found: Trained) -> RealPrediction:
    prediction, _ = ready_of(found.learned).predict(drawn()[0][N:])
    assert isinstance(prediction, RealPrediction)
    return prediction


@pytest.mark.thorough
def test_score_and_coverage_of_what_loses_much_are_those_of_what_is_kept() -> None:
    found, prediction, t = trained()[0], predicted(trained()[0]), drawn()[1][N:]
    nll = -float(prediction.log_density(t).mean())
    assert found.score_loss is not None
    assert found.score_loss > 0.5
    assert found.validation["nll"] > nll - 0.3
    inside = np.abs(t - prediction.mean) < 1.96 * np.sqrt(prediction.variance)
    assert found.validation["coverage_95"] == pytest.approx(float(inside.mean()), abs=0.04)
    assert sum(member.weight for member in found.members) == pytest.approx(1.0)


def test_a_training_whose_folds_are_measured_twice_ends_the_same_wherever_it_is_broken_off() -> None:
    expected, marks = trained()
    for kept in (marks[-5], marks[-30]):
        again, _ = ended(FitLog(kept))
        np.testing.assert_array_equal(predicted(again).mean, predicted(expected).mean)
        assert again.validation == expected.validation
        assert again.members == expected.members


def test_a_process_that_needs_most_of_its_functions_keeps_all_and_loses_nothing() -> None:
    rng, n = np.random.default_rng(0), 200
    X, W = rng.standard_normal((2 * n, 10)), rng.standard_normal((10, 10))
    t = np.sum((X @ W) * X, axis=1)
    t = (t - t.mean()) / t.std() + 0.3 * rng.standard_normal(2 * n)
    rows = Rows(X[::2], t[::2])
    *_, found = train(rows, Selection(SMOOTH, pool=(ROUGH,)), on=FitContext(FitLog()))
    assert isinstance(found, Trained)
    (member,) = found.members
    assert member.functions == n + 1 + 10
    assert found.score_loss is not None
    assert found.score_loss < 0.01
    prediction, _ = ready_of(found.learned).predict(X[1::2])
    exact = [*whole(pose(rows.X, rows.t, found.spec), found.spec, FitLog())][-1].predict(X[1::2])
    assert isinstance(prediction, RealPrediction)
    assert isinstance(exact, RealPrediction)
    np.testing.assert_allclose(prediction.mean, exact.mean, atol=1e-9)
    assert isinstance(found.learned, Model)
    np.testing.assert_allclose(prediction.variance, exact.variance * found.learned.variance_factor, rtol=1e-9)


@pytest.mark.parametrize(("computable", "expected"), [(30, (30, 1e-8)), (27, (27, 1e-8)), (10, (30, 1e-6))])
def test_what_rounding_forbids_is_fitted_through_fewer_functions_or_with_more_jitter(
    computable: int, expected: tuple[int, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Up to a jitter of 1e-6 so many functions can be computed with, and jitter costs more than functions."""
    X, t, _ = friedman(60, 0)
    problem = pose(X, t, SMOOTH)
    member = Ordered.of([*whole(problem, SMOOTH, FitLog())][-1])
    some = returned(learned_through(member, 5, FitLog()))
    tried = list[tuple[int, float]]()

    def through(
        one: Ordered,
        functions: int,
        added: float,
        fit_log: FitLog,
        max_functions: int | None,
        near: Hyperparameters | None,
    ) -> Generator[Step, None, Through]:
        tried.append((functions, added))
        yield Step("fit", 0, None, "iterations")
        if functions > computable and added < 1e-6:
            raise NotPositiveDefiniteError("expected a positive definite matrix")
        value = functions - 1e8 * added
        model = replace(some.model, evidence=replace(some.model.evidence, value=value), jitter=added)
        return replace(some, model=model)

    monkeypatch.setattr(members, "jitter", lambda h: 1e-8)
    monkeypatch.setattr(members, "_through", through)
    found = returned(learned_through(member, 30, FitLog())).model
    functions, jitter = expected
    assert found.jitter == jitter
    assert found.evidence.value == pytest.approx(functions - 1e8 * jitter)
    assert max(added for _, added in tried) <= MAX_JITTER


def test_a_fit_that_begins_near_the_end_of_another_ends_as_well_in_few_iterations() -> None:
    X, t, _ = friedman(200, 0)
    problem = pose(X, t, SMOOTH)
    member = Ordered.of([*whole(problem, SMOOTH, FitLog())][-1])
    end = returned(learned_through(member, 20, FitLog()))
    again = returned(learned_through(member, 20, FitLog(), near=end.hyperparameters))
    assert again.model.evidence.value == pytest.approx(end.model.evidence.value, abs=0.5)
    steps = [one.model.trace.each() for one in (end, again) if one.model.trace is not None]
    begun = [max(step.objective for step in each if step.phase == "noise") for each in steps]
    assert begun[1] > begun[0] + 0.5  # before the joint optimisation
