"""Versions as files, requested and sent."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import httpx
import orjson
import pytest

from app.exports.formats import RENDERINGS
from app.http.negotiation import to_json
from app.identity import uuid7
from app.registry.records import Version
from app.tasks.responses import version_record
from relevance_bayes.client import ClientError
from relevance_bayes.records.versions import ImportedFrom
from tests.exports.trained import trained
from tests.library.client.conftest import Connected

NOW = datetime(2026, 1, 2, tzinfo=UTC)


def imported() -> dict[str, object]:
    report = replace(trained("constant").report, imported=ImportedFrom("small", 1, "ab" * 32))
    reported: dict[str, object] = orjson.loads(
        to_json(version_record(Version(uuid7(), "local", "twin", 3, None, NOW, report)))
    )
    return reported


@pytest.mark.parametrize("form", ["json", "npz"])
def test_a_file_is_sent_as_what_it_is_to_the_model_that_it_was_of(
    connected: Connected, tmp_path: Path, form: str
) -> None:
    made = trained("constant")
    file = tmp_path / f"any.{form}"
    file.write_bytes(RENDERINGS["npz" if form == "npz" else "json"].render(made))
    response = imported()
    pair = connected(
        {
            "POST /v1/models/small/versions": lambda _: httpx.Response(201, json=response),
            "POST /v1/models/other/versions": lambda _: httpx.Response(201, json=response),
        }
    )
    version = pair.client.import_version(file)
    pair.client.import_version(file, model="other", key="mine")
    assert version.imported is not None
    assert (version.imported.model, version.job_id) == ("small", None)
    types = {"json": "application/json", "npz": "application/x-npz"}
    assert [one.headers["Content-Type"] for one in pair.service.requested] == [types[form]] * 2
    assert [one.content for one in pair.service.requested] == [file.read_bytes()] * 2
    assert pair.service.requested[1].headers["Idempotency-Key"] == '"mine"'


def test_a_version_is_fetched_in_the_form_that_was_requested(connected: Connected) -> None:
    pair = connected({"GET /v1/models/a%2Fb/versions/2/export": lambda _: httpx.Response(200, content=b"PK")})
    assert pair.client.export("a/b", 2, "npz") == b"PK"
    assert pair.service.requested[0].url.params["format"] == "npz"


def test_a_report_is_fetched_as_html(connected: Connected) -> None:
    pair = connected({"GET /v1/models/a%2Fb/versions/2/report": lambda _: httpx.Response(200, content=b"<!doctype")})
    assert pair.client.report("a/b", 2) == b"<!doctype"
    assert pair.service.requested[0].headers["Accept"] == "text/html"


def test_a_file_that_is_no_exported_version_is_stated_to_be_none(connected: Connected, tmp_path: Path) -> None:
    file = tmp_path / "table.json"
    file.write_text("[1]")
    with pytest.raises(ClientError, match="of `relevance export`, got"):
        connected({}).client.import_version(file)
