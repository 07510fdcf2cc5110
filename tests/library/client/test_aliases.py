import json

import httpx
import pytest

from relevance_bayes.client import ClientError
from tests.library.client.conftest import Connected

NOW = "2026-01-02T03:04:05Z"
ALIAS = {
    "model": "small",
    "alias": "champion",
    "version": 3,
    "moved_at": NOW,
    "moved_by": "local",
    "reason": "Less error.",
}
MOVE = {"number": 1, "at": NOW, "by": "local", "from_version": None, "to_version": 3, "reason": None}
ONE = "/v1/models/small/aliases/champion"


def page(*items: object) -> httpx.Response:
    return httpx.Response(200, json={"items": items, "has_more": False, "after": None})


def test_what_is_stated_is_sent_and_nothing_else(connected: Connected) -> None:
    pair = connected(
        {
            f"PUT {ONE}": lambda _: httpx.Response(200, json=ALIAS),
            f"GET {ONE}": lambda _: httpx.Response(200, json=ALIAS, headers={"ETag": '"t1"'}),
            f"DELETE {ONE}": lambda _: httpx.Response(204),
            "GET /v1/models/small/aliases": lambda _: page(ALIAS),
            f"GET {ONE}/history": lambda _: page(MOVE),
        }
    )
    calls = pair.client.aliases
    alias, tag = calls.with_etag("small", "champion")
    assert (alias.version, tag) == (3, '"t1"')
    assert calls.get("small", "champion") == alias
    assert list(calls.all("small")) == [alias]
    assert [move.to_version for move in calls.history("small", "champion")] == [3]
    pair.service.requested.clear()
    calls.move("small", "champion", 3, reason="Less error.", if_match=tag)
    calls.move("small", "champion", "challenger", new=True)
    calls.delete("small", "champion", reason="Bad.", if_match=tag)
    calls.delete("small", "champion")
    sent = [
        (
            json.loads(request.content) if request.content else None,
            request.headers.get("If-Match"),
            request.headers.get("If-None-Match"),
            request.url.params.get("reason"),
        )
        for request in pair.service.requested
    ]
    assert sent == [
        ({"version": 3, "reason": "Less error."}, '"t1"', None, None),
        ({"version": "challenger"}, None, "*", None),
        (None, '"t1"', None, "Bad."),
        (None, None, None, None),
    ]


@pytest.mark.parametrize(
    ("name", "version", "path"),
    [
        ("small", None, "/v1/models/small/predict"),
        ("small@champion", None, "/v1/models/small/versions/champion/predict"),
        ("small@2", None, "/v1/models/small/versions/2/predict"),
        ("small", "champion", "/v1/models/small/versions/champion/predict"),
        ("small", 2, "/v1/models/small/versions/2/predict"),
    ],
)
def test_a_version_is_named_by_its_number_or_an_alias(
    connected: Connected, name: str, version: int | str | None, path: str
) -> None:
    response = {"model": "small", "version": 2, "predictions": []}
    pair = connected({f"POST {path}": lambda _: httpx.Response(200, json=response)})
    assert pair.client.predict(name, {"rows": []}, version=version).version == 2


@pytest.mark.parametrize(
    ("name", "version"), [("small@champion", 2), ("small@", None), ("small", "0"), ("a@b c", None)]
)
def test_what_names_no_version_is_not_requested(connected: Connected, name: str, version: int | str | None) -> None:
    pair = connected({})
    with pytest.raises(ClientError):
        pair.client.version(name, version)
    assert pair.service.requested == []
