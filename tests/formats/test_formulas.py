"""Texts that a spreadsheet would take for formulas."""

import pyarrow as pa
import pytest

from app.formats.arrow_writing import csv_part, without_formulas
from relevance_bayes.tables.kinds import escaped

FORMULAS = ["=1+1", "+SUM(A1)", "-2+3", "@A1", "\tx", "\rx", "\nx", "=", "-", "+", "@", "-1\n", "- 1", "=HYPERLINK(1)"]
OTHERS = ["", "red", "a=b", "'=1", "1-2", " =1", "ünd", "-1", "+49", "-1.5e-3", "-.5", "2", "1e400", "é=1"]


@pytest.mark.parametrize("text", FORMULAS)
def test_a_formula_is_behind_an_apostrophe(text: str) -> None:
    assert escaped(text) == f"'{text}"


@pytest.mark.parametrize("text", OTHERS)
def test_other_texts_and_numbers_written_as_texts_stay(text: str) -> None:
    assert escaped(text) == text


def test_a_table_is_escaped_as_its_texts_are_and_nothing_else_of_it() -> None:
    texts = [*FORMULAS, *OTHERS, None]
    numbers = [-1.5] * (len(texts) - 1) + [None]
    table = pa.table({"=x": pa.array(texts), "-y": pa.array(numbers), "z": pa.array([-1] * len(texts))})
    found = without_formulas(table.replace_schema_metadata({"model": "m"}))
    assert found.column_names == ["'=x", "'-y", "z"]
    assert found.columns[0].to_pylist() == [None if text is None else escaped(text) for text in texts]
    assert found.columns[1:] == table.columns[1:]
    assert found.schema.metadata == {b"model": b"m"}


def test_a_table_without_rows_or_texts_stays_as_it_is() -> None:
    table = pa.table({"x": pa.array([], pa.float64()), "label": pa.array([], pa.string())})
    assert without_formulas(table) == table


def test_cells_are_quoted_with_their_apostrophe() -> None:
    table = without_formulas(pa.table({"label": ['=1,"2"', "-1"], "mean": [-1.0, 2.0]}))
    assert csv_part(table, is_first=True) == b'"label","mean"\n"\'=1,""2""",-1\n"-1",2\n'
