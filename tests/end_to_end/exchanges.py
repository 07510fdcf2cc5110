"""The exchanges that the documentation shows: made again, compared, recorded."""

import json
import re
import time
from base64 import b64decode
from collections.abc import Iterator, Mapping, Sequence
from math import isclose

import httpx2

from app.accounts.authenticator import REFRESH_SECONDS
from app.http.openapi import EXAMPLES, Json

UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")
MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
OF_THE_RUN = frozenset(
    {"seconds", "buckets", "ns", "last_inference", "after", "secret", "prefix", "hash", "previous_hash", "user_agent"}
) | {"training_seconds_per_day", "last_change", "expected_cost", "share", "seconds_left"}
"""Members that differ from run to run: times and what follows from the machine's speed, cursors, which are made of ids,
and what is drawn by chance."""

Exchange = dict[str, Json]


def replayed(client: httpx2.Client, exchanges: Sequence[Mapping[str, Json]]) -> Iterator[tuple[Exchange, Exchange]]:
    """Each exchange as it was recorded, with the ids that this run gave, and as it is now."""
    ids: dict[str, str] = {}
    for exchange in exchanges:
        recorded: Exchange = json.loads(_with(ids, json.dumps(exchange)))
        method = str(recorded["operation"]).partition(" ")[0]
        request, media_type = recorded["request"], recorded["media_type"]
        content = _content(request, media_type)
        headers = {} if media_type is None else {"Content-Type": str(media_type)}
        response = client.request(method, str(recorded["path"]), content=content, headers=headers)
        now: Exchange = {
            **recorded,
            "status": response.status_code,
            "response": response.json() if response.content and _is_json(response) else None,
        }
        ids |= _new_ids(recorded["response"], now["response"])
        if "Authorization" not in client.headers and exchange["operation"] == "POST /v1/keys":
            client.headers["Authorization"] = f"Bearer {response.json()['secret']}"  # from now on a key is needed
            time.sleep(REFRESH_SECONDS)  # until then it is not, and there is nothing to exchange for a session
        yield json.loads(_with(ids, json.dumps(recorded))), now


def _content(request: Json, media_type: Json) -> str | bytes | None:
    """The content to send: text as it is, pictures as they are in base 64, all else as JSON."""
    if request is None:
        return None
    if isinstance(request, str):
        return b64decode(request) if str(media_type).startswith("image/") else request
    return json.dumps(request)


def _is_json(response: httpx2.Response) -> bool:
    media_type = response.headers.get("content-type", "")
    return "json" in media_type and "ndjson" not in media_type


def _with(ids: Mapping[str, str], text: str) -> str:
    return UUID.sub(lambda found: ids.get(found[0], found[0]), text)


def _new_ids(recorded: Json, now: Json) -> dict[str, str]:
    """The ids at the same places of both."""
    pairs: dict[str, str] = {}
    for old, new in _leaves(recorded, now):
        if isinstance(old, str) and isinstance(new, str):
            pairs |= dict(zip(UUID.findall(old), UUID.findall(new), strict=False))
    return pairs


def _leaves(one: Json, other: Json) -> Iterator[tuple[Json, Json]]:
    if isinstance(one, dict) and isinstance(other, dict):
        for name in one.keys() & other.keys():
            yield from _leaves(one[name], other[name])
    elif isinstance(one, list) and isinstance(other, list):
        for old, new in zip(one, other, strict=False):
            yield from _leaves(old, new)
    else:
        yield one, other


def assert_alike(recorded: Json, now: Json, place: str = "") -> None:
    """Assert that two values are the same: numbers to four digits, moments and durations whatever they are."""
    if isinstance(recorded, dict) and isinstance(now, dict):
        assert list(recorded) == list(now), place
        for name, value in recorded.items():
            if name in OF_THE_RUN:
                assert type(value) is type(now[name]), f"{place}/{name}"
            else:
                assert_alike(value, now[name], f"{place}/{name}")
    elif isinstance(recorded, list) and isinstance(now, list):
        assert len(recorded) == len(now), place
        for number, (old, new) in enumerate(zip(recorded, now, strict=True)):
            assert_alike(old, new, f"{place}/{number}")
    elif isinstance(recorded, float) and isinstance(now, int | float):
        assert isclose(recorded, now, rel_tol=1e-4, abs_tol=1e-6), place
    elif isinstance(recorded, str) and isinstance(now, str) and MOMENT.fullmatch(recorded):
        assert MOMENT.fullmatch(now), place
    else:
        assert recorded == now, place


def record(client: httpx2.Client, exchanges: Sequence[Mapping[str, Json]]) -> None:
    """Write the exchanges as they are now."""
    made = [now for _, now in replayed(client, exchanges)]
    EXAMPLES.write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
