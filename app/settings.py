"""Settings, read from the environment once and passed on as plain values."""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Self

from pydantic import Field, SecretStr, ValidationError, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from app.addresses import LOOPBACK, Allowance, is_secure_url
from relevance_bayes.records.accounts import MAX_LIMIT, OwnerLimits, Quota, Rate

PREFIX = "RELEVANCE_"
MEBIBYTE = 1024 * 1024
MAX_SLOTS = 64
ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://[a-z0-9._-]+(:[0-9]{1,5})?|[a-z][a-z0-9+.-]*://\[[0-9a-f:]+\](:[0-9]{1,5})?")
"""An origin as in a browser's `Origin` header: lower case, without a path."""

LOG_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
MASK = "***"

MAX_SHOWN_CHARACTERS = 80


class SettingsError(ValueError):
    """Settings that can't be used: a line for each fault, with the name of its variable and without secrets."""

    def __init__(self, faults: tuple[str, ...]) -> None:
        super().__init__("\n".join(faults))
        self.faults = faults


class Settings(BaseSettings):
    """The settings; each field is the variable RELEVANCE_ plus its name in capitals."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX,
        extra="ignore",
        frozen=True,
        # Without it the text of an error has the values of all settings, the secrets among them.
        hide_input_in_errors=True,
    )

    host: str = Field("127.0.0.1", description="Address to listen on.")
    port: int = Field(8000, ge=0, le=65535, description="Port to listen on.")
    grpc_port: int | None = Field(
        None, ge=0, le=65535, description="Port of the Open Inference Protocol over gRPC; without it, gRPC is disabled."
    )
    database_url: str = Field(
        "sqlite:///./relevance.db", description="SQLAlchemy URL: SQLite or PostgreSQL (postgresql+psycopg)."
    )
    database_password_file: Path | None = Field(
        None, description="A file with the database password; one a line while it changes."
    )
    api_key: SecretStr | None = Field(
        None, description="The key that clients send. Requests to a service that finds it need a key of its database."
    )
    api_key_file: Path | None = Field(None, description="A file whose content is the key that clients send.")
    initial_api_key: SecretStr | None = Field(
        None, description="The first API key, of all scopes, which `relevance migrate` adds to a database without keys."
    )
    initial_api_key_file: Path | None = Field(None, description="A file whose content is the first API key.")
    insecure: bool = Field(
        False, description="Whether a service that listens beyond loopback may need no API key while there is none."
    )
    jwt_issuer: str | None = Field(
        None,
        description="URL of an OpenID Connect issuer whose tokens are accepted beside API keys.",
    )
    jwt_audience: str | None = Field(None, description="The audience (`aud`) that tokens must have.")
    jwt_jwks_url: str | None = Field(
        None, description="URL of the issuer's keys (JWKS); by default its discovery document names it."
    )
    jwt_owner_claim: str = Field("sub", min_length=1, description="The claim of tokens that is the owner.")
    jwt_local_subject: str | None = Field(
        None, min_length=1, description="The owner in tokens that is the owner `local`; by default none is."
    )
    jwt_leeway_seconds: float = Field(
        30.0, ge=0, le=300, description="Leeway for the times in tokens, for clocks that differ."
    )
    session_seconds: float = Field(
        28_800.0, gt=0, le=30 * 86_400, description="How long a session of a browser lasts after its creation."
    )
    spool_directory: Path | None = Field(
        None, description="Directory of the temporary files of uploads, predictions and fits; by default the system's."
    )
    max_upload_bytes: int = Field(512 * MEBIBYTE, gt=0, description="Maximum size of the body of a dataset upload.")
    max_body_bytes: int = Field(32 * MEBIBYTE, gt=0, description="Maximum size of the body of any other request.")
    max_header_bytes: int = Field(
        32 * 1024, ge=1024, le=MEBIBYTE, description="Maximum size of request line and headers together; above it, 431."
    )
    max_header_fields: int = Field(100, ge=1, le=10_000, description="Maximum number of header fields; above it, 431.")
    header_timeout_seconds: float = Field(
        10.0, gt=0, description="Maximum time for a request's header section; above it, 408."
    )
    min_body_bytes_per_second: float = Field(
        1000.0, ge=0, description="Minimum rate of a request's body, over ten seconds; below it, 408."
    )
    max_connections: int | None = Field(
        None,
        ge=1,
        description="Maximum number of open connections; by default 4,096, or 3/4 of the file descriptors if less.",
    )
    drain_seconds: float = Field(
        3.0, ge=0, description="How long the API keeps listening after SIGTERM, with `Connection: close`."
    )
    grace_seconds: int = Field(
        5, ge=1, description="How long open requests may take after that before they are cancelled."
    )
    max_rows: int = Field(10_000_000, gt=0, description="Maximum number of rows of a dataset.")
    max_columns: int = Field(10_000, gt=0, description="Maximum number of columns of a dataset.")
    max_prediction_rows: int = Field(100_000, gt=0, description="Maximum number of rows of one prediction.")
    max_training_cells: int = Field(
        500_000_000, gt=0, description="Maximum number of values (rows x encoded columns) of one training."
    )
    max_candidate_cells: int = Field(
        4_000_000_000, gt=0, description="Maximum number of values (rows x candidates) of one iteration of a fit."
    )
    cache_bytes: int = Field(128 * MEBIBYTE, gt=0, description="Memory of the cache of versions that predict.")
    stale_if_error_seconds: float = Field(
        300.0,
        ge=0,
        description="How long cached aliases and newest versions serve while the database is unavailable.",
    )
    worker_slots: int | None = Field(
        None,
        ge=1,
        le=MAX_SLOTS,
        description="Maximum number of fits that one worker process runs concurrently; by default that of its cores.",
    )
    heartbeat_interval_seconds: float = Field(2.0, gt=0, description="Interval between a worker's heartbeats.")
    heartbeat_timeout_seconds: float = Field(
        7.0, gt=0, description="Time without a heartbeat after which a worker's jobs are recovered."
    )
    poll_seconds: float = Field(
        1.5, gt=0, description="Interval of polls for jobs, in addition to notifications, one of which may be lost."
    )
    fit_memory_bytes: int | None = Field(
        None,
        gt=0,
        description="Maximum memory of one fit; by default four fifths of all memory, less what other fits need.",
    )
    checkpoint_seconds: float = Field(5.0, ge=0, description="Minimum time between two checkpoints of a running fit.")
    job_timeout_seconds: float = Field(86_400.0, gt=0, description="Maximum run time of a job, over all its attempts.")
    owner_concurrency: int | None = Field(
        None, ge=1, description="Maximum number of concurrent jobs of an owner, over all workers; by default no limit."
    )
    max_queued_jobs: int = Field(
        10_000, ge=1, le=MAX_LIMIT, description="Maximum number of jobs of one owner that have not ended."
    )
    owner_requests_per_second: Rate | None = Field(
        None,
        description="Maximum number of requests of an owner a second, over all processes; by default no limit.",
    )
    owner_rows_per_second: Rate | None = Field(
        None,
        description="Maximum number of rows predicted for an owner a second, over all processes; by default no limit.",
    )
    owner_datasets: Quota | None = Field(
        None, description="Maximum number of datasets of an owner; by default no limit."
    )
    owner_dataset_bytes: Quota | None = Field(
        None,
        description="Maximum number of uncompressed bytes of an owner's datasets; by default no limit.",
    )
    owner_models: Quota | None = Field(None, description="Maximum number of models of an owner; by default no limit.")
    owner_training_seconds_per_day: Quota | None = Field(
        None,
        description="Maximum time for which training jobs of an owner run in a day, from 00:00 UTC on; by default no "
        "limit.",
    )
    idempotency_retention_seconds: float = Field(
        86_400.0, gt=0, description="How long the response to a request with an `Idempotency-Key` is stored."
    )
    webhook_allowed_hosts: str | None = Field(
        None,
        description="Targets of webhooks besides https to public addresses: host names and networks, comma-separated.",
    )
    event_retention_days: float = Field(
        30.0,
        gt=0,
        description="How long the events of ended jobs, their queue entries, and webhook deliveries are kept.",
    )
    result_retention_days: float = Field(
        7.0, gt=0, description="How long the files of batch predictions are kept after these have ended."
    )
    job_retention_days: float | None = Field(
        None,
        ge=7,
        description="How long ended jobs are kept that have trained no version that is there; by default for ever.",
    )
    audit_retention_days: float = Field(365.0, gt=0, description="How long entries of the audit are kept.")
    audit_head_file: Path | None = Field(
        None, description="A file to which a worker appends the heads of all audit chains, every minute and at its end."
    )
    audit_head_key_file: Path | None = Field(
        None, description="A file whose content, at least 32 bytes, is the key that authenticates these heads."
    )
    audit_head_url: str | None = Field(
        None, description="URL to which each line of this file is posted: https, or http to loopback."
    )
    recorded_prediction_retention_days: float = Field(
        30.0, gt=0, description="How long recorded predictions wait for their outcomes, and are kept with them."
    )
    cors_origins: str | None = Field(
        None,
        description="Origins whose pages may call the API (CORS), comma-separated; `*` for all; by default none.",
    )
    allowed_hosts: str | None = Field(
        None,
        description="Hosts by which a service without API keys may be addressed besides localhost: names and networks, "
        "comma-separated.",
    )
    metrics_directory: Path | None = Field(
        None,
        description="Directory that the API processes of one port share, so that each reports the metrics of all.",
    )
    drift_window_seconds: float = Field(
        86_400.0,
        ge=60.0,
        description="Time over which predicted rows are compared with training rows, for the metrics of drift.",
    )
    tracing: bool = Field(
        False,
        description="Whether requests and jobs are traced and exported over OTLP; `OTEL_*` variables set where to.",
    )
    log_level: str = Field("INFO", description="Minimum severity of log records.")
    log_requests: bool = Field(True, description="Whether each request is logged, at INFO.")

    @model_validator(mode="after")
    def _read_files(self) -> Self:
        if self.initial_api_key is None and self.initial_api_key_file is not None:
            try:
                content = self.initial_api_key_file.read_text()
            except (OSError, UnicodeDecodeError) as unreadable:
                path, reason = self.initial_api_key_file, getattr(unreadable, "strerror", None) or "it is no text"
                raise ValueError(
                    f"RELEVANCE_INITIAL_API_KEY_FILE: expected a file that can be read, got {path} ({reason})"
                ) from None
            object.__setattr__(self, "initial_api_key", SecretStr(content.strip()))
        return self

    @model_validator(mode="after")
    def _agree(self) -> Self:
        if faults := tuple(self._disagreements()):
            raise ValueError("\n".join(faults))
        return self

    def _disagreements(self) -> Iterator[str]:
        """Yield a line for each setting that has no meaning, alone or beside the others."""
        yield from self._faults_of_issuer()
        yield from self._faults_of_heads()
        for name, listed in (
            ("WEBHOOK_ALLOWED_HOSTS", self.webhook_allowed_hosts),
            ("ALLOWED_HOSTS", self.allowed_hosts),
        ):
            try:
                Allowance.of(listed or "")
            except ValueError as wrong:
                yield f"RELEVANCE_{name}: {masked(str(wrong))}"
        for origin in self.allowed_origins:
            if origin != "*" and not ORIGIN.fullmatch(origin):
                got = masked(origin)
                yield f"RELEVANCE_CORS_ORIGINS: expected scheme://host or scheme://host:port, or *; got {got!r}"
        parts = max(self.event_retention_days, self.result_retention_days)
        if self.job_retention_days is not None and self.job_retention_days < parts:
            yield (
                "RELEVANCE_JOB_RETENTION_DAYS: expected at least RELEVANCE_EVENT_RETENTION_DAYS and "
                f"RELEVANCE_RESULT_RETENTION_DAYS ({parts:g}), got {self.job_retention_days:g}"
            )
        if self.heartbeat_timeout_seconds < 2 * self.heartbeat_interval_seconds:
            yield (
                "RELEVANCE_HEARTBEAT_TIMEOUT_SECONDS: expected at least twice RELEVANCE_HEARTBEAT_INTERVAL_SECONDS "
                f"({2 * self.heartbeat_interval_seconds:g}), or live workers count as dead; got "
                f"{self.heartbeat_timeout_seconds:g}"
            )
        if self.log_level.upper() not in LOG_LEVELS:
            yield f"RELEVANCE_LOG_LEVEL: expected one of {', '.join(LOG_LEVELS)}; got {masked(self.log_level)!r}"

    def _faults_of_issuer(self) -> Iterator[str]:
        if (self.jwt_issuer is None) != (self.jwt_audience is None):
            there, missing = ("AUDIENCE", "ISSUER") if self.jwt_issuer is None else ("ISSUER", "AUDIENCE")
            yield f"RELEVANCE_JWT_{missing}: expected with RELEVANCE_JWT_{there}, got nothing"
        if self.jwt_jwks_url is not None and self.jwt_issuer is None:
            yield "RELEVANCE_JWT_JWKS_URL: expected with RELEVANCE_JWT_ISSUER and RELEVANCE_JWT_AUDIENCE, got it alone"
        name, url = ("JWKS_URL", self.jwt_jwks_url) if self.jwt_jwks_url is not None else ("ISSUER", self.jwt_issuer)
        if url is not None and not is_secure_url(url):
            yield f"RELEVANCE_JWT_{name}: expected an https URL, or http on loopback; got {masked(url)!r}"

    def _faults_of_heads(self) -> Iterator[str]:
        if (self.audit_head_file is None) != (self.audit_head_key_file is None):
            there, missing = ("KEY_FILE", "FILE") if self.audit_head_file is None else ("FILE", "KEY_FILE")
            yield f"RELEVANCE_AUDIT_HEAD_{missing}: expected with RELEVANCE_AUDIT_HEAD_{there}, got nothing"
        if self.audit_head_url is not None and self.audit_head_file is None:
            yield "RELEVANCE_AUDIT_HEAD_URL: expected with RELEVANCE_AUDIT_HEAD_FILE, got it alone"
        if self.audit_head_url is not None and not is_secure_url(self.audit_head_url):
            yield "RELEVANCE_AUDIT_HEAD_URL: expected an https URL, or http on loopback"

    @property
    def allowed_origins(self) -> tuple[str, ...]:
        """Return the origins of `cors_origins`."""
        return tuple(filter(None, map(str.strip, (self.cors_origins or "").split(","))))

    @property
    def url(self) -> URL:
        """Return the database's URL, with the first password from its file and psycopg as PostgreSQL's driver."""
        url = make_url(self.database_url)
        if url.drivername in {"postgres", "postgresql"}:
            url = url.set(drivername="postgresql+psycopg")
        if self.database_password_file is not None:
            url = url.set(password=self.database_password_file.read_text().strip().partition("\n")[0].strip())
        return url

    @property
    def owner_limits(self) -> OwnerLimits:
        """Return the limits of owners for whom no others are set."""
        return OwnerLimits(
            requests_per_second=self.owner_requests_per_second,
            rows_per_second=self.owner_rows_per_second,
            datasets=self.owner_datasets,
            dataset_bytes=self.owner_dataset_bytes,
            models=self.owner_models,
            unfinished_jobs=self.max_queued_jobs,
            training_seconds_per_day=self.owner_training_seconds_per_day,
        )

    @property
    def shown_database_url(self) -> SecretStr | str:
        """Return the database's URL with its passwords masked; masked as a whole where it is not a URL."""
        try:
            return without_passwords(make_url(self.database_url))
        except (ArgumentError, ValueError):  # the latter for a port, which may be a part of the password
            return SecretStr(self.database_url)

    @property
    def shown_url(self) -> str:
        """Return `url` with its passwords masked."""
        return without_passwords(self.url)

    def shown(self, name: str) -> object:
        """Return the value of a setting, None or to be printed: a secret is a SecretStr, and a URL has no password."""
        if name == "database_url":
            return self.shown_database_url
        value = getattr(self, name)
        return without_user_information(value) if isinstance(value, str) else value

    def given(self) -> dict[str, str]:
        """Return the settings that are not the default, by name and without secrets, for the log."""
        return {
            name: str(self.shown(name))
            for name, field in type(self).model_fields.items()
            if getattr(self, name) != field.default
        }

    @property
    def needs_keys(self) -> bool:
        """Return whether requests need an API key even while the database has none."""
        is_exposed = self.host not in LOOPBACK and not self.insecure
        has_credentials = (self.api_key, self.api_key_file, self.jwt_issuer) != (None, None, None)
        return is_exposed or has_credentials


def read_settings() -> Settings:
    """Return the settings of the environment; raises SettingsError."""
    try:
        return Settings()
    except ValidationError as error:
        faults = tuple(_lines(error))
    raise SettingsError(faults)  # not from the error, whose traceback nobody reads


def _lines(error: ValidationError) -> Iterator[str]:
    """Yield a line for each fault, with the value where it is no secret."""
    for one in error.errors(include_url=False, include_context=False):
        if not one["loc"]:
            yield from one["msg"].removeprefix("Value error, ").splitlines()
            continue
        name = str(one["loc"][0])
        expected = one["msg"].partition(", unable")[0].removeprefix("Input should be ").removeprefix("a valid ")
        comparison = "a value " if expected.startswith(("greater", "less")) else ""
        got = MASK if _is_secret(name) else repr(masked(str(one["input"])))
        yield f"{PREFIX}{name.upper()}: expected {comparison}{expected}, got {got}"


def _is_secret(name: str) -> bool:
    return "SecretStr" in str(Settings.model_fields[name].annotation)


def masked(text: str) -> str:
    """Return a text to show: no user information and query of a URL, no value of a secret setting, not too long."""
    shown = without_user_information(text)
    if "://" in shown:
        shown = shown.partition("?")[0]
    for name in filter(_is_secret, Settings.model_fields):
        if secret := os.environ.get(f"{PREFIX}{name.upper()}"):
            shown = shown.replace(secret, MASK)
    return shown if len(shown) <= MAX_SHOWN_CHARACTERS else f"{shown[:MAX_SHOWN_CHARACTERS]}..."


def without_user_information(text: str) -> str:
    """Return the text of a URL, or any other, with the user information masked."""
    # Up to the last @: a password may have a slash or an @ that is not escaped.
    scheme, mark, rest = text.partition("://")
    _, at, host = rest.rpartition("@")
    return f"{scheme}{mark}{MASK}@{host}" if at else text


def without_passwords(url: URL) -> str:
    """Return the text of a database's URL without its password and those among its parameters."""
    secrets = {name: MASK for name in url.query if "password" in name.lower()}
    return url.update_query_dict(secrets).render_as_string(hide_password=True)
