"""Tables in JSON: three forms, one meaning; and the errors of other bodies."""

import json
import time
from collections.abc import Mapping
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.errors import MalformedBodyError, TooLargeError
from app.formats.cells import JSON
from app.formats.json_body import decode
from app.formats.json_table import json_stream, read_json, typed_block
from app.formats.streams import ReadAgainError
from relevance_bayes.records.errors import Fault, InvalidDataError, RelevanceError
from relevance_bayes.records.values import ColumnKind
from relevance_bayes.tables.columns import block_rows
from relevance_bayes.tables.encoding import raw_cells
from relevance_bayes.tables.kinds import ROWS_LOOKED_AT
from tests.formats.files import Table, digest_of, table_of

COLUMNS = {"x": [1, 2.5, None], "c": ["a", None, "😀"], "b": [True, False, None], "t": ["2024-05-01", None, None]}
RECORDS = [dict(zip(COLUMNS, row, strict=True)) for row in zip(*COLUMNS.values(), strict=True)]
FORMS = {
    "columns": {"columns": COLUMNS},
    "rows": {"rows": RECORDS},
    "names": {"names": list(COLUMNS), "rows": [list(row.values()) for row in RECORDS]},
}


def read(body: object, declared: Mapping[str, ColumnKind] | None = None) -> Table:
    return table_of(json_stream(json.dumps(body).encode(), declared=declared or {}, max_columns=10_000))


@pytest.mark.parametrize("form", FORMS)
def test_the_three_forms_state_the_same(form: str) -> None:
    kinds, rows = read(FORMS[form])
    assert kinds == {"x": "number", "c": "category", "b": "boolean", "t": "timestamp"}
    assert rows == [[1.0, "a", True, "2024-05-01T00:00:00Z"], [2.5, None, False, None], [None, "😀", None, None]]
    digests = {
        digest_of(json_stream(json.dumps(body, ensure_ascii=ascii_only).encode(), declared={}, max_columns=9))
        for body in FORMS.values()
        for ascii_only in (True, False)
    }
    assert len(digests) == 1


def test_declared_kinds_go_before_what_is_found() -> None:
    assert read({"columns": {"x": [1, 0, None]}}, {"x": "boolean"})[1] == [[True], [False], [None]]
    assert read({"columns": {"x": [1, 1.5, True]}}, {"x": "category"})[1] == [["1"], ["1.5"], ["true"]]


def test_integers_that_float64_would_round_stay_text() -> None:
    kinds, rows = read({"columns": {"id": [2**63 + 1, -(2**64) - 1, 7]}})
    assert kinds == {"id": "category"}
    assert rows == [["9223372036854775809"], ["-18446744073709551617"], ["7"]]


def test_the_ends_of_float64_are_kept() -> None:
    values = [1e308, -1.7976931348623157e308, 1e-308, 5e-324]
    assert [row[0] for row in read({"columns": {"x": values}})[1]] == values


@pytest.mark.parametrize(
    ("body", "faults"),
    [
        ('{"columns": {"x": [1, NaN]}}', [("NaN is not a finite number", "/columns/x/1", 1, "x")]),
        ('{"rows": [{"x": 1}, {"x": -Infinity}]}', [("-Infinity is not a finite number", "/rows/1/x", 1, "x")]),
        ('{"names": ["x"], "rows": [[1], [Infinity]]}', [("Infinity is not a finite number", "/rows/1/0", 1, None)]),
        ('{"columns": {"x": [1e999]}}', [('"1e999" is beyond the range', "/columns/x/0", 0, "x")]),
        ('{"columns": {"x": [1, 2, "abc"]}}', [('"abc" is not a number.', None, 2, "x")]),
        ('{"columns": {"x": [true, 2, false]}}', [("2 is not true or false.", None, 1, "x")]),
        ('{"columns": {"x": [[1], {}, 3]}}', [("[1] is not a number.", None, 0, "x"), ("{} is not a", None, 1, "x")]),
        ('{"columns": {"c": ["a", ["b"]]}}', [('["b"] is not a text.', None, 1, "c")]),
        ('{"columns": {"x": ["a\\u0000"]}}', [('"a\\u0000" contains NUL.', None, 0, "x")]),
        ('{"columns": {"x": [1], "y": [1, 2]}}', [("The column has 2 values", "/columns/y", None, "y")]),
        ('{"columns": {"x": 1}}', [("The column is not a list.", "/columns/x", None, "x")]),
        ('{"names": ["x", "y"], "rows": [[1, 2], [3]]}', [("Expected 2 values, got 1.", "/rows/1", 1, None)]),
        ('{"names": ["x", "y"], "rows": [[1, 2], {}]}', [("The row is not a list.", "/rows/1", 1, None)]),
        ('{"names": ["x", "x"], "rows": [[1, 2]]}', [("The column is named twice.", "/names/1", None, "x")]),
        ('{"names": ["x", 1], "rows": [[1, 2]]}', [("The name is not a text.", "/names/1", None, None)]),
        (
            '{"rows": [{"x": 1}, {"y": 1}]}',
            [("The column is missing", "/rows/1", 1, "x"), ("There", "/rows/1/y", 1, "y")],
        ),
        ('{"rows": [{"x": 1}, 2]}', [("The row is not an object.", "/rows/1", 1, None)]),
        ('{"rows": [1]}', [("The row is not an object.", "/rows/0", 0, None)]),
        ('{"rows": []}', []),
        ('{"columns": {}}', []),
        ('{"columns": {"x": []}}', []),
        ('{"columns": {"": [1]}}', [("Column 1 has no name.", None, None, None)]),
        ('{"columns": {"a\\nb": [1]}}', [("The name contains a control character.", None, None, "a\nb")]),
        ('{"rows": [{"x": 1}], "colums": 1}', [("The member is unknown.", "/colums", None, None)]),
        ('{"rows": [{"x": 1}], "columns": {"x": [1]}}', [("Expected one of", "", None, None)]),
        ("7", [("Expected an object.", "", None, None)]),
        ("null", [("Expected an object.", "", None, None)]),
    ],
)
def test_what_is_no_table_is_refused_with_its_place(
    body: str, faults: list[tuple[str, str | None, int | None, str | None]]
) -> None:
    with pytest.raises(InvalidDataError) as refused:
        table_of(json_stream(body.encode(), declared={}, max_columns=10))
    assert [(fault.pointer, fault.row, fault.column) for fault in refused.value.faults] == [
        (pointer, row, column) for _, pointer, row, column in faults
    ]
    for fault, (detail, *_) in zip(refused.value.faults, faults, strict=True):
        assert fault.detail.startswith(detail)


def test_what_is_no_timestamp_is_refused_with_its_place() -> None:
    with pytest.raises(InvalidDataError) as refused:
        read({"columns": {"t": ["2024-05-01", 5]}}, {"t": "timestamp"})
    assert refused.value.faults == (Fault("5 is not an ISO 8601 timestamp.", row=1, column="t"),)


@pytest.mark.parametrize(
    ("body", "reported"),
    [
        (b"", "empty"),
        (b" \n", "empty"),
        (b"{", "line 1, column 2"),
        (b'{"columns": {"x": [1,]}}', "not JSON"),
        (b'{"columns": {"x": [1]}} x', "Extra data"),
        (b"{'x': 1}", "not JSON"),
        (b'{"columns": {"x": [01]}}', "not JSON"),
        (b"\xff", "not UTF-8"),
        (b'{"columns": {"x": ["\xe9"]}}', "not UTF-8"),
        (b'{"columns": {"x": ["\\ud800"]}}', "surrogate"),
        (b"[" * 100_000, "at most 64 nested"),
        (b"[" * 5_000 + b"]" * 5_000, "at most 64 nested"),
        (b'{"columns":' * 100_000, "at most 64 nested"),
        (b'{"columns": {"x": [1' + b"0" * 5_000 + b"]}}", "digits"),
        (b"[NaN, " + b"[" * 100_000, "at most 64 nested"),
        (b"[-" + b"1" * 4_300 + b"]", "Integer value out of range"),
        (b'{"columns": {"x": [1], "x": [2]}}', 'repeats a key within one object: "x"'),
        (b'{"columns": {"x": [1]}, "columns": {"y": [2]}}', 'repeats a key within one object: "columns"'),
        (b'{"rows": [{"x": 1, "y": 2, "x": 3}]}', 'repeats a key within one object: "x"'),
        (b'{"columns": {"x": [1], "\\u0078": [2]}}', 'repeats a key within one object: "x"'),
        (b'{"columns": {"\\"": ["\\\\"], "\\"": ["\\\\\\""]}}', "repeats a key"),
    ],
)
def test_what_is_no_json_is_refused(body: bytes, reported: str) -> None:
    with pytest.raises(MalformedBodyError) as refused:
        read_json(body, max_columns=100)
    assert reported in refused.value.detail


def test_a_long_body_that_repeats_a_key_is_not_decoded_again_to_name_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json, "loads", lambda *_, **__: pytest.fail("it is decoded a second time"))
    body = b'{"rows": [' + b'{"x": 1.25, "y": 2},' * 120_000 + b'{"x": 1, "x": 2}]}'
    with pytest.raises(MalformedBodyError, match="repeats a key within one object"):
        decode(body)


TREES: st.SearchStrategy[JSON] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(TREES, st.booleans())
def test_any_json_is_decoded_and_no_key_taken_for_repeated(value: JSON, ascii_only: bool) -> None:
    assert decode(json.dumps(value, ensure_ascii=ascii_only).encode()) == value


@given(st.dictionaries(st.text(), TREES, min_size=1, max_size=4), st.data())
def test_any_repeated_key_is_found(members: dict[str, JSON], data: st.DataObject) -> None:
    again = data.draw(st.sampled_from(sorted(members)))
    pairs = [*members.items(), (again, data.draw(TREES))]
    body = "{" + ", ".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in pairs) + "}"
    with pytest.raises(MalformedBodyError, match="repeats a key"):
        decode(body.encode())


REQUIRED: list[tuple[str, ColumnKind]] = [("x", "number"), ("c", "category")]


@pytest.mark.parametrize(
    "body",
    [
        {"columns": {"c": ["a", None], "x": [1, 2]}},
        {"rows": [{"x": 1, "c": "a"}, {"c": None, "x": 2}]},
        {"names": ["c", "x"], "rows": [["a", 1], [None, 2]]},
        {"columns": {"c": ["a", None], "x": [1, 2], "y": [3, 4]}},
        {"rows": [{"x": 1, "c": "a"}, {"c": None, "x": 2, "y": 5}]},
        {"names": ["y", "c", "x"], "rows": [[1, "a", 1], [1, None, 2]]},
    ],
)
def test_a_typed_block_has_the_requested_columns_in_order(body: object) -> None:
    block, faults = typed_block(read_json(json.dumps(body).encode(), max_columns=100), REQUIRED, not_read={"y"})
    assert faults == ()
    assert [raw_cells(block, row, block) for row in range(block_rows(block))] == [
        {"x": 1.0, "c": "a"},
        {"x": 2.0, "c": None},
    ]


def test_rows_that_do_not_fit_are_missing_and_reported() -> None:
    body = '{"rows": [{"x": 1, "c": "a"}, {"x": "one", "c": "a"}, {"x": 1}, 7, {"x": 2, "c": "b", "z": 1}]}'
    block, faults = typed_block(read_json(body.encode(), max_columns=100), REQUIRED)
    assert [raw_cells(block, row, block)["x"] for row in range(5)] == [1.0, None, None, None, None]
    assert {(fault.row, fault.column) for fault in faults} == {(1, "x"), (2, "c"), (3, None), (4, "z")}


@pytest.mark.parametrize(
    ("body", "faults"),
    [
        ({"columns": {"x": [1]}}, (Fault("The column is missing.", column="c"),)),
        ({"columns": {"x": [1], "c": ["a"], "z": [1]}}, (Fault("There is no such column.", column="z"),)),
        ({"names": ["x"], "rows": [[1]]}, (Fault("The column is missing.", column="c"),)),
        ({"rows": []}, ()),
    ],
)
def test_what_concerns_the_whole_table_is_raised(body: object, faults: tuple[Fault, ...]) -> None:
    with pytest.raises(InvalidDataError) as refused:
        typed_block(read_json(json.dumps(body).encode(), max_columns=100), REQUIRED)
    assert refused.value.faults == faults


def test_other_members_are_kept_where_they_are_allowed() -> None:
    raw = read_json(b'{"rows": [{"x": 1}], "interval": 0.9}', max_columns=100, others={"interval"})
    assert raw.others == {"interval": 0.9}


@pytest.mark.parametrize("form", ["columns", "rows", "names"])
def test_ten_thousand_columns_work_and_more_are_refused(form: str) -> None:
    def wide(columns: int) -> object:
        names = [f"col {n} 😀" for n in range(columns)]
        match form:
            case "columns":
                return {"columns": {name: [n, n + 0.5] for n, name in enumerate(names)}}
            case "rows":
                return {"rows": [{name: n for n, name in enumerate(names)}] * 2}
            case _:
                return {"names": names, "rows": [list(range(columns))] * 2}

    kinds, rows = read(wide(10_000))
    assert (len(kinds), len(rows), rows[0][9_999]) == (10_000, 2, 9_999.0)
    with pytest.raises(TooLargeError):
        read(wide(10_001))


@given(st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
def test_no_body_whatever_raises_anything_else(body: bytes) -> None:
    with suppress(RelevanceError):
        table_of(json_stream(body, declared={}, max_columns=10))


def test_a_row_of_far_too_many_members_is_one_fault_that_names_the_first_three() -> None:
    raw = read_json(json.dumps({"rows": [{f"n{place}": 1 for place in range(1_000)}]}).encode(), max_columns=1_000)
    _, (fault,) = typed_block(raw, REQUIRED)
    assert fault.row == 0
    assert fault.detail == ('The row has 1,000 members, but the table 2 columns; unknown are "n0", "n1", "n2".')


def test_rows_that_lack_all_columns_are_no_more_faults_than_rows_once_there_are_a_thousand() -> None:
    columns: list[tuple[str, ColumnKind]] = [(f"c{place}", "number") for place in range(100)]
    block, faults = typed_block(read_json(b'{"rows":[%b]}' % b",".join([b"{}"] * 5_000), max_columns=100), columns)
    assert len(faults) == 1_000 + 4_950
    assert {fault.row for fault in faults} == {*range(5_000)}
    assert len(block) == 100


def test_a_table_of_faulty_rows_whose_cells_outnumber_its_characters_is_refused() -> None:
    columns: list[tuple[str, ColumnKind]] = [(f"c{place}", "number") for place in range(1_000)]
    raw = read_json(b'{"rows":[%b]}' % b",".join([b"{}"] * 100_000), max_columns=1_000)
    began = time.process_time()
    with pytest.raises(InvalidDataError, match="This is the first of 100,950 faults"):
        typed_block(raw, columns)
    assert time.process_time() - began < 2.0


def test_a_long_upload_of_rows_that_are_no_rows_is_refused_at_the_first_thousand() -> None:
    body = b'{"rows":[{"x":1}%b]}' % (b",1" * 500_000)
    with pytest.raises(InvalidDataError, match="This is the first of at least 1,000 faults"):
        table_of(json_stream(body, declared={}, max_columns=10))


def test_escapes_without_end_cost_no_more_than_other_characters() -> None:
    body = json.dumps({"x": "\\" * 4_000_000}).encode()
    began = time.process_time()
    assert decode(body) == {"x": "\\" * 4_000_000}
    assert time.process_time() - began < 0.3


@pytest.mark.parametrize(
    ("ending", "message"),
    [
        (b"NaN]", r"^NaN is not a finite number; .* It is at byte 3000001\.$"),
        (b"-Infinity]", r"^-Infinity is not a finite number; .* It is at byte 3000001\.$"),
        (b"1e400]", "^The body has a number that can't be represented: Number out of range"),
        (b"nul]", "^The body is not JSON: "),
        (b'{"a":1,"a":2}]', r"^The body repeats a key within one object\.$"),
    ],
)
def test_long_bodies_that_are_broken_are_not_decoded_twice(ending: bytes, message: str) -> None:
    with pytest.raises((InvalidDataError, MalformedBodyError), match=message):
        decode(b"[%b%b" % (b"1," * 1_500_000, ending))


def test_a_list_of_rows_is_a_table() -> None:
    """As pandas writes it with orient="records"."""
    body = b'[{"x": 1, "c": "a"}, {"x": null, "c": "b"}]'
    assert table_of(json_stream(body, declared={}, max_columns=10)) == (
        {"x": "number", "c": "category"},
        [[1.0, "a"], [None, "b"]],
    )


@pytest.mark.thorough
@pytest.mark.parametrize("before", [ROWS_LOOKED_AT, 600_000])
def test_a_late_long_integer_is_to_be_read_again_as_text(before: int) -> None:
    body = json.dumps({"columns": {"x": [1] * before + [2**53 + 1]}}).encode()
    with pytest.raises(ReadAgainError) as again:
        list(json_stream(body, declared={}, max_columns=9).blocks)
    assert again.value.kinds == {"x": "category"}
    _, rows = table_of(json_stream(body, declared=again.value.kinds, max_columns=9))
    assert rows[-2:] == [["1"], [str(2**53 + 1)]]
