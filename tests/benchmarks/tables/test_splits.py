from pathlib import Path

import numpy as np

from benchmarks.tables.splits import MAX_TEST_ROWS, MAX_TRAINING_ROWS, divided, with_known_labels
from benchmarks.tables.table import Column, DataTable
from tests.benchmarks.tables.small import small_table


def test_a_fifth_is_measured_on_and_the_rest_learned_from() -> None:
    split = divided(small_table("regression", rows=150), 0)
    assert (len(split.learned), len(split.measured)) == (120, 30)
    assert not set(split.learned.tolist()) & set(split.measured.tolist())


def test_a_split_depends_on_its_number_and_on_the_name_of_the_table_alone() -> None:
    table = small_table("regression")
    assert np.array_equal(divided(table, 1).measured, divided(small_table("regression"), 1).measured)
    assert not np.array_equal(divided(table, 1).measured, divided(table, 2).measured)
    renamed = DataTable("another", table.task, table.columns, table.t)
    assert not np.array_equal(divided(table, 1).measured, divided(renamed, 1).measured)


def test_every_class_is_in_both_parts_by_its_share() -> None:
    rng = np.random.default_rng(0)
    labels = np.array(["a"] * 10 + ["b"] * 1_990)
    table = DataTable.of("rare", "classification", [Column.of("x", rng.normal(size=2_000))], labels)
    split = divided(table, 0)
    assert len(split.learned) == MAX_TRAINING_ROWS
    assert np.count_nonzero(split.t_test == 0.0) == 2
    assert np.count_nonzero(split.t == 0.0) == 3


def test_large_tables_are_cut() -> None:
    split = divided(small_table("regression", rows=12_000), 0)
    assert (len(split.learned), len(split.measured)) == (MAX_TRAINING_ROWS, MAX_TEST_ROWS)


def test_rows_of_unknown_labels_are_not_measured_on() -> None:
    colour = Column("colour", np.array([0.0, 0.0, 1.0, 2.0]), ("blue", "green", "red"))
    table = DataTable("small", "regression", (colour,), np.arange(4.0))
    kept = with_known_labels(table, np.array([0, 2]), np.array([1, 3]))
    assert kept.tolist() == [1]


def test_labels_become_indicators_of_those_that_were_learned() -> None:
    colour = Column("colour", np.array([0.0, 2.0, 2.0, 1.0]), ("blue", "green", "red"))
    table = DataTable("small", "regression", (colour, Column("x", np.arange(4.0))), np.arange(4.0))
    assert table.indicators(np.array([0, 1])).tolist() == [[1, 0, 0], [0, 1, 1], [0, 1, 2], [0, 0, 3]]


def test_a_file_gives_the_table_back(tmp_path: Path) -> None:
    for task in ("regression", "classification"):
        table = small_table(task)
        table.write(tmp_path, source="nowhere")
        read = DataTable.read(tmp_path / "small.npz")
        assert (read.name, read.task, read.classes) == (table.name, table.task, table.classes)
        assert np.array_equal(read.matrix(), table.matrix())
        assert np.array_equal(read.t, table.t)
        assert [(column.name, column.labels) for column in read.columns] == [
            ("x", ()),
            ("colour", ("blue", "green", "red")),
        ]
