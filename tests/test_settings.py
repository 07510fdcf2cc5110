from pathlib import Path

import pytest
from pydantic import ValidationError

from app.settings import Settings, SettingsError, read_settings


def test_a_worker_may_miss_a_heartbeat_before_it_is_taken_for_dead() -> None:
    Settings(heartbeat_interval_seconds=2.0, heartbeat_timeout_seconds=4.0)
    with pytest.raises(ValidationError, match="twice RELEVANCE_HEARTBEAT_INTERVAL_SECONDS"):
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


FAULTS = [
    ({"PORT": "tcp://10.0.0.7:8000"}, ["RELEVANCE_PORT: expected integer, got 'tcp://10.0.0.7:8000'"]),
    ({"PORT": "70000"}, ["RELEVANCE_PORT: expected a value less than or equal to 65535, got '70000'"]),
    ({"LOG_REQUESTS": "perhaps"}, ["RELEVANCE_LOG_REQUESTS: expected boolean, got 'perhaps'"]),
    (
        {"MAX_ROWS": "0", "JWT_ISSUER": "https://issuer.test", "POLL_SECONDS": "soon"},
        [
            "RELEVANCE_MAX_ROWS: expected a value greater than 0, got '0'",
            "RELEVANCE_POLL_SECONDS: expected number, got 'soon'",
        ],
    ),
    (
        {"JWT_ISSUER": "https://issuer.test", "LOG_LEVEL": "loud", "HEARTBEAT_TIMEOUT_SECONDS": "3"},
        [
            "RELEVANCE_JWT_AUDIENCE: expected with RELEVANCE_JWT_ISSUER, got nothing",
            (
                "RELEVANCE_HEARTBEAT_TIMEOUT_SECONDS: expected at least twice RELEVANCE_HEARTBEAT_INTERVAL_SECONDS "
                "(4), or live workers count as dead; got 3"
            ),
            "RELEVANCE_LOG_LEVEL: expected one of DEBUG, INFO, WARNING, ERROR, CRITICAL; got 'loud'",
        ],
    ),
    (
        {"INITIAL_API_KEY_FILE": "/missing/key"},
        [
            (
                "RELEVANCE_INITIAL_API_KEY_FILE: expected a file that can be read, got /missing/key "
                "(No such file or directory)"
            )
        ],
    ),
]


@pytest.mark.parametrize(("given", "lines"), FAULTS)
def test_each_fault_is_a_line_with_the_variable_what_was_expected_and_what_was_given(
    given: dict[str, str], lines: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in given.items():
        monkeypatch.setenv(f"RELEVANCE_{name}", value)
    with pytest.raises(SettingsError) as refused:
        read_settings()
    assert list(refused.value.faults) == lines


SECRET = "hunter2"


@pytest.mark.parametrize(
    "given",
    [
        {"API_KEY": SECRET, "INITIAL_API_KEY": SECRET, "JWT_AUDIENCE": "one"},
        {"API_KEY": SECRET, "PORT": SECRET},
        {"JWT_ISSUER": f"http://user:{SECRET}@issuer.test", "JWT_AUDIENCE": "one"},
        {"JWT_ISSUER": f"http://issuer.test/?token={SECRET}", "JWT_AUDIENCE": "one"},
        {"CORS_ORIGINS": f"https://user:{SECRET}/@example.org"},
        {"PORT": f"postgresql://user:{SECRET}@host/relevance"},
        {"WEBHOOK_ALLOWED_HOSTS": f"https://user:{SECRET}@example.org"},
        {"DATABASE_URL": f"postgresql://user:{SECRET}@host/relevance", "MAX_ROWS": "0"},
    ],
)
def test_no_error_of_settings_has_a_secret(given: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in given.items():
        monkeypatch.setenv(f"RELEVANCE_{name}", value)
    with pytest.raises(SettingsError, match="RELEVANCE_") as refused:
        read_settings()
    assert SECRET not in str(refused.value)
    assert (refused.value.__cause__, refused.value.__context__) == (None, None)
    with pytest.raises(ValidationError) as unread:
        Settings()
    assert SECRET not in str(unread.value)


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql://user:{SECRET}@host/relevance",
        f"postgresql://host/relevance?user=name&password={SECRET}&sslpassword={SECRET}",
        f"postgresql://user:{SECRET}@host/relevance?sslmode=require",
        f"postgresql://user:80/{SECRET}@host/relevance",
        f"user:{SECRET}@host",
    ],
)
def test_the_shown_url_of_a_database_has_no_password(url: str) -> None:
    assert SECRET not in str(Settings(database_url=url).shown_database_url)


@pytest.mark.parametrize("wrong", ["models.example:8443", "*.example", "http://models.example", "a b", "10.0.0.0/33"])
def test_what_is_no_host_is_refused(wrong: str) -> None:
    Settings(allowed_hosts="models.example, 10.0.0.0/8,::1")
    with pytest.raises(ValidationError, match="expected a network, address or host name"):
        Settings(allowed_hosts=f"models.example,{wrong}")


def test_heads_of_the_audit_have_a_file_and_a_key_and_are_sent_in_secret(tmp_path: Path) -> None:
    file, key = tmp_path / "heads", tmp_path / "key"
    with pytest.raises(ValidationError, match="RELEVANCE_AUDIT_HEAD_KEY_FILE: expected with RELEVANCE_AUDIT_HEAD_FILE"):
        Settings(audit_head_file=file)
    with pytest.raises(ValidationError, match="RELEVANCE_AUDIT_HEAD_FILE: expected with RELEVANCE_AUDIT_HEAD_KEY_FILE"):
        Settings(audit_head_key_file=key)
    with pytest.raises(ValidationError, match="RELEVANCE_AUDIT_HEAD_URL: expected with RELEVANCE_AUDIT_HEAD_FILE"):
        Settings(audit_head_url="https://heads.example/")
    Settings(audit_head_file=file, audit_head_key_file=key, audit_head_url="https://heads.example/")
    with pytest.raises(ValidationError, match="RELEVANCE_AUDIT_HEAD_URL: expected an https URL"):
        Settings(audit_head_file=file, audit_head_key_file=key, audit_head_url="http://heads.example/")


ABOVE_0 = (
    "max_upload_bytes max_body_bytes header_timeout_seconds max_rows max_columns max_prediction_rows"
    " max_training_cells max_candidate_cells cache_bytes heartbeat_interval_seconds heartbeat_timeout_seconds"
    " poll_seconds fit_memory_bytes job_timeout_seconds idempotency_retention_seconds event_retention_days"
    " result_retention_days audit_retention_days recorded_prediction_retention_days session_seconds"
)
MINIMUMS = {
    "port grpc_port jwt_leeway_seconds min_body_bytes_per_second drain_seconds stale_if_error_seconds"
    " checkpoint_seconds": 0,
    "max_header_fields max_connections grace_seconds worker_slots owner_concurrency max_queued_jobs": 1,
    "max_header_bytes": 1024,
    "job_retention_days": 7,
    "drift_window_seconds": 60,
}
MAXIMUMS = {
    "port grpc_port": 65_535,
    "jwt_leeway_seconds": 300,
    "session_seconds": 30 * 86_400,
    "max_header_bytes": 2**20,
    "max_header_fields": 10_000,
    "worker_slots": 64,
    "max_queued_jobs": 2**53 - 1,
}


def names(of: dict[str, int]) -> list[tuple[str, int]]:
    return [(name, bound) for some, bound in of.items() for name in some.split()]


def refusal(name: str, value: float) -> str | None:
    """The error of the value of one setting, None where it is accepted."""
    others = {
        "heartbeat_interval_seconds": {"heartbeat_timeout_seconds": 1e6},
        "heartbeat_timeout_seconds": {"heartbeat_interval_seconds": 1e-6},
        "job_retention_days": {"event_retention_days": 7.0, "result_retention_days": 7.0},
    }.get(name, {})
    try:
        Settings.model_validate({**others, name: value})
    except ValidationError as error:
        return str(error)
    return None


@pytest.mark.parametrize(("name", "minimum"), [*names({ABOVE_0: 0}), *names(MINIMUMS)])
def test_the_minimum_of_a_setting_is_accepted_and_what_is_below_is_refused(name: str, minimum: int) -> None:
    is_exclusive = name in ABOVE_0.split()
    is_whole = Settings.model_fields[name].annotation not in {float, float | None}
    step = 1 if is_whole else 0.01
    assert refusal(name, minimum + step * is_exclusive) is None
    expected = "greater than" if is_exclusive else "greater than or equal to"
    assert f"Input should be {expected} {minimum}" in str(refusal(name, minimum - step * (not is_exclusive)))


@pytest.mark.parametrize(("name", "maximum"), names(MAXIMUMS))
def test_the_maximum_of_a_setting_is_accepted_and_what_is_above_is_refused(name: str, maximum: int) -> None:
    assert refusal(name, maximum) is None
    assert f"less than or equal to {maximum}" in str(refusal(name, maximum + 1))


def test_every_bound_of_a_setting_is_tested() -> None:
    bounds = {
        name: {kind for one in field.metadata for kind in ("ge", "gt", "le", "lt") if hasattr(one, kind)}
        for name, field in Settings.model_fields.items()
    }
    assert {name for name, kinds in bounds.items() if kinds & {"ge"}} == {name for name, _ in names(MINIMUMS)}
    assert {name for name, kinds in bounds.items() if "gt" in kinds} == {*ABOVE_0.split()}
    assert {name for name, kinds in bounds.items() if kinds & {"le", "lt"}} == {name for name, _ in names(MAXIMUMS)}


def test_the_names_of_a_token_have_a_character() -> None:
    for name in ("jwt_owner_claim", "jwt_local_subject"):
        with pytest.raises(ValidationError, match="at least 1 character"):
            Settings.model_validate({name: ""})


def test_jobs_are_kept_no_shorter_than_what_follows_from_them() -> None:
    Settings(job_retention_days=30.0, event_retention_days=30.0, result_retention_days=30.0)
    with pytest.raises(ValidationError, match="RELEVANCE_JOB_RETENTION_DAYS"):
        Settings(job_retention_days=29.9, event_retention_days=30.0, result_retention_days=30.0)


def test_the_log_has_the_settings_that_are_not_the_default() -> None:
    defaults = {name: field.default for name, field in Settings.model_fields.items()}
    assert Settings.model_validate(defaults).given() == {}
    assert Settings.model_validate({**defaults, "port": 8001}).given() == {"port": "8001"}


@pytest.mark.parametrize(
    ("given", "needed"),
    [
        ({"host": "127.0.0.1"}, False),
        ({"host": "0.0.0.0"}, True),
        ({"host": "0.0.0.0", "insecure": True}, False),
        ({"host": "127.0.0.1", "api_key": SECRET}, True),
        ({"host": "0.0.0.0", "insecure": True, "api_key": SECRET}, True),
    ],
)
def test_keys_are_needed_beyond_loopback_and_where_there_are_any(given: dict[str, object], needed: bool) -> None:
    assert Settings.model_validate(given).needs_keys == needed
