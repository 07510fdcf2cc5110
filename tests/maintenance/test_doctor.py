"""The checks of a deployment: what is found of faults, each with its remedy."""

from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import Engine, text

from app.accounts.service import ApiKeys
from app.database import transaction as health
from app.database.revision import EXPECTED
from app.database.transaction import OpenTransaction, now
from app.identity import BUILT_IN_OWNER
from app.jobs.statistics_repository import WorkerRepository
from app.maintenance import doctor
from app.maintenance import doctor as settings_checks
from app.maintenance.doctor import Finding
from app.services import build
from app.settings import Settings
from tests.database.test_compatibility import LATER, as_of
from tests.stored_service import fill


def found(settings: Settings) -> dict[str, Finding]:
    """The findings by check; of the settings the last."""
    return {finding.check: finding for finding in doctor.examine(settings)}


def heartbeat(url: str) -> None:
    parts = build(Settings(database_url=url))
    with parts.base.transaction() as tx:
        WorkerRepository(tx).record_heartbeat("here:1")
    parts.close()


def test_a_sound_deployment_has_no_fault(database: str, database_url: str, tmp_path: Path) -> None:
    heartbeat(database_url)
    findings = [*doctor.examine(Settings(database_url=database_url, spool_directory=tmp_path))]
    assert {finding.level for finding in findings} == {"ok"}, findings
    assert [finding.check for finding in findings] == [
        "settings",
        "spool directory",
        *(["database folder"] if database == "sqlite" else []),
        *("database", "migrations", "writes", "clock", "workers", "keys"),
        *(["backup"] if database == "postgresql" else []),
    ]
    assert "here:1" in next(finding.detail for finding in findings if finding.check == "workers")


def test_each_fault_has_a_remedy(database_url: str) -> None:
    settings = Settings(database_url=database_url, host="0.0.0.0", insecure=True, spool_directory=Path("/missing"))
    findings = found(settings)
    assert findings["spool directory"].level == "error"
    assert findings["keys"].level == "error"
    assert findings["workers"].level == "warning"
    for finding in findings.values():
        assert (finding.remedy is None) == (finding.level == "ok")


def test_queued_jobs_without_a_worker_are_an_error(database_url: str) -> None:
    fill(database_url)
    assert found(Settings(database_url=database_url))["workers"].level == "error"
    heartbeat(database_url)
    assert found(Settings(database_url=database_url))["workers"].level == "ok"


def test_tables_of_a_newer_release_are_in_order_where_they_are_compatible(engine: Engine, database_url: str) -> None:
    as_of(engine, LATER, EXPECTED)
    finding = found(Settings(database_url=database_url))["migrations"]
    assert (finding.level, "a later revision, compatible with" in finding.detail) == ("ok", True)
    as_of(engine, LATER)
    finding = found(Settings(database_url=database_url))["migrations"]
    assert (finding.level, finding.detail) == (
        "error",
        f"the tables are of a newer release, at {LATER}, which this one can't use",
    )


def test_a_database_without_tables_is_to_be_migrated(empty_database_url: str) -> None:
    findings = found(Settings(database_url=empty_database_url))
    assert findings["database"].level == "ok"
    assert (findings["migrations"].level, findings["migrations"].remedy) == ("error", "Run `relevance migrate`.")
    assert "workers" not in findings


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("postgresql://relevance:hunter2@127.0.0.1:1/relevance", "refused"),
        ("sqlite:////tmp/missing/relevance.db", "unable to open"),
    ],
)
def test_an_unreachable_database_is_an_error_with_its_reason(url: str, reason: str) -> None:
    findings = found(Settings(database_url=url))
    assert findings["database"].level == "error"
    assert reason in findings["database"].detail
    assert "hunter2" not in findings["database"].detail
    assert "migrations" not in findings


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        (Settings(database_url="hunter2"), "is not a URL"),
        (Settings(database_url="mysql://relevance:hunter2@127.0.0.1/relevance"), "got mysql"),
        (Settings(database_password_file=Path("/missing/password")), "/missing/password can't be read"),
    ],
)
def test_a_url_that_cannot_be_used_is_an_error(settings: Settings, reason: str) -> None:
    finding = found(settings)["database"]
    assert (finding.level, reason in finding.detail) == ("error", True)
    assert "hunter2" not in finding.detail


@pytest.mark.parametrize("database", ["postgresql"])
def test_a_server_that_refuses_writes_is_an_error(database_url: str) -> None:
    settings = Settings(database_url=f"{database_url}?options=-c%20default_transaction_read_only%3Don")
    finding = found(settings)["writes"]
    assert (finding.level, "read-only" in finding.detail) == ("error", True)


@pytest.mark.parametrize("database", ["postgresql"])
def test_a_database_that_does_not_exist_is_named(database_url: str) -> None:
    detail = found(Settings(database_url=f"{database_url}_other"))["database"].detail
    assert 'other" does not exist' in detail


@pytest.mark.parametrize("database", ["sqlite"])
def test_a_file_that_refuses_writes_is_an_error(engine: Engine) -> None:
    with engine.begin() as connection:
        connection.execute(text("PRAGMA query_only = ON"))
    assert "readonly" in (health.examine(engine).write_error or "")


def test_writes_are_tried_without_a_change(engine: Engine, transaction: OpenTransaction) -> None:
    with transaction() as tx:
        WorkerRepository(tx).record_heartbeat("here:1")
        before = WorkerRepository(tx).last_heartbeats()
    assert health.examine(engine).write_error is None
    with transaction() as tx:
        assert WorkerRepository(tx).last_heartbeats() == before


@pytest.mark.parametrize("ahead", [-90.0, -10.0, 0.0, 10.0, 90.0])
def test_clocks_are_compared(engine: Engine, ahead: float, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = health.examine(engine, lambda: now() + timedelta(seconds=ahead)).ahead_seconds
    assert seen == pytest.approx(ahead, abs=0.5)
    monkeypatch.setattr(health, "examine", lambda _engine: health.DatabaseHealth(seen, None))
    finding = found(Settings(database_url=engine.url.render_as_string(hide_password=False)))["clock"]
    assert finding.level == {0.0: "ok", 10.0: "warning", 90.0: "error"}[abs(ahead)]
    assert ("ahead of" in finding.detail, "behind" in finding.detail) == (ahead > 0, ahead < 0)


@pytest.mark.parametrize("database", ["sqlite"])
def test_what_keys_protect_is_found(database_url: str) -> None:
    exposed = Settings(database_url=database_url, host="0.0.0.0")
    assert found(Settings(database_url=database_url))["keys"].level == "ok"
    assert found(exposed)["keys"].level == "warning"
    of_issuer = exposed.model_copy(update={"jwt_issuer": "https://login.example.com", "jwt_audience": "relevance"})
    assert found(of_issuer)["keys"].level == "ok"
    parts = build(exposed)
    ApiKeys(parts.base.transaction).create(BUILT_IN_OWNER, "operator", scopes=("admin",), expires_at=None)
    parts.close()
    assert found(exposed)["keys"].level == "ok"


@pytest.mark.parametrize("database", ["sqlite"])
def test_any_origin_is_a_warning_while_requests_need_no_key(database_url: str) -> None:
    settings = Settings(database_url=database_url, cors_origins="*")
    assert found(settings)["origins"].level == "warning"
    parts = build(settings)
    ApiKeys(parts.base.transaction).create(BUILT_IN_OWNER, "operator", scopes=("admin",), expires_at=None)
    parts.close()
    assert "origins" not in found(settings)


@pytest.mark.parametrize("database", ["sqlite"])
def test_free_space_is_checked(database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for bound, level in ((2**50, "error"), (0, "warning")):
        monkeypatch.setattr(health, "LOW_BYTES", 2**50)
        monkeypatch.setattr(health, "EXHAUSTED_BYTES", bound)
        findings = found(Settings(database_url=database_url))
        assert findings["spool directory"].level == findings["database folder"].level == level
        assert findings["writes"].level == ("error" if level == "error" else "ok")


@pytest.mark.parametrize("database", ["postgresql"])
def test_missing_programs_for_backups_are_a_warning(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    finding = found(Settings(database_url=database_url))["backup"]
    assert (finding.level, "postgresql-client" in finding.detail) == ("warning", True)


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        (Settings(job_timeout_seconds=1.0), "RELEVANCE_CHECKPOINT_SECONDS"),
        (Settings(fit_memory_bytes=2**45, worker_slots=2), "RELEVANCE_FIT_MEMORY_BYTES"),
        (Settings(cache_bytes=2**45), "RELEVANCE_CACHE_BYTES"),
    ],
)
def test_settings_that_contradict_each_other_are_named(settings: Settings, named: str) -> None:
    (finding,) = settings_checks.check_settings(settings)
    assert finding.level == "warning"
    assert named in f"{finding.detail} {finding.remedy}"


def test_a_missing_package_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings_checks, "find_spec", lambda _name: None)
    tokens = Settings(grpc_port=0, jwt_issuer="https://login.example.com", jwt_audience="relevance", tracing=True)
    findings = [*settings_checks.check_settings(tokens)]
    assert [finding.level for finding in findings] == ["error"] * 5
    named = zip(("grpcio", "hpack", "hyperframe", "pyjwt", "opentelemetry-sdk"), findings, strict=True)
    assert all(package in finding.detail for package, finding in named)
