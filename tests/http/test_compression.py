"""Compressed responses."""

import gzip

import pytest
from starlette.requests import Request
from starlette.responses import Response
from starlette.testclient import TestClient

from app.http.compression import accepts_gzip, compressed_response

CONTENT = b"some text " * 1000


def request(*encodings: str, known: str = "") -> Request:
    headers = [(b"accept-encoding", one.encode()) for one in encodings]
    headers += [(b"if-none-match", known.encode())] if known else []
    return Request({"type": "http", "method": "GET", "path": "/", "headers": headers})


def response(*encodings: str, known: str = "") -> Response:
    return compressed_response(
        request(*encodings, known=known), CONTENT, cache_control="no-cache", media_type="text/plain"
    )


@pytest.mark.parametrize(
    ("encodings", "expected"),
    [
        ((), False),
        (("",), False),
        (("gzip",), True),
        (("br", "gzip;q=0.5"), True),
        (("*",), False),
        (("gzip;q=0",), False),
        (("identity",), False),
        (("gzip;q=0, *",), False),
    ],
)
def test_gzip_is_accepted_where_it_is_named_and_not_excluded(encodings: tuple[str, ...], expected: bool) -> None:
    assert accepts_gzip(request(*encodings)) is expected


def test_a_compressed_response_has_the_same_content_and_another_tag() -> None:
    compressed, plain = response("gzip"), response()
    assert gzip.decompress(bytes(compressed.body)) == plain.body == CONTENT
    assert int(compressed.headers["Content-Length"]) == len(compressed.body) < len(CONTENT) / 10
    assert compressed.headers["Content-Encoding"] == "gzip"
    assert "Content-Encoding" not in plain.headers
    assert compressed.headers["ETag"] != plain.headers["ETag"]
    assert compressed.headers["ETag"] == response("gzip").headers["ETag"]
    assert compressed.headers["Vary"] == plain.headers["Vary"] == "Accept-Encoding"


def test_what_is_known_in_one_encoding_is_not_known_in_the_other() -> None:
    tag = response("gzip").headers["ETag"]
    again = response("gzip", known=tag)
    assert (again.status_code, again.body, again.headers.get("Content-Encoding")) == (304, b"", None)
    assert response(known=tag).status_code == 200


def test_the_openapi_document_is_compressed(client: TestClient) -> None:
    compressed, plain = (
        client.get("/openapi.json", headers={"Accept-Encoding": encoding}) for encoding in ("gzip", "identity")
    )
    assert compressed.json() == plain.json()
    assert 5 * int(compressed.headers["Content-Length"]) < int(plain.headers["Content-Length"])
