"""Compressed responses."""

import gzip
import hashlib
import json
from pathlib import Path
from typing import NoReturn

import pytest
from starlette.requests import Request
from starlette.responses import Response
from starlette.testclient import TestClient

from app.http import openapi
from app.http.content_encodings import accepts_gzip, compressed_response

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


@pytest.mark.parametrize("path", ["/openapi.json", "/docs", "/redoc", "/", "/guide/", "/guide/searchtools.js"])
def test_a_public_document_is_made_once_and_not_sent_again(
    client: TestClient, path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Anybody may get them without a key, so a request must cost next to nothing."""
    (tmp_path / "index.html").write_text("<html></html>")
    (tmp_path / "searchtools.js").write_text("var search = 1;")
    monkeypatch.setattr(openapi, "PLACES", (tmp_path,))
    headers = {"Accept": "text/html, */*;q=0.5", "Accept-Encoding": "gzip"}
    first = client.get(path, headers=headers)
    assert first.headers["Content-Encoding"] == "gzip"
    assert "Accept-Encoding" in first.headers["Vary"]
    with monkeypatch.context() as patched:
        for module, name in ((gzip, "compress"), (json, "dumps"), (hashlib, "sha256")):
            patched.setattr(module, name, refuse)
        again = client.get(path, headers=headers)
        known = client.get(path, headers=headers | {"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.content) == (200, first.content)
    assert (known.status_code, known.content) == (304, b"")
    plain = client.get(path, headers=headers | {"Accept-Encoding": "identity"})
    assert plain.content == first.content
    assert plain.headers["ETag"] != first.headers["ETag"]


def refuse(*_: object, **__: object) -> NoReturn:
    raise AssertionError("the document was made again")
