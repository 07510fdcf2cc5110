"""Files of predictions, as the client requests and fetches them."""

import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from relevance_bayes.client import ClientError
from relevance_bayes.client.errors import CONNECTION_LOST
from tests.library.client.conftest import Connected

JOB: dict[str, object] = {
    "id": "one",
    "state": "succeeded",
    "created_at": "2024-05-01T12:00:00Z",
    "started_at": "2024-05-01T12:00:00Z",
    "finished_at": "2024-05-01T12:00:01Z",
    "cancel_requested_at": None,
    "attempt": 1,
    "resumed_from": None,
    "progress": None,
    "version": {"model": "small", "version": 2},
    "error": None,
    "transitions": [],
    "dataset_id": "two",
    "model": "small",
    "priority": 0,
    "retry_of": None,
    "task": "regression",
    "target": "y",
    "format": "csv",
    "columns": ["mean", "error"],
    "on_error": "per_row",
    "result": {"rows": 2, "rows_not_predicted": 0, "size": 10},
}
CONTENT = b"0123456789"
PATH = "/v1/batch-predictions"


class BreaksOff(httpx.SyncByteStream):
    """Some bytes, and then the connection is lost."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    def __iter__(self) -> Iterator[bytes]:
        yield self._content
        raise httpx.ReadError("gone")


def test_a_file_is_requested_with_the_given_options_alone(connected: Connected) -> None:
    pair = connected({f"POST {PATH}": lambda _: httpx.Response(202, json=JOB | {"state": "queued", "result": None})})
    job = pair.client.batch_predictions.submit(
        "small@champion", "two", keep=["id"], class_priors={True: 0.5, False: 0.5}
    )
    assert (job.task, job.has_ended, job.columns, job.result) == ("regression", False, ("mean", "error"), None)
    (requested,) = pair.service.requested
    assert requested.headers["Idempotency-Key"]
    assert json.loads(requested.content) == {
        "model": "small",
        "version": "champion",
        "dataset_id": "two",
        "keep": ["id"],
        "class_priors": [{"label": True, "prior": 0.5}, {"label": False, "prior": 0.5}],
    }


def test_a_download_that_breaks_off_is_continued(connected: Connected, tmp_path: Path) -> None:
    requested: list[str | None] = []

    def file(request: httpx.Request) -> httpx.Response:
        requested.append(request.headers.get("Range"))
        first = int(requested[-1].removeprefix("bytes=").removesuffix("-")) if requested[-1] else 0
        rest = CONTENT[first:]
        stream = httpx.ByteStream(rest) if len(rest) <= 4 else BreaksOff(rest[:3])
        return httpx.Response(206 if first else 200, stream=stream)

    pair = connected({f"GET {PATH}/one": lambda _: httpx.Response(200, json=JOB), f"GET {PATH}/one/result": file})
    assert pair.client.batch_predictions.download("one", tmp_path / "made.csv") == 10
    assert (tmp_path / "made.csv").read_bytes() == CONTENT
    assert requested == [None, "bytes=3-", "bytes=6-"]


def test_a_download_that_comes_no_further_ends(connected: Connected, tmp_path: Path) -> None:
    pair = connected(
        {
            f"GET {PATH}/one": lambda _: httpx.Response(200, json=JOB),
            f"GET {PATH}/one/result": lambda _: httpx.Response(200, stream=BreaksOff(b"")),
        }
    )
    with pytest.raises(ClientError) as lost:
        pair.client.batch_predictions.download("one", tmp_path / "made.csv")
    assert lost.value.problem.type == CONNECTION_LOST


def test_one_is_removed(connected: Connected) -> None:
    pair = connected({f"DELETE {PATH}/one": lambda _: httpx.Response(204)})
    pair.client.batch_predictions.delete("one")
    assert len(pair.service.requested) == 1
