"""Residuals in bins against numpy, and the inverse of the encoding."""

import numpy as np
import pytest

from relevance_bayes.records.diagnostics import CategoryResiduals, NumberResiduals, ResidualStatistics
from relevance_bayes.tables.columns import Block, BooleanArray, CategoryArray, NumberArray, TimestampArray
from relevance_bayes.tables.encoding import EncodedCategory, EncodedNumber, InputEncoding, encode_inputs
from relevance_bayes.tasks.supervised.diagnostics import (
    MAX_BINS,
    MAX_INPUT_BINS,
    MAX_INPUTS,
    MAX_ROWS,
    RowResiduals,
    decoded,
    thinned,
)

RNG = np.random.default_rng(8)


@pytest.mark.parametrize("rows", [1, 2, 19, 45, 700, 5_000])
def test_bins_against_the_prediction_are_those_of_numpy(rows: int) -> None:
    prediction, residual = RNG.standard_normal(rows), RNG.standard_cauchy(rows)
    found = RowResiduals("mean", prediction, residual).against_prediction()
    assert len(found.bins) <= MAX_BINS
    assert (found.min, found.max) == (prediction.min(), prediction.max())
    ends = [-np.inf, *found.edges, np.inf]
    for low, high, one in zip(ends[:-1], ends[1:], found.bins, strict=True):
        some = residual[(prediction > low) & (prediction <= high)]
        assert one.rows == len(some) > 0
        assert (one.mean, one.sd) == pytest.approx((some.mean(), some.std()), rel=1e-9)
    sizes = [one.rows for one in found.bins]
    assert max(sizes) - min(sizes) <= 1 or rows < 45


def test_equal_values_share_a_bin_and_gaps_have_their_own() -> None:
    values = np.repeat([0.0, 0.0, 0.0, 1.0, 2.0, np.nan], 40)
    residual = np.arange(240.0)
    (found,) = RowResiduals("mean", values, residual).against(["x"], {"x": NumberArray(values)})
    assert isinstance(found, NumberResiduals)
    assert [one.rows for one in found.bins] == [120, 40, 40]
    assert found.missing is not None
    assert (found.missing.rows, found.missing.mean, found.missing.sd) == pytest.approx(
        (40, 219.5, np.arange(40.0).std())
    )
    (nothing,) = RowResiduals("mean", values, residual).against(["x"], {"x": NumberArray(np.full(240, np.nan))})
    assert isinstance(nothing, NumberResiduals)
    assert (nothing.bins, nothing.edges, nothing.min) == ((), (), None)
    assert nothing.missing is not None
    assert nothing.missing.rows == 240


def test_categories_are_listed_by_frequency_and_the_rest_together() -> None:
    labels = tuple(f"c{place:02}" for place in range(30))
    codes = np.concatenate([np.repeat(np.arange(30), np.arange(1, 31)), [-1, -1]]).astype(np.int32)
    residual = RNG.standard_normal(len(codes))
    (found,) = RowResiduals("mean", residual, residual).against(["x"], {"x": CategoryArray(codes, labels)})
    assert isinstance(found, CategoryResiduals)
    assert [one.label for one in found.categories] == [f"c{place:02}" for place in range(29, 9, -1)]
    for one in found.categories:
        some = residual[codes == labels.index(one.label)]
        assert (one.rows, one.mean, one.sd) == pytest.approx((len(some), some.mean(), some.std()))
    assert found.other is not None
    assert found.other.rows == sum(range(1, 11))
    assert found.missing is not None
    assert found.missing.mean == pytest.approx(residual[-2:].mean())
    flags = np.array([1, 1, 0, -1], np.int8)
    (two,) = RowResiduals("mean", residual[:4], np.arange(4.0)).against(["x"], {"x": BooleanArray(flags)})
    assert isinstance(two, CategoryResiduals)
    assert [(one.label, one.rows, one.mean) for one in two.categories] == [("false", 1, 2.0), ("true", 2, 0.5)]
    assert two.missing == ResidualStatistics(1, 3.0, 0.0)


def test_many_inputs_and_rows_are_bounded() -> None:
    block = {f"x{place}": TimestampArray(1.7e9 + RNG.standard_normal(3_000)) for place in range(70)}
    residual = RNG.standard_normal(3_000)
    found = RowResiduals("mean", residual, residual).against([*block], block)
    assert [one.name for one in found] == [f"x{place}" for place in range(MAX_INPUTS)]
    assert {len(one.bins) for one in found if isinstance(one, NumberResiduals)} == {MAX_INPUT_BINS}
    assert {one.kind for one in found} == {"timestamp"}
    rows = np.arange(3 * MAX_ROWS + 1)
    kept = thinned(rows)
    assert (len(kept), kept[0]) == (MAX_ROWS, 0)
    assert set(np.diff(kept).tolist()) <= {3, 4}


def test_columns_are_decoded_to_those_that_were_encoded() -> None:
    encoding = InputEncoding(
        (
            EncodedNumber("x", "number", 2.0, 0.5, fill=3.0, indicator=True),
            EncodedCategory("colour", ("blue", "red"), fill=(0.5, 0.5), indicator=True),
            EncodedNumber("flag", "boolean", 0.3, 0.4, fill=None, indicator=False),
            EncodedNumber("at", "timestamp", 1.7e9, 1e6, fill=None, indicator=False),
            EncodedCategory("size", ("l", "s"), fill=None, indicator=False),
        )
    )
    block: Block = {
        "x": NumberArray(np.array([1.0, np.nan, -7.25])),
        "colour": CategoryArray(np.array([1, 0, -1], np.int32), ("blue", "red")),
        "flag": BooleanArray(np.array([1, 0, 1], np.int8)),
        "at": TimestampArray(np.array([1.7e9, 1.6e9, 1.5e9])),
        "size": CategoryArray(np.array([0, 1, 1], np.int32), ("l", "s")),
    }
    rows, faults = encode_inputs(encoding, block)
    assert not faults
    back = decoded(encoding, rows, [*block])
    for name, column in block.items():
        again = back[name]
        if isinstance(column, CategoryArray):
            assert isinstance(again, CategoryArray)
            assert (again.codes.tolist(), again.labels) == (column.codes.tolist(), column.labels)
        else:
            assert type(again) is type(column)
            assert not isinstance(again, CategoryArray)
            assert not isinstance(column, CategoryArray)
            np.testing.assert_allclose(again.values, column.values, rtol=1e-12)
    assert [*decoded(encoding, rows, ["size"])] == ["size"]
