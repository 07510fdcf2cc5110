"""Settings, read from the environment once and passed on as plain values."""

import re
from pathlib import Path
from typing import Self

from pydantic import Field, SecretStr, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from app.addresses import LOOPBACK, Allowance, is_secure_url
from relevance_bayes.types.limits import OwnerLimits

MEBIBYTE = 1024 * 1024
ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://[a-z0-9._-]+(:[0-9]{1,5})?|[a-z][a-z0-9+.-]*://\[[0-9a-f:]+\](:[0-9]{1,5})?")
"""An origin as in a browser's `Origin` header: lower case, without a path."""


class Settings(BaseSettings):
    """The settings; each field is the variable RELEVANCE_ plus its name in capitals."""

    model_config = SettingsConfigDict(env_prefix="RELEVANCE_", extra="ignore", frozen=True)

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
    worker_slots: int = Field(1, ge=1, le=64, description="Number of fits that one worker process runs concurrently.")
    heartbeat_interval_seconds: float = Field(2.0, gt=0, description="Interval between a worker's heartbeats.")
    heartbeat_timeout_seconds: float = Field(
        7.0, gt=0, description="Time without a heartbeat after which a worker's jobs are recovered."
    )
    poll_seconds: float = Field(
        0.1, gt=0, description="Interval of polls for jobs, while jobs are queued or one was within 10 s."
    )
    idle_poll_seconds: float = Field(
        0.9, gt=0, description="Interval of polls for jobs otherwise; at least the former."
    )
    fit_memory_bytes: int | None = Field(
        None, gt=0, description="Maximum memory of one fit; by default an equal share of four fifths of all memory."
    )
    checkpoint_seconds: float = Field(5.0, ge=0, description="Minimum time between two checkpoints of a running fit.")
    job_timeout_seconds: float = Field(86_400.0, gt=0, description="Maximum run time of a job, over all its attempts.")
    owner_concurrency: int | None = Field(
        None, ge=1, description="Maximum number of concurrent jobs of an owner, over all workers; by default no limit."
    )
    max_queued_jobs: int = Field(10_000, ge=1, description="Maximum number of jobs of one owner that have not ended.")
    owner_requests_per_second: int | None = Field(
        None,
        ge=1,
        description="Maximum number of requests of an owner a second, over all processes; by default no limit.",
    )
    owner_rows_per_second: int | None = Field(
        None,
        ge=1,
        description="Maximum number of rows predicted for an owner a second, over all processes; by default no limit.",
    )
    owner_datasets: int | None = Field(
        None, ge=0, description="Maximum number of datasets of an owner; by default no limit."
    )
    owner_dataset_bytes: int | None = Field(
        None, ge=0, description="Maximum number of bytes that datasets of an owner are stored in; by default no limit."
    )
    owner_models: int | None = Field(
        None, ge=0, description="Maximum number of models of an owner; by default no limit."
    )
    owner_training_seconds_per_day: int | None = Field(
        None,
        ge=0,
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
    recorded_prediction_retention_days: float = Field(
        30.0, gt=0, description="How long recorded predictions wait for their outcomes, and are kept with them."
    )
    cors_origins: str | None = Field(
        None,
        description="Origins whose pages may call the API (CORS), comma-separated; `*` for all; by default none.",
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
            object.__setattr__(self, "initial_api_key", SecretStr(self.initial_api_key_file.read_text().strip()))
        return self

    @model_validator(mode="after")
    def _tokens_have_issuer_and_audience(self) -> Self:
        if (self.jwt_issuer is None) != (self.jwt_audience is None):
            raise ValueError("expected jwt_issuer and jwt_audience together, got one without the other")
        if self.jwt_jwks_url is not None and self.jwt_issuer is None:
            raise ValueError("jwt_jwks_url needs jwt_issuer and jwt_audience")
        url = self.jwt_jwks_url or self.jwt_issuer
        if url is not None and not is_secure_url(url):
            raise ValueError(f"expected an https URL of the issuer's keys, or http on loopback; got {url!r}")
        return self

    @model_validator(mode="after")
    def _webhooks_go_somewhere(self) -> Self:
        Allowance.of(self.webhook_allowed_hosts or "")
        return self

    @model_validator(mode="after")
    def _origins_are_origins(self) -> Self:
        for origin in self.allowed_origins:
            if origin != "*" and not ORIGIN.fullmatch(origin):
                raise ValueError(f"cors_origins: expected scheme://host or scheme://host:port, or *; got {origin!r}")
        return self

    @model_validator(mode="after")
    def _jobs_are_kept_as_long_as_their_parts(self) -> Self:
        parts = max(self.event_retention_days, self.result_retention_days)
        if self.job_retention_days is not None and self.job_retention_days < parts:
            raise ValueError(
                f"job_retention_days must be at least event_retention_days and result_retention_days ({parts:g}), got "
                f"{self.job_retention_days:g}"
            )
        return self

    @model_validator(mode="after")
    def _timeout_is_longer_than_the_interval(self) -> Self:
        if self.heartbeat_timeout_seconds < 2 * self.heartbeat_interval_seconds:
            raise ValueError(
                "heartbeat_timeout_seconds must be at least twice heartbeat_interval_seconds, "
                "or live workers count as dead"
            )
        return self

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
        """Return the database's URL with its password masked; masked as a whole where it is not a URL."""
        try:
            return make_url(self.database_url).render_as_string(hide_password=True)
        except ArgumentError:
            return SecretStr(self.database_url)

    @property
    def needs_keys(self) -> bool:
        """Return whether requests need an API key even while the database has none."""
        is_exposed = self.host not in LOOPBACK and not self.insecure
        has_credentials = (self.api_key, self.api_key_file, self.jwt_issuer) != (None, None, None)
        return is_exposed or has_credentials
