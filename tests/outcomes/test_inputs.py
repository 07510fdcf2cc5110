import numpy as np

from app.outcomes.inputs import Columns, block_of_rows, rows_of
from relevance_bayes.tables.columns import CategoryArray, Column, NumberArray, TimestampArray
from tests.small_tables import flags, numbers, texts

BLOCK: dict[str, Column] = {
    "number": numbers(0.1, None, 1e300),
    "flag": flags(True, None, False),
    "text": texts("größer", None, 'a "quotation"'),
    "at": TimestampArray(np.array([1.5e9, np.nan, 0.25])),
}
KINDS: Columns = (("number", "number"), ("flag", "boolean"), ("text", "category"), ("at", "timestamp"))


def test_recorded_inputs_are_read_as_they_were_predicted_for() -> None:
    rows = [*rows_of(BLOCK, [*BLOCK], np.arange(3))]
    assert rows[0] == '[0.1,true,"größer",1500000000.0]'
    found = block_of_rows(rows, KINDS, None)
    assert [*found] == [*BLOCK]
    for name, column in BLOCK.items():
        read = found[name]
        assert type(read) is type(column)
        if isinstance(column, CategoryArray) and isinstance(read, CategoryArray):
            assert [(*read.labels, None)[code] for code in read.codes] == ["größer", None, 'a "quotation"']
        elif not isinstance(column, CategoryArray) and not isinstance(read, CategoryArray):
            np.testing.assert_array_equal(read.values, column.values)


def test_some_rows_are_recorded_with_the_noise_where_the_request_had_it() -> None:
    block: dict[str, Column] = {"number": numbers(1.0, 2.0, 3.0), "sd": numbers(0.1, 0.2, 0.3)}
    rows = [*rows_of(block, ["number", "sd"], np.array([0, 2]))]
    found = block_of_rows(rows, KINDS[:1], "sd")
    assert {name: column.values.tolist() for name, column in found.items() if isinstance(column, NumberArray)} == {
        "number": [1.0, 3.0],
        "sd": [0.1, 0.3],
    }
    assert [*block_of_rows(["[1.0]"], KINDS[:1], "sd")] == ["number"]
