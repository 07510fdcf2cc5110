"""A small table of numbers and a category."""

import numpy as np

from benchmarks.tables.catalogue import Task
from benchmarks.tables.table import Column, DataTable


def small_table(task: Task, *, rows: int = 150) -> DataTable:
    """A number, a category of three labels, and a target that depends on both."""
    rng = np.random.default_rng(7)
    x = rng.uniform(-2.0, 2.0, rows)
    colours = np.array(["blue", "green", "red"])[rng.integers(0, 3, rows)]
    mean = np.sin(2.0 * x) + (colours == "red")
    target = mean + rng.normal(0.0, 0.2, rows)
    columns = [Column.of("x", x), Column.of("colour", colours)]
    if task == "regression":
        return DataTable.of("small", task, columns, target)
    return DataTable.of("small", task, columns, np.where(target > 0.5, "yes", "no"))
