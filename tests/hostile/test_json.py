"""JSON documents that parsers disagree on: what RFC 8259 refuses is refused, and none is a mistake of the service."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hostile.dimensions import INFER, JSON, PREDICT, TRAIN, UPLOAD, WEBHOOKS
from tests.hostile.service import Target
from tests.served import served

PATHS = (PREDICT, UPLOAD, TRAIN, WEBHOOKS, INFER, "/v1/models/forged/versions")
PLACES = (b"%b", b"[%b]", b'{"a":%b}', b'{"rows":[{"a":%b}]}', b'{"columns":{"a":[%b]}}', b'{"a":{"b":[1,%b]}}')

NUMBERS_REFUSED = (
    b"+1 -01 01 1. .5 -.5 1.e1 1e 1e+ 1E- 0x10 1_000 Infinity -Infinity NaN nan -nan inf - -- 1-1 0e 00 "
    b"\xef\xbc\x91 1e5.5 --1 +-1 0b1 1L 1f 0.0.1 5e5e5"
).split(b" ")
VALID_NUMBERS = b"0 -0 -0.0 1e0 1E+2 1e-5 0e1 0.1e1 123456789012345678901234567890 1.5 -1 1e-400 20e1".split(b" ")
TEXTS_REFUSED = [
    b'"',
    b'"a',
    b"a",
    b"'a'",
    b'"\\x41"',
    b'"\\u00"',
    b'"\\u00g0"',
    b'"\\"',
    b'"\\a"',
    b'"\\U0041"',
    b'"\n"',
    b'"\t"',
    b'"\x00"',
    b'"\x1f"',
    b'"\xff"',
    b'"\xc0\xaf"',
    b'"\xed\xa0\x80"',
    b'"\xf4\x90\x80\x80"',
    b'"\xe2\x82"',
    b'"\\ud800"',
    b'"\\udc00\\ud800"',
    b'"\\ud800\\u0041"',
]
VALID_TEXTS = [
    b'""',
    b'"\\u0041"',
    b'"\\ud83d\\ude00"',
    b'"\xf0\x9f\x98\x80"',
    b'"\\/\\b\\f\\n\\r\\t\\"\\\\"',
    b'"\x7f"',
    b'"\xe2\x80\xa8"',
    b'"\\u2028"',
    b'"\xef\xbb\xbf"',
]
WORDS_REFUSED = b"nul True FALSE None undefined true1 nulll tru {1} [1,,2] {,} [,] (1) <a> # // /**/".split(b" ")
VALID_LITERALS = (b"null", b"true", b"false", b"[]", b"{}", b" 1 ", b"\t1\r\n", b'{"":0}')
STRUCTURES_REFUSED = [
    b"",
    b" ",
    b"{",
    b"}",
    b"[",
    b"]",
    b"[1",
    b"[1,",
    b"[1,]",
    b'{"a"',
    b'{"a":',
    b'{"a":1',
    b'{"a":1,',
    b'{"a":1,}',
    b'{"a" 1}',
    b"{'a':1}",
    b"{a:1}",
    b'{"a":1 "b":2}',
    b'["a":1]',
    b'{"a","b"}',
    b"[1]]",
    b"[1] 2",
    b"{} {}",
    b"[1]\x00",
    b"\xff\xfe[\x001\x00]\x00",
    b"\x00[\x001\x00]",
    b"[1]//",
    b"[" * 100_000,
    b"[" * 1_000 + b"]" * 999,
    b'{"a":' * 50_000,
    b'{"a":1,"a":2}',
]


@pytest.fixture(scope="module")
def target(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    with served(sqlite_template, tmp_path_factory.mktemp("json")) as service:
        yield Target.of(service)


def responses(target: Target, documents: list[bytes]) -> Iterator[tuple[str, bytes, int]]:
    for path in PATHS:
        for document in documents:
            yield path, document, target.sent(target.post(path, JSON, document))


def placed(values: list[bytes]) -> list[bytes]:
    return [place.replace(b"%b", value) for place in PLACES for value in values]


def test_what_is_no_json_is_refused(target: Target) -> None:
    values = [*NUMBERS_REFUSED, *TEXTS_REFUSED, *WORDS_REFUSED]
    wrong = [
        (path, document[:60], status)
        for path, document, status in responses(target, [*placed(values), *STRUCTURES_REFUSED])
        if not 400 <= status < 500
    ]
    assert wrong == []


def test_what_is_json_is_never_a_mistake_of_the_service(target: Target) -> None:
    values = [*VALID_NUMBERS, *VALID_TEXTS, *VALID_LITERALS]
    for value in values:
        json.loads(value)
    wrong = [
        (path, document[:60], status)
        for path, document, status in responses(target, placed(values))
        if not 200 <= status < 500
    ]
    assert wrong == []


@pytest.mark.parametrize("value", VALID_NUMBERS)
def test_numbers_of_json_are_predicted_with(target: Target, value: bytes) -> None:
    row = b",".join(b'"%c":%b' % (name, value if name == ord("a") else b"0.5") for name in b"abcde")
    assert target.sent(target.post(PREDICT, JSON, b'{"rows":[{' + row + b"}]}")) == 200
