from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from relevance_bayes.core.likelihoods import GaussianNoise
from relevance_bayes.core.types import Array
from relevance_bayes.records.errors import TrainingFailedError
from relevance_bayes.records.reports import ClassRows
from relevance_bayes.records.values import Label
from relevance_bayes.tables.columns import Block, Column, NumberArray, block_rows
from relevance_bayes.tables.encoding import (
    EncodedNumber,
    EncodedTarget,
    Encoding,
    column_names,
    encode_inputs,
    encode_target,
    raw_cells,
)
from relevance_bayes.tasks import rows as complete_rows
from relevance_bayes.tasks.supervised.materialise import EXTRA_COLUMNS, Materialised, class_rows, materialise
from relevance_bayes.tasks.supervised.request import (
    GaussianLikelihood,
    GroupSplit,
    NoiseColumn,
    OrderSplit,
    RandomSplit,
    Split,
    SupervisedPlan,
    SupervisedRequest,
    named_likelihood,
)
from relevance_bayes.tasks.union import plan
from tests.properties import examples
from tests.small_tables import DATASET_ID, cut_up, dataset_of, flags, numbers, rows_of, texts

MANY = 10**9
REQUEST = SupervisedRequest(DATASET_ID, "y")


def table(rows: int = 40) -> dict[str, NumberArray]:
    random = np.random.default_rng(0)
    x = random.normal(size=rows)
    return {"x": NumberArray(x), "z": NumberArray(random.uniform(size=rows)), "y": NumberArray(3 * x + 10)}


def reader(block: Block, *ends: int) -> Callable[[], Iterator[tuple[int, Block]]]:
    return lambda: iter(cut_up(block, *ends))


def plan_for(block: Block, request: SupervisedRequest = REQUEST) -> SupervisedPlan:
    return plan(request, dataset_of(block))


def rows_in(found: Materialised) -> tuple[Array, Array]:
    """The two parts of the file: rows to train on, rows held out."""
    rows = np.fromfile(found.path, "<f8").reshape(-1, found.inputs + EXTRA_COLUMNS)
    assert len(rows) == found.training + found.held_out
    return rows[: found.training], rows[found.training :]


def row_numbers(rows: Array) -> list[int]:
    return [int(number) for number in rows[:, -1]]


@pytest.mark.parametrize("holdout", [0.0, 0.3])
def test_the_sample_has_the_training_rows_as_they_are_in_the_dataset(holdout: float, tmp_path: Path) -> None:
    block: Block = table() | {"colour": texts(*["red", None, "blue", "red"] * 10), "other": numbers(*range(40))}
    request = replace(REQUEST, inputs=("x", "colour"), missing="indicator", holdout=holdout)
    planned = plan_for(block, request)
    found = materialise(planned, reader(block, 7, 20), tmp_path, max_cells=MANY)
    rows, _ = rows_in(found)
    expected = rows_of(block, row_numbers(rows))
    assert list(found.sample) == ["x", "colour", "y"]
    assert block_rows(found.sample) == found.training == (40 if not holdout else 28)
    for name, column in found.sample.items():
        assert cells(column) == cells(expected[name])


def cells(column: Column) -> list[object]:
    return [raw_cells({"x": column}, row, ["x"])["x"] for row in range(block_rows({"x": column}))]


def test_all_rows_are_written_encoded_with_their_numbers(tmp_path: Path) -> None:
    block = table()
    found = materialise(plan_for(block), reader(block, 7, 20), tmp_path, max_cells=MANY)
    assert (found.path, found.training, found.held_out, found.dropped) == (tmp_path / "rows.f64", 40, 0, 0)
    rows, _ = rows_in(found)
    some = rows_of(block, row_numbers(rows))
    np.testing.assert_array_equal(rows[:, :2], encode_inputs(found.encoding, some)[0])
    np.testing.assert_array_equal(rows[:, 2], encode_target(found.encoding.target, some))
    np.testing.assert_array_equal(rows[:, 3], 0)
    assert sorted(row_numbers(rows)) == list(range(40))


def test_only_the_rows_to_train_on_decide_how_numbers_are_scaled(tmp_path: Path) -> None:
    block = table(200)
    found = materialise(plan_for(block, replace(REQUEST, holdout=0.25)), reader(block, 60), tmp_path, max_cells=MANY)
    training, held_out = rows_in(found)
    assert (found.training, found.held_out) == (150, 50)
    np.testing.assert_allclose(training[:, :3].mean(axis=0), 0, atol=1e-13)
    np.testing.assert_allclose(training[:, :3].std(axis=0), 1)
    assert abs(held_out[:, :3].mean(axis=0)).min() > 1e-6
    assert sorted(row_numbers(training) + row_numbers(held_out)) == list(range(200))


@settings(max_examples=examples(8), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.integers(0, 60), max_size=4).map(sorted),
    st.sampled_from([RandomSplit(), GroupSplit("g"), OrderSplit("z"), OrderSplit()]),
    st.sampled_from([0.0, 0.3]),
)
def test_where_blocks_end_does_not_change_the_file(
    tmp_path: Path, ends: list[int], split: Split, holdout: float
) -> None:
    block: Block = {**table(60), "g": texts(*("abcde"[row % 5] for row in range(60)))}
    required = plan_for(block, replace(REQUEST, split=split, holdout=holdout))
    complete = materialise(required, reader(block), tmp_path, max_cells=MANY)
    expected = rows_in(complete)
    pieces = materialise(required, reader(block, *ends), tmp_path, max_cells=MANY)
    for part, other in zip(rows_in(pieces), expected, strict=True):
        np.testing.assert_array_equal(part, other)


@settings(max_examples=examples(8), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.permutations(range(30)), st.sampled_from([RandomSplit(), GroupSplit("g"), OrderSplit("z")]))
def test_the_order_of_the_rows_does_not_change_what_is_held_out(tmp_path: Path, order: list[int], split: Split) -> None:
    block: Block = {**table(30), "g": texts(*("abcde"[row % 5] for row in range(30)))}
    required = plan_for(block, replace(REQUEST, split=split, holdout=0.3))
    before = row_numbers(rows_in(materialise(required, reader(block), tmp_path, max_cells=MANY))[1])
    shuffled = rows_of(block, order)
    after = row_numbers(rows_in(materialise(required, reader(shuffled, 11), tmp_path, max_cells=MANY))[1])
    assert sorted(order[number] for number in after) == sorted(before)


def test_a_large_block_is_taken_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    block: Block = {**table(60), "w": numbers(*(None if row % 7 == 0 else row % 3 for row in range(60)))}
    required = plan_for(block, replace(REQUEST, missing="drop_rows", holdout=0.2))
    complete = materialise(required, reader(block), tmp_path, max_cells=MANY)
    expected = rows_in(complete)
    monkeypatch.setattr(complete_rows, "MAX_CELLS_AT_ONCE", 30)
    pieces = materialise(required, reader(block), tmp_path, max_cells=MANY)
    assert (pieces.dropped, pieces.training) == (complete.dropped, complete.training) == (9, 41)
    for part, other in zip(rows_in(pieces), expected, strict=True):
        np.testing.assert_allclose(part, other, rtol=1e-12, atol=1e-13)


def test_rows_with_gaps_are_dropped_when_requested(tmp_path: Path) -> None:
    block: Block = {
        "x": numbers(1, None, 3, 4, 5, 6),
        "c": texts("a", "b", None, "a", "b", "b"),
        "y": numbers(1, 2, 3, None, 5, 7),
    }
    found = materialise(
        plan_for(block, replace(REQUEST, missing="drop_rows")), reader(block, 2), tmp_path, max_cells=MANY
    )
    assert (found.training, found.dropped) == (3, 3)
    assert sorted(row_numbers(rows_in(found)[0])) == [0, 4, 5]


def test_with_indicator_only_rows_without_target_are_dropped(tmp_path: Path) -> None:
    times = 20  # as many gaps as have an indicator
    x, y = ([None if row % 5 == gap else float(row) for row in range(5 * times)] for gap in (1, 3))
    block: Block = {"x": numbers(*x), "y": numbers(*y)}
    found = materialise(
        plan_for(block, replace(REQUEST, missing="indicator")), reader(block, 2), tmp_path, max_cells=MANY
    )
    rows = np.array(sorted(rows_in(found)[0], key=lambda row: float(row[-1])))
    assert (found.training, found.dropped, column_names(found.encoding)) == (4 * times, times, ("x", "x missing"))
    assert rows[1, 0] == pytest.approx(0.0, abs=1e-15)
    assert rows[:4, 1].tolist() == [0, 1, 0, 0]
    assert row_numbers(rows)[:4] == [0, 1, 2, 4]


def test_groups_stay_together_and_carry_one_key(tmp_path: Path) -> None:
    groups = ["abcdefgh"[row % 8] for row in range(80)]
    block: Block = {**table(80), "g": texts(*groups)}
    found = materialise(
        plan_for(block, replace(REQUEST, split=GroupSplit("g"), holdout=0.25)),
        reader(block, 33),
        tmp_path,
        max_cells=MANY,
    )
    training, held_out = rows_in(found)
    sides = [{groups[number] for number in row_numbers(part)} for part in (training, held_out)]
    assert not sides[0] & sides[1]
    assert (found.inputs, len(sides[1]), found.held_out) == (2, 2, 20)
    keys = {(groups[int(row[-1])], row[-2]) for row in np.r_[training, held_out]}
    assert len(keys) == len({key for _, key in keys}) == 8


def test_the_past_is_trained_on_and_the_future_held_out(tmp_path: Path) -> None:
    block = table(50)
    found = materialise(
        plan_for(block, replace(REQUEST, split=OrderSplit("z"), holdout=0.2)),
        reader(block, 33),
        tmp_path,
        max_cells=MANY,
    )
    training, held_out = rows_in(found)
    assert found.held_out == 10
    assert training[:, -2].max() < held_out[:, -2].min()
    np.testing.assert_array_equal(training[:, -2], block["z"].values[row_numbers(training)])


def test_classes_are_zero_and_one(tmp_path: Path) -> None:
    block: Block = {"x": numbers(1, 2, 3, 5), "y": flags(True, False, True, True)}
    rows, _ = rows_in(materialise(plan_for(block), reader(block), tmp_path, max_cells=MANY))
    assert rows[np.argsort(rows[:, -1]), 1].tolist() == [1, 0, 1, 1]


def test_rows_held_out_with_a_category_unknown_in_training_are_dropped(tmp_path: Path) -> None:
    colours = ["red", "blue"] * 10 + ["mauve"]
    block: Block = {**table(21), "colour": texts(*colours)}
    found = materialise(
        plan_for(block, replace(REQUEST, split=OrderSplit(), holdout=0.2)), reader(block, 5), tmp_path, max_cells=MANY
    )
    assert (found.training, found.held_out, found.dropped) == (17, 3, 1)
    assert sorted(row_numbers(rows_in(found)[1])) == [17, 18, 19]


@pytest.mark.parametrize(
    ("block", "requesting", "kind"),
    [
        (
            {"x": numbers(1, None, 3), "w": numbers(None, 2, 5), "y": numbers(1, 2, 4)},
            replace(REQUEST, missing="drop_rows"),
            "too-few-rows",
        ),
        (
            {"x": numbers(1, 2, 3, None), "y": numbers(5.5, 5.5, 5.5, 6)},
            replace(REQUEST, missing="drop_rows"),
            "constant-target",
        ),
        ({"x": numbers(1, 2, 3, None), "y": texts(*"aaab")}, replace(REQUEST, missing="drop_rows"), "one-class"),
        (
            {"x": numbers(1, 2, 3, 4), "y": numbers(5.5, 5.5, 5.5, 6)},
            replace(REQUEST, split=OrderSplit(), holdout=0.25),
            "constant-target",
        ),
        (
            {"x": numbers(1, 2, 3, 4), "g": texts("a", "a", "a", "b"), "y": numbers(1, 2, 4, None)},
            replace(REQUEST, missing="drop_rows", split=GroupSplit("g"), holdout=0.3),
            "nothing-to-hold-out",
        ),
        (
            {"x": numbers(1, 2, 3, 4), "c": texts("a", "b", "a", "z"), "y": numbers(1, 2, 4, 6)},
            replace(REQUEST, split=OrderSplit(), holdout=0.25),
            "nothing-to-hold-out",
        ),
    ],
)
def test_what_cannot_be_learned_from_fails_with_what_to_do(
    tmp_path: Path, block: Block, requesting: SupervisedRequest, kind: str
) -> None:
    with pytest.raises(TrainingFailedError) as caught:
        materialise(plan_for(block, requesting), reader(block, 1), tmp_path, max_cells=MANY)
    assert caught.value.kind == kind


def test_a_column_without_a_value_left_is_reported_by_its_gaps_alone(tmp_path: Path) -> None:
    block: Block = {"c": texts(*[None] * 20, "a", "b"), "y": numbers(*range(20), None, None)}
    required = plan_for(block, replace(REQUEST, missing="indicator"))
    found = materialise(required, reader(block, 1), tmp_path, max_cells=MANY)
    assert column_names(found.encoding) == ("c missing",)


def test_too_many_numbers_fail_before_anything_is_written(tmp_path: Path) -> None:
    block = table(40)
    with pytest.raises(TrainingFailedError, match="80 numbers, above this service's limit of 79") as caught:
        materialise(plan_for(block), reader(block), tmp_path, max_cells=79)
    assert caught.value.kind == "too-large"
    assert not list(tmp_path.iterdir())
    assert materialise(plan_for(block), reader(block), tmp_path, max_cells=80).training == 40


def test_numbers_at_the_ends_of_the_range_become_finite_rows(tmp_path: Path) -> None:
    random = np.random.default_rng(3)
    block: Block = {
        "huge": NumberArray(1.7e308 * random.uniform(-1, 1, 30)),
        "tiny": NumberArray(random.uniform(-1e-308, 1e-308, 30)),
        "y": NumberArray(1.7e308 * random.uniform(-1, 1, 30)),
    }
    rows, _ = rows_in(materialise(plan_for(block), reader(block, 9), tmp_path, max_cells=MANY))
    np.testing.assert_allclose(rows[:, :3].std(axis=0), 1, rtol=1e-6)


def test_a_dataset_without_a_row_left_is_refused(tmp_path: Path) -> None:
    block: Block = {"x": numbers(1, 2), "y": numbers(1, 2)}
    required = plan_for({"x": numbers(1, 2, 3), "y": numbers(1, 2, 4)})
    with pytest.raises(TrainingFailedError, match="no rows are left"):
        materialise(required, lambda: iter(cut_up(rows_of(block, []))), tmp_path, max_cells=MANY)
    assert block_rows(block) == 2


def test_each_rows_noise_is_beside_its_target_in_the_same_units(tmp_path: Path) -> None:
    sd = np.random.default_rng(1).uniform(0.1, 2.0, 40)
    sd[[4, 30]] = np.nan
    block: Block = {**table(), "sd": NumberArray(sd)}
    likelihood = GaussianNoise("rows")
    requesting = replace(REQUEST, likelihood=named_likelihood(likelihood, "sd"), missing="drop_rows", holdout=0.25)
    found = materialise(plan_for(block, requesting), reader(block, 11, 30), tmp_path, max_cells=MANY)
    assert (found.inputs, found.training + found.held_out, found.dropped) == (2, 38, 2)
    for part in rows_in(found):
        np.testing.assert_allclose(part[:, 3] * found.encoding.target.scale, sd[row_numbers(part)])


def test_rows_whose_noise_cannot_be_computed_with_are_refused(tmp_path: Path) -> None:
    sd = np.full(40, 0.1)
    sd[7] = 1e-300
    block: Block = {**table(), "sd": NumberArray(sd)}
    requesting = replace(REQUEST, likelihood=GaussianLikelihood(NoiseColumn("sd")))
    with pytest.raises(TrainingFailedError, match="too far from the sd of the targets"):
        materialise(plan_for(block, requesting), reader(block), tmp_path, max_cells=MANY)


def written(path: Path, t: list[float], classes: tuple[Label, ...], *, held_out: int) -> Materialised:
    """A file of rows of one input with these targets, the last of them held out."""
    rows = np.full((len(t), 1 + EXTRA_COLUMNS), 0.5)
    rows[:, 1] = t
    (path / "rows.f64").write_bytes(rows.tobytes())
    encoding = Encoding(
        (EncodedNumber("x", "number", 0.0, 1.0, fill=None, indicator=False),),
        EncodedTarget("y", "category", 0.0, 1.0, classes),
    )
    return Materialised(path / "rows.f64", encoding, len(t) - held_out, held_out, 0, 1)


def test_rows_learned_from_are_counted_by_class_and_those_held_out_are_not(tmp_path: Path) -> None:
    made = written(tmp_path, [0, 2, 2, 0, 0, 1, 2, 2], ("a", "b", "c", "d"), held_out=3)
    assert class_rows(made) == (ClassRows("a", 3), ClassRows("b", 0), ClassRows("c", 2), ClassRows("d", 0))


def test_labels_keep_their_type(tmp_path: Path) -> None:
    found = class_rows(written(tmp_path, [1, 1, 0], (False, True), held_out=0))
    assert found == (ClassRows(False, 1), ClassRows(True, 2))
    assert [type(one.label) for one in found] == [bool, bool]
    assert all(type(one.rows) is int for one in found)


def test_numbers_are_of_no_class(tmp_path: Path) -> None:
    assert class_rows(written(tmp_path, [1.5, 2.5], (), held_out=0)) == ()
