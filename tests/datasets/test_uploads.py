"""Uploads over HTTP, down to both databases: what comes in, what is sent, and that nothing broken stays."""

import gzip
import io
import json
import struct
import zlib
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import httpx2
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from backports import zstd
from sqlalchemy import Engine, text
from starlette.applications import Starlette
from starlette.testclient import TestClient
from starlette.types import Message

from app.formats import FORMATS, TABLE_FORMATS, named
from app.http.dependencies import RequestLimits
from app.http.negotiation import EXPECTED
from app.main import make_application
from relevance_bayes.tables.moments import LEVELS
from tests.applications import StoredParts
from tests.problems import assert_problem
from tests.table_files import MEDIA_TYPES, TABLES, FlatRow, arrow_stream, npy, written

DATASETS = "/v1/datasets"
CSV = {"Content-Type": "text/csv"}
JSON = {"Content-Type": "application/json"}
PARQUET = {"Content-Type": "application/vnd.apache.parquet"}
ARROW = {"Content-Type": "application/vnd.apache.arrow.stream"}
LINES = {"Content-Type": "application/x-ndjson"}
MAX_BYTES = 200_000
NOT_UTF_8 = (
    'The byte 0xe9 is not UTF-8; save the file as UTF-8, or set encoding="cp1252" (Windows) or encoding="latin-1".'
)
LIMITS = RequestLimits(
    max_upload_bytes=MAX_BYTES,
    max_body_bytes=20_000,
    max_rows=5_000,
    max_columns=10,
    max_prediction_rows=5,
    spool_directory=None,
)


@dataclass(frozen=True)
class Service:
    """The application, its database, and where it keeps bodies."""

    app: Starlette
    client: TestClient
    engine: Engine
    spool: Path

    def left_behind(self) -> tuple[int, int, int]:
        """Datasets and uploads, their blocks, and files."""
        with self.engine.connect() as connection:
            datasets = connection.execute(text("SELECT count(*) FROM datasets")).scalar_one()
            blocks = connection.execute(text("SELECT count(*) FROM dataset_blocks")).scalar_one()
        return datasets, blocks, len(list(self.spool.iterdir()))


@pytest.fixture
def service(engine: Engine, tmp_path: Path) -> Iterator[Service]:
    """A service on a real database."""
    spool = tmp_path / "spool"
    spool.mkdir()
    limits = RequestLimits(**{**LIMITS.__dict__, "spool_directory": spool})
    app = make_application(StoredParts.over(engine), limits)
    with TestClient(app, raise_server_exceptions=False, base_url="http://localhost") as client:
        yield Service(app, client, engine, spool)


def parquet(table: pa.Table) -> bytes:
    sink = io.BytesIO()
    pq.write_table(table, sink)
    return sink.getvalue()


TABLE = {"x": [1.0, 2.5, None], "c": ["a", None, "b"], "b": [True, None, False]}
AS_CSV = b"x,c,b\n1,a,true\n2.5,,\n,b,false\n"
AS_JSON = json.dumps({"columns": TABLE}).encode()
AS_PARQUET = parquet(pa.table(TABLE))
AS_ARROW = arrow_stream(pa.table(TABLE))
AS_LINES = b"".join(
    json.dumps(dict(zip(TABLE, row, strict=True))).encode() + b"\n" for row in zip(*TABLE.values(), strict=True)
)


def test_the_same_table_has_the_same_digest_however_it_comes(service: Service) -> None:
    post = service.client.post
    responses = [
        post(f"{DATASETS}?name=points", content=AS_CSV, headers=CSV),
        post(f"{DATASETS}?name=points", content=AS_JSON, headers=JSON),
        post(f"{DATASETS}?name=points", content=AS_PARQUET, headers=PARQUET),
        post(f"{DATASETS}?name=points", content=AS_PARQUET, headers={"Content-Type": "application/x-parquet"}),
        post(DATASETS, files={"file": ("points.csv", AS_CSV, "application/octet-stream")}),
        post(DATASETS, files={"file": ("C:\\data\\points.json", AS_JSON, "application/json")}),
        post(DATASETS, files={"any": ("points.parquet", AS_PARQUET)}),
        post(f"{DATASETS}?name=points", content=AS_ARROW, headers=ARROW),
        post(f"{DATASETS}?name=points", content=AS_LINES, headers=LINES),
        post(DATASETS, files={"file": ("points.ndjson", AS_LINES)}),
        post(DATASETS, files={"file": ("points.arrow", AS_ARROW)}),
        post(f"{DATASETS}?name=points", content=gzip.compress(AS_CSV), headers={**CSV, "Content-Encoding": "gzip"}),
        post(f"{DATASETS}?name=points", content=zlib.compress(AS_CSV), headers={**CSV, "Content-Encoding": "deflate"}),
        post(f"{DATASETS}?name=points", content=zstd.compress(AS_ARROW), headers={**ARROW, "Content-Encoding": "zstd"}),
        post(
            f"{DATASETS}?name=points",
            content=AS_CSV.replace(b",", b"\t"),
            headers={"Content-Type": "text/tab-separated-values"},
        ),
    ]
    assert [created.status_code for created in responses] == [201] * len(responses)
    shown = [created.json() for created in responses]
    assert len({dataset["digest"] for dataset in shown}) == 1
    assert {dataset["name"] for dataset in shown} == {"points"}
    assert service.left_behind() == (len(responses), len(responses), 0)


@pytest.mark.parametrize("coded", TABLES)
def test_a_table_has_the_same_digest_in_every_format(service: Service, coded: str) -> None:
    """By its media types, and by the suffixes of a file in a form."""
    rows: list[FlatRow] = [dict(zip(TABLE, row, strict=True)) for row in zip(*TABLE.values(), strict=True)]
    content, one = written(coded, rows), named(FORMATS, coded)
    expected = service.client.post(f"{DATASETS}?name=points", content=AS_JSON, headers=JSON).json()["digest"]
    for media_type in {*one.media_types} - {"text/tab-separated-values"}:
        created = service.client.post(DATASETS, content=content, headers={"Content-Type": media_type})
        assert (created.status_code, created.json().get("digest")) == (201, expected), created.text
    for suffix in one.suffixes:
        created = service.client.post(
            DATASETS, files={"file": (f"points{suffix}", content, "application/octet-stream")}
        )
        assert (created.status_code, created.json().get("digest")) == (201, expected), created.text


@pytest.mark.parametrize("coded", TABLES)
def test_a_file_that_is_cut_off_or_something_else_is_refused_in_every_format(service: Service, coded: str) -> None:
    rows: list[FlatRow] = [{"x": 1.0, "c": "a"}, {"x": 2.0, "c": "b"}]
    for content in (b"", written(coded, rows)[:20] + b"\xff", b"\0" * 100):
        created = service.client.post(DATASETS, content=content, headers={"Content-Type": MEDIA_TYPES[coded]})
        assert created.status_code in {400, 422}, (content, created.text)
        assert created.json()["detail"]
    assert service.left_behind() == (0, 0, 0)


def test_the_documentation_names_every_format(openapi: httpx2.Response) -> None:
    operation = openapi.json()["paths"][DATASETS]["post"]
    content = {*operation["requestBody"]["content"]}
    assert content == {one.media_type for one in TABLE_FORMATS} | {"multipart/form-data"}
    assert all(one.title in operation["description"] for one in TABLE_FORMATS)


def test_an_upload_gets_a_response_with_what_is_known_of_it(service: Service) -> None:
    content = "n,b,t,c\n1,true,2024-05-01,x\n3,false,2024-05-03T00:00:00Z,y\n,,,x\n"
    created = service.client.post(f"{DATASETS}?name={quote('😀 points')}", content=content, headers=CSV)
    assert created.status_code == 201
    shown = created.json()
    assert created.headers["Location"] == f"{DATASETS}/{shown['id']}"
    assert (shown["name"], shown["rows"]) == ("😀 points", 3)
    assert shown["columns"] == [
        {
            "name": "n",
            "kind": "number",
            "missing": 1,
            "distinct": 2,
            "min": 1.0,
            "mean": 2.0,
            "max": 3.0,
            "sd": 1.0,
            "quantiles": [{"level": level, "value": 1.0 if level <= 0.5 else 3.0} for level in LEVELS],
            "histogram": [1, 0, 1],
        },
        {"name": "b", "kind": "boolean", "missing": 1, "distinct": 2, "min": 0.0, "mean": 0.5, "max": 1.0, "sd": 0.5},
        {
            "name": "t",
            "kind": "timestamp",
            "missing": 1,
            "distinct": 2,
            "min": "2024-05-01T00:00:00Z",
            "mean": "2024-05-02T00:00:00Z",
            "max": "2024-05-03T00:00:00Z",
            "sd": 86400.0,
            "quantiles": [
                {"level": level, "value": f"2024-05-0{1 if level <= 0.5 else 3}T00:00:00Z"} for level in LEVELS
            ],
            "histogram": [1, 0, 1],
        },
        {
            "name": "c",
            "kind": "category",
            "missing": 0,
            "distinct": 2,
            "categories": [{"label": "x", "count": 2}, {"label": "y", "count": 1}],
            "other": 0,
        },
    ]
    assert service.client.get(created.headers["Location"]).json() == shown
    assert service.client.get(DATASETS).json() == {"items": [shown], "has_more": False, "after": None}


def test_rows_come_back_as_they_went_in(service: Service) -> None:
    content = "n,b,t,c\n1,true,2024-05-01,x\n2.5,,,\n"
    location = service.client.post(DATASETS, content=content, headers=CSV).headers["Location"]
    assert service.client.get(f"{location}/rows?limit=1").json() == {
        "items": [{"row": 0, "cells": {"n": 1.0, "b": True, "t": "2024-05-01T00:00:00Z", "c": "x"}}],
        "has_more": True,
        "after": "0",
    }
    assert service.client.get(f"{location}/rows?after=0").json() == {
        "items": [{"row": 1, "cells": {"n": 2.5, "b": None, "t": None, "c": None}}],
        "has_more": False,
        "after": None,
    }
    assert service.client.get(f"{location}/rows?after=1").json()["items"] == []


def test_rows_are_read_page_by_page_over_blocks(service: Service) -> None:
    content = "x\n" + "".join(f"{n}\n" for n in range(2_500))
    location = service.client.post(DATASETS, content=content, headers=CSV).headers["Location"]
    found: list[float] = []
    after = ""
    while True:
        page = service.client.get(f"{location}/rows?limit=1000{after}").json()
        found.extend(item["cells"]["x"] for item in page["items"])
        if not page["has_more"]:
            break
        after = f"&after={page['after']}"
    assert found == list(range(2_500))


def test_a_sample_of_rows_is_spread_evenly_over_the_blocks(service: Service) -> None:
    content = "x\n" + "".join(f"{n}\n" for n in range(2_500))
    location = service.client.post(DATASETS, content=content, headers=CSV).headers["Location"]
    page = service.client.get(f"{location}/rows?sample=5").json()
    assert [item["row"] for item in page["items"]] == [250, 750, 1250, 1750, 2250]
    assert [item["cells"]["x"] for item in page["items"]] == [250, 750, 1250, 1750, 2250]
    assert (page["has_more"], page["after"]) == (False, None)
    short = service.client.post(DATASETS, content="x\n1\n2\n", headers=CSV).headers["Location"]
    assert [item["row"] for item in service.client.get(f"{short}/rows?sample=9").json()["items"]] == [0, 1]
    refused = service.client.get(f"{location}/rows?sample=5&after=3")
    assert refused.status_code == 422
    assert refused.json()["errors"][0]["parameter"] == "after"


def test_lists_go_page_by_page_newest_first(service: Service) -> None:
    ids = [service.client.post(DATASETS, content=AS_CSV, headers=CSV).json()["id"] for _ in range(3)]
    first = service.client.get(f"{DATASETS}?limit=2").json()
    rest = service.client.get(f"{DATASETS}?limit=2&after={first['after']}").json()
    assert [item["id"] for item in [*first["items"], *rest["items"]]] == ids[::-1]
    assert (first["has_more"], rest["has_more"]) == (True, False)


def test_a_deleted_dataset_is_not_found(service: Service) -> None:
    location = service.client.post(DATASETS, content=AS_CSV, headers=CSV).headers["Location"]
    assert service.client.delete(location).status_code == 204
    for response in (
        service.client.get(location),
        service.client.get(f"{location}/rows"),
        service.client.delete(location),
    ):
        assert response.status_code == 404
    assert service.client.get(f"{DATASETS}/nothing").status_code == 404


def test_kinds_and_the_ways_of_csv_can_be_stated(service: Service) -> None:
    query = f"?header=false&delimiter={quote(';')}&decimal={quote(',')}&kinds=column_1:category&kinds=column_2:number"
    created = service.client.post(DATASETS + query, content="1;2,5\n2;3,5\n", headers=CSV)
    assert [column["kind"] for column in created.json()["columns"]] == ["category", "number"]
    colon = service.client.post(f"{DATASETS}?kinds={quote('a:b:category')}", content="a:b\n1\n", headers=CSV)
    assert colon.json()["columns"][0]["kind"] == "category"


NO_TABLE = 'one of {"columns": {...}}, {"rows": [{...}]} or {"names": [...], "rows": [[...]]}'
NOT_A_NUMBER = '"abc" is not a number.'
HINT = "A column's kind can be declared: kinds=NAME:KIND."


@pytest.mark.parametrize(
    ("content", "headers", "slug", "detail", "errors"),
    [
        (b"x,c\n", CSV, "invalid-data", "The table has no rows: the file has only a header.", []),
        (b'{"rows": []}', JSON, "invalid-data", "The table has no rows.", []),
        (
            b"x\n1\nabc\n2\n",
            CSV,
            "invalid-data",
            f'Line 3, column "x": {NOT_A_NUMBER} {HINT}',
            [{"row": 1, "column": "x", "line": 3, "detail": NOT_A_NUMBER}],
        ),
        (
            b"x\n" + b"1\n" * 2_000 + b"abc\n",
            CSV,
            "invalid-data",
            f'Line 2002, column "x": {NOT_A_NUMBER} {HINT}',
            [{"row": 2000, "column": "x", "line": 2002, "detail": NOT_A_NUMBER}],
        ),
        (
            json.dumps({"columns": {"x": [1] * 2_000 + ["abc"]}}).encode(),
            JSON,
            "invalid-data",
            f'Row 2001 of the data, column "x": {NOT_A_NUMBER} {HINT}',
            [{"row": 2000, "column": "x", "detail": NOT_A_NUMBER}],
        ),
        (
            b"x,c\n1,2\n3\n",
            CSV,
            "malformed-body",
            'Line 3, delimiter ",": Expected 2 cells, got 1.',
            [{"line": 3, "detail": "Expected 2 cells, got 1."}],
        ),
        (
            b"x,c\n1,\xe9\n",
            CSV,
            "malformed-body",
            f"Line 2: {NOT_UTF_8}",
            [{"line": 2, "detail": NOT_UTF_8}],
        ),
        (
            b"x,c\x01\n1,2\n",
            CSV,
            "invalid-data",
            'Line 1, column "c\\u0001": The name contains a control character.',
            [{"line": 1, "column": "c\x01", "detail": "The name contains a control character."}],
        ),
        (b"[" * 50_000, JSON, "too-large", "Expected a body of at most 20,000 bytes, got more.", []),
        (
            b"[" * 5_000,
            JSON,
            "malformed-body",
            "Expected at most 64 nested objects and arrays, got more.",
            [],
        ),
        (b"1" + b"," * 10, CSV, "too-large", "Expected at most 10 columns, got 11.", []),
        (b"x\n" + b"1\n" * 5_001, CSV, "too-large", "Expected at most 5,000 rows, got more.", []),
        (
            b'{"rows": [{"x": 1}], "x": 1}',
            JSON,
            "invalid-data",
            'The body has an unknown member: "x".',
            [{"pointer": "/x", "detail": "The member is unknown."}],
        ),
        (
            b'{"columns": {"x": [1, NaN]}}',
            JSON,
            "invalid-data",
            (
                'Row 2 of the data, column "x": NaN is not a finite number; for a missing value, leave the cell empty '
                "(null in JSON)."
            ),
            [
                {
                    "pointer": "/columns/x/1",
                    "row": 1,
                    "column": "x",
                    "detail": "NaN is not a finite number; for a missing value, leave the cell empty (null in JSON).",
                }
            ],
        ),
        (
            b"--b\r\nContent-Disposition: form-data; name=f; filename=f.csv\r\n\r\nx\n1\n",
            {"Content-Type": "multipart/form-data; boundary=b"},
            "malformed-body",
            "The form is incomplete: expected a final boundary.",
            [],
        ),
        (
            b"--b--\r\n",
            {"Content-Type": "multipart/form-data; boundary=b"},
            "invalid-request",
            "The form has no file: send it as a part with a filename.",
            [],
        ),
        (
            AS_CSV,
            {"Content-Type": "multipart/form-data"},
            "malformed-body",
            "The Content-Type of the form has no boundary.",
            [],
        ),
        (
            AS_CSV,
            {"Content-Type": f"multipart/form-data; boundary={'b' * 257}"},
            "malformed-body",
            "The form can't be read: Boundary length 257 exceeds maximum of 256.",
            [],
        ),
        (
            AS_CSV,
            {"Content-Type": "multipart/form-data; boundary=b"},
            "malformed-body",
            "The form can't be read: Expected boundary character 45, got 120 at index 2.",
            [],
        ),
        (
            AS_CSV,
            {"Content-Type": "text/html"},
            "unsupported-media-type",
            f"Expected {EXPECTED}; got text/html.",
            [],
        ),
        (
            AS_CSV,
            {"Content-Type": "text/csv; charset=latin-1"},
            "unsupported-media-type",
            "Expected UTF-8; got latin-1.",
            [],
        ),
        (
            AS_CSV,
            {**CSV, "Content-Encoding": "br"},
            "unsupported-media-type",
            "Expected a body without Content-Encoding, or with one of gzip, deflate, zstd; got br.",
            [],
        ),
        (
            AS_CSV,
            {**CSV, "Accept": "text/html, application/json;q=0"},
            "not-acceptable",
            "Expected application/json in the Accept header, got only other types.",
            [],
        ),
    ],
)
def test_a_broken_upload_is_refused_and_leaves_nothing(
    service: Service,
    content: bytes,
    headers: dict[str, str],
    slug: str,
    detail: str,
    errors: list[dict[str, str | int]],
) -> None:
    response = service.client.post(DATASETS, content=content, headers=headers)
    assert_problem(response, slug, detail, errors)
    assert service.left_behind() == (0, 0, 0)


@pytest.mark.parametrize(
    ("content", "headers", "status", "reported"),
    [
        (AS_ARROW[:300], ARROW, 400, "as an Arrow stream"),
        (b"", ARROW, 400, "as an Arrow stream"),
        (arrow_stream(pa.table({"x": [[1.0]]})), ARROW, 422, "is not supported"),
        (arrow_stream(pa.table(TABLE), pa.ipc.IpcWriteOptions(compression="zstd")), ARROW, 422, "compressed buffers"),
        (arrow_stream(pa.table({"c": ["abc"]})).replace(b"abc", b"ab\xff"), ARROW, 400, "Invalid UTF8 sequence"),
        (arrow_stream(pa.table({})), ARROW, 422, "The table has no columns."),
        (AS_LINES + b'{"x": 1,\n', LINES, 400, "Line 4: The body is not JSON"),
        (AS_LINES + b'\n{"x": 1, "c": "a"}\n', LINES, 422, 'Line 5, column "b": The column is missing'),
        (AS_LINES + b'{"x": "y", "c": "a", "b": true}\n', LINES, 422, 'Line 4, column "x": "y" is not a number'),
        (b"[1]\n", LINES, 422, "Line 1: The row is not an object."),
        (b"\n\n", LINES, 422, "no rows"),
        (b'{"x": "' + b"x" * 20_001, LINES, 413, "Line 1: expected at most 20,000 bytes, got more."),
        (
            gzip.compress(b"x\n" + b"1\n" * MAX_BYTES),
            {**CSV, "Content-Encoding": "gzip"},
            413,
            "once decompressed, got more",
        ),
        (
            zstd.compress(b"x\n" + b"1\n" * MAX_BYTES),
            {**CSV, "Content-Encoding": "zstd"},
            413,
            "once decompressed, got more",
        ),
        (gzip.compress(b"[" * 30_000), {**JSON, "Content-Encoding": "gzip"}, 413, "at most 20,000 bytes"),
        (gzip.compress(b"") * 10_001, {**CSV, "Content-Encoding": "gzip"}, 413, "Expected a body of at most"),
        (gzip.compress(AS_CSV)[:-4], {**CSV, "Content-Encoding": "gzip"}, 400, "Expected a complete gzip body"),
        (AS_CSV, {**CSV, "Content-Encoding": "zstd"}, 400, "Expected a zstd body"),
    ],
    ids=[
        "an Arrow stream that is cut",
        "no Arrow stream",
        "Arrow of lists",
        "Arrow that is packed inside",
        "Arrow of texts that are not UTF-8",
        "Arrow without columns",
        "a line that is cut",
        "a line without a column",
        "a line with a text for a number",
        "a line that is a list",
        "lines that are empty",
        "a line without an end",
        "a bomb of gzip",
        "a bomb of zstd",
        "a bomb of JSON",
        "gzip of nothing, often",
        "gzip that is cut",
        "no zstd",
    ],
)
def test_streams_and_packed_bodies_that_are_wrong_are_refused_and_leave_nothing(
    service: Service, content: bytes, headers: dict[str, str], status: int, reported: str
) -> None:
    response = service.client.post(DATASETS, content=content, headers=headers)
    assert response.status_code == status, response.text
    assert reported in response.json()["detail"]
    assert service.left_behind() == (0, 0, 0)


def test_a_form_may_be_packed_as_a_whole(service: Service) -> None:
    body = FORM + AS_CSV + b"\r\n--b--\r\n"
    headers = {"Content-Type": "multipart/form-data; boundary=b", "Content-Encoding": "gzip"}
    response = service.client.post(DATASETS, content=gzip.compress(body), headers=headers)
    assert (response.status_code, response.json()["rows"]) == (201, 3)


def test_many_lines_are_several_blocks(service: Service) -> None:
    lines = b"".join(b'{"x": %d, "c": "%d"}\n' % (n, n % 7) for n in range(4_000))
    shown = service.client.post(DATASETS, content=lines, headers=LINES).json()
    assert (shown["rows"], [column["kind"] for column in shown["columns"]]) == (4_000, ["number", "category"])


def test_a_cut_off_parquet_file_is_refused(service: Service) -> None:
    response = service.client.post(DATASETS, content=AS_PARQUET[:-10], headers=PARQUET)
    assert response.status_code == 400
    assert response.json()["type"] == "/problems/malformed-body"
    assert service.left_behind() == (0, 0, 0)


@pytest.mark.parametrize(
    ("query", "reported"),
    [
        ("name=", "name"),
        ("name=" + "n" * 201, "name"),
        ("name=%00", "name"),
        ("delimiter=ab", "delimiter"),
        ("decimal=x", "parameter"),
        ("header=perhaps", "parameter"),
        ("kinds=x", "NAME:KIND"),
        ("kinds=x:text", "NAME:KIND"),
        ("kinds=x:number&kinds=x:category", "got two"),
        ("kinds=z:number", "does not have"),
    ],
)
def test_an_option_that_makes_no_sense_is_refused(service: Service, query: str, reported: str) -> None:
    response = service.client.post(f"{DATASETS}?{query}", content=AS_CSV, headers=CSV)
    assert response.status_code == 422
    assert response.json()["type"] == "/problems/invalid-request"
    assert reported in response.json()["detail"]
    assert service.left_behind() == (0, 0, 0)


def test_an_image_has_no_kinds_to_declare(service: Service) -> None:
    headers = {"Content-Type": "application/x-npy"}
    response = service.client.post(f"{DATASETS}?kinds=x:number", content=npy([[0.0, 1.0]]), headers=headers)
    detail = "Expected no declared kinds for an image, whose columns are fixed."
    assert_problem(response, "invalid-request", detail, [{"parameter": "kinds", "detail": detail}])
    assert service.left_behind() == (0, 0, 0)


def test_more_cells_than_a_body_could_spell_out_are_413(service: Service) -> None:
    nothing = pa.table({f"c{n}": pa.nulls(500) for n in range(10)})
    body = parquet(nothing)
    limits = RequestLimits(**{**LIMITS.__dict__, "spool_directory": service.spool, "max_upload_bytes": 4_999})
    with TestClient(make_application(StoredParts.over(service.engine), limits), base_url="http://localhost") as client:
        response = client.post(DATASETS, content=body, headers=PARQUET)
    assert_problem(response, "too-large", "Expected at most 4,999 cells, got more.")
    assert service.left_behind() == (0, 0, 0)


def test_a_form_with_more_than_one_file_or_a_field_is_refused(service: Service) -> None:
    two = service.client.post(DATASETS, files=[("f", ("a.csv", AS_CSV)), ("f", ("b.csv", AS_CSV))])
    field = service.client.post(DATASETS, data={"name": "n"}, files={"f": ("a.csv", AS_CSV)})
    unknown = service.client.post(DATASETS, files={"f": ("a.bin", AS_CSV)})
    assert [response.status_code for response in (two, field, unknown)] == [422, 422, 415]
    assert service.left_behind() == (0, 0, 0)


@dataclass
class Sender:
    """A client at the ASGI interface, which counts what is taken from it; it gives up after `closed_after` pieces."""

    piece: bytes
    closed_after: int | None = None
    received: int = 0

    async def receive(self) -> Message:
        self.received += 1
        if self.closed_after is not None and self.received > self.closed_after:
            return {"type": "http.disconnect"}
        return {"type": "http.request", "body": self.piece, "more_body": True}


async def posted(app: Starlette, sender: Sender, headers: list[tuple[bytes, bytes]]) -> list[Message]:
    """The messages that the application sends for an upload."""
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": DATASETS,
        "raw_path": DATASETS.encode(),
        "query_string": b"",
        "root_path": "",
        "headers": [(b"host", b"localhost"), *headers],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
    }
    await app(scope, sender.receive, send)
    return sent


FORM = b"--b\r\nContent-Disposition: form-data; name=f; filename=f.csv\r\n\r\n"


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("headers", "piece", "max_pieces"),
    [
        ([(b"content-type", b"text/csv"), (b"content-length", b"%d" % (MAX_BYTES + 1))], b"1\n" * 5_000, 0),
        ([(b"content-type", b"text/csv")], b"1\n" * 5_000, MAX_BYTES // 10_000 + 1),
        ([(b"content-type", b"application/json")], b"[1,1," * 2_000, 3),
        ([(b"content-type", b"multipart/form-data; boundary=b")], FORM + b"1\n" * 5_000, MAX_BYTES // 10_000 + 1),
    ],
)
async def test_a_body_above_the_limit_is_refused_before_it_is_read_whole(
    service: Service, headers: list[tuple[bytes, bytes]], piece: bytes, max_pieces: int
) -> None:
    sender = Sender(piece)
    start, *_ = await posted(service.app, sender, headers)
    assert start["status"] == 413
    assert sender.received <= max_pieces
    assert service.left_behind() == (0, 0, 0)


@pytest.mark.anyio
async def test_a_client_that_goes_away_leaves_nothing(service: Service) -> None:
    await posted(service.app, Sender(b"1\n" * 100, closed_after=3), [(b"content-type", b"text/csv")])
    assert service.left_behind() == (0, 0, 0)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.mark.parametrize(
    "accept", [None, "*/*", "application/json", "application/*;q=0.1, text/html", "text/html, */*"]
)
def test_a_client_that_accepts_json_gets_it(service: Service, accept: str | None) -> None:
    with httpx2.Client(transport=service.client._transport, base_url="http://localhost") as client:
        client.headers.pop("accept")
        assert client.get(DATASETS, headers={} if accept is None else {"Accept": accept}).status_code == 200


async def _pieces(content: bytes) -> AsyncIterator[bytes]:
    for byte in content:
        yield bytes([byte])


@pytest.mark.anyio
async def test_a_form_that_comes_byte_by_byte_is_the_same(service: Service) -> None:
    body = FORM + AS_CSV + b"\r\n--b--\r\n"
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(service.app), base_url="http://localhost") as client:
        headers = {"Content-Type": "multipart/form-data; boundary=b"}
        created = await client.post(DATASETS, content=_pieces(body), headers=headers)
    assert created.status_code == 201
    assert created.json()["name"] == "f"
    full = service.client.post(DATASETS, content=AS_CSV, headers=CSV)
    assert full.json()["digest"] == created.json()["digest"]


def test_a_repeated_upload_is_the_dataset_that_was_there_in_any_format(service: Service) -> None:
    def sent(content: bytes, headers: dict[str, str], query: str = "name=twice&reuse=true") -> httpx2.Response:
        return service.client.post(f"{DATASETS}?{query}", content=content, headers=headers)

    rows = b'{"x": 1, "c": "a"}\n{"x": 2.5, "c": "b"}\n'
    first, again = sent(b"x,c\n1,a\n2.5,b\n", CSV), sent(rows, LINES)
    assert (first.status_code, again.status_code) == (201, 200)
    assert again.content == first.content
    assert again.headers["Location"] == first.headers["Location"] == f"{DATASETS}/{first.json()['id']}"
    assert service.left_behind()[:2] == (1, 1)
    assert sent(rows, LINES, "name=twice").status_code == 201
    assert sent(rows, LINES, "name=other&reuse=true").status_code == 201
    assert sent(rows, LINES, "name=twice&reuse=perhaps").status_code == 422


def test_a_repeated_upload_with_a_key_has_one_response(service: Service) -> None:
    def sent(key: str) -> httpx2.Response:
        headers = {**CSV, "Idempotency-Key": key}
        return service.client.post(f"{DATASETS}?name=keyed&reuse=true", content=b"x\n1\n2\n", headers=headers)

    first, again, replayed = sent("a"), sent("b"), sent("b")
    assert [first.status_code, again.status_code, replayed.status_code] == [201, 200, 200]
    assert replayed.headers["Idempotent-Replayed"] == "true"
    assert first.content == again.content == replayed.content


@pytest.mark.parametrize(
    ("body", "place", "cell", "readings"),
    [
        (
            b"day;x\n03.04.2025;1\n05.06.2025;2\n",
            {"column": "day"},
            "03.04.2025",
            [
                ("date_format", "%d.%m.%Y", "2025-04-03 with the day first"),
                ("date_format", "%m.%d.%Y", "2025-03-04 with the month first"),
            ],
        ),
        (
            b"place;sold\nUlm;753,843\nHof;1,250\n",
            {"column": "sold"},
            "753,843",
            [
                ("decimal", ",", "753.843 with a decimal separator"),
                ("thousands", ",", "753843 with a thousands separator"),
            ],
        ),
        (
            b"7,1,2,versicolor\n5,3.5,1.5,setosa\n4,3.5,2.5,virginica\n",
            {"line": 1, "parameter": "header"},
            '"7, 1, 2, versicolor"',
            [
                ("header", "true", "the names of the columns with a header"),
                ("header", "false", "a row of data without one"),
            ],
        ),
    ],
)
def test_a_refusal_has_the_readings_of_a_cell_and_each_of_their_options_is_accepted(
    client: TestClient, body: bytes, place: dict[str, object], cell: str, readings: list[tuple[str, str, str]]
) -> None:
    refused = client.post("/v1/datasets", content=body, headers=CSV)
    assert refused.status_code == 422
    problem = refused.json()
    listed = [{"option": option, "value": value, "meaning": meaning} for option, value, meaning in readings]
    detail = problem["detail"]
    assert problem["errors"] == [{**place, "ambiguity": {"cell": cell, "readings": listed}, "detail": detail}]
    for option, value, meaning in readings:
        assert f'{option}="{value}"' in detail
        assert meaning in detail
        read = client.post("/v1/datasets", params={option: value}, content=body, headers=CSV)
        assert read.status_code == 201, read.text


def test_rows_that_a_newer_release_wrote_are_unavailable_and_not_damaged(service: Service) -> None:
    uploaded = service.client.post(f"{DATASETS}?name=points", content=b"x,y\n1,2\n", headers=CSV).json()
    path = f"{DATASETS}/{uploaded['id']}/rows"
    assert service.client.get(path).status_code == 200
    with service.engine.begin() as connection:
        written = bytearray(connection.execute(text("SELECT content FROM dataset_blocks")).scalar_one())
        written[5] = 9
        struct.pack_into("<I", written, 20, zlib.crc32(written[:20] + written[24:]))
        connection.execute(text("UPDATE dataset_blocks SET content = :content"), {"content": bytes(written)})
    refused = service.client.get(path)
    known = "0 (none), 1 (zlib), 2 (zstd)"
    detail = f"Stored data was written by a newer release: expected a codec of {known}; got 9."
    assert_problem(refused, "unavailable", detail)
    assert refused.headers["Retry-After"] == "2"
