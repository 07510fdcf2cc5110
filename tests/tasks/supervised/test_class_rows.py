from pathlib import Path

import numpy as np

from app.tasks.supervised.class_rows import class_rows
from app.tasks.supervised.materialise import EXTRA_COLUMNS, Materialised
from relevance_bayes.tables.encoding import EncodedNumber, EncodedTarget, Encoding
from relevance_bayes.types.reports import ClassRows
from relevance_bayes.types.values import Label


def written(path: Path, t: list[float], classes: tuple[Label, ...], *, held_out: int) -> Materialised:
    """A file of rows of one input with these targets, the last of them held out."""
    rows = np.full((len(t), 1 + EXTRA_COLUMNS), 0.5)
    rows[:, 1] = t
    (path / "rows.f64").write_bytes(rows.tobytes())
    encoding = Encoding(
        (EncodedNumber("x", "number", 0.0, 1.0, None, False),), EncodedTarget("y", "category", 0.0, 1.0, classes)
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
