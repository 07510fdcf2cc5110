"""Requests by the dimension in which they are hostile: of size n each, whatever n is."""

import gzip
from collections.abc import Callable, Iterable, Mapping

from backports import zstd

from tests.hostile.service import Target
from tests.table_files import MEDIA_TYPES, NAMED_ROWS, written

Make = Callable[[Target, int], bytes]

JSON, CSV, NDJSON = "application/json", "text/csv", "application/x-ndjson"
PREDICT, UPLOAD, TRAIN = "/v1/models/numbers/predict", "/v1/datasets", "/v1/training-jobs"
WIDE: Mapping[str, int] = {"csv": 2_000, "arrow": 1_000}
"""The least number of columns of a format, where it is not 500."""

INFER, WEBHOOKS = "/v2/models/numbers/infer", "/v1/webhooks"


def members(n: int, value: str = "1") -> bytes:
    return b"{" + ",".join(f'"k{number}":{value}' for number in range(n)).encode() + b"}"


def repeated(piece: bytes, n: int, between: bytes = b",") -> bytes:
    return between.join([piece] * n)


def of_json(path: str, body: Callable[[int], bytes]) -> Make:
    return lambda target, n: target.post(path, JSON, body(n))


def of_table(path: str, media_type: str, body: Callable[[int], bytes]) -> Make:
    return lambda target, n: target.post(path, media_type, body(n))


def packed(encoding: str, path: str, member: bytes) -> Make:
    return lambda target, n: target.post(path, CSV, member * n, encoding=encoding)


def columns_of(coded: str) -> Callable[[int], bytes]:
    """A row of n columns in a format."""
    return lambda n: written(coded, [{f"c{number}": 1.0 for number in range(n)}])


def wide(path: str, names: Iterable[str]) -> Mapping[str, tuple[Make, int]]:
    return {
        f"columns of {coded}, {path}": (of_table(path, MEDIA_TYPES[coded], columns_of(coded)), WIDE.get(coded, 500))
        for coded in names
    }


def with_head(head: Callable[[int], bytes]) -> Make:
    return lambda target, n: b"POST /v1/models HTTP/1.1\r\nHost: h\r\n" + head(n) + b"\r\n"


def with_trailers(target: Target, n: int) -> bytes:
    head = f"POST {PREDICT} HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer {target.key}\r\n"
    chunked = b"Transfer-Encoding: chunked\r\nContent-Type: application/json\r\n\r\n2\r\n{}\r\n0\r\n"
    return head.encode() + chunked + b"a: b\r\n" * n + b"\r\n"


def multipart(n: int) -> bytes:
    part = b"--b\r\nContent-Disposition: form-data; name=x\r\n\r\n1\r\n"
    return part * n + b"--b--\r\n"


DIMENSIONS: Mapping[str, tuple[Make, int]] = {
    "header fields": (with_head(lambda n: b"a: b\r\n" * n), 20_000),
    "bytes of a header value": (with_head(lambda n: b"a: " + b"b" * n + b"\r\n"), 200_000),
    "bytes of the request target": (lambda _, n: b"GET /" + b"a" * n + b" HTTP/1.1\r\nHost: h\r\n\r\n", 200_000),
    "trailers": (with_trailers, 20_000),
    "members, training": (of_json(TRAIN, members), 1_000),
    "members, webhook": (of_json(WEBHOOKS, members), 1_000),
    "members, tags": (of_json(TRAIN, lambda n: b'{"tags":' + members(n) + b"}"), 1_000),
    "elements, training": (of_json(TRAIN, lambda n: b'{"inputs":[' + repeated(b"1", n) + b"]}"), 10_000),
    "members, prediction": (of_json(PREDICT, members), 10_000),
    "members of a row": (of_json(PREDICT, lambda n: b'{"rows":[' + members(n) + b"]}"), 10_000),
    "members of a row, upload": (of_json(UPLOAD, lambda n: b'{"rows":[' + members(n) + b"]}"), 10_000),
    "columns": (of_json(PREDICT, lambda n: b'{"columns":' + members(n, "[1]") + b"}"), 10_000),
    "names": (of_json(PREDICT, lambda n: b'{"names":[' + repeated(b'"x"', n) + b'],"rows":[[1]]}'), 20_000),
    "rows": (of_json(PREDICT, lambda n: b'{"rows":[' + repeated(b"{}", n) + b"]}"), 2_000),
    "objects": (of_json(PREDICT, lambda n: b'{"rows":[' + repeated(b"{}", n) + b"]}"), 500_000),
    "objects, training": (of_json(TRAIN, lambda n: b'{"inputs":[' + repeated(b"{}", n) + b"]}"), 500_000),
    "objects, upload": (of_json(UPLOAD, lambda n: b'{"rows":[' + repeated(b"{}", n) + b"]}"), 500_000),
    "arrays of a line": (of_table(PREDICT, NDJSON, lambda n: b'{"a":[' + repeated(b"[]", n) + b"]}\n"), 500_000),
    "rows with faults": (
        of_json(PREDICT, lambda n: b'{"on_error":"per_row","rows":[' + repeated(b'{"a":"x"}', n) + b"]}"),
        1_000,
    ),
    "repeated keys": (of_json(PREDICT, lambda n: b"{" + repeated(b'"a":1', n) + b"}"), 20_000),
    "infinite numbers": (of_json(PREDICT, lambda n: b'{"rows":[{"a":[' + repeated(b"NaN", n) + b"]}]}"), 10_000),
    "depth": (of_json(TRAIN, lambda n: b'{"a":' + b"[" * n + b"]" * n + b"}"), 20_000),
    "depth of objects": (of_json(PREDICT, lambda n: b'{"a":' * n + b"1" + b"}" * n), 20_000),
    "inputs, inference": (
        of_json(INFER, lambda n: b'{"inputs":[' + repeated(b'{"name":"x","shape":[1],"data":[1]}', n) + b"]}"),
        2_000,
    ),
    "shape, inference": (
        of_json(INFER, lambda n: b'{"inputs":[{"name":"x","shape":[' + repeated(b"1", n) + b'],"data":[1]}]}'),
        20_000,
    ),
    "outputs, inference": (
        of_json(INFER, lambda n: b'{"inputs":[],"outputs":[' + repeated(b'{"name":"x"}', n) + b"]}"),
        20_000,
    ),
    "values, inference": (
        of_json(
            INFER, lambda n: b'{"inputs":[{"name":"x","shape":[1],"datatype":"FP64","data":[%b]}]}' % repeated(b"1", n)
        ),
        500_000,
    ),
    "parameters, inference": (of_json(INFER, lambda n: b'{"parameters":' + members(n) + b',"inputs":[]}'), 10_000),
    "lines with faults": (of_table(f"{PREDICT}?on_error=per_row", NDJSON, lambda n: b"x\n" * n), 500),
    "lines": (of_table(PREDICT, NDJSON, lambda n: b"1\n" * n), 50_000),
    "rows with faults, CSV": (
        of_table(f"{PREDICT}?on_error=per_row", CSV, lambda n: b"a,b,c,d,e\n" + b"x,y,z,x,y\n" * n),
        300,
    ),
    **wide(PREDICT, NAMED_ROWS),
    **wide(UPLOAD, ["csv"]),
    "frames of zstd": (packed("zstd", PREDICT, zstd.compress(b"")), 2_000),
    "frames of zstd, upload": (packed("zstd", UPLOAD, zstd.compress(b"")), 2_000),
    "members of gzip": (packed("gzip", PREDICT, gzip.compress(b"")), 5_000),
    "members of gzip, upload": (packed("gzip", UPLOAD, gzip.compress(b"")), 5_000),
    "parts of a form": (of_table(UPLOAD, "multipart/form-data; boundary=b", multipart), 5_000),
}
"""By name: how to make a request, and the least size, which is doubled four times."""
