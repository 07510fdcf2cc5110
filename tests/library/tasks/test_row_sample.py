import numpy as np

from relevance_bayes.tables.columns import Block, CategoryArray, NumberArray, block_rows
from relevance_bayes.tasks.rows import MAX_CELLS, MAX_SAMPLED_ROWS, RowSample, joined, mixed
from tests.small_tables import flags, moments, numbers, texts

DRAWS = np.array([2**64 - 1, 0, 2**63], np.uint64)


def sampled(rows: int, parts: int, columns: int = 1) -> Block:
    names = [f"x{number}" for number in range(columns)]
    sample = RowSample(names, rows=rows)
    for first in range(0, rows, rows // parts):
        values = np.arange(float(first), first + rows // parts)
        every = np.ones(len(values), np.bool_)
        sample.add(dict.fromkeys(names, NumberArray(values)), every, mixed(values.astype(np.uint64)))
    return sample.block()


def values_of(block: Block) -> list[float]:
    column = block["x0"]
    assert isinstance(column, NumberArray)
    return [float(value) for value in column.values]


def test_all_rows_of_a_small_table_are_sampled_in_order() -> None:
    assert values_of(sampled(MAX_SAMPLED_ROWS, 8)) == list(range(MAX_SAMPLED_ROWS))


def test_of_a_large_table_about_as_many_rows_as_allowed_are_sampled_from_all_of_it() -> None:
    rows = 100 * MAX_SAMPLED_ROWS
    found = values_of(sampled(rows, 64))
    assert abs(len(found) - MAX_SAMPLED_ROWS) < 5 * MAX_SAMPLED_ROWS**0.5
    assert len(set(found)) == len(found)
    quarters, _ = np.histogram(found, bins=4, range=(0, rows))
    assert (np.abs(quarters - MAX_SAMPLED_ROWS / 4) < 5 * (MAX_SAMPLED_ROWS / 4) ** 0.5).all()
    assert found == values_of(sampled(rows, 64))


def test_a_wide_table_has_fewer_rows_in_its_sample() -> None:
    found = block_rows(sampled(10_000, 10, columns=2_000))
    assert abs(found - MAX_CELLS / 2_000) < 5 * (MAX_CELLS / 2_000) ** 0.5


def test_only_chosen_rows_are_sampled_and_labels_keep_their_texts() -> None:
    sample = RowSample(["c", "y", "c"], rows=3)
    first: Block = {"c": texts("red", "blue", None), "y": numbers(1, 2, 3), "other": numbers(0, 0, 0)}
    sample.add(first, np.array([True, False, True]), DRAWS[:3])
    sample.add({"c": texts("blue", "red"), "y": numbers(4, 5)}, np.array([True, False]), DRAWS[:2])
    sample.add({"c": texts("blue"), "y": numbers(6)}, np.array([False]), DRAWS[:1])
    block = sample.block()
    assert list(block) == ["c", "y"]
    column = block["c"]
    assert isinstance(column, CategoryArray)
    assert [column.labels[code] if code >= 0 else None for code in column.codes] == ["red", None, "blue"]
    assert RowSample(["x"], rows=0).block() == {}


def test_columns_of_every_kind_are_joined() -> None:
    both = [joined([column, column]) for column in (flags(True, None), moments(1, None), numbers(1, None))]
    for column in both:
        assert not isinstance(column, CategoryArray)
        assert len(column.values) == 4
    assert type(both[0]) is not type(both[1])
