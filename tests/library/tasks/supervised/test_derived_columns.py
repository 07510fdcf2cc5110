"""Trainings with inputs derived from dates, and with texts by their effects."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import get_args
from uuid import UUID

import numpy as np
import pytest

from relevance_bayes.core.kernels.hyperparameters import FixedWidth
from relevance_bayes.core.models.fitting import FitLog
from relevance_bayes.core.selection import DerivedColumns, Step, Trained, train
from relevance_bayes.core.types import Array
from relevance_bayes.documents import schema as npz
from relevance_bayes.documents.reports import ExportedSupervised
from relevance_bayes.documents.schema import content_of, document_of
from relevance_bayes.records.errors import TrainingFailedError
from relevance_bayes.records.values import Dates, Text
from relevance_bayes.tables.columns import Block, CategoryArray, NumberArray, TimestampArray, taken
from relevance_bayes.tables.encoding import EncodedNumber, column_names
from relevance_bayes.tables.encoding.columns import FOLDS
from relevance_bayes.tasks.fit import Fitted, Limits
from relevance_bayes.tasks.listing import expected
from relevance_bayes.tasks.prediction import PredictOptions
from relevance_bayes.tasks.rows import mixed
from relevance_bayes.tasks.supervised.materialise import materialise
from relevance_bayes.tasks.supervised.prediction import SupervisedModel
from relevance_bayes.tasks.supervised.predictions import ClassificationPrediction, RegressionPrediction
from relevance_bayes.tasks.supervised.request import (
    GroupSplit,
    KernelChoice,
    RandomSplit,
    Split,
    SupervisedPlan,
    SupervisedRequest,
)
from relevance_bayes.tasks.supervised.rows import effect_folds
from relevance_bayes.tasks.supervised.training import NewSupervisedVersion, SupervisedTraining
from relevance_bayes.tasks.union import plan
from tests.small_tables import dataset_of

DAY = 86_400.0
ROWS = 240
LIMITS = Limits()
RANDOM = RandomSplit()
NO_DATASET = UUID(int=0)
AT = datetime(2026, 1, 1, tzinfo=UTC)


def sales(*, weekly: bool, shops: int = 60, seed: int = 5) -> Block:
    """Numbers of some days, by the weekday or not, and by the shop."""
    rng = np.random.default_rng(seed)
    days = rng.choice(400, ROWS, replace=False).astype(np.float64)
    weekend = (days % 7 >= 5).astype(np.float64)
    codes = rng.integers(shops, size=ROWS).astype(np.int32)
    effects = np.random.default_rng(1).normal(0.0, 1.0, shops)
    y = 10.0 + (5.0 * weekend if weekly else effects[codes]) + 0.3 * rng.standard_normal(ROWS)
    return {
        "day": TimestampArray(1.7e9 // DAY * DAY + days * DAY),
        "shop": CategoryArray(codes, tuple(f"shop {place}" for place in range(shops))),
        "y": NumberArray(y),
    }


def planned(
    block: Block,
    *,
    dates: Dates = "calendar",
    text: Text = "leave_out",
    inputs: tuple[str, ...] | None = None,
    split: Split = RANDOM,
    basis: KernelChoice | None = None,
) -> SupervisedPlan:
    dataset = dataset_of(block)
    request = SupervisedRequest(
        dataset.id, "y", effort="quick", dates=dates, text=text, inputs=inputs, split=split, basis=basis
    )
    return plan(request, dataset)


def trained(block: Block, folder: Path, plan_: SupervisedPlan) -> tuple[SupervisedTraining, Trained]:
    training = SupervisedTraining.prepare(plan_, dataset_of(block), lambda: iter([(0, block)]), folder, max_cells=10**6)
    *_, last = training.fit.steps(train, LIMITS, FitLog())
    return training, expected(expected(last, Fitted).result, Trained)


def version(block: Block, folder: Path, plan_: SupervisedPlan) -> NewSupervisedVersion:
    training, found = trained(block, folder, plan_)
    return training.version(found, seconds=1.0, holding=lambda _: (0, block))


def test_the_day_of_the_week_is_kept_where_it_predicts_better(tmp_path: Path) -> None:
    block = sales(weekly=True)
    made = version(block, tmp_path, planned(block, dates="calendar", inputs=("day",)))
    calendar = made.report.calendar
    assert calendar is not None
    assert calendar.selected
    assert calendar.gain is not None
    assert calendar.gain > 0.5
    assert [(one.column, one.periods) for one in calendar.derived] == [("day", ("week",))]
    assert column_names(made.predictor.encoding) == ("day", "day (week, sine)", "day (week, cosine)")
    later = sales(weekly=True, seed=6)
    found = SupervisedModel.of(made.predictor, made.report).predict(later, PredictOptions())
    assert isinstance(found, RegressionPrediction)
    y = later["y"]
    assert isinstance(y, NumberArray)
    assert np.sqrt(np.mean((found.mean - y.values) ** 2)) < 0.8 < 2.0 < y.values.std()


@pytest.mark.thorough
def test_where_it_does_not_the_version_is_the_same_as_without_the_option(tmp_path: Path) -> None:
    block = sales(weekly=False)
    names = ("day",)
    folders = [tmp_path / name for name in ("with", "without")]
    for folder in folders:
        folder.mkdir()
    made = version(block, folders[0], planned(block, dates="calendar", inputs=names))
    plain = version(block, folders[1], planned(block, dates="time", inputs=names))
    assert made.report.calendar is not None
    assert not made.report.calendar.selected
    assert plain.report.calendar is None
    assert made.predictor.encoding == plain.predictor.encoding
    np.testing.assert_array_equal(made.predictor.model.mean, plain.predictor.model.mean)
    assert content_of(made.predictor).inputs == content_of(plain.predictor).inputs


@pytest.mark.thorough
def test_a_comparison_that_is_resumed_has_the_same_result(tmp_path: Path) -> None:
    block = sales(weekly=True)
    plan_ = planned(block, dates="calendar", inputs=("day",))
    training, whole = trained(block, tmp_path, plan_)
    stopped = FitLog()
    steps: Iterator[Step | Fitted] = training.fit.steps(train, LIMITS, stopped)
    compared = [step for step, _ in zip(steps, range(25), strict=False)]
    assert {step.phase for step in compared if isinstance(step, Step)} == {"derived inputs"}
    *_, last = training.fit.steps(train, LIMITS, FitLog(stopped.entries))
    again = expected(expected(last, Fitted).result, Trained)
    assert again.derived == whole.derived
    assert isinstance(again.derived, DerivedColumns)
    np.testing.assert_array_equal(again.model.mean, whole.model.mean)


def test_the_targets_of_a_fold_do_not_change_the_encodings_of_its_texts(tmp_path: Path) -> None:
    """But for their unit, which is the size of the effects of all rows."""
    block = sales(weekly=False)
    plan_ = planned(block, text="target", inputs=("shop",), split=GroupSplit("day"))
    y, folds = block["y"], effect_folds(plan_, block, mixed(np.arange(ROWS, dtype=np.uint64)))
    assert isinstance(y, NumberArray)
    assert len(np.unique(folds)) == FOLDS
    other = np.where(folds == 2, y.values + np.random.default_rng(3).normal(0.0, 3.0, ROWS), y.values)
    before, after = (
        encoded_rows({**block, "y": NumberArray(values)}, plan_, tmp_path / name)
        for name, values in (("before", y.values), ("after", other))
    )
    inside = (folds == 2) & (before != 0.0)
    assert inside.sum() > 5
    ratios = after[inside] / before[inside]
    np.testing.assert_allclose(ratios, ratios[0], rtol=1e-6)
    outside = (folds != 2) & (before != 0.0)
    assert np.std(after[outside] / before[outside]) > 0.1


def encoded_rows(block: Block, plan_: SupervisedPlan, folder: Path) -> Array:
    """The only column of the training rows, in the order of the dataset."""
    folder.mkdir()
    made = SupervisedTraining.prepare(
        plan_, dataset_of(block), lambda: iter([(0, block)]), folder, max_cells=10**6
    ).made
    return by_row(made.rows())[:, 0]


def by_row(table: Array) -> Array:
    """The rows in the order of the dataset."""
    return np.asarray(table[np.argsort(table[:, -1])])


def test_unknown_texts_are_predicted_and_rows_of_a_group_are_in_one_fold(tmp_path: Path) -> None:
    block = sales(weekly=False)
    made = version(block, tmp_path, planned(block, text="target", split=GroupSplit("day"), inputs=("shop",)))
    rows = {"shop": CategoryArray(np.array([0], np.int32), ("a new shop",))}
    found = SupervisedModel.of(made.predictor, made.report).predict(rows, PredictOptions())
    assert isinstance(found, RegressionPrediction)
    assert not found.faults
    assert np.isfinite(found.mean).all()
    assert [(one.name, one.categories) for one in made.report.plan.inputs] == [("shop", ())]


def test_texts_have_an_effect_on_each_of_several_classes(tmp_path: Path) -> None:
    block = sales(weekly=False)
    y = block["y"]
    assert isinstance(y, NumberArray)
    codes = np.searchsorted(np.quantile(y.values, [0.33, 0.67]), y.values).astype(np.int32)
    classes = {**block, "y": CategoryArray(codes, ("few", "many", "some"))}
    made = version(classes, tmp_path, planned(classes, text="target", inputs=("shop",)))
    names = column_names(made.predictor.encoding)
    assert names == ("shop (effect 1)", "shop (effect 2)", "shop (effect 3)")
    found = SupervisedModel.of(made.predictor, made.report).predict(classes, PredictOptions())
    assert isinstance(found, ClassificationPrediction)
    right = found.probabilities[np.arange(ROWS), made.predictor.encoding.target.classes.index("few")][codes == 0]
    assert right.mean() > found.probabilities[codes != 0, 0].mean() + 0.2


def test_where_widths_are_given_by_input_the_derived_inputs_are_kept(tmp_path: Path) -> None:
    block = sales(weekly=True)
    basis = KernelChoice(width=FixedWidth((0.7,)))
    made = version(block, tmp_path, planned(block, dates="calendar", inputs=("day",), basis=basis))
    assert made.report.calendar is not None
    assert (made.report.calendar.selected, made.report.calendar.gain) == (True, None)
    assert made.predictor.encoding.derived == (1, 2)


def test_tables_without_dates_have_the_documents_that_they_had(tmp_path: Path) -> None:
    """Whatever the option is, bytes and plans are those of the time alone."""
    x = np.arange(30.0)
    block = {"x": NumberArray(x**1.5), "y": NumberArray(np.sin(x))}
    contents, options = [], get_args(Dates)
    for dates in options:
        folder = tmp_path / dates
        folder.mkdir()
        made = version(block, folder, planned(block, dates=dates))
        assert made.report.calendar is None
        assert made.report.plan.dates == "time"
        assert all(isinstance(one, EncodedNumber) and not one.periods for one in made.predictor.encoding.inputs)
        contents.append(npz.write(document_of(ExportedSupervised("y", 1, AT, made.report, made.predictor))))
    assert len(options) == 2
    assert contents[0] == contents[1]


def test_by_default_a_request_compares_the_calendar() -> None:
    block = sales(weekly=True)
    dataset = dataset_of(block)
    found = plan(SupervisedRequest(dataset.id, "y"), dataset)
    assert isinstance(found, SupervisedPlan)
    assert found.dates == "calendar"


def test_positions_within_periods_are_left_out_where_the_cells_suffice_only_without(tmp_path: Path) -> None:
    block = sales(weekly=True)
    chosen = planned(block, inputs=("day",))
    for cells, width in ((3 * ROWS, 3), (3 * ROWS - 1, 1), (ROWS, 1)):
        made = materialise(chosen, lambda: iter([(0, block)]), tmp_path, max_cells=cells)
        assert (made.inputs, made.encoding.width, len(made.encoding.derived)) == (width, width, width - 1)
    with pytest.raises(TrainingFailedError):
        materialise(chosen, lambda: iter([(0, block)]), tmp_path, max_cells=ROWS - 1)


def test_texts_whose_effects_predict_better_are_inputs_by_default(tmp_path: Path) -> None:
    block = sales(weekly=False)
    request = SupervisedRequest(NO_DATASET, "y", effort="quick", dates="time")
    made = version(block, tmp_path, expected(plan(request, dataset_of(block)), SupervisedPlan))
    texts = made.report.texts
    assert texts is not None
    assert (texts.columns, texts.selected) == (("shop",), True)
    assert texts.gain is not None
    assert texts.gain > 0.2
    assert set(column_names(made.predictor.encoding)) == {"day", "shop (effect)"}
    assert {one.name for one in made.report.plan.inputs} == {"day", "shop"}


@pytest.mark.thorough
def test_texts_that_do_not_predict_better_are_no_inputs_of_the_version(tmp_path: Path) -> None:
    block = {**sales(weekly=True), "x": NumberArray(np.random.default_rng(2).standard_normal(ROWS))}
    folders = [tmp_path / name for name in ("compared", "left out")]
    for folder in folders:
        folder.mkdir()
    made = version(block, folders[0], planned(block, text="target"))
    plain = version(block, folders[1], planned(block, text="leave_out"))
    assert made.report.texts is not None
    assert not made.report.texts.selected
    assert made.report.calendar is not None
    assert made.report.calendar.selected
    assert made.report.plan.inputs == plain.report.plan.inputs
    assert made.report.plan.text == "leave_out"
    assert [one.name for one in made.report.plan.ignored] == ["shop"]
    assert "do not predict better" in made.report.plan.ignored[0].reason
    assert set(column_names(made.predictor.encoding)) == set(column_names(plain.predictor.encoding))
    rows = {name: taken(column, np.arange(3)) for name, column in block.items() if name not in {"shop", "y"}}
    found, beside = (
        SupervisedModel.of(one.predictor, one.report).predict(rows, PredictOptions()) for one in (made, plain)
    )
    assert isinstance(found, RegressionPrediction)
    assert isinstance(beside, RegressionPrediction)
    np.testing.assert_allclose(found.mean, beside.mean, rtol=1e-3)
    assert not found.faults


def test_texts_with_few_rows_of_each_are_left_out_before_the_training(tmp_path: Path) -> None:
    block = sales(weekly=True)
    names = CategoryArray(np.arange(ROWS, dtype=np.int32) // 2 * 2, tuple(f"name {place}" for place in range(ROWS)))
    sparse = CategoryArray(np.arange(ROWS, dtype=np.int32), names.labels)
    for folder, column, are_left_out in (("pairs", names, False), ("ids", sparse, True)):
        (tmp_path / folder).mkdir()
        made = version({**block, "shop": column}, tmp_path / folder, planned({**block, "shop": column}, text="target"))
        assert (made.report.texts is None) == are_left_out
        assert [one.name for one in made.report.plan.ignored] == ["shop"]
        assert ("few rows of each" in made.report.plan.ignored[0].reason) == are_left_out


def test_texts_without_other_inputs_are_kept_without_a_comparison(tmp_path: Path) -> None:
    block = sales(weekly=False)
    made = version(block, tmp_path, planned(block, text="target", inputs=("shop",)))
    assert made.report.texts is not None
    assert (made.report.texts.selected, made.report.texts.gain) == (True, None)
    bare = version(block, tmp_path, planned(block, inputs=("day",), dates="time"))
    assert bare.report.texts is None
