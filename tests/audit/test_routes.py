import csv
import io
import json
from hashlib import sha256

import pytest
from starlette.testclient import TestClient

from app.audit.repository import AuditRepository
from app.audit.service import COLUMNS
from app.errors import UnavailableError
from tests.accounts.test_routes import key
from tests.applications import SmallParts
from tests.problems import assert_problem

EXPORT = "/v1/audit/export"


def change(client: TestClient, number: int) -> None:
    for _ in range(number):
        assert client.patch("/v1/models/small", json={}, headers={"User-Agent": "=cmd()"}).is_success


def test_entries_are_listed_newest_first_in_pages(client: TestClient, parts: SmallParts) -> None:
    before = parts.audit.verify("local").entries
    change(client, 3)
    page = client.get("/v1/audit?limit=2&action=model.updated").json()
    assert [item["number"] for item in page["items"]] == [before + 3, before + 2]
    assert page["items"][0] | {"at": "", "previous_hash": "", "hash": "", "request_id": ""} == {
        "owner": "local",
        "number": before + 3,
        "at": "",
        "action": "model.updated",
        "result": "success",
        "actor": {"kind": "anonymous", "id": None},
        "resource": "/v1/models/small",
        "address": "testclient",
        "user_agent": "=cmd()",
        "request_id": "",
        "details": {},
        "previous_hash": "",
        "hash": "",
    }
    assert page["items"][0]["previous_hash"] == page["items"][1]["hash"]
    following = client.get(f"/v1/audit?limit=2&action=model.updated&after={page['after']}").json()
    assert [item["number"] for item in following["items"]] == [before + 1]
    assert client.get("/v1/audit?until=2020-01-01T00:00:00Z").json()["items"] == []
    assert client.get("/v1/audit?resource=/v1/models/small&order=oldest").json()["items"][0]["number"] == before + 1
    for extreme in ("9999-12-31T23:59:59-14:00", "0001-01-01T00:00:00%2B14:00"):
        assert client.get(f"/v1/audit?since={extreme}").status_code == 422
    assert client.get("/v1/audit?since=9999-12-31T23:59:59Z&until=0001-01-01T00:00:00Z").json()["items"] == []
    refused = client.get("/v1/audit?actions=model.updated")
    assert refused.status_code == client.get("/v1/audit?action=other").status_code == 422


def test_an_export_as_ndjson_verifies_by_the_documented_rule(client: TestClient) -> None:
    change(client, 3)
    response = client.get(EXPORT)
    assert response.headers["Content-Type"].startswith("application/x-ndjson")
    previous, lines = "0" * 64, response.text.splitlines()
    assert len(lines) >= 3
    for line in lines:
        entry = json.loads(line)
        expected = entry.pop("hash")
        content = json.dumps(entry, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        assert sha256(content.encode()).hexdigest() == expected
        assert entry["previous_hash"] == previous
        previous = expected


def test_an_export_as_csv_has_a_column_for_each_member_and_no_formula(client: TestClient) -> None:
    change(client, 2)
    response = client.get(f"{EXPORT}?action=model.updated", headers={"Accept": "text/csv, application/x-ndjson;q=0.5"})
    assert response.headers["Content-Type"].startswith("text/csv")
    header, *rows = csv.reader(io.StringIO(response.text))
    assert tuple(header) == COLUMNS
    assert [row[COLUMNS.index("user_agent")] for row in rows] == ["'=cmd()"] * 2
    detail = "Expected one of application/x-ndjson, text/csv in the Accept header, got neither."
    assert_problem(client.get(EXPORT, headers={"Accept": "application/json"}), "not-acceptable", detail)


def test_an_export_is_503_while_the_database_is_unavailable(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unavailable(*_: object) -> None:
        raise UnavailableError("The database is away.")

    monkeypatch.setattr(AuditRepository, "following", unavailable)
    assert_problem(client.get(EXPORT), "unavailable", "The database is away.")


@pytest.mark.parametrize("path", ["/v1/audit", EXPORT])
def test_the_audit_needs_the_scope_admin_and_is_that_of_its_owner(
    path: str, parts: SmallParts, locked: TestClient
) -> None:
    admin, other = key(parts, "admin"), key(parts, "admin", owner="other")
    assert locked.get(path, headers=key(parts, "predict", "read", "train")).status_code == 403
    mine, theirs = (locked.get(path, headers=headers | {"Accept": "*/*"}).text for headers in (admin, other))
    assert '"owner":"local"' in mine
    assert '"owner":"other"' not in mine
    assert '"owner":"other"' in theirs
    assert '"owner":"local"' not in theirs
