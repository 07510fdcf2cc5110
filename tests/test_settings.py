import pytest
from pydantic import ValidationError

from app.settings import Settings


def test_a_worker_may_miss_a_heartbeat_before_it_is_taken_for_dead() -> None:
    Settings(heartbeat_interval_seconds=2.0, heartbeat_timeout_seconds=4.0)
    with pytest.raises(ValidationError, match="twice heartbeat_interval_seconds"):
        Settings(heartbeat_interval_seconds=2.0, heartbeat_timeout_seconds=3.9)


def test_origins_are_scheme_host_and_port() -> None:
    found = Settings(cors_origins="https://example.org, http://localhost:3000,http://[::1]:80").allowed_origins
    assert found == ("https://example.org", "http://localhost:3000", "http://[::1]:80")
    assert Settings().allowed_origins == ()
    assert Settings(cors_origins="*").allowed_origins == ("*",)


@pytest.mark.parametrize("wrong", ["example.org", "https://example.org/", "https://Example.org", "https://a b", "null"])
def test_what_is_no_origin_is_refused(wrong: str) -> None:
    with pytest.raises(ValidationError, match="expected scheme://host"):
        Settings(cors_origins=f"https://example.org,{wrong}")
