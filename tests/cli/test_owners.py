"""`relevance keys` and `relevance limits`."""

import re
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from app.main import create_app
from app.settings import Settings
from relevance_bayes.records.accounts import LIMIT_NAMES
from tests.commands import Run, runner
from tests.waiting import until


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


@pytest.fixture
def url(monkeypatch: pytest.MonkeyPatch, migrated_file: Path) -> str:
    url = f"sqlite:///{migrated_file}"
    monkeypatch.setenv("RELEVANCE_DATABASE_URL", url)
    monkeypatch.setenv("RELEVANCE_OWNER_MODELS", "20")
    return url


@pytest.fixture
def limits(url: str, monkeypatch: pytest.MonkeyPatch) -> Run:
    run = runner(monkeypatch)
    return lambda *arguments: run("limits", *arguments)


def listed(output: str) -> dict[str, tuple[str, str]]:
    """Limit and origin by name."""
    rows = (re.split(r"  +", line.strip()) for line in output.splitlines()[2:])
    return {name: (limit, origin) for name, limit, origin, *_ in rows}


def test_limits_are_set_shown_listed_and_reset(limits: Run) -> None:
    assert "No limits are set for any owner." in limits("list").stdout
    done = limits("set", "acme", "--requests-per-second", "500", "--models", "none", "--datasets", "0")
    assert done.exit_code == 0, done.output
    expected = {name.replace("_", " "): ("none", "settings") for name in LIMIT_NAMES}
    expected["unfinished jobs"] = ("10,000", "settings")
    changed = {
        **expected,
        "requests per second": ("500", "this owner"),
        "models": ("none", "this owner"),
        "datasets": ("0", "this owner"),
    }
    assert listed(done.stdout) == listed(limits("show", "acme").stdout) == changed
    done = limits("set", "acme", "--models", "default", "--datasets", "7")
    assert listed(done.stdout)["models"] == ("20", "settings")
    assert listed(done.stdout)["datasets"] == ("7", "this owner")
    assert re.search(r"^acme +requests_per_second 500, datasets 7$", limits("list").stdout, re.M)
    assert listed(limits("reset", "acme").stdout) == {**expected, "models": ("20", "settings")}
    assert "No limits" in limits("list").stdout


@pytest.mark.parametrize(
    ("option", "value", "minimum"),
    [("--requests-per-second", "0", 1), ("--models", "-1", 0), ("--datasets", "many", 0)],
)
def test_other_limits_are_refused(limits: Run, option: str, value: str, minimum: int) -> None:
    done = limits("set", "acme", f"{option}={value}")
    assert done.exit_code == 1
    assert f"{option}: expected an integer from {minimum} to" in done.output
    assert "Expected an owner of 1 to 100 printable characters" in limits("set", " acme", "--models", "3").output
    assert "No limits" in limits("list").stdout


def test_a_running_service_applies_new_rates(limits: Run, url: str) -> None:
    limits("set", "acme", "--models", "3")
    with TestClient(create_app(Settings(database_url=url)), base_url="http://localhost") as client:
        assert "ratelimit" not in client.get("/v1/models").headers
        limits("set", "local", "--requests-per-second", "1000")
        until(lambda: "ratelimit" in client.get("/v1/models").headers, pause=0.2)
        limits("reset", "local")
        until(lambda: "ratelimit" not in client.get("/v1/models").headers, pause=0.2)
