"""A training computes in an order of inputs and rows that follows from their content."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from relevance_bayes.core.kernels.hyperparameters import FixedWidth
from relevance_bayes.core.likelihoods import Poisson
from relevance_bayes.records.values import Cell, InputColumn
from relevance_bayes.tables.columns import Block, CategoryArray, Column, NumberArray, TimestampArray, block_rows
from relevance_bayes.tables.encoding import Encoding, raw_cells
from relevance_bayes.tasks import rows as canonical
from relevance_bayes.tasks import rows as complete
from relevance_bayes.tasks.rows import Ranks, canonical_order, complete_rows
from relevance_bayes.tasks.supervised.fit import SupervisedFit
from relevance_bayes.tasks.supervised.request import (
    GaussianLikelihood,
    GroupChoice,
    GroupSplit,
    KernelChoice,
    NoiseColumn,
    OrderSplit,
    SupervisedRequest,
)
from relevance_bayes.tasks.supervised.training import SupervisedTraining
from relevance_bayes.tasks.union import plan
from tests.properties import examples
from tests.small_tables import DATASET_ID, cut_up, dataset_of, flags, numbers, rows_of, texts

ROWS = 48
MANY = 10**9


def table(rows: int = ROWS) -> dict[str, Column]:
    """Columns of every kind, some with gaps; some rows recur, in all columns but the time or in all."""
    rng = np.random.default_rng(4)
    once = np.arange(rows) % (rows - 6)
    x, z = rng.normal(size=rows)[once], rng.uniform(size=rows)[once]
    shops = [f"shop {number}" for number in rng.integers(0, rows // 3, rows)[once]]
    return {
        "x": NumberArray(x),
        "z": numbers(*(None if row % 11 == 3 else z[row] for row in once.tolist())),
        "-x": NumberArray(np.sort(x)[::-1].copy()),
        "day": TimestampArray(np.array(1.7e9 + 86_400.0 * once, np.float64)),
        "colour": texts(*(None if row % 13 == 5 else ("red", "blue", "green")[row % 3] for row in once.tolist())),
        "open": flags(*(row % 5 < 2 for row in once.tolist())),
        "shop": texts(*shops),
        "patient": texts(*("abcdef"[row % 6] for row in once.tolist())),
        "sd": NumberArray(0.1 + z),
        "y": NumberArray(3.0 * x + 10.0 + z),
        "visits": NumberArray(np.floor(5.0 * z)),
        "class": texts(*("lmh"[int(2.9 * value)] for value in z.tolist())),
    }


INPUTS = ("x", "z", "-x", "day", "colour", "open", "shop")
REQUEST = SupervisedRequest(DATASET_ID, "y", INPUTS, missing="indicator", text="target")
WIDTHS = KernelChoice(width=FixedWidth((1.0, 2.0, 3.0, 4.0, 5.0, 6.0)))
GROUP = GroupChoice(("z", "open", "x"), KernelChoice(width=FixedWidth((2.0, 6.0, 1.0))))
REQUESTS = {
    "numbers": REQUEST,
    "numbers without gaps": replace(REQUEST, missing="drop_rows"),
    "all inputs": replace(REQUEST, inputs=None),
    "classes": replace(REQUEST, target="class"),
    "counts": replace(REQUEST, target="visits", likelihood=Poisson(), task="regression"),
    "held out": replace(REQUEST, holdout=0.25),
    "classes held out": replace(REQUEST, target="class", holdout=0.25),
    "groups": replace(REQUEST, split=GroupSplit("patient"), holdout=0.25),
    "order": replace(REQUEST, split=OrderSplit("day"), holdout=0.25),
    "known noise": replace(REQUEST, likelihood=GaussianLikelihood(NoiseColumn("sd")), holdout=0.25),
    "widths": replace(REQUEST, inputs=INPUTS[:-1], basis=WIDTHS, standardise=False),
    "group of inputs": replace(REQUEST, basis=GROUP),
}


@dataclass(frozen=True)
class Prepared:
    """All that a fit depends on; the cells of the dataset row of each row of the file."""

    fit: SupervisedFit
    encoding: Encoding
    rows: Sequence[Sequence[float]]
    cells: Sequence[Mapping[str, Cell]]
    sample: Sequence[Mapping[str, Cell]]
    counts: tuple[int, int, int, int]


def prepared(block: Block, request: SupervisedRequest, directory: Path, *ends: int) -> Prepared:
    """The training of a table in blocks that end after these rows."""
    dataset = dataset_of(block)
    planned = plan(request, dataset)
    training = SupervisedTraining.prepare(
        planned, dataset, lambda: iter(cut_up(block, *ends)), directory, max_cells=MANY
    )
    made = training.made
    rows = np.array(made.rows())
    assert [one.name for one in planned.inputs] == [name for name in block if name in {*made.sample} - {request.target}]
    return Prepared(
        training.fit,
        made.encoding,
        rows[:, :-1].tolist(),
        [raw_cells(block, int(number), sorted(block)) for number in rows[:, -1]],
        [raw_cells(made.sample, row, sorted(made.sample)) for row in range(block_rows(made.sample))],
        (made.training, made.held_out, made.dropped, made.copies),
    )


def shuffled(block: Block, rows: Sequence[int], names: Sequence[str]) -> Block:
    found = rows_of(block, rows)
    return {name: found[name] for name in names}


def reordered(request: SupervisedRequest, names: Sequence[str]) -> SupervisedRequest:
    """The request with its inputs in the order of the table, and the widths of a list with them."""
    if request.inputs is None:
        return request
    inputs = tuple(name for name in names if name in request.inputs)
    if request.basis is not WIDTHS:
        return replace(request, inputs=inputs)
    widths = FixedWidth(tuple(1.0 + INPUTS.index(name) for name in inputs))
    return replace(request, inputs=inputs, basis=KernelChoice(width=widths))


@pytest.mark.thorough
@pytest.mark.parametrize("request_", REQUESTS.values(), ids=REQUESTS.keys())
@settings(max_examples=examples(4), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.permutations(range(ROWS)), st.permutations([*table()]), st.lists(st.integers(0, ROWS), max_size=3))
def test_another_order_of_rows_and_columns_gives_the_same_fit_to_the_bit(
    tmp_path: Path, request_: SupervisedRequest, rows: list[int], names: list[str], ends: list[int]
) -> None:
    block = table()
    before = prepared(block, reordered(request_, [*block]), tmp_path)
    after = prepared(shuffled(block, rows, names), reordered(request_, names), tmp_path, *sorted(ends))
    assert after == before


@settings(max_examples=examples(4), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.permutations([*table()]))
def test_rows_in_the_order_of_the_table_are_the_same_for_other_columns(tmp_path: Path, names: list[str]) -> None:
    request = replace(REQUEST, split=OrderSplit(), holdout=0.25)
    before = prepared(table(), reordered(request, [*table()]), tmp_path)
    after = prepared(shuffled(table(), range(ROWS), names), reordered(request, names), tmp_path)
    assert after == before
    assert before.fit.held_out == 12


def test_a_group_reads_the_columns_of_its_inputs_with_their_widths(tmp_path: Path) -> None:
    found = prepared(table(), REQUESTS["group of inputs"], tmp_path)
    (kernel, _) = (basis for basis in found.fit.selection.spec.basis)
    assert getattr(kernel, "type") == "group"  # noqa: B009
    each = {"z": 2.0, "open": 6.0, "x": 1.0}
    expected = [each[one.name] for one in found.encoding.inputs if one.name in each for _ in range(one.width)]
    assert str(tuple(expected)) in str(kernel)


def ordered(block: Block, inputs: Sequence[str], directory: Path) -> tuple[list[str], list[int], Ranks]:
    """The inputs, the numbers of the rows, and their draws, in canonical order."""
    columns = [InputColumn(name, "number", ()) for name in inputs]
    found = canonical_order(
        lambda: complete_rows(lambda: iter([(0, block)]), columns, beside=["y"], needed=[]),
        columns,
        directory,
        target="y",
        max_cells=MANY,
    )
    parts = [*found.parts()]
    numbers_ = np.concatenate([part.numbers for part in parts])
    return [one.name for one in found.inputs], [*map(int, numbers_)], np.concatenate([part.draws for part in parts])


def numeric(rows: int) -> dict[str, NumberArray]:
    rng = np.random.default_rng(0)
    return {name: NumberArray(rng.normal(size=rows)) for name in ("a", "b", "c", "y")}


@pytest.mark.parametrize("factor", [100.0, 0.3048, 1e-6])
def test_other_units_and_other_names_change_no_order(factor: float, tmp_path: Path) -> None:
    block = numeric(200)
    inputs, rows, _ = ordered(block, "abc", tmp_path)
    scaled = {name: NumberArray(factor * column.values + 5.0) for name, column in block.items()}
    assert ordered(scaled, "abc", tmp_path)[:2] == (inputs, rows)
    other = {"a": "z", "b": "y2", "c": "x", "y": "y"}
    named = {other[name]: column for name, column in block.items()}
    assert ordered(named, ["z", "y2", "x"], tmp_path)[:2] == ([other[name] for name in inputs], rows)


def test_columns_with_equal_values_are_ordered_by_what_the_target_is_beside_them(tmp_path: Path) -> None:
    """Of a designed experiment all factors have the same values."""
    factors = np.array(np.meshgrid(*[[-1.0, 1.0]] * 3)).reshape(3, -1)
    block = {name: NumberArray(row) for name, row in zip("abc", factors, strict=True)}
    block["y"] = NumberArray(np.arange(8.0))
    inputs, rows, _ = ordered(block, "abc", tmp_path)
    named = {"a": block["c"], "b": block["a"], "c": block["b"], "y": block["y"]}
    again = dict(zip("cab", "abc", strict=True))
    assert ordered(named, "abc", tmp_path)[:2] == ([again[name] for name in inputs], rows)


def test_equal_rows_follow_one_another_and_are_drawn_apart(tmp_path: Path) -> None:
    block: Block = {"a": numbers(*[1.0, 2.0] * 500), "y": numbers(*[3.0, 4.0] * 500)}
    _, rows, draws = ordered(block, "a", tmp_path)
    first = rows[0] % 2
    assert rows == [*range(first, 1_000, 2), *range(1 - first, 1_000, 2)]
    assert len(np.unique(draws)) == 1_000
    assert abs((draws < np.uint64(2**62)).sum() - 250) < 70


def test_more_rows_than_are_ordered_stay_in_the_order_of_the_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(canonical, "MAX_ROWS", 199)
    block = numeric(200)
    inputs, rows, draws = ordered(block, "abc", tmp_path)
    assert rows == [*range(200)]
    assert len(np.unique(draws)) == 200
    backwards = rows_of(block, range(199, -1, -1))
    assert ordered(backwards, "cba", tmp_path)[0] == inputs
    assert not [*tmp_path.iterdir()]


def test_a_part_has_the_labels_of_its_own_rows_where_a_column_has_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(complete, "MAX_CELLS_AT_ONCE", 20)
    names = [None if number % 7 == 0 else f"text {number}" for number in range(100)]
    block: Block = {"a": texts(*names), "y": numbers(*range(100))}
    columns = [InputColumn("a", "category", ())]
    found = canonical_order(
        lambda: complete_rows(lambda: iter([(0, block)]), columns, beside=["y"], needed=[]),
        columns,
        tmp_path,
        target="y",
        max_cells=MANY,
    )
    seen: dict[int, Cell] = {}
    for part in found.parts():
        column = part.block["a"]
        assert isinstance(column, CategoryArray)
        assert len(column.labels) <= len(column.codes) == len(part.numbers) <= 10
        for row, number in enumerate(part.numbers.tolist()):
            seen[int(number)] = raw_cells(part.block, row, ["a"])["a"]
    assert [seen[number] for number in range(100)] == names
