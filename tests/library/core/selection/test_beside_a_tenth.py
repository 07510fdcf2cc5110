"""A process of many rows is measured on a tenth of them, and goes on from there to all of them."""

from collections.abc import Iterator

import numpy as np
import pytest

from relevance_bayes.core.likelihoods import GaussianNoise, StudentT
from relevance_bayes.core.models.fitting import FitLog
from relevance_bayes.core.models.model import Model, Spec
from relevance_bayes.core.models.prediction import predict, scores
from relevance_bayes.core.selection import FitContext, Folding, Rows, Selection, Step, Trained, train
from relevance_bayes.core.selection.candidates import beside_a_tenth, ranked
from relevance_bayes.core.selection.scoring import Bounds, Scoring
from tests.library.core.drawn import friedman, process_spec, spec_for
from tests.library.core.generators import returned

SMALL = Bounds(max_rows=50, max_rows_for_folds=100)
MOVED = process_spec(GaussianNoise(), inputs=True)
SCORING = Scoring(5, SMALL)


def ended(steps: Iterator[Step | Trained]) -> Trained:
    *_, last = steps
    assert isinstance(last, Trained)
    return last


def drawn(rows: int = 150) -> Rows:
    X, t, _ = friedman(rows, 0)
    return Rows(X, t)


def model_of(trained: Trained) -> Model:
    assert isinstance(trained.learned, Model)
    return trained.learned


def on_nine_tenths(rows: Rows, spec: Spec) -> tuple[Model, Rows]:
    """The model of all rows but those of the tenth, and the tenth."""
    ((others, fold),) = SCORING.splits(rows, Folding(), spec.seed)
    ranking = returned(ranked(rows.take(others), (spec,), Folding(), FitContext()))
    return ranking.best.model, rows.take(fold)


@pytest.mark.parametrize("likelihood", [GaussianNoise(), StudentT()], ids=["gaussian", "student_t"])
def test_the_score_is_that_of_a_fit_that_has_not_seen_the_tenth(likelihood: GaussianNoise | StudentT) -> None:
    rows, spec = drawn(110), process_spec(likelihood, inputs=True)
    found = ended(train(rows, Selection(spec, folds=5, bounds=SMALL)))
    before, tenth = on_nine_tenths(rows, spec)
    expected = scores(predict(before, tenth.X), tenth.t)
    assert found.score.folds == 1
    assert found.score.rows == len(tenth.t) == pytest.approx(11, abs=1)
    assert found.validation["rmse"] == pytest.approx(expected["rmse"], rel=1e-12)
    assert found.validation["nll"] == pytest.approx(expected["nll"], rel=1e-12)


def test_the_model_is_learned_from_all_rows_and_as_good_as_one_from_the_beginning() -> None:
    rows = drawn()
    new, f, _ = friedman(1_000, 1)
    found = model_of(ended(train(rows, Selection(MOVED, folds=5, bounds=SMALL))))
    full = model_of(ended(train(rows, Selection(MOVED))))
    before, tenth = on_nine_tenths(rows, MOVED)
    errors = [scores(predict(model, new), f)["rmse"] for model in (found, full, before)]
    assert errors[0] < 1.1 * errors[1]
    assert errors[0] < errors[2]
    assert found.evidence.value > full.evidence.value - 0.05 * len(rows.t)
    seen = scores(predict(found, tenth.X), tenth.t)["rmse"]
    assert seen < scores(predict(before, tenth.X), tenth.t)["rmse"]


def test_a_training_that_is_stopped_anywhere_is_resumed_to_the_same_model() -> None:
    rows = drawn(110)
    fit_log = FitLog()
    steps = list(train(rows, Selection(MOVED, folds=5, bounds=SMALL), on=FitContext(fit_log)))
    end = steps[-1]
    assert isinstance(end, Trained)
    assert [type(entry).__name__ for entry in fit_log.entries] == ["State", "ndarray", "State"]
    for stop in range(1, len(steps) - 1, 5):
        log = FitLog()
        for _, _step in zip(
            range(stop), train(rows, Selection(MOVED, folds=5, bounds=SMALL), on=FitContext(log)), strict=False
        ):
            pass
        again = ended(train(rows, Selection(MOVED, folds=5, bounds=SMALL), on=FitContext(FitLog(log.entries))))
        np.testing.assert_array_equal(model_of(again).mean, model_of(end).mean)
        assert again.validation == end.validation


def test_weights_without_a_process_are_learned_twice() -> None:
    rows, spec = drawn(), spec_for(GaussianNoise())
    fit_log = FitLog()
    found = ended(train(rows, Selection(spec, folds=5, bounds=SMALL), on=FitContext(fit_log)))
    np.testing.assert_array_equal(model_of(found).mean, model_of(ended(train(rows, Selection(spec)))).mean)
    assert found.score.folds == 1


def test_where_the_others_can_not_be_learned_from_the_model_is_of_all_and_has_no_score() -> None:
    rows = drawn()
    others = np.arange(150) < 130
    late = Rows(rows.X, np.where(others, np.nan, rows.t))
    folding = Folding("order", np.arange(150.0))
    split = np.flatnonzero(others), np.flatnonzero(~others)
    context = FitContext()
    assert returned(beside_a_tenth(late, (MOVED,), split, folding, context)) is None
