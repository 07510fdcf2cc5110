"""Every training keeps its diagnostics, from rows that were left out where there are any, whatever its model."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt

import numpy as np
import pytest

from relevance_bayes.core.types import Array
from relevance_bayes.documents.validation import supervised_report_faults
from relevance_bayes.estimators import RelevanceClassifier, RelevanceRegressor
from relevance_bayes.records.diagnostics import ClassReliability, Diagnostics, NumberReliability, NumberResiduals
from relevance_bayes.records.json import encode

Options = Mapping[str, object]
QUICK: Options = {"effort": "quick"}
FOLDED: Options = {"effort": "quick", "validation": {"folds": 3}}


def of_numbers(options: Options, rows: int = 120) -> tuple[RelevanceRegressor, Diagnostics]:
    random = np.random.default_rng(1)
    inputs = random.uniform(-2.0, 2.0, (rows, 2))
    y = 100.0 + 50.0 * (np.sin(2.0 * inputs[:, 0]) + 0.2 * random.standard_normal(rows))
    model = RelevanceRegressor().set_params(**options).fit(inputs, y)
    assert model.diagnostics_ is not None
    return model, model.diagnostics_


def of_classes(options: Options, classes: int = 2, rows: int = 90) -> tuple[RelevanceClassifier, Diagnostics]:
    random = np.random.default_rng(2)
    inputs = random.standard_normal((rows, 2))
    score = inputs[:, 0] + 0.7 * random.standard_normal(rows)
    edges = np.quantile(score, np.arange(1, classes) / classes)
    labels: Array = np.array(["a", "b", "c"])[np.searchsorted(edges, score)]
    model = RelevanceClassifier().set_params(**options).fit(inputs, labels)
    assert model.diagnostics_ is not None
    return model, model.diagnostics_


@dataclass(frozen=True)
class Kind:
    """Options, and the number of rows."""

    options: Options
    rows: int = 120


KINDS: Mapping[str, Kind] = {
    "a pool": Kind({}),
    "one fit in folds": Kind(FOLDED),
    "heavy tails": Kind({**FOLDED, "likelihood": {"type": "student_t"}}),
    "independent weights": Kind({**FOLDED, "prior": {"type": "independent"}}),
    "noise that varies": Kind({**FOLDED, "likelihood": {"type": "gaussian", "noise_sd": "heteroscedastic"}}, 60),
    "nearest neighbours": Kind({**QUICK, "local": {"type": "neighbours", "neighbours": 20, "on": "targets"}}, 400),
}
SLOW = {"heavy tails", "independent weights", "nearest neighbours"}


@pytest.mark.parametrize(
    "kind",
    [pytest.param(kind, id=name, marks=pytest.mark.thorough if name in SLOW else ()) for name, kind in KINDS.items()],
)
def test_rows_that_were_left_out_are_those_of_the_validation(kind: Kind) -> None:
    model, found = of_numbers(kind.options, kind.rows)
    validation = model.report_.metrics["validation"]
    exported = model._version.exported
    assert list(supervised_report_faults(exported.predictor, exported.report)) == []
    assert isinstance(found.reliability, NumberReliability)
    assert found.reliability.source == "validation"
    assert found.reliability.rows == validation["rows"]
    assert found.reliability.log_score == pytest.approx(-validation["nll"])
    share = {one.level: one.share for one in found.reliability.coverage}
    assert share[0.95] == pytest.approx(validation["coverage_95"])
    assert found.residuals is not None
    assert found.residuals.source == "validation"
    of_prediction = found.residuals.prediction.bins
    squares = sum(one.rows * (one.mean**2 + one.sd**2) for one in of_prediction)
    assert sqrt(squares / sum(one.rows for one in of_prediction)) == pytest.approx(validation["rmse"])
    assert [one.name for one in found.residuals.inputs] == ["x0", "x1"]
    first = found.residuals.inputs[0]
    assert isinstance(first, NumberResiduals)
    assert first.min is not None
    assert first.max is not None
    assert -2.0 <= first.min < first.max <= 2.0
    assert [trace.member for trace in found.traces] == list(range(len(model.members_)))
    for trace in found.traces:
        assert len(trace.kept) <= trace.steps
        if not kind.options.keys() & {"likelihood", "local"}:
            expected = model.members_[trace.member].hyperparameters.noise_sd
            assert trace.kept[-1].noise_sd == pytest.approx(expected)


@pytest.mark.thorough
def test_the_last_objective_of_a_trace_is_the_evidence_that_is_reported() -> None:
    options = {**QUICK, "prior": {"type": "independent"}, "algorithm": {"type": "sequential"}}
    model, found = of_numbers(options)
    (trace,) = found.traces
    evidence = model.members_[0].evidence
    assert evidence is not None
    assert trace.kept[-1].objective == pytest.approx(evidence.value + evidence.log_hyperprior - evidence.price)
    entered = [step.entered for step in trace.kept if step.entered is not None]
    assert entered
    assert set(entered) <= set(range(120))


@pytest.mark.parametrize(("classes", "likelihood"), [(2, None), (3, None), (3, "bernoulli_per_class")])
def test_classes_have_their_curves(classes: int, likelihood: str | None) -> None:
    options: Options = FOLDED if likelihood is None else {**FOLDED, "likelihood": {"type": likelihood}}
    model, found = of_classes(options, classes)
    validation = model.report_.metrics["validation"]
    assert isinstance(found.reliability, ClassReliability)
    assert [curve.label for curve in found.reliability.curves] == ["a", "b", "c"][:classes]
    assert found.reliability.log_score == pytest.approx(-validation["log_loss"])
    assert found.reliability.brier == pytest.approx(validation["brier"])
    assert found.residuals is not None
    assert found.residuals.prediction.name == ("probability_b" if classes == 2 else "probability")
    assert len(found.traces) == len(model.members_)
    if classes == 2:
        curve = found.reliability.curves[1].bins
        predicted = sum(one.rows * (one.observed - one.predicted) for one in curve)
        bins = found.residuals.prediction.bins
        assert sum(one.rows * one.mean for one in bins) == pytest.approx(predicted)


def test_held_out_rows_are_taken_where_there_are_no_folds() -> None:
    model, found = of_numbers({**QUICK, "holdout": 0.2})
    assert found.reliability is not None
    assert found.residuals is not None
    assert (found.reliability.source, found.residuals.source) == ("holdout", "holdout")
    assert found.reliability.rows == model.report_.rows_held_out == 24
    squares = sum(one.rows * (one.mean**2 + one.sd**2) for one in found.residuals.prediction.bins)
    assert sqrt(squares / 24) == pytest.approx(model.report_.metrics["holdout"]["rmse"])


def test_training_rows_are_no_evidence_of_reliability() -> None:
    model, found = of_numbers(QUICK)
    assert found.reliability is None
    assert found.reason == model.report_.score.reason if model.report_.score is not None else False
    assert found.residuals is not None
    assert (found.residuals.source, found.residuals.rows) == ("training", 120)
    random = np.random.default_rng(1)
    inputs = random.uniform(-2.0, 2.0, (120, 2))
    y = 100.0 + 50.0 * (np.sin(2.0 * inputs[:, 0]) + 0.2 * random.standard_normal(120))
    residual = y - model.predict(inputs)
    squares = sum(one.rows * (one.mean**2 + one.sd**2) for one in found.residuals.prediction.bins)
    assert squares == pytest.approx(float(residual @ residual))


def test_a_document_keeps_them() -> None:
    model, found = of_numbers(FOLDED, 40)
    again = RelevanceRegressor.from_document(model.document_)
    assert again.diagnostics_ == found
    assert len(json.dumps(encode(found))) < 20_000
