"""Figures of classes against their plain formulas, scikit-learn, and themselves in pieces."""

from functools import reduce

import numpy as np
import pytest
from sklearn.metrics import confusion_matrix, f1_score, log_loss, precision_score, recall_score, roc_auc_score

from app.evaluation.metrics import classes as ranking
from app.evaluation.metrics.classes import ClassScores
from relevance_bayes.records.evaluations import ClassDiagnostics, ClassMetrics, EvaluationResult
from relevance_bayes.tasks.prediction import LabelledClasses
from tests.evaluation.metrics.rows import STATES, classes, diagnostics_of, judged_classes, pieces, some_classes


def scored(labelled: LabelledClasses, positive: str | None = None) -> EvaluationResult[ClassMetrics, ClassDiagnostics]:
    return ClassScores.of(labelled).result(positive)


def in_pieces(labelled: LabelledClasses, *, of: int) -> EvaluationResult[ClassMetrics, ClassDiagnostics]:
    parts = (ClassScores.of(some_classes(labelled, rows)) for rows in pieces(len(labelled.truth), of=of))
    return reduce(ClassScores.__add__, parts, ClassScores.empty(labelled.classes)).result()


def areas(found: EvaluationResult[ClassMetrics, ClassDiagnostics]) -> list[float]:
    return [area.value for area in diagnostics_of(found).auc_per_class if area is not None]


@pytest.mark.parametrize("count", [2, 3])
def test_figures_are_those_of_scikit_learn_and_of_the_plain_formulas(count: int) -> None:
    labelled = classes(400, count=count)
    found, truth, given = scored(labelled), labelled.truth, labelled.probabilities
    assert (found.rows, found.metrics.rows_of_unknown_class, diagnostics_of(found).classes) == (400, 0, STATES[:count])
    assert found.metrics.error == pytest.approx((given.argmax(axis=1) != truth).mean())
    assert found.metrics.log_loss == pytest.approx(log_loss(truth, given, labels=np.arange(count)), rel=1e-12)
    assert found.metrics.brier == pytest.approx(0.5 * ((given - np.eye(count)[truth]) ** 2).sum(axis=1).mean())
    assert areas(found) == pytest.approx([roc_auc_score(truth == k, given[:, k]) for k in range(count)], rel=1e-12)
    assert found.metrics.auc is not None
    assert found.metrics.auc.value == pytest.approx(sum(areas(found)) / count)
    assert found.metrics.auc.tolerance == 0.0
    assert np.array_equal(diagnostics_of(found).confusion, confusion_matrix(truth, given.argmax(axis=1)))


@pytest.mark.parametrize("count", [2, 3])
def test_the_metrics_of_the_positive_class_are_those_of_scikit_learn(count: int) -> None:
    labelled = classes(400, count=count)
    found = scored(labelled)
    for k in range(count):
        truth, predicted = labelled.truth == k, labelled.probabilities.argmax(axis=1) == k
        positive = scored(labelled, STATES[k]).metrics.positive
        assert positive is not None
        assert (positive.label, positive.rows, positive.auc) == (
            STATES[k],
            truth.sum(),
            diagnostics_of(found).auc_per_class[k],
        )
        assert positive.precision == pytest.approx(precision_score(truth, predicted))
        assert positive.recall == pytest.approx(recall_score(truth, predicted))
        assert positive.specificity == pytest.approx(recall_score(~truth, ~predicted))
        assert positive.f1 == pytest.approx(f1_score(truth, predicted))


def test_a_class_that_no_row_has_or_none_that_is_named_has_no_metrics() -> None:
    labelled = classes(400, count=3)
    without = scored(some_classes(labelled, labelled.truth != 2), STATES[2]).metrics.positive
    assert without is not None
    assert (without.rows, without.recall, without.auc) == (0, None, None)
    assert scored(labelled).metrics.positive is None
    assert scored(labelled, "of an import").metrics.positive is None


@pytest.mark.parametrize("size", [1, 9, 399])
def test_figures_of_pieces_added_are_those_of_the_whole(size: int) -> None:
    labelled = classes(400)
    at_once, added = scored(labelled), in_pieces(labelled, of=size)
    assert (added.rows, diagnostics_of(added).confusion, areas(added)) == (
        at_once.rows,
        diagnostics_of(at_once).confusion,
        areas(at_once),
    )
    for name in ("error", "log_loss", "brier", "ece"):
        assert getattr(added.metrics, name) == pytest.approx(getattr(at_once.metrics, name), rel=1e-12)
    assert [one.rows for one in diagnostics_of(added).confidence] == [
        one.rows for one in diagnostics_of(at_once).confidence
    ]


def test_the_calibration_error_is_the_mean_distance_of_its_bins() -> None:
    labelled = classes(300)
    given, right = labelled.probabilities.max(axis=1), labelled.probabilities.argmax(axis=1) == labelled.truth
    places = np.minimum(np.floor(given * 20), 19)
    expected = sum(
        (places == place).mean() * abs(given[places == place].mean() - right[places == place].mean())
        for place in np.unique(places)
    )
    found = scored(labelled)
    assert found.metrics.ece == pytest.approx(expected)
    assert sum(one.rows for one in diagnostics_of(found).confidence) == 300


def test_right_probabilities_are_as_frequent_as_they_predict_class_by_class() -> None:
    for curve in diagnostics_of(in_pieces(classes(40_000), of=8_192)).reliability:
        assert sum(one.rows for one in curve) == 40_000
        for one in curve:
            assert one.lower <= one.predicted <= one.upper
            assert one.observed == pytest.approx(one.predicted, abs=5.0 * (0.25 / one.rows) ** 0.5)


def test_equal_scores_count_half_in_the_area() -> None:
    truth = np.array([0, 1, 0, 1, 1])
    given = np.array([0.5, 0.5, 0.25, 0.75, 0.25])
    found = scored(judged_classes(truth, np.column_stack([1 - given, given]), STATES[:2]))
    assert areas(found)[1] == pytest.approx(roc_auc_score(truth, given), rel=1e-12)


def test_many_rows_are_counted_in_bins_and_the_area_is_within_what_is_stated(monkeypatch: pytest.MonkeyPatch) -> None:
    labelled = classes(3_000)
    exact = areas(scored(labelled))
    monkeypatch.setattr(ranking, "MAX_NUMBERS", 2_000)
    for binned in (scored(labelled), in_pieces(labelled, of=500)):
        for area, expected in zip(diagnostics_of(binned).auc_per_class, exact, strict=True):
            assert area is not None
            assert 0.0 < area.tolerance < 2e-3
            assert abs(area.value - expected) <= area.tolerance
    assert areas(in_pieces(labelled, of=500)) == pytest.approx(areas(scored(labelled)), rel=1e-12)


def test_certain_probabilities_can_be_counted_in_bins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranking, "MAX_NUMBERS", 2)
    found = scored(judged_classes(np.array([0, 1, 1]), np.array([[1.0, 0.0], [0.0, 1.0], [0.3, 0.7]]), STATES[:2]))
    assert areas(found) == [1.0, 1.0]


def test_a_class_never_seen_is_an_error_and_leaves_log_loss_and_curves_of_classes_out() -> None:
    labelled = classes(50)
    with_strangers = labelled.truth.copy()
    with_strangers[:5] = -1
    found = scored(judged_classes(with_strangers, labelled.probabilities))
    known = scored(some_classes(labelled, np.arange(5, 50)))
    assert (found.rows, found.metrics.rows_of_unknown_class, known.metrics.rows_of_unknown_class) == (50, 5, 0)
    assert known.metrics.error is not None
    assert known.metrics.brier is not None
    assert found.metrics.error == pytest.approx((5 + 45 * known.metrics.error) / 50)
    strangers = 0.5 * (np.square(labelled.probabilities[:5]).sum(axis=1) + 1.0)
    assert found.metrics.brier == pytest.approx((strangers.sum() + 45 * known.metrics.brier) / 50)
    assert (found.metrics.log_loss, diagnostics_of(found).confusion, diagnostics_of(found).auc_per_class) == (
        known.metrics.log_loss,
        diagnostics_of(known).confusion,
        diagnostics_of(known).auc_per_class,
    )
    assert diagnostics_of(found).reliability == diagnostics_of(known).reliability
    assert sum(one.rows for one in diagnostics_of(found).confidence) == 50


def test_what_no_row_contains_is_none() -> None:
    nothing = ClassScores.empty(STATES).result()
    assert (
        nothing.rows,
        nothing.metrics.error,
        nothing.metrics.log_loss,
        nothing.metrics.brier,
        nothing.metrics.auc,
        nothing.metrics.ece,
    ) == (0, *[None] * 5)
    one_class = scored(judged_classes(np.zeros(4, np.intp), np.full((4, 3), 1 / 3)))
    assert (one_class.metrics.auc, diagnostics_of(one_class).auc_per_class) == (None, (None, None, None))
