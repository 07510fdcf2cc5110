"""The service that a client is checked with, without that client."""

import json
import os
from collections.abc import Mapping, Sequence
from typing import TypeAlias
from urllib.request import Request, urlopen

Json: TypeAlias = "str | int | float | bool | list[Json] | dict[str, Json] | None"

URL = os.environ["CHECKED_URL"]
RPC = os.environ["CHECKED_RPC"]
AUTHORIZATION = f"Bearer {os.environ['CHECKED_KEY']}"
NUMBERS = ("a", "b", "c", "d", "e")
"""The columns of the model `numbers`."""


def exchange(path: str, body: bytes | None, headers: Mapping[str, str]) -> tuple[bytes, Mapping[str, str]]:
    """The response and its headers; raises urllib's HTTPError."""
    with urlopen(Request(f"{URL}{path}", body, {"Authorization": AUTHORIZATION, **headers})) as response:
        return response.read(), response.headers


def get(path: str, body: str | None = None) -> bytes:
    """The response of a path, or to a body of JSON; raises urllib's HTTPError."""
    content, _ = exchange(path, None if body is None else body.encode(), {"Content-Type": "application/json"})
    return content


def predictions(model: str, rows: Sequence[dict[str, float | str]]) -> list[dict[str, Json]]:
    """By the service's own interface."""
    reported: dict[str, list[dict[str, Json]]] = json.loads(
        get(f"/v1/models/{model}/predict", json.dumps({"rows": rows}))
    )
    return reported["predictions"]


def means(model: str, matrix: Sequence[Sequence[float]]) -> list[Json]:
    """Of rows of `numbers`."""
    return [row["mean"] for row in predictions(model, [dict(zip(NUMBERS, cells, strict=True)) for cells in matrix])]
