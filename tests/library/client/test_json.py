import json
from datetime import UTC, datetime
from uuid import UUID

import pytest

from relevance_bayes.client.responses import Predictions
from relevance_bayes.records.jobs import VersionName
from relevance_bayes.records.json import ResponseForm, dumps


def test_what_is_no_number_is_sent_as_null_and_all_else_as_it_is() -> None:
    given = {"x": [1.0, float("nan"), (2, float("-inf"))], "y": "\u00e4", "z": {"a": True, "b": None}}
    assert dumps(given) == '{"x":[1.0,null,[2,null]],"y":"\u00e4","z":{"a":true,"b":null}}'


def test_records_are_sent_by_the_names_of_their_members() -> None:
    moment, key = datetime(2026, 1, 2, tzinfo=UTC), UUID(int=1)
    assert json.loads(dumps([VersionName("m", 3), moment, key])) == [
        {"model": "m", "version": 3},
        "2026-01-02T00:00:00Z",
        str(key),
    ]


def test_what_json_can_not_express_is_refused() -> None:
    with pytest.raises(TypeError, match="bytes has no JSON form"):
        dumps({"x": b"1"})
    endless: list[object] = []
    endless.append(endless)
    with pytest.raises((ValueError, RecursionError)):
        dumps(endless)


@pytest.mark.parametrize("text", [b"", b"{", b"\xff", b"[" * 100_000], ids=["none", "broken", "no text", "deep"])
def test_other_text_is_refused(text: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - of several kinds
        ResponseForm[Predictions](Predictions).read(text)


def test_another_record_is_refused_at_its_place() -> None:
    with pytest.raises(ValueError, match="At /version: Should be a valid integer"):
        ResponseForm[VersionName](VersionName).read(b'{"model":"m","version":"3"}')
