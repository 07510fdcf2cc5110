"""Predictions along inputs, against predictions of the same rows."""

from dataclasses import replace

import numpy as np
import pytest

from app.prediction import PredictRequest, ServedVersion, predict
from app.web.figures import MAX_CATEGORIES, POINTS, Slice, slices_of
from relevance_bayes.core.types import Array
from relevance_bayes.records.reports import CategoryHistogram, NumberHistogram
from relevance_bayes.records.values import CategoryCount
from relevance_bayes.tables.columns import Block, NumberArray
from relevance_bayes.tasks.prediction import Probabilities
from tests.prediction.drifting import baseline_in, with_baseline, with_histograms
from tests.served_versions import served
from tests.small_components import version_of_components
from tests.small_models import small_version, version_of_three_classes
from tests.small_tables import numbers, texts


def numbers_of(one: Slice) -> NumberArray:
    return numbers(*(float(str(value)) for value in one.values))


def predicted(loaded: ServedVersion, block: Block, name: str) -> Array:
    found = predict(loaded, PredictRequest(block)).arrays()[name]
    if isinstance(found, Probabilities):
        return found.probabilities
    assert isinstance(found, np.ndarray)
    return found


def test_a_slice_has_the_predictions_of_rows_in_the_middle_of_the_data() -> None:
    loaded = with_baseline()
    x, colour = baseline_in(loaded).inputs
    assert isinstance(x, NumberHistogram)
    assert isinstance(colour, CategoryHistogram)
    found = slices_of(loaded)
    assert found.rows == POINTS + 2
    along = {one.input: one for one in found.kept}
    common = colour.categories[0].label
    assert (along["x"].middle, along["colour"].middle) == (x.edges[(len(x.edges) - 1) // 2], common)
    assert along["x"].values == pytest.approx(np.linspace(x.min or 0.0, x.max or 0.0, POINTS))
    rows: Block = {"x": numbers_of(along["x"]), "colour": texts(*[common] * POINTS)}
    for name in ("mean", "lower", "upper", "variance_weights", "variance_residual"):
        assert along["x"].figures[name] == pytest.approx(predicted(loaded, rows, name)), name
    assert {*along["colour"].values} == {"red", "blue"}
    middle = float(str(along["x"].middle))
    both: Block = {"x": numbers(middle, middle), "colour": texts(*map(str, along["colour"].values))}
    assert along["colour"].figures["mean"] == pytest.approx(predicted(loaded, both, "mean"))


def test_the_input_that_changes_predictions_most_is_first() -> None:
    loaded = with_baseline()
    spreads = [one.spread for one in slices_of(loaded).kept]
    assert spreads == sorted(spreads, reverse=True)
    assert spreads[0] > spreads[1] > 0.0


def test_of_classes_there_are_the_probabilities_of_the_most_frequent() -> None:
    loaded = with_baseline(version_of_three_classes())
    (along,) = (one for one in slices_of(loaded).kept if one.input == "x")
    assert along.figures == {}
    assert tuple(line.label for line in along.classes) == loaded.model.classes
    assert np.sum([line.values for line in along.classes], axis=0) == pytest.approx(np.ones(POINTS))
    rows: Block = {"x": numbers_of(along), "colour": texts(*[str(baseline_middle(loaded))] * POINTS)}
    for line, expected in zip(along.classes, predicted(loaded, rows, "probabilities").T, strict=True):
        assert line.values == pytest.approx(expected), line.label


def baseline_middle(loaded: ServedVersion) -> str:
    _, colour = baseline_in(loaded).inputs
    assert isinstance(colour, CategoryHistogram)
    return colour.categories[0].label


def test_a_constant_input_and_one_without_values_have_no_slice() -> None:
    constant = with_baseline(trained_on={"x": numbers(2.0, 2.0, 2.0), "colour": texts("red", "blue", "blue")})
    assert [one.input for one in slices_of(constant).kept] == ["colour"]
    (along,) = slices_of(constant).kept
    assert along.middle == "blue"
    baseline = baseline_in(constant)
    x = baseline.inputs[0]
    assert isinstance(x, NumberHistogram)
    empty = replace(baseline, inputs=(replace(x, min=None, max=None), baseline.inputs[1]))
    report = with_histograms(constant.version.report, empty)
    found = slices_of(replace(constant, version=replace(constant.version, report=report))).kept
    assert [one.input for one in found] == ["colour"]


def test_of_many_categories_there_are_the_most_frequent() -> None:
    loaded = with_baseline()
    baseline = baseline_in(loaded)
    many = tuple(CategoryCount("red" if place % 2 else "blue", 100 - place) for place in range(20))
    x, colour = baseline.inputs
    assert isinstance(colour, CategoryHistogram)
    inputs = (x, replace(colour, categories=many))
    report = with_histograms(loaded.version.report, replace(baseline, inputs=inputs))
    found = slices_of(replace(loaded, version=replace(loaded.version, report=report)))
    assert [len(one.values) for one in found.kept if one.input == "colour"] == [MAX_CATEGORIES]


def test_versions_without_a_target_or_without_histograms_have_none() -> None:
    assert slices_of(served(small_version())).kept == ()
    block = {"x": numbers(*range(40)), "z": numbers(*range(40))}
    assert slices_of(with_baseline(version_of_components(), block)).kept == ()
