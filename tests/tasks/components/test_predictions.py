"""Rows as components: the core's figures, their novelty, and options that are refused."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from app.prediction import PredictRequest, predict
from relevance_bayes.records.errors import InvalidRequestError
from relevance_bayes.tables.columns import Block
from relevance_bayes.tasks.components import report as under_test
from relevance_bayes.tasks.components.report import ComponentsPrediction
from relevance_bayes.tasks.components.training import NewComponentsVersion
from relevance_bayes.tasks.prediction import PredictOptions
from tests.served_versions import served
from tests.small_components import SCORES, version_of_components
from tests.small_models import small_version
from tests.small_tables import numbers

BLOCK: Block = {"x": numbers(0.0, 1.0, 2.5, 90.0), "z": numbers(0.0, -1.0, 3.0, 1.0)}
MIXED: Block = {"x": numbers(0.0, None, 1.0, 2.5, 90.0), "z": numbers(0.0, 1.0, -1.0, 3.0, 1.0)}


def reported(made: NewComponentsVersion, block: Block = BLOCK, components: int | None = None) -> ComponentsPrediction:
    found = predict(served(made), PredictRequest(block, PredictOptions(components=components)))
    assert isinstance(found, ComponentsPrediction)
    return found


def test_rows_are_reported_as_the_core_reports_them() -> None:
    made = version_of_components()
    found, core = reported(made), made.predictor.components
    inputs = np.array([[0.0, 0.0], [2.0, -1.0], [5.0, 3.0], [180.0, 1.0]])
    assert_allclose(found.components, core.project(inputs))
    assert_allclose(found.missed, core.missed(inputs))
    assert_allclose(found.log_density, core.log_density(inputs))


def test_novelty_is_the_share_of_usual_rows_that_are_less_new() -> None:
    made = version_of_components()
    density = reported(made).log_density
    expected = [(one < SCORES).mean() for one in density]
    assert_allclose(reported(made).novelty, expected)
    assert expected[-1] == 1.0
    below = replace(made.predictor, log_densities=np.array([density.min() - 2.0, density.min() - 1.0]))
    assert_array_equal(reported(replace(made, predictor=below)).novelty, 0.0)


def test_so_many_of_the_first_components_are_reported_and_what_these_miss() -> None:
    made = version_of_components()
    every, two = reported(made), reported(made, components=2)
    assert every.components.shape == (4, 3)
    assert_array_equal(two.components, every.components[:, :2])
    assert_allclose(two.missed, 1.0 - np.square(two.components).sum(axis=1))
    assert (two.missed >= every.missed).all()
    assert_array_equal(two.log_density, every.log_density)
    assert_array_equal(reported(made, components=99).components, every.components)


def test_by_default_the_first_few_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(under_test, "COMPONENTS_REPORTED", 1)
    assert reported(version_of_components()).components.shape == (4, 1)


def test_a_bad_row_changes_no_other() -> None:
    made = version_of_components()
    sound, found = reported(made), reported(made, MIXED)
    assert [fault.row for fault in found.faults] == [1]
    assert np.isnan(found.components[1]).all()
    assert np.isnan([found.missed[1], found.log_density[1], found.novelty[1]]).all()
    for name in ("components", "missed", "log_density", "novelty"):
        assert_allclose(np.delete(getattr(found, name), 1, axis=0), getattr(sound, name))


def test_a_batch_cut_up_inside_gets_the_same_responses(monkeypatch: pytest.MonkeyPatch) -> None:
    full = reported(version_of_components())
    monkeypatch.setattr(under_test, "ROWS_AT_ONCE", 3)
    assert_allclose(reported(version_of_components()).components, full.components)


@pytest.mark.parametrize("required", [PredictOptions(covariance=True), PredictOptions(explain=1)])
def test_what_only_predictions_have_is_refused(required: PredictOptions) -> None:
    with pytest.raises(InvalidRequestError, match="A model of components has no"):
        predict(served(version_of_components()), PredictRequest(BLOCK, required))


def test_predictions_have_no_components() -> None:
    with pytest.raises(InvalidRequestError) as refused:
        predict(
            served(small_version()),
            PredictRequest(BLOCK, PredictOptions(components=2, explain=1)),
        )
    assert [fault.pointer for fault in refused.value.faults] == ["/components"]


def test_the_arrays_count_as_memory() -> None:
    made = version_of_components()
    assert served(made).model.bytes >= 2 * made.predictor.components.centres.nbytes + SCORES.nbytes
