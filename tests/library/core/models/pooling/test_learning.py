"""Growth of a pool's member of many rows: functions are added by their gains on all rows."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from relevance_bayes.core.algorithms import task as tasks
from relevance_bayes.core.likelihoods import GaussianNoise
from relevance_bayes.core.likelihoods.gaussian import RealPrediction
from relevance_bayes.core.models.fitting import FitLog, pose
from relevance_bayes.core.models.model import Model
from relevance_bayes.core.models.pooling import members as learning
from relevance_bayes.core.models.pooling.members import Ordered, learned_through, whole
from relevance_bayes.core.models.prediction import predict
from tests.library.core.drawn import friedman, process_spec
from tests.library.core.generators import returned

FUNCTIONS = 8
SPEC = process_spec(GaussianNoise(), inputs=True, vectors="rows")


@pytest.fixture
def _few_rows_first(monkeypatch: pytest.MonkeyPatch) -> None:
    small = {"ROWS_FOR_SCALES": 150, "ROWS_FOR_STARTS": 60, "ROWS_FOR_FUNCTIONS": (150, 150)}
    for name, value in {**small, "MIN_ROWS_TOGETHER": 150, "ROWS_PER_FUNCTION": 2, "FEW_CELLS": 0}.items():
        monkeypatch.setattr(tasks, name, value)
    monkeypatch.setattr(learning, "MAX_ROWS_FOR_EXACT", 1_000)


@cache
def ordered(rows: int) -> Ordered:
    X, t, _ = friedman(rows, 3)
    return Ordered.of([*whole(pose(X, t, SPEC), SPEC, FitLog())][-1])


def through_few(member: Ordered, *, max_functions: int | None) -> Model:
    return returned(learned_through(member, FUNCTIONS, FitLog(), max_functions=max_functions)).model


def error(model: Model) -> float:
    X, _, f = friedman(1_000, 99)
    found = predict(model, X)
    assert isinstance(found, RealPrediction)
    return float(np.sqrt(np.mean(np.square(found.mean - f))))


@pytest.mark.thorough
@pytest.mark.usefixtures("_few_rows_first")
def test_a_member_of_many_rows_grows_up_to_the_maximum() -> None:
    member = ordered(2_000)
    without = through_few(member, max_functions=None)
    grown = through_few(member, max_functions=100)
    bounded = through_few(member, max_functions=FUNCTIONS + 5)
    fixed = len(without.mean) - FUNCTIONS
    assert len(bounded.mean) == fixed + FUNCTIONS + 5
    assert fixed + FUNCTIONS + 5 < len(grown.mean) <= fixed + 100
    assert grown.evidence.value > without.evidence.value + 100.0
    assert error(grown) < 0.5 * error(without)


@pytest.mark.usefixtures("_few_rows_first")
def test_a_member_of_few_rows_keeps_the_functions_chosen() -> None:
    """Up to MAX_ROWS_FOR_EXACT rows."""
    member = ordered(900)
    assert not member.grows
    np.testing.assert_array_equal(
        through_few(member, max_functions=100).mean, through_few(member, max_functions=None).mean
    )


@pytest.mark.usefixtures("_few_rows_first")
def test_growth_and_the_fit_after_it_use_at_most_so_many_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    member = ordered(2_000)
    monkeypatch.setattr(tasks, "MAX_ROWS_TOGETHER", 500)
    for name in ("ROWS_PER_FUNCTION", "MAX_ROWS_PER_FUNCTION"):
        monkeypatch.setattr(tasks, name, 1)
    state = member.through(FUNCTIONS, 1e-8, grows=True)
    assert state.process is not None
    task = member.whole.task
    later = replace(state, process=replace(state.process, round=1))
    assert [task.n_rows_together(one) for one in (state, later)] == [150, 500]
    monkeypatch.setattr(tasks, "MAX_ROWS_PER_FUNCTION", 50)
    assert task.n_rows_together(later) == min(50 * len(later.active), 2_000)
    assert len(through_few(member, max_functions=100).mean) > len(through_few(member, max_functions=None).mean)
