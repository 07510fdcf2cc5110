"""Requests by the dimension in which they are hostile: of size n each, whatever n is."""

import gzip
import io
from collections.abc import Callable, Mapping

import pyarrow as pa
import pyarrow.parquet as pq
from backports import zstd

from tests.hostile.service import Target

Make = Callable[[Target, int], bytes]

JSON, CSV, NDJSON = "application/json", "text/csv", "application/x-ndjson"
ARROW, PARQUET = "application/vnd.apache.arrow.stream", "application/vnd.apache.parquet"
PREDICT, UPLOAD, TRAIN = "/v1/models/numbers/predict", "/v1/datasets", "/v1/training-jobs"
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


def columns_of_csv(n: int) -> bytes:
    return (",".join(f"c{number}" for number in range(n)) + "\n" + repeated(b"1", n).decode() + "\n").encode()


def columns_of_arrow(n: int) -> bytes:
    batch = pa.record_batch([pa.array([1.0])] * n, names=[f"c{number}" for number in range(n)])
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return sink.getvalue()


def columns_of_parquet(n: int) -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.table({f"c{number}": [1.0] for number in range(n)}), sink)
    return sink.getvalue()


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
    "columns of CSV": (of_table(PREDICT, CSV, columns_of_csv), 5_000),
    "columns of CSV, upload": (of_table(UPLOAD, CSV, columns_of_csv), 2_000),
    "rows with faults, CSV": (
        of_table(f"{PREDICT}?on_error=per_row", CSV, lambda n: b"a,b,c,d,e\n" + b"x,y,z,x,y\n" * n),
        300,
    ),
    "columns of Arrow": (of_table(PREDICT, ARROW, columns_of_arrow), 1_000),
    "columns of Parquet": (of_table(PREDICT, PARQUET, columns_of_parquet), 500),
    "frames of zstd": (packed("zstd", PREDICT, zstd.compress(b"")), 2_000),
    "frames of zstd, upload": (packed("zstd", UPLOAD, zstd.compress(b"")), 2_000),
    "members of gzip": (packed("gzip", PREDICT, gzip.compress(b"")), 5_000),
    "members of gzip, upload": (packed("gzip", UPLOAD, gzip.compress(b"")), 5_000),
    "parts of a form": (of_table(UPLOAD, "multipart/form-data; boundary=b", multipart), 5_000),
}
"""By name: how to make a request, and the least size, which is doubled four times."""
