"""Which rows a training is measured on, and what that may cost."""

from collections.abc import Iterator
from dataclasses import astuple, replace

import numpy as np
import pytest

from relevance_bayes.core.algorithms import task
from relevance_bayes.core.basis import KernelBasis
from relevance_bayes.core.kernels.hyperparameters import CrossValidationWidth
from relevance_bayes.core.likelihoods import GaussianNoise
from relevance_bayes.core.models.fitting import FitLog, pose
from relevance_bayes.core.models.pool import n_functions
from relevance_bayes.core.models.pooling import members as learning
from relevance_bayes.core.models.pooling.members import Whole, whole
from relevance_bayes.core.models.prediction import scores
from relevance_bayes.core.priors import GaussianProcess
from relevance_bayes.core.selection import Folding, Rows, Selection, Step, Trained, scoring, train
from relevance_bayes.core.selection.scoring import NORMAL, THOROUGH, Bounds, Scoring, score_of
from tests.library.core.drawn import friedman, process_spec, sinc, spec_for

PROCESS = process_spec(GaussianNoise(), inputs=True, vectors="rows")


def ended(steps: Iterator[Step | Trained]) -> Trained:
    *_, last = steps
    assert isinstance(last, Trained)
    return last


SMALL = Bounds(max_rows=50, max_rows_for_folds=100)


def measured(
    rows: int, folding: Folding | None = None, bounds: Bounds | None = SMALL
) -> list[tuple[set[int], set[int]]]:
    splits = Scoring(5, bounds).splits(Rows(*sinc(rows, 0)), folding or Folding(), 0)
    return [(set(others.tolist()), set(fold.tolist())) for others, fold in splits]


def test_few_rows_are_all_folded_more_as_some_of_them_and_of_many_a_tenth_is_measured() -> None:
    few, more, many = measured(50), measured(100), measured(101)
    assert [len(splits) for splits in (few, more, many)] == [5, 5, 1]
    assert [sum(len(fold) for _, fold in splits) for splits in (few, more)] == [50, 50]
    assert [len(others) + len(fold) for others, fold in more] == [50] * 5
    (others, fold), *_ = many
    assert len(fold) == pytest.approx(10, abs=1)
    assert others | fold == set(range(101))
    for others, fold in (*few, *more, *many):
        assert not others & fold


def test_of_very_many_rows_part_of_the_tenth_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    (others, tenth), *_ = measured(200)
    monkeypatch.setattr(scoring, "MAX_ROWS_OF_TENTH", 7)
    (again, fold), *_ = measured(200)
    assert again == others
    assert len(fold) == 7
    assert fold < tenth


def test_folds_that_are_requested_are_of_all_rows() -> None:
    assert sum(len(fold) for _, fold in measured(120, bounds=None)) == 120


def test_a_tenth_is_of_whole_groups_or_the_last_in_time() -> None:
    groups = np.repeat(np.arange(40.0), 3)
    ((others, fold),) = measured(120, Folding("groups", groups))
    assert not set(groups[list(others)]) & set(groups[list(fold)])
    assert len(fold) == pytest.approx(12, abs=3)
    ((others, fold),) = measured(120, Folding("order", np.arange(120.0)[::-1]))
    assert fold == set(range(12))


def test_the_same_rows_in_another_order_are_measured() -> None:
    X, t = sinc(80, 0)
    turned = np.random.default_rng(1).permutation(80)
    one = Scoring(5, SMALL).splits(Rows(X, t), Folding(), 0)
    other = Scoring(5, SMALL).splits(Rows(X[turned], t[turned]), Folding(), 0)
    for (_, fold), (_, moved) in zip(one, other, strict=True):
        assert set(X[fold, 0].tolist()) == set(X[turned][moved, 0].tolist())


def test_a_thorough_training_folds_more_rows_and_may_take_more_in_everything() -> None:
    assert all(more > less for more, less in zip(astuple(THOROUGH), astuple(NORMAL), strict=True))


# --- What it may cost -----------------------------------------------------------------------------------------------


def test_folds_end_where_the_work_is_spent_and_the_score_reports_it() -> None:
    rows, spec = Rows(*sinc(40, 0)), spec_for(GaussianNoise())
    full_score = ended(train(rows, Selection(spec, folds=4, bounds=NORMAL))).score
    assert (full_score.folds, full_score.rows, full_score.reason) == (4, 40, None)
    assert full_score.value is not None
    assert full_score.standard_error is not None
    found = []
    for share in np.geomspace(1e-8, 1.0, 60):
        found.append(
            ended(train(rows, Selection(spec, folds=4, bounds=replace(NORMAL, budget=NORMAL.budget * share)))).score
        )
        if found[-1].folds == 4:
            break
    folds = [score.folds for score in found]
    assert folds == sorted(folds)
    assert folds[0] == 0
    assert (found[0].value, found[0].rows) == (None, 0)
    assert found[0].reason is not None
    partly = [score for score in found if 0 < score.folds < 4]
    assert partly
    for score in partly:
        assert score.rows == 10 * score.folds
        assert score.reason == f"{score.folds} of 4 folds: more are beyond what the effort allows."
    assert ended(train(rows, Selection(spec, folds=4))).score == full_score


def test_a_width_that_is_searched_for_is_work_too() -> None:
    X, t = sinc(40, 0)
    spec = spec_for(GaussianNoise())
    problem = pose(X, t, spec)
    state = replace(spec.algorithm.init(problem).state, iteration=7)
    searched = replace(spec, basis=(KernelBasis(width=CrossValidationWidth(5)), *spec.basis[1:]))
    assert scoring.work_of(problem, spec, state) == 7.0 * 40 * problem.candidates.size
    assert scoring.work_of(problem, searched, state) == 41.0 * scoring.work_of(problem, spec, state)


def test_nothing_measured_is_no_score_but_a_reason() -> None:
    for folds, total in ((0, 5), (5, 5)):
        found = score_of({"rows": 0.0}, folds, total)
        assert (found.value, found.standard_error, found.rows) == (None, None, 0)
        assert found.reason
    assert score_of({"rows": 4.0, "nll": float("inf"), "nll_se": 0.0}, 5, 5).value is None


# --- Many rows ------------------------------------------------------------------------------------------------------


def test_a_process_given_more_rows_than_are_exact_is_near_to_that_of_all_of_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X, t, _ = friedman(200, 0)
    new, f, _ = friedman(500, 1)
    monkeypatch.setattr(task, "ROWS_FOR_SCALES", 100)
    *_, member = whole(pose(X, t, PROCESS), PROCESS, FitLog())
    assert isinstance(member, Whole)
    assert len(member.task.rows_for_scales(member.state).t) == 100
    exact = scores(member.predict(new), f)
    alone = [*whole(pose(X[:100], t[:100], PROCESS), PROCESS, FitLog())][-1]
    assert (
        exact["nll"] < scores(alone.predict(new), f)["nll"]
    )  # all 200 rows are given, though 100 determined the scales
    monkeypatch.setattr(learning, "MAX_ROWS_FOR_EXACT", 100)
    through_functions = scores(member.predict(new), f)
    assert through_functions["nll"] == pytest.approx(exact["nll"], abs=0.03)
    assert through_functions["rmse"] == pytest.approx(exact["rmse"], rel=0.02)


def test_a_pool_of_many_rows_is_measured_on_a_tenth_and_fitted_to_all() -> None:
    X, t, _ = friedman(150, 0)
    second = replace(PROCESS, prior=GaussianProcess(inducing_points="rows", min_gain=2.0), seed=0)
    found = ended(train(Rows(X, t), Selection(PROCESS, pool=(second,), bounds=SMALL)))
    assert found.score.folds == 1
    assert found.score.rows == pytest.approx(15, abs=1)
    assert found.score.value == -found.validation["nll"]
    assert found.unreduced == 300
    assert 0 < n_functions(found.learned) < 150


def test_more_may_be_lost_for_fewer_functions() -> None:
    X, t, _ = friedman(120, 0)
    little, much = (
        ended(train(Rows(X, t), Selection(PROCESS, pool=(replace(PROCESS, seed=0),), max_score_loss=loss)))
        for loss in (0.005, 0.2)
    )
    assert n_functions(much.learned) < n_functions(little.learned)
    assert little.score_loss is not None
    assert much.score_loss is not None
    assert little.score_loss < much.score_loss <= 0.2
    assert little.score == much.score
