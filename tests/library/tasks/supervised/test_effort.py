"""The effort of a training, from the request to the arguments of a child process."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from relevance_bayes.core.selection import NORMAL, THOROUGH, Bounds, Folding, Trained, train
from relevance_bayes.records.values import Effort
from relevance_bayes.tables.columns import Block, NumberArray
from relevance_bayes.tasks.supervised.fit import SupervisedFit
from relevance_bayes.tasks.supervised.request import SupervisedRequest, Validation
from relevance_bayes.tasks.supervised.training import SupervisedTraining
from relevance_bayes.tasks.union import plan
from tests.small_tables import DATASET_ID, dataset_of

MANY = 10**9
REQUEST = SupervisedRequest(DATASET_ID, "y")


def wave(rows: int = 40) -> Block:
    x = np.linspace(-3.0, 3.0, rows)
    return {"x": NumberArray(x), "y": NumberArray(np.sin(x) + 0.2 * np.random.default_rng(0).standard_normal(rows))}


def prepared(requested: SupervisedRequest, directory: Path) -> SupervisedTraining:
    block, dataset = wave(), dataset_of(wave())
    return SupervisedTraining.prepare(
        plan(requested, dataset), dataset, lambda: iter([(0, block)]), directory, max_cells=MANY
    )


def fit_of(requested: SupervisedRequest, directory: Path) -> SupervisedFit:
    return prepared(requested, directory).fit


@pytest.mark.parametrize(
    ("effort", "folds", "bounds", "members"),
    [("quick", 0, NORMAL, 0), ("normal", 5, NORMAL, 2), ("thorough", 10, THOROUGH, 3)],
)
def test_an_effort_decides_folds_bounds_and_members(
    effort: Effort, folds: int, bounds: Bounds, members: int, tmp_path: Path
) -> None:
    fit = fit_of(replace(REQUEST, effort=effort), tmp_path)
    assert (fit.selection.folds, fit.selection.bounds, len(fit.selection.pool)) == (folds, bounds, members)


def test_folds_that_are_requested_are_made_whatever_they_cost(tmp_path: Path) -> None:
    fit = fit_of(replace(REQUEST, effort="thorough", validation=Validation(3)), tmp_path)
    assert (fit.selection.folds, fit.selection.bounds) == (3, None)


def test_a_thorough_training_is_scored_by_ten_folds(tmp_path: Path) -> None:
    training = prepared(replace(REQUEST, effort="thorough"), tmp_path)
    fit = training.fit
    rows = fit.rows(np.array(training.made.rows()))
    steps = train(rows, replace(fit.selection, compared_models=(), local=None), folding=Folding())
    *_, last = steps
    assert isinstance(last, Trained)
    assert (last.score.folds, last.score.rows) == (10, 40)
    assert len(last.compared) == 4
    assert all(one.score is not None for one in last.compared)
