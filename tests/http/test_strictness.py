"""Every rule of what a table may be, in every format, on both databases: uploaded, and as rows to predict for.

A rule has one outcome in all formats. A format with another one is in `otherwise`, with its reason; a format in
which a rule can't be broken states why in its body (`NotExpressible`).
"""

import gzip
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import httpx2
import pytest
from starlette.testclient import TestClient

from tests.http.strict_bodies import (
    CONTENT_TYPES,
    FORMATS,
    GOOD,
    NO_CONTROLS,
    NO_NAMES,
    NUMBERS_ALONE,
    A,
    B,
    Body,
    Made,
    NotExpressible,
    X,
    always,
    beyond_float64,
    cut,
    encoded,
    escaped_surrogate,
    followed,
    nested,
    no_columns,
    not_utf8,
    of,
    other_charset,
    preceded,
    ragged,
    twice,
    utf16,
    written,
)

ACCEPTED = "accepted"
MALFORMED = "400 malformed-body"
INVALID = "422 invalid-data"
TOO_LARGE = "413 too-large"
UNSUPPORTED = "415 unsupported-media-type"

NAN, INFINITY = float("nan"), float("inf")
ONE_TO_THREE = (1.0, 2.0, 3.0)


@dataclass(frozen=True)
class Otherwise:
    """The outcome in one format where it differs, and why."""

    upload: str
    predict: str
    reason: str


@dataclass(frozen=True)
class DecisionRule:
    """The broken body of each format, and the outcomes of an upload and of a prediction by `model`."""

    body: Callable[[str], Made]
    upload: str
    predict: str
    otherwise: Mapping[str, Otherwise] = field(default_factory=dict)
    model: str = "numbers"


REPEATED = Otherwise(MALFORMED, MALFORMED, "an object that repeats a key is broken JSON, whatever it stands for")
NUMBERED = Otherwise(ACCEPTED, INVALID, "a column of CSV without a name is called by its number, as spreadsheets do")
NO_ROWS = Otherwise(INVALID, INVALID, "a text without lines is a table without rows")
CUT_WRONGLY = Otherwise(MALFORMED, MALFORMED, "lines of other lengths were cut at the wrong character, as a whole")
BOM_OF_TEXT = Otherwise(ACCEPTED, ACCEPTED, "editors put it before texts (RFC 8259, 8.1 lets it be ignored)")
RENAMED = dict.fromkeys(
    ("csv", "multipart", "arrow", "parquet", "feather", "xlsx"),
    Otherwise(ACCEPTED, INVALID, "a person's file is read with names that are cut or numbered, which the answer tells"),
)
MISSING = dict.fromkeys(
    ("csv", "multipart"), Otherwise(ACCEPTED, ACCEPTED, "among numbers of a text it means a missing value")
) | {"npy": Otherwise(INVALID, ACCEPTED, "an array of rows has no other missing value")}
WITH_A_MARK = dict.fromkeys(
    ("csv", "multipart"), Otherwise(ACCEPTED, ACCEPTED, "spreadsheets write it, with a byte order mark")
)
DIGITS = {"xlsx": Otherwise(MALFORMED, MALFORMED, "a number of a workbook is written in digits")}
ARCHIVE = {
    "xlsx": Otherwise(ACCEPTED, ACCEPTED, "an archive is read by its directory: what lies outside is no part of it")
}
NO_TEXTS = {"npy": NUMBERS_ALONE, "xlsx": NO_CONTROLS}
LONG = NotExpressible("the format's integers have 64 bits at most")
IMAGE = "an array that is uploaded is an image, whose columns have no names"

RULES: Mapping[str, DecisionRule] = {
    "a good table": DecisionRule(of(GOOD), ACCEPTED, ACCEPTED),
    "NUL in a text": DecisionRule(
        of((X, ("colour", ("red", "a\0b", "red"))), **NO_TEXTS),
        INVALID,
        INVALID,
        model="small",
    ),
    "NUL in a name": DecisionRule(of((*GOOD, ("a\0b", ONE_TO_THREE)), **NO_TEXTS), INVALID, INVALID),
    "a control character in a name": DecisionRule(of((*GOOD, ("a\x07b", ONE_TO_THREE)), **NO_TEXTS), INVALID, INVALID),
    "an empty name": DecisionRule(
        of((*GOOD, ("", ONE_TO_THREE)), npy=NO_NAMES), INVALID, INVALID, {"csv": NUMBERED, "multipart": NUMBERED}
    ),
    "a name of 201 characters": DecisionRule(
        of((*GOOD, ("x" * 201, ONE_TO_THREE)), npy=NO_NAMES), INVALID, INVALID, RENAMED
    ),
    "a repeated name": DecisionRule(
        of((*GOOD, ("a", ONE_TO_THREE)), npy=NO_NAMES),
        INVALID,
        INVALID,
        RENAMED | {"json": REPEATED, "ndjson": REPEATED},
    ),
    "a column that the model does not have": DecisionRule(of((*GOOD, ("c", ONE_TO_THREE))), ACCEPTED, INVALID),
    "a column too few for the model": DecisionRule(of((X, A)), ACCEPTED, INVALID),
    "11 columns where 10 may be": DecisionRule(
        of(tuple((f"c{number}", (1.0, 2.0)) for number in range(11))),
        TOO_LARGE,
        INVALID,
        {"npy": Otherwise(ACCEPTED, INVALID, IMAGE)},
    ),
    "no columns": DecisionRule(no_columns, INVALID, INVALID),
    "no rows": DecisionRule(of((("x", ()), ("a", ()), ("b", ()))), INVALID, INVALID),
    "101 rows where 100 may be, and 5": DecisionRule(
        of(tuple((name, (1.0,) * 101) for name in "xab")), TOO_LARGE, TOO_LARGE
    ),
    "a row of a cell too few": DecisionRule(ragged, INVALID, INVALID, {"csv": CUT_WRONGLY, "multipart": CUT_WRONGLY}),
    "NaN": DecisionRule(of((X, A, ("b", (1.0, NAN, 2.0)))), INVALID, INVALID, DIGITS | MISSING),
    "Infinity": DecisionRule(of((X, A, ("b", (1.0, INFINITY, 2.0)))), INVALID, INVALID, DIGITS),
    "-Infinity": DecisionRule(of((X, A, ("b", (1.0, -INFINITY, 2.0)))), INVALID, INVALID, DIGITS),
    "a number beyond float64": DecisionRule(beyond_float64, INVALID, INVALID),
    "an integer that float64 rounds": DecisionRule(of((X, A, ("b", (1, 2, 2**63 - 1)))), ACCEPTED, ACCEPTED),
    "an integer of 401 digits": DecisionRule(
        of(
            (X, A, ("b", (1, 2, 10**400))),
            **dict.fromkeys(
                ("arrow", "parquet", "feather", "npy"), NotExpressible("the format's integers have 64 bits at most")
            ),
        ),
        ACCEPTED,
        INVALID,
    ),
    "a text for a number": DecisionRule(of((X, A, ("b", ("p", "q", "p"))), npy=NUMBERS_ALONE), ACCEPTED, INVALID),
    "a boolean for a number": DecisionRule(
        of((X, A, ("b", (True, False, True))), npy=NotExpressible("an array has one type")), ACCEPTED, INVALID
    ),
    "no value where the model has met none": DecisionRule(
        of((X, A, ("b", (1.0, None, 2.0))), npy=NotExpressible("NaN is a missing value there")), ACCEPTED, ACCEPTED
    ),
    "a list for a number": DecisionRule(nested, INVALID, INVALID),
    "a text of 100,001 characters": DecisionRule(
        of((("x", (1.0,)), ("colour", ("r" * 100_001,))), npy=NUMBERS_ALONE), INVALID, INVALID, model="small"
    ),
    "bytes that are not UTF-8": DecisionRule(not_utf8, MALFORMED, MALFORMED, model="small"),
    "half of a surrogate pair": DecisionRule(escaped_surrogate, MALFORMED, MALFORMED, model="small"),
    "UTF-16": DecisionRule(utf16, MALFORMED, MALFORMED, WITH_A_MARK),
    "another charset": DecisionRule(other_charset, UNSUPPORTED, UNSUPPORTED),
    "a byte order mark": DecisionRule(
        preceded(b"\xef\xbb\xbf"),
        MALFORMED,
        MALFORMED,
        dict.fromkeys(("json", "ndjson", "csv", "multipart"), BOM_OF_TEXT) | ARCHIVE,
    ),
    "an empty body": DecisionRule(always(b""), MALFORMED, MALFORMED, {"csv": NO_ROWS, "ndjson": NO_ROWS}),
    "white space alone": DecisionRule(always(b" \n"), MALFORMED, MALFORMED, {"csv": NO_ROWS, "ndjson": NO_ROWS}),
    "a body cut in two": DecisionRule(cut, MALFORMED, MALFORMED),
    "NUL behind the end": DecisionRule(followed(b"\0"), MALFORMED, MALFORMED, ARCHIVE),
    "eight NUL behind the end": DecisionRule(followed(bytes(8)), MALFORMED, MALFORMED, ARCHIVE),
    "a letter behind the end": DecisionRule(followed(b"x"), MALFORMED, MALFORMED, ARCHIVE),
    "two bodies in one": DecisionRule(twice, MALFORMED, MALFORMED),
    "a picture": DecisionRule(always(b"\x89PNG\r\n\x1a\n" + bytes(100)), MALFORMED, MALFORMED),
    "a body of 1,100,000 bytes": DecisionRule(always(b" " * 1_100_000), TOO_LARGE, TOO_LARGE),
    "an unknown Content-Encoding": DecisionRule(encoded("br"), UNSUPPORTED, UNSUPPORTED),
    "gzip": DecisionRule(encoded("gzip", gzip.compress), ACCEPTED, ACCEPTED),
    "gzip that is none": DecisionRule(encoded("gzip"), MALFORMED, MALFORMED),
    "gzip that is cut off": DecisionRule(encoded("gzip", lambda body: gzip.compress(body)[:-3]), MALFORMED, MALFORMED),
    "bytes behind gzip": DecisionRule(encoded("gzip", lambda body: gzip.compress(body) + b"xx"), MALFORMED, MALFORMED),
}


def outcome(response: httpx2.Response) -> str:
    if response.status_code in {200, 201}:
        return ACCEPTED
    return f"{response.status_code} {response.json()['type'].removeprefix('/problems/')}"


def sent(client: TestClient, path: str, coded: str, made: bytes | Body) -> str:
    """The outcome of a body."""
    body = Body(made) if isinstance(made, bytes) else made
    headers = {"Content-Type": f"{CONTENT_TYPES[coded]}{body.parameters}"}
    if body.encoding:
        headers["Content-Encoding"] = body.encoding
    return outcome(client.post(path, content=body.content, headers=headers))


@pytest.mark.thorough
@pytest.mark.parametrize("name", RULES)
def test_a_rule_has_its_outcome_in_every_format(stored_client: TestClient, name: str) -> None:
    rule = RULES[name]
    expected: dict[str, str] = {}
    found: dict[str, str] = {}
    for coded in FORMATS:
        made = rule.body(coded)
        if isinstance(made, NotExpressible):
            assert made.reason
            assert coded not in rule.otherwise
            continue
        usual = Otherwise(rule.upload, rule.predict, "as elsewhere")
        here = rule.otherwise.get(coded, usual)
        assert (here.upload, here.predict) != (rule.upload, rule.predict) or here is usual
        expected[f"upload {coded}"] = here.upload
        found[f"upload {coded}"] = sent(stored_client, "/v1/datasets", coded, made)
        if coded != "multipart":
            expected[f"predict {coded}"] = here.predict
            found[f"predict {coded}"] = sent(stored_client, f"/v1/models/{rule.model}/predict", coded, made)
    assert found == expected
    assert expected


def test_rows_to_predict_for_do_not_come_in_a_form(stored_client: TestClient) -> None:
    form = written("multipart", (X, A, B))
    assert sent(stored_client, "/v1/models/numbers/predict", "multipart", form) == UNSUPPORTED
