"""Starting the API: from settings alone, or not at all."""

from pathlib import Path

import pytest
from pydantic import SecretStr, ValidationError
from starlette.testclient import TestClient

from app.http.dependencies import RequestLimits
from app.main import create_app
from app.maintenance.administration import migrate
from app.services import build
from app.settings import Settings
from relevance_bayes.records.errors import InvalidRequestError


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(database_url=f"sqlite:///{tmp_path / 'relevance.db'}", max_prediction_rows=7)


KEYS = [
    ({}, False),
    ({"host": "0.0.0.0"}, True),
    ({"host": "0.0.0.0", "insecure": True}, False),
    ({"api_key": SecretStr("sent by clients")}, True),
    ({"api_key_file": Path("key")}, True),
    ({"jwt_issuer": "https://issuer.test", "jwt_audience": "relevance"}, True),
]


@pytest.mark.usefixtures("migrated_file")
@pytest.mark.parametrize(("given", "are_needed"), KEYS)
def test_keys_are_needed_beyond_loopback_and_where_the_service_finds_that_of_clients(
    settings: Settings, given: dict[str, object], are_needed: bool
) -> None:
    with TestClient(create_app(settings.model_copy(update=given)), base_url="http://localhost") as client:
        assert client.get("/v1/models").status_code == (401 if are_needed else 200)


def test_the_initial_key_is_added_to_a_database_without_keys_alone(settings: Settings) -> None:
    for secret in ("the first one chosen", "and a second one chosen"):
        migrate(settings.model_copy(update={"initial_api_key": SecretStr(secret)}))
    with TestClient(create_app(settings), base_url="http://localhost") as client:
        assert client.get("/v1/models").status_code == 401
        for secret, status in (("the first one chosen", 200), ("and a second one chosen", 401)):
            headers = {"Authorization": f"Bearer {secret}"}
            assert client.get("/v1/keys", headers=headers).status_code == status


def test_a_short_initial_key_is_refused(settings: Settings) -> None:
    with pytest.raises(InvalidRequestError, match="at least 16 characters, got 5"):
        migrate(settings.model_copy(update={"initial_api_key": SecretStr("short")}))


def test_a_token_is_no_initial_key(settings: Settings) -> None:
    with pytest.raises(InvalidRequestError, match="got a JSON Web Token"):
        migrate(settings.model_copy(update={"initial_api_key": SecretStr("eyJhbGciOiJub25lIn0.eyJ9.")}))


@pytest.mark.parametrize(
    "given",
    [
        {"jwt_issuer": "https://issuer.test"},
        {"jwt_audience": "relevance"},
        {"jwt_jwks_url": "https://issuer.test/keys"},
        {"jwt_issuer": "http://issuer.test", "jwt_audience": "relevance"},
        {"jwt_issuer": "https://issuer.test", "jwt_audience": "relevance", "jwt_jwks_url": "file:///keys"},
    ],
)
def test_an_issuer_needs_an_audience_and_a_secure_url(given: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in given.items():
        monkeypatch.setenv(f"RELEVANCE_{name.upper()}", value)
    with pytest.raises(ValidationError, match=r"JWT_ISSUER|https"):
        Settings()


def test_limits_are_those_of_the_settings(settings: Settings) -> None:
    parts = build(settings)
    app = create_app(settings, parts)
    assert app.state.services[RequestLimits].max_prediction_rows == 7
    parts.close()


def test_without_its_tables_the_service_lives_and_is_not_ready(settings: Settings) -> None:
    with TestClient(create_app(settings), base_url="http://localhost") as client:
        assert client.get("/health/live").status_code == 200
        assert client.get("/health/ready").status_code == 503
