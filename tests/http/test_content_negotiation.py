"""Predictions for rows in every format, reported in every other: the same numbers to the bit, the same faults."""

import gzip
import io
import json
import math
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from backports import zstd
from httpx2 import Response
from starlette.testclient import TestClient

from app.formats import ROW_FORMATS, WRITABLE_FORMATS
from app.formats.cells import Expected
from app.formats.images import read_npy
from app.identity import BUILT_IN_OWNER as OWNER
from relevance_bayes.tables.encoding import raw_cells
from tests.applications import SmallParts, filled_template
from tests.problems import assert_problem
from tests.small_models import (
    version_of_known_noise,
    version_of_numbers,
    version_of_three_classes,
)
from tests.table_files import (
    FLAT_FORMATS,
    MEDIA_TYPES,
    NAMED_ROWS,
    RESPONSE_FORMATS,
    ROWS,
    FlatRow,
    arrow_stream,
    npy,
    read,
    written,
)

NAMED_FORMATS = tuple(one.name for one in WRITABLE_FORMATS if one.has_texts)
NUMBERS: list[FlatRow] = [
    {"x": 0.1 + 0.2, "a": -1e-17, "b": 3.0},
    {"x": 1.5, "a": 0.7, "b": -2.25},
    {"x": 1 / 3, "a": 1e5, "b": 4.0},
]
MIXED: list[FlatRow] = [{"x": 0.5, "colour": "red"}, {"x": 1.25, "colour": "blue"}, {"x": 3.0, "colour": "red"}]
REAL = ("mean", "sd", "variance_total", "variance_noise", "variance_weights", "variance_residual", "lower", "upper")
PATH = "/v1/models/numbers/predict"
SMALL = "/v1/models/small/predict"


@pytest.fixture(scope="module")
def module_template(parts_template: Path) -> Path:
    """Versions of numbers alone beside the others, which npy can hold."""

    def fill(parts: SmallParts) -> None:
        parts.stored.put_version(OWNER, version_of_numbers(), number=1)
        parts.stored.put_version(OWNER, version_of_numbers("classification", name="two"), number=1)
        parts.stored.put_version(OWNER, version_of_three_classes(name="three"), number=1)
        parts.stored.put_version(OWNER, version_of_known_noise(), number=1)

    return filled_template(parts_template, "content_negotiation.db", fill)


def predict(
    client: TestClient, path: str, coded: str, body: bytes, response_format: str = "json", **query: str
) -> bytes:
    headers = {"Content-Type": MEDIA_TYPES[coded], "Accept": MEDIA_TYPES[response_format]}
    response = client.post(path, content=body, headers=headers, params=query)
    assert response.status_code == 200, response.text
    assert response.headers["Content-Type"].partition(";")[0] == MEDIA_TYPES[response_format]
    return response.content


@pytest.mark.thorough
@pytest.mark.parametrize("coded", ROWS)
@pytest.mark.parametrize("response_format", RESPONSE_FORMATS)
def test_the_same_rows_get_the_same_numbers_to_the_bit_by_every_path(
    client: TestClient, coded: str, response_format: str
) -> None:
    expected = read("json", client.post(PATH, json={"rows": NUMBERS}).content, ())
    names = (*REAL, "support")
    assert [tuple(row) for row in expected] == [names] * 3
    assert (
        read(response_format, predict(client, PATH, coded, written(coded, NUMBERS), response_format), names) == expected
    )


@pytest.mark.thorough
@pytest.mark.parametrize("coded", NAMED_ROWS)
@pytest.mark.parametrize("name", ["small", "classes", "three"])
def test_texts_and_classes_go_by_every_path_but_npy(client: TestClient, coded: str, name: str) -> None:
    path = f"/v1/models/{name}/predict"
    expected = read("json", client.post(path, json={"rows": MIXED}).content, ())
    for response_format in NAMED_FORMATS:
        assert (
            read(response_format, predict(client, path, coded, written(coded, MIXED), response_format), ()) == expected
        )


def test_npy_returns_the_numbers_of_classes(client: TestClient) -> None:
    rows = client.post("/v1/models/two/predict", json={"rows": NUMBERS}).json()["predictions"]
    content = predict(client, "/v1/models/two/predict", "npy", written("npy", NUMBERS), "npy", outputs="probabilities")
    reported = np.load(io.BytesIO(content))
    assert reported.tolist() == [[share["probability"] for share in row["probabilities"]] for row in rows]


@pytest.mark.parametrize("response_format", NAMED_FORMATS)
def test_decisions_are_columns(client: TestClient, response_format: str) -> None:
    requested = {"costs": [[0, 1], [1, 0]], "reject_cost": 0.3}
    expected = read("json", client.post("/v1/models/classes/predict", json={"rows": MIXED, **requested}).content, ())
    assert {row["decision"] for row in expected} > {None}
    query = {name: json.dumps(value) for name, value in requested.items()}
    content = predict(client, "/v1/models/classes/predict", "csv", written("csv", MIXED), response_format, **query)
    assert read(response_format, content, ()) == expected


def test_formulas_in_csv_are_escaped_where_that_is_requested(client: TestClient, parts: SmallParts) -> None:
    harmful = version_of_three_classes(name="harmful", classes=("+1+2", "=1+1", "@x"))
    parts.stored.put_version(OWNER, harmful, number=1)
    path, requested = "/v1/models/harmful/predict", {"outputs": "label"}
    plain = predict(client, path, "csv", written("csv", MIXED), "csv", **requested).splitlines()
    safe = predict(
        client, path, "csv", written("csv", MIXED), "csv", csv_escape_formulas="true", **requested
    ).splitlines()
    assert (plain[0], safe[0]) == (b'"label"', b'"label"')
    assert {*plain[1:]} <= {b'"+1+2"', b'"=1+1"', b'"@x"'}
    assert safe[1:] == [line.replace(b'"', b"\"'", 1) for line in plain[1:]]
    by_json = {"rows": MIXED, "outputs": ["label"], "csv_escape_formulas": True}
    assert client.post(path, json=by_json, headers={"Accept": "text/csv"}).content.splitlines() == safe
    arrow = predict(client, path, "csv", written("csv", MIXED), "arrow", csv_escape_formulas="true", **requested)
    assert arrow == predict(client, path, "csv", written("csv", MIXED), "arrow", **requested)
    negative = predict(client, PATH, "csv", written("csv", NUMBERS), "csv", csv_escape_formulas="true")
    assert negative == predict(client, PATH, "csv", written("csv", NUMBERS), "csv")


def test_the_responses_state_which_version_gave_them(client: TestClient) -> None:
    body, headers = written("csv", MIXED), {"Content-Type": "text/csv", "Accept": MEDIA_TYPES["arrow"]}
    response = client.post(SMALL, content=body, headers=headers)
    assert response.headers["Link"] == '</v1/models/small/versions/1>; rel="describedby"'
    assert pa.ipc.open_stream(response.content).schema.metadata == {b"model": b"small", b"version": b"1"}


@pytest.mark.parametrize("coded", NAMED_ROWS)
def test_rows_may_bring_their_noise_in_every_format(client: TestClient, coded: str) -> None:
    rows: list[FlatRow] = [{**row, "sd": sd} for row, sd in zip(MIXED, (0.2, 4.0, 1.0), strict=True)]
    path = "/v1/models/measured/predict"
    reported = read("json", predict(client, path, coded, written(coded, rows)), ())
    assert reported == read("json", client.post(path, json={"rows": rows}).content, ())
    assert [row["variance_noise"] for row in reported] == pytest.approx([0.04, 16.0, 1.0])


WRONG: list[FlatRow] = [MIXED[0], {"x": 1.0, "colour": "green"}, {"x": None, "colour": "blue"}, MIXED[2]]
NESTED_FORMATS = tuple(one.name for one in WRITABLE_FORMATS if one.is_nested)


@pytest.mark.parametrize("coded", NAMED_ROWS)
def test_bad_rows_are_found_in_every_format_and_reported_in_every_format(client: TestClient, coded: str) -> None:
    body = {"rows": WRONG, "on_error": "per_row", "unknown_categories": "error", "nulls": "error"}
    expected = client.post(SMALL, json=body).json()["predictions"]
    assert ["error" in row for row in expected] == [False, True, True, False]
    query = {} if coded == "json" else {"on_error": "per_row", "unknown_categories": "error", "nulls": "error"}
    sent = json.dumps(body).encode() if coded == "json" else written(coded, WRONG)
    for response_format in NESTED_FORMATS:
        content = predict(client, SMALL, coded, sent, response_format, **query)
        rows = (
            json.loads(content)["predictions"]
            if response_format == "json"
            else [*map(json.loads, content.splitlines())]
        )
        for row in rows:
            for error in row.get("error", {}).get("errors", ()):
                error.pop("line", None)
        assert rows == expected
    for flat in FLAT_FORMATS:
        rows = read(flat, predict(client, SMALL, coded, sent, flat, **query), ())
        assert [row["error"] is not None for row in rows] == [False, True, True, False]
        assert "did not occur in training" in str(rows[1]["error"])
        assert all(value is None for name, value in rows[2].items() if name != "error")
        assert rows[0]["mean"] == expected[0]["mean"]
    refused = client.post(
        SMALL,
        params={"unknown_categories": "error", "nulls": "error"},
        content=json.dumps({**body, "on_error": "fail"}).encode() if coded == "json" else sent,
        headers={"Content-Type": MEDIA_TYPES[coded]},
    )
    assert (refused.status_code, refused.json()["type"]) == (422, "/problems/invalid-data")
    assert [(error["row"], error["column"]) for error in refused.json()["errors"]] == [(1, "colour"), (2, "x")]


def test_a_bad_row_is_nan_in_npy(client: TestClient) -> None:
    rows: list[FlatRow] = [NUMBERS[0], {"x": None, "a": 1.0, "b": 1.0}, {"x": math.inf, "a": 1.0, "b": 1.0}]
    content = predict(
        client, PATH, "npy", written("npy", rows), "npy", on_error="per_row", nulls="error", outputs="mean,sd"
    )
    reported = np.load(io.BytesIO(content))
    assert np.isnan(reported).all(axis=1).tolist() == [False, True, True]
    refused = client.post(PATH, content=written("npy", rows), headers={"Content-Type": MEDIA_TYPES["npy"]})
    assert refused.json()["errors"][0]["row"] == 2  # what is no number at all is found first
    assert refused.status_code == 422


@pytest.mark.parametrize(
    ("accept", "media_type"),
    [
        (None, "application/json"),
        ("*/*", "application/json"),
        ("text/csv", "text/csv"),
        ("text/csv;q=0.5, application/x-npy", "application/x-npy"),
        ("application/json;q=0.1, text/*;q=0.2", "text/csv"),
        ("application/*;q=0.9, application/json;q=0", "application/x-ndjson"),
        ("image/png, application/vnd.apache.parquet;q=0.01", "application/vnd.apache.parquet"),
    ],
)
def test_the_response_is_in_what_accept_weighs_most(client: TestClient, accept: str | None, media_type: str) -> None:
    headers = {"Content-Type": "text/csv", **({} if accept is None else {"Accept": accept})}
    if accept is None:
        del client.headers["Accept"]
    response = client.post(PATH, content=written("csv", NUMBERS), headers=headers)
    assert response.headers["Content-Type"].partition(";")[0] == media_type


@pytest.mark.parametrize(
    ("query", "pointer", "given"),
    [
        ("interval=wide", "/interval", '"wide"'),
        ("interval=1.5", "/interval", "less than 1"),
        ("outputs=mean,label", "/outputs/1", "answers mean"),
        ("explain=0", "/explain", "greater than"),
        ("on_error=ignore", "/on_error", "'per_row'"),
        ("intervall=0.5", "/intervall", "is unknown"),
        ("interval=0.5&interval=0.6", "/interval", "is repeated"),
        ("decimal=x", "/decimal", "'.' or ','"),
        ("costs=[[0,1]", "/costs", "valid array"),
    ],
)
def test_an_option_in_the_query_is_refused_as_in_a_body_and_named(
    client: TestClient, query: str, pointer: str, given: str
) -> None:
    response = client.post(f"{SMALL}?{query}", content=written("csv", MIXED), headers={"Content-Type": "text/csv"})
    assert (response.status_code, response.json()["type"]) == (422, "/problems/invalid-request")
    (error,) = response.json()["errors"]
    assert error["pointer"] == pointer
    assert given in error["detail"]


def test_options_in_the_query_do_what_they_do_in_a_body(client: TestClient) -> None:
    requested = {"interval": 0.5, "outputs": ["interval", "mean"], "explain": 2}
    expected = client.post(SMALL, json={"rows": MIXED, **requested}).json()
    query = "interval=0.5&outputs=interval&outputs=mean&explain=2"
    body = written("csv", MIXED)
    assert client.post(f"{SMALL}?{query}", content=body, headers={"Content-Type": "text/csv"}).json() == expected


@pytest.mark.parametrize(
    ("response_format", "option", "pointer"),
    [("csv", "explain=2", "/explain"), ("npy", "explain=2", "/explain"), ("ndjson", "covariance=true", "/covariance")],
)
def test_what_a_format_can_not_express_is_refused(
    client: TestClient, response_format: str, option: str, pointer: str
) -> None:
    headers = {"Content-Type": "text/csv", "Accept": MEDIA_TYPES[response_format]}
    response = client.post(f"{PATH}?{option}", content=written("csv", NUMBERS), headers=headers)
    assert response.status_code == 422
    assert [error["pointer"] for error in response.json()["errors"]] == [pointer]


def test_labels_are_refused_in_npy(client: TestClient) -> None:
    headers = {"Content-Type": MEDIA_TYPES["npy"], "Accept": MEDIA_TYPES["npy"]}
    path = "/v1/models/two/predict?outputs=probabilities,label"
    response = client.post(path, content=written("npy", NUMBERS), headers=headers)
    assert [error["pointer"] for error in response.json()["errors"]] == ["/outputs/1"]


@pytest.mark.parametrize("coded", ROWS)
def test_more_rows_than_allowed_are_413_in_every_format(client: TestClient, coded: str) -> None:
    body = written(coded, [NUMBERS[0]] * 6)
    response = client.post(PATH, content=body, headers={"Content-Type": MEDIA_TYPES[coded]})
    assert (response.status_code, response.json()["type"]) == (413, "/problems/too-large")


@pytest.mark.parametrize("coded", [name for name in NAMED_ROWS if name not in NESTED_FORMATS])
def test_columns_that_are_not_there_or_unknown_are_named(client: TestClient, coded: str) -> None:
    body = written(coded, [{"x": 1.0, "colours": "red"}])
    response = client.post(SMALL, content=body, headers={"Content-Type": MEDIA_TYPES[coded]})
    assert response.status_code == 422
    assert [(error["column"], error["detail"]) for error in response.json()["errors"]] == [
        ("colour", "The column is missing."),
        ("colours", "There is no such column."),
    ]
    ignored: list[FlatRow] = [{"y": 1.0, **MIXED[0]}]  # the target may be beside the inputs
    assert predict(client, SMALL, coded, written(coded, ignored))


def _pickled() -> bytes:
    return npy(np.array([[1, "x", None]], dtype=object))


def _lying() -> bytes:
    return npy(np.zeros((2, 3))).replace(b"(2, 3)", b"(9, 3)")


@pytest.mark.parametrize(
    ("coded", "body", "status", "given"),
    [
        ("npy", _pickled(), 422, "array of numbers, got one of object"),
        ("npy", _lying(), 400, "Expected 216 bytes after the array's header, got 48"),
        ("npy", npy(np.zeros((2, 3)))[:-8], 400, "Expected 48 bytes after the array's header, got 40"),
        ("npy", b"\x93NUMPY\x01\x00", 400, "can't be read as npy"),
        ("npy", npy(np.zeros((2, 4))), 422, "(rows, 3), its columns x, a, b in this order; got shape (2, 4)"),
        ("npy", npy(np.zeros((0, 3))), 422, "no rows"),
        ("npy", npy(np.zeros(3)), 422, "got shape (3,)"),
        ("npy", npy(np.zeros((2, 3))).replace(b"(2, 3)", b"(-2,3)"), 400, "without negative lengths, got (-2, 3)"),
        ("npy", npy(np.zeros((2, 3))).replace(b"(2, 3)", b"(2L,3)"), 400, "header is not a valid npy header"),
        ("csv", b"x,a,b\n1,2\n", 400, "Line 2"),
        ("csv", b'x,a,b\n1,2,"3\n', 400, "never closed"),
        ("csv", b"x,a,b\n1,2,three\n", 422, 'Line 2, column "b": "three" is not a number'),
        ("csv", b"", 422, "empty"),
        ("csv", b"x,a,b\n", 422, "no rows"),
        ("csv", b"x,a,b\n1,2,\xff\n", 400, "UTF-8"),
        ("csv", b"x,x,a,b\n1,2,3,4\n", 422, 'column "x_2": There is no such column'),
        ("ndjson", b'{"x": 1, "a": 2, "b": 3}\n{"x": 1,\n', 400, "Line 2"),
        ("ndjson", b'{"x": 1, "a": 2, "b": 3}\n\n{"x": 1, "a": 2}\n', 422, "Line 3, column"),
        ("ndjson", b'{"x": 1, "a": 2, "b": NaN}\n', 422, "Line 1"),
        ("ndjson", b'{"x": 1, "a": 2, "b": 3, "b": 3}\n', 400, "repeats a key"),
        ("ndjson", b'{"x": 1, "a": 2, "b": 3} {"x": 1, "a": 2, "b": 3}\n', 400, "Line 1"),
        ("ndjson", b"[1, 2, 3]\n", 422, "not an object"),
        ("ndjson", b" \n \n", 422, "no rows"),
        ("arrow", b"", 400, "as an Arrow stream"),
        ("arrow", b"ARROW1\x00\x00" + bytes(50), 400, "as Feather"),
        ("arrow", written("arrow", NUMBERS)[:300], 400, "as an Arrow stream"),
        ("parquet", written("parquet", NUMBERS)[:-9], 400, "as Parquet"),
        ("parquet", b"PAR1", 400, "as Parquet"),
    ],
)
def test_a_body_that_is_not_what_it_states_is_refused_with_what_and_where(
    client: TestClient, coded: str, body: bytes, status: int, given: str
) -> None:
    response = client.post(PATH, content=body, headers={"Content-Type": MEDIA_TYPES[coded]})
    assert response.status_code == status, response.text
    assert given in response.json()["detail"]


def test_npy_takes_other_numbers_and_orders_too(client: TestClient) -> None:
    matrix = np.array([[1, 2, 3], [4, 5, 6]])
    expected = client.post(PATH, json={"names": ["x", "a", "b"], "rows": matrix.tolist()}).json()
    for array in (matrix, matrix.astype(np.uint8), matrix.astype(">f4"), np.asfortranarray(matrix.astype(float))):
        response = client.post(PATH, content=npy(array), headers={"Content-Type": "application/x-npy"})
        assert response.json() == expected


def test_rows_in_another_charset_are_415(client: TestClient) -> None:
    response = client.post(PATH, content=written("csv", NUMBERS), headers={"Content-Type": "text/csv; charset=Latin-1"})
    assert_problem(response, "unsupported-media-type", "Expected UTF-8; got latin-1.")


def test_npy_returns_truths_as_0_and_1_and_timestamps_as_seconds() -> None:
    body = npy([[1.0, 86400.0], [2.0, 1e18], [np.nan, np.nan], [np.inf, 0.0]])
    expected = Expected((("b", "boolean"), ("t", "timestamp")), None, frozenset(), max_rows=5, max_bytes=1000)
    found = read_npy(body, expected)
    assert [raw_cells(found.block, row, found.block) for row in range(4)] == [
        {"b": True, "t": "1970-01-02T00:00:00Z"},
        {"b": None, "t": None},
        {"b": None, "t": None},
        {"b": None, "t": "1970-01-01T00:00:00Z"},
    ]
    assert [(fault.row, fault.column, fault.detail.partition(";")[0]) for fault in found.cell_faults] == [
        (1, "b", "2.0 is not true or false."),
        (3, "b", "inf is not a finite number"),
        (1, "t", "1e+18 s since 1970 is not in the years 1 to 9999."),
    ]


def test_texts_in_a_model_and_npy_do_not_go_together(client: TestClient) -> None:
    response = client.post(SMALL, content=npy(np.zeros((1, 2))), headers={"Content-Type": "application/x-npy"})
    assert response.status_code == 422
    assert [error["column"] for error in response.json()["errors"]] == ["colour"]


def test_arrows_types_are_read_as_what_they_mean(client: TestClient) -> None:
    expected = client.post(SMALL, json={"rows": [{"x": 1, "colour": "red"}, {"x": 2, "colour": "blue"}]}).json()
    numbers = [pa.array([1, 2], kind) for kind in (pa.int8(), pa.uint64(), pa.float32(), pa.decimal128(5, 2))]
    texts = [pa.array(["red", "blue"], pa.large_string()), pa.array(["red", "blue"]).dictionary_encode()]
    for x in numbers:
        for colour in texts:
            body = arrow_stream(pa.table({"colour": colour, "x": x, "y": pa.array([[1], [2]])}))
            response = client.post(SMALL, content=body, headers={"Content-Type": MEDIA_TYPES["arrow"]})
            assert response.json() == expected
    body = arrow_stream(pa.table({"colour": texts[0], "x": pa.array([[1.0], [2.0]])}))
    refused = client.post(SMALL, content=body, headers={"Content-Type": MEDIA_TYPES["arrow"]})
    assert (refused.status_code, refused.json()["errors"][0]["column"]) == (422, "x")


def of_batches(*columns: "pa.DictionaryArray") -> bytes:  # type: ignore[type-arg]
    """A stream in which each batch has its own dictionary of `colour`."""
    batches = [pa.record_batch({"x": np.ones(len(column)), "colour": column}) for column in columns]
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batches[0].schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
    return sink.getvalue().to_pybytes()


def test_dictionaries_of_arrow_that_do_not_fit_together_are_refused(client: TestClient) -> None:
    places = pa.array([0], pa.int8())
    first, second = ([f"{letter}{n}" for n in range(100)] for letter in "ab")
    columns = [pa.DictionaryArray.from_arrays(places, pa.array(values)) for values in (first, second)]
    response = client.post(SMALL, content=of_batches(*columns), headers={"Content-Type": MEDIA_TYPES["arrow"]})
    assert (response.status_code, response.json()["errors"][0]["column"]) == (422, "colour")
    assert "dictionaries cannot be combined" in response.json()["detail"]


@pytest.mark.parametrize("number", ["inf", "nan"])
def test_a_dictionary_of_arrow_hides_no_number_that_is_not_finite(client: TestClient, number: str) -> None:
    x = pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array([1.0, float(number)]))
    body = arrow_stream(pa.table({"x": x, "colour": ["red", "blue"]}))
    response = client.post(SMALL, content=body, headers={"Content-Type": MEDIA_TYPES["arrow"]})
    assert response.status_code == 422
    assert f'Row 2 of the data, column "x": {number} is not a finite number' in response.json()["detail"]


@pytest.mark.parametrize("codec", ["lz4", "zstd"])
def test_compressed_buffers_of_arrow_are_refused_unread(client: TestClient, codec: Literal["lz4", "zstd"]) -> None:
    table = pa.table({"x": np.zeros(3), "colour": pa.array(["red"] * 3).dictionary_encode()})
    body = arrow_stream(table, pa.ipc.IpcWriteOptions(compression=codec))
    response = client.post(SMALL, content=body, headers={"Content-Type": MEDIA_TYPES["arrow"]})
    assert response.status_code == 422
    assert "compressed buffers" in response.json()["detail"]


def test_parquet_that_unpacks_to_too_much_is_refused_unread(client: TestClient) -> None:
    sink = pa.BufferOutputStream()
    noise = np.random.default_rng(1).normal(size=4)
    table = pa.table({"x": noise, "colour": pa.array(["r" * 100_000 + str(n) for n in range(4)])})
    pq.write_table(table, sink, compression="zstd", use_dictionary=False)
    body = sink.getvalue().to_pybytes()
    assert len(body) < 4096
    response = client.post(SMALL, content=body, headers={"Content-Type": MEDIA_TYPES["parquet"]})
    assert (response.status_code, response.json()["type"]) == (413, "/problems/too-large")


def _raw_deflate(body: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(body) + packer.flush()


PACK: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "gzip": ("gzip", gzip.compress),
    "gzip in two members": ("GZIP", lambda body: gzip.compress(body[:7]) + gzip.compress(body[7:])),
    "deflate": ("deflate", zlib.compress),
    "deflate without its header": ("deflate", _raw_deflate),
    "zstd": ("zstd", zstd.compress),
    "zstd in two frames": ("zstd", lambda body: zstd.compress(body[:7]) + zstd.compress(body[7:])),
}


@pytest.mark.thorough
@pytest.mark.parametrize("packed", PACK)
@pytest.mark.parametrize("coded", ROWS)
def test_a_packed_body_gets_the_response_of_what_is_in_it(client: TestClient, coded: str, packed: str) -> None:
    encoding, pack = PACK[packed]
    body = written(coded, NUMBERS)
    headers = {"Content-Type": MEDIA_TYPES[coded], "Content-Encoding": encoding}
    response = client.post(PATH, content=pack(body), headers=headers)
    assert response.json() == client.post(PATH, json={"rows": NUMBERS}).json()


@pytest.mark.parametrize("packed", PACK)
def test_a_packed_body_that_unpacks_beyond_the_limit_is_413(client: TestClient, packed: str) -> None:
    encoding, pack = PACK[packed]
    body = pack(b" " * 10**7)
    headers = {"Content-Type": "application/json", "Content-Encoding": encoding}
    response = client.post(PATH, content=body[:4000], headers=headers)
    assert (response.status_code, response.json()["type"]) == (413, "/problems/too-large")
    assert response.json()["detail"] == "Expected at most 4,096 bytes once decompressed, got more."


@pytest.mark.parametrize("packed", PACK)
def test_a_packed_body_that_is_cut_off_or_something_else_is_400(client: TestClient, packed: str) -> None:
    encoding, pack = PACK[packed]
    headers = {"Content-Type": "application/json", "Content-Encoding": encoding}
    full = pack(json.dumps({"rows": NUMBERS}).encode())
    for body in (full[:-5], b"", b"\x28", b"something else entirely", full + b"more"):
        response = client.post(PATH, content=body, headers=headers)
        assert response.status_code == 400, body
        assert response.json()["type"] == "/problems/malformed-body"


def test_an_unknown_encoding_is_415_and_the_known_ones_are_named(client: TestClient) -> None:
    headers = {"Content-Type": "application/json", "Content-Encoding": "br"}
    response = client.post(PATH, content=b"{}", headers=headers)
    assert response.status_code == 415
    assert response.headers["Accept-Encoding"] == "gzip, deflate, zstd"


def test_a_window_that_takes_too_much_memory_is_refused(client: TestClient) -> None:
    packer = zstd.ZstdCompressor(options={int(zstd.CompressionParameter.window_log): 25})
    body = packer.compress(b"{}" * 10) + packer.flush()
    headers = {"Content-Type": "application/json", "Content-Encoding": "zstd"}
    response = client.post(PATH, content=body, headers=headers)
    assert response.status_code == 400


def test_the_documentation_names_every_format(openapi: Response) -> None:
    paths = openapi.json()["paths"]
    for path in ("/v1/models/{name}/predict", "/v1/models/{name}/versions/{version}/predict"):
        operation = paths[path]["post"]
        assert {*operation["requestBody"]["content"]} >= {one.media_type for one in ROW_FORMATS}
        assert {*operation["responses"]["200"]["content"]} == {one.media_type for one in WRITABLE_FORMATS}
        named = {parameter["name"] for parameter in operation["parameters"] if parameter.get("in") == "query"}
        assert named >= {"interval", "outputs", "on_error", "covariance", "explain", "components", "delimiter"}
