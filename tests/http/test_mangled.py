"""Bodies that were cut, mixed up and lied about: always refused or answered, never a mistake of the service."""

import gzip
import zlib
from collections.abc import Callable

import numpy as np
import pytest
from backports import zstd
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.formats import ROW_FORMATS, WRITABLE_FORMATS, named
from app.prediction import ServedVersion, predict
from app.prediction.runner import no_yield
from app.prediction.table_codec import ContentNegotiation, TableCodec
from relevance_bayes.records.errors import RelevanceError
from tests.properties import examples
from tests.served_versions import served
from tests.small_models import small_version, version_of_numbers
from tests.table_files import MEDIA_TYPES, ROWS, FlatRow, written

NUMBERS: list[FlatRow] = [{"x": 0.5, "a": 1.0, "b": 2.0}, {"x": -1.5, "a": 1e9, "b": 3.0}]
MIXED: list[FlatRow] = [{"x": 0.5, "colour": "red"}, {"x": 1.5, "colour": "blue"}]
PACK: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "zstd": zstd.compress,
}
BEFORE_AND_AFTER = [
    b"\x00",
    b"\xff",
    b"\n",
    b'"',
    b",",
    b"{",
    b"NaN",
    b"1e999",
    b"\xed\xa0\x80",
    b"\\u0000",
    b"\x80" * 8,
]


@pytest.fixture(scope="module")
def versions() -> list[ServedVersion]:
    """One of numbers, one that reads a text too."""
    return [served(version_of_numbers()), served(small_version())]


def outcome(version: ServedVersion, coded: str, encoding: str, body: bytes) -> bytes | RelevanceError:
    body_format, response = named(ROW_FORMATS, coded), named(WRITABLE_FORMATS, "json")
    query = () if body_format.is_document else (("on_error", "per_row"),)
    negotiated = ContentNegotiation(body_format, MEDIA_TYPES[coded], encoding, response, query)
    codec = TableCodec(body, negotiated, max_rows=1000, max_bytes=10**6)
    try:
        request = codec.read(version, no_yield)
        return b"".join(codec.render(version, request, predict(version, request)))
    except RelevanceError as refused:
        return refused


@st.composite
def mangled(draw: st.DrawFn, sound: bytes) -> bytes:
    """A body that was sound once, with a few cuts, flips, repetitions and insertions."""
    body = bytearray(sound)
    for _ in range(draw(st.integers(1, 4))):
        place = draw(st.integers(0, len(body)))
        match draw(st.sampled_from(["cut", "flip", "put", "repeat", "end", "number"])):
            case "cut":
                del body[place : place + draw(st.integers(1, 8))]
            case "flip" if place < len(body):
                body[place] = draw(st.integers(0, 255))
            case "put":
                body[place:place] = draw(st.sampled_from(BEFORE_AND_AFTER) | st.binary(max_size=4))
            case "repeat":
                body[place:place] = body[: draw(st.integers(0, 64))]
            case "end":
                del body[place:]
            case "number":  # lengths and offsets: huge, negative, one off
                declared = draw(st.sampled_from([2**31 - 1, 2**31, 2**32 - 1, 2**62, 2**63, 2**64 - 1, 1]))
                body[place : place + 8] = int(np.uint64(declared)).to_bytes(8, "little")
    return bytes(body)


@pytest.mark.parametrize("coded", ROWS)
@settings(max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_mangled_body_gets_a_response_or_is_refused_and_nothing_else(
    coded: str, versions: list[ServedVersion], data: st.DataObject
) -> None:
    numbers, mixed = versions
    version, rows = (numbers, NUMBERS) if coded == "npy" or data.draw(st.booleans()) else (mixed, MIXED)
    outcome(version, coded, "", data.draw(mangled(written(coded, rows))))


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "zstd"])
@settings(max_examples=examples(25), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_mangled_packing_is_unpacked_or_refused_and_nothing_else(
    encoding: str, versions: list[ServedVersion], data: st.DataObject
) -> None:
    body = data.draw(mangled(PACK[encoding](written("csv", NUMBERS))))
    outcome(versions[0], "csv", encoding, body)


@pytest.mark.parametrize("coded", ROWS)
@pytest.mark.parametrize("encoding", PACK)
def test_what_is_not_mangled_gets_a_response(coded: str, encoding: str, versions: list[ServedVersion]) -> None:
    found = outcome(versions[0], coded, encoding, PACK[encoding](written(coded, NUMBERS)))
    assert isinstance(found, bytes)
    assert found.count(b'"mean"') == 2
