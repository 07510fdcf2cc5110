"""Rows that are trained on although one input is far from all others."""

import numpy as np
import pytest

from relevance_bayes.core.types import Array
from relevance_bayes.tables.encoding import EncodedCategory, EncodedNumber, EncodedTarget, Encoding
from relevance_bayes.tasks.supervised.materialise import MIN_ROWS, distant_values

TARGET = EncodedTarget("y", "number", 0.0, 1.0, ())
CATEGORY = EncodedCategory("colour", ("blue", "red"), fill=None, indicator=False)


def number(name: str, kind: str = "number") -> EncodedNumber:
    assert kind in {"number", "boolean"}
    return EncodedNumber(name, "boolean" if kind == "boolean" else "number", 0.0, 1.0, fill=None, indicator=False)


def rows_of(*columns: Array) -> Array:
    """Encoded columns, and the numbers of rows of a dataset backwards from 1,000."""
    return np.column_stack([*columns, 1_000.0 - np.arange(len(columns[0]))])


def with_one(value: float, place: int = 7, rows: int = 119, draw: int = 0) -> Array:
    values = np.random.default_rng(draw).standard_normal(rows)
    values[place] = value
    return values


def encoding_of(*names: str) -> Encoding:
    return Encoding(tuple(number(name) for name in names), TARGET)


@pytest.mark.parametrize("draw", range(10))
@pytest.mark.parametrize("far", [11.0, -14.0, 18.0, 1e200])
def test_one_value_far_from_all_others_is_named_with_its_row(far: float, draw: int) -> None:
    values = with_one(far, draw=draw)
    others = np.abs(np.delete(values, 7) - np.median(values)).max()
    (found,) = distant_values(rows_of(with_one(0.0), values), encoding_of("x", "z"))
    assert (found.name, found.row) == ("z", 993)
    assert found.ratio == pytest.approx(abs(far - np.median(values)) / others)


@pytest.mark.parametrize("draw", range(50))
def test_ordinary_values_are_not_named(draw: int) -> None:
    rng = np.random.default_rng(draw)
    columns = rng.standard_normal(100), rng.exponential(size=300)[:100], rng.uniform(size=100)
    assert distant_values(rows_of(*columns), encoding_of("x", "z", "w")) == ()


def test_units_do_not_matter() -> None:
    values = with_one(12.0)
    (one,) = distant_values(rows_of(values), encoding_of("x"))
    (other,) = distant_values(rows_of(1e6 + 1e3 * values), encoding_of("x"))
    assert other.ratio == pytest.approx(one.ratio)


def test_two_values_equally_far_out_are_not_alone() -> None:
    values = with_one(18.0)
    values[20] = 17.0
    assert distant_values(rows_of(values), encoding_of("x")) == ()


def test_few_rows_are_not_compared() -> None:
    values = with_one(50.0, rows=MIN_ROWS)
    assert len(distant_values(rows_of(values), encoding_of("x"))) == 1
    assert distant_values(rows_of(values)[:-1], encoding_of("x")) == ()


def test_a_rare_category_a_flag_and_an_input_with_one_other_value_are_not_named() -> None:
    rare = (np.arange(100) == 3).astype(np.float64)
    encoding = Encoding((CATEGORY, number("flag", "boolean"), number("x"), number("z")), TARGET)
    columns = rows_of(1.0 - rare, rare, rare, 5.0 * rare, with_one(30.0, rows=100))
    assert [one.name for one in distant_values(columns, encoding)] == ["z"]
