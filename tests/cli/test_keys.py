"""`relevance keys`, on a database that the first command creates."""

import re
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from app.main import create_app
from app.settings import Settings
from tests.commands import Run, runner


@pytest.fixture
def settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Settings:
    url = f"sqlite:///{tmp_path / 'relevance.db'}"
    monkeypatch.setenv("RELEVANCE_DATABASE_URL", url)
    return Settings(database_url=url)


@pytest.fixture
def keys(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Run:
    run = runner(monkeypatch)
    return lambda *arguments: run("keys", *arguments)


def status(settings: Settings, secret: str) -> int:
    with TestClient(create_app(settings), base_url="http://localhost") as client:
        return client.get("/v1/models", headers={"Authorization": f"Bearer {secret}"}).status_code


def created(output: str) -> tuple[str, str]:
    """The id and the secret."""
    (key,), (secret,) = re.findall(r"^key +(\S+)$", output, re.M), re.findall(r"^secret +(\S+)$", output, re.M)
    return key, secret


def test_a_key_is_created_listed_rotated_and_revoked(settings: Settings, keys: Run) -> None:
    assert "There is no API key of the owner 'local'." in keys("list").stdout
    done = keys("create", "shop", "--scope", "read", "--days", "90")
    assert done.exit_code == 0, done.output
    key, secret = created(done.stdout)
    assert status(settings, secret) == 200
    assert status(settings, "wrong") == 401
    rotated = keys("rotate", key, "--hours", "2")
    assert "valid for 2 more hours" in rotated.stdout
    _, successor = created(rotated.stdout)
    assert status(settings, secret) == status(settings, successor) == 200
    assert "Revoked 'shop'" in keys("revoke", key).stdout
    assert (status(settings, secret), status(settings, successor)) == (401, 200)
    listed = keys("list").stdout
    assert [len(re.findall(rf"\b{word}\b", listed)) for word in ("shop", "read", "revoked", "valid")] == [2, 2, 1, 1]
    assert secret not in listed


def test_by_default_a_key_permits_all_but_keys_and_never_expires(settings: Settings, keys: Run) -> None:
    done = keys("create", "shop")
    assert re.search(r"^scopes +predict, read, train$", done.stdout, re.M)
    assert re.search(r"^expires +never$", done.stdout, re.M)
    owner = keys("create", "other", "--owner", "acme", "--scope", "admin")
    _, secret = created(owner.stdout)
    with TestClient(create_app(settings), base_url="http://localhost") as client:
        (one,) = client.get("/v1/keys", headers={"Authorization": f"Bearer {secret}"}).json()["items"]
    assert (one["name"], one["scopes"]) == ("other", ["admin"])


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("create", ""), "a name of 1 to 100 printable characters"),
        (("revoke", "shop"), "the id of an API key"),
        (("rotate", "018f0000-0000-7000-8000-000000000000"), "There is no API key"),
        (("create", "shop", "--days", "0"), "in the future"),
    ],
)
def test_a_refusal_states_what_was_expected(keys: Run, arguments: tuple[str, ...], reason: str) -> None:
    done = keys(*arguments)
    assert done.exit_code == 1
    assert reason in done.stderr
