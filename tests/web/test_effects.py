"""Effects, surfaces and rows by their components in reports, against predictions and profiles."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from app.datasets.service import Row
from app.prediction import PredictRequest, ServedVersion, predict
from app.prediction.profile import profile
from app.web import figures as effects_module
from app.web.figures import (
    INDIVIDUAL,
    NODES,
    POINTS_OF_EFFECTS,
    SampledRows,
    component_rows,
    effects_of,
    predictable_rows,
    surface_of,
)
from relevance_bayes.core.models.model import KernelFunctions
from relevance_bayes.records.predictions import ProfileOptionsIn
from relevance_bayes.records.values import Task
from relevance_bayes.tables.columns import Block
from relevance_bayes.tasks.prediction import PredictOptions, Probabilities
from relevance_bayes.tasks.supervised.report import SupervisedPredictor
from relevance_bayes.tasks.supervised.training import NewSupervisedVersion
from tests.prediction.drifting import with_baseline
from tests.served_versions import served
from tests.small_components import version_of_components
from tests.small_image import version_of_an_image
from tests.small_models import small_version, version_of_numbers, version_of_three_classes
from tests.small_tables import numbers

ROWS = tuple(Row(number, {"x": number / 4, "colour": ("red", "blue")[number % 2], "y": 1.0}) for number in range(12))


def sampled(loaded: ServedVersion, rows: Sequence[Row] = ROWS) -> SampledRows:
    found = predictable_rows(loaded, rows)
    assert found is not None
    return found


def test_an_effect_is_the_profile_of_an_input_over_the_rows() -> None:
    loaded = served(small_version())
    rows = sampled(loaded)
    found = effects_of(loaded, rows, ["colour"])
    assert found is not None
    assert found.rows == len(ROWS)
    assert [one.inputs[0].name for one in found.profiles] == ["colour", "x"]
    for one in found.profiles:
        options = ProfileOptionsIn(inputs=(one.inputs[0].name,), points=POINTS_OF_EFFECTS, individual=INDIVIDUAL)
        assert one == profile(loaded, options, rows.block)


def test_three_classes_have_effects_without_single_rows_and_one_input_has_none() -> None:
    loaded = served(version_of_three_classes())
    found = effects_of(loaded, sampled(loaded), [])
    assert found is not None
    assert {point.individual for one in found.profiles for point in one.points} == {()}
    alone = served(version_of_components())
    rows = [Row(0, {"x": 1.0, "z": 2.0})]
    assert effects_of(alone, sampled(alone, rows), []) is None


def test_no_profile_begins_after_the_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = served(small_version())
    monkeypatch.setattr(effects_module, "MAX_SECONDS", -1.0)
    assert effects_of(loaded, sampled(loaded), []) is None


def test_rows_with_gaps_are_left_out_and_tasks_without_columns_have_none() -> None:
    loaded = served(small_version())
    gap = Row(99, {"x": None, "colour": "red"})
    assert sampled(loaded, (gap, *ROWS)).numbers == tuple(row.number for row in ROWS)
    assert predictable_rows(loaded, [gap]) is None
    assert predictable_rows(loaded, []) is None
    assert predictable_rows(served(version_of_an_image()), ROWS) is None


@pytest.mark.parametrize("task", ["regression", "classification"])
def test_a_surface_has_the_predictions_of_a_grid_of_both_inputs(task: Task) -> None:
    trained_on: Block = {"x": numbers(0.0, 1.0, 2.0, 4.0), "a": numbers(-1.0, 0.0, 0.5, 1.0)}
    loaded = with_baseline(of_two_numbers(task), trained_on)
    found = surface_of(loaded)
    assert found is not None
    assert (found.target, found.inputs, found.is_classes) == ("y", ("x", "a"), task == "classification")
    assert (found.xs[0], found.xs[-1], found.ys[0], found.ys[-1]) == (0.0, 4.0, -1.0, 1.0)
    for place in (0, 1, NODES, NODES * NODES - 1):
        row: Block = {"x": numbers(found.xs[place % NODES]), "a": numbers(found.ys[place // NODES])}
        expected = predict(loaded, PredictRequest(row)).compared
        values = expected.probabilities[0] if isinstance(expected, Probabilities) else expected.mean
        assert [field.values[place] for field in found.fields] == pytest.approx(values)
    assert len(found.fields) == (2 if found.is_classes else 1)


def of_two_numbers(task: Task) -> NewSupervisedVersion:
    """The version of three numbers without the last."""
    made = version_of_numbers(task)
    assert isinstance(made.predictor, SupervisedPredictor)
    functions, constant = made.predictor.model.functions
    assert isinstance(functions, KernelFunctions)
    narrow = replace(functions, centres=functions.centres[:, :2])
    model = replace(made.predictor.model, functions=(narrow, constant), inputs=2)
    encoding = replace(made.predictor.encoding, inputs=made.predictor.encoding.inputs[:2])
    plan = replace(made.report.plan, inputs=made.report.plan.inputs[:2])
    predictor = SupervisedPredictor(encoding, model)
    return replace(made, report=replace(made.report, plan=plan), predictor=predictor)


def test_other_versions_than_of_two_numbers_have_no_surface() -> None:
    assert surface_of(with_baseline()) is None
    assert surface_of(served(version_of_numbers())) is None
    assert (
        surface_of(with_baseline(of_two_numbers("regression"), {"x": numbers(1.0, 1.0), "a": numbers(1.0, 2.0)}))
        is None
    )


def test_components_have_places_and_novelty_as_predictions_have() -> None:
    loaded = served(version_of_components())
    rows = [Row(3 * number, {"x": number / 3, "z": -number / 5}) for number in range(8)]
    found = component_rows(loaded, sampled(loaded, rows))
    block = {"x": numbers(*(number / 3 for number in range(8))), "z": numbers(*(-number / 5 for number in range(8)))}
    figures = predict(loaded, PredictRequest(block, PredictOptions(components=2))).columns(("novelty", "log_density"))
    assert [one["row"] for one in found if isinstance(one, dict)] == [row.number for row in rows]
    for name in ("novelty", "log_density"):
        assert [one[name] for one in found if isinstance(one, dict)] == pytest.approx(np.asarray(figures[name]))
